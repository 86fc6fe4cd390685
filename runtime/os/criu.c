/*
 * Owns the conversation with `criu swrk`: the program, its socket, its notifications, and what its log says of a failure.
 */
#include "os/criu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/procattr.h"
#include "util/cleanup.h"
#include "util/fd.h"

#define ANSWER_MAX  4096
#define LOG_TAIL    65536
#define QUOTE_LINES 3
#define QUOTE_MAX   700
#define EXEC_FAILED 127
#define LET_GO	    125 /* the parent has given up before */

struct talk {
	const struct criu_run *run;
	char path[256];
	int sock;
	pid_t program;
};

static bool keep_open(int fd)
{
	return fd < 3 || fd_set_cloexec(fd, 0) >= 0;
}

/* Only what the request names is open in the program. */
static bool keep_named(const struct criu_options *o, int sock)
{
	bool kept = keep_open(sock) && keep_open(o->status_fd);
	size_t i;

	for (i = 0; i < o->n_inherit && kept; i++)
		kept = keep_open(o->inherit[i].fd);
	return kept;
}

/* The program is root's and reads nothing of the caller's: neither its library path nor its home. */
static _noreturn_ void child(const struct criu_run *run, const char *path, int sock, int gate)
{
	static char *const env[] = { (char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	char number[16], byte;

	if (read(gate, &byte, 1) != 1)
		_exit(LET_GO);
	(void)snprintf(number, sizeof(number), "%d", sock);
	if (signals_reset() == 0 && fd_cloexec_from(3) == 0 && keep_named(run->options, sock))
		(void)execve(path, (char *[]){ (char *)run->program, (char *)"swrk", number, NULL }, env);
	(void)dprintf(STDERR_FILENO, "execute %s: %s\n", run->program, error_errno_text(errno));
	_exit(EXEC_FAILED);
}

static int find(struct talk *t, struct error *err)
{
	static const char *const folders[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin" };
	size_t i;

	if (strchr(t->run->program, '/')) {
		if (strlen(t->run->program) < sizeof(t->path) && access(t->run->program, X_OK) == 0) {
			(void)snprintf(t->path, sizeof(t->path), "%s", t->run->program);
			return 0;
		}
		return error_text(err, -ENOENT, "%s cannot be run: --criu names the program", t->run->program);
	}
	for (i = 0; i < ELEMENTSOF(folders); i++) {
		(void)snprintf(t->path, sizeof(t->path), "%s/%s", folders[i], t->run->program);
		if (access(t->path, X_OK) == 0)
			return 0;
	}
	return error_text(err, -ENOENT, "%s is in none of the folders for programs: install criu, or name it with --criu",
			  t->run->program);
}

static int begin(struct talk *t, struct error *err)
{
	_cleanup_close_ int theirs = -EBADF, gate_r = -EBADF, gate_w = -EBADF;
	int socks[2], gate[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "make the socket pair for criu");
	t->sock = socks[0];
	theirs = socks[1];
	if (pipe2(gate, O_CLOEXEC) < 0)
		return error_set(err, -errno, "make a pipe for criu");
	gate_r = gate[0];
	gate_w = gate[1];
	t->program = fork();
	if (t->program < 0)
		return error_set(err, -errno, "fork for criu");
	if (t->program == 0) {
		(void)close(gate_w);
		child(t->run, t->path, theirs, gate_r);
	}
	r = t->run->born ? t->run->born(t->run->arg, t->program, err) : 0;
	if (r < 0)
		return r;
	return write(gate_w, "", 1) == 1 ? 0 : error_set(err, -errno, "start criu");
}

static int say(const struct talk *t, struct buf *b, struct error *err)
{
	if (!buf_ok(b))
		return error_oom(err);
	if (send(t->sock, b->data, b->len, MSG_NOSIGNAL) < 0)
		return error_set(err, -errno, "send a request to %s", t->run->program);
	return 0;
}

static int on_notify(const struct talk *t, const struct criu_answer *a, int *fd, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	int r = t->run->step ? t->run->step(t->run->arg, a->script, a->pid, fd, err) : 0;

	if (r < 0)
		return r;
	criu_notified_write(&b);
	return say(t, &b, err);
}

/* The lines of the log that tell of errors, the last ones. */
static void quote_log(const struct criu_options *o, struct buf *b)
{
	_cleanup_close_ int fd = openat(o->work_fd, o->log_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	_cleanup_free_ char *text = malloc(LOG_TAIL + 1);
	const char *lines[QUOTE_LINES] = { NULL };
	char *line, *save = NULL;
	size_t n = 0, i;
	struct stat st;
	ssize_t got;

	if (fd < 0 || !text || fstat(fd, &st) < 0)
		return;
	got = pread(fd, text, LOG_TAIL, st.st_size > LOG_TAIL ? st.st_size - LOG_TAIL : 0);
	if (got <= 0)
		return;
	text[got] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strstr(line, "Error"))
			lines[n++ % QUOTE_LINES] = line;
	for (i = n > QUOTE_LINES ? n - QUOTE_LINES : 0; i < n && b->len < QUOTE_MAX; i++)
		buf_addf(b, "; %.250s", lines[i % QUOTE_LINES]);
}

static int refused(const struct talk *t, const struct criu_answer *a, struct error *err)
{
	const struct criu_options *o = t->run->options;
	_cleanup_buf_ struct buf quoted = BUF_NULL;

	quote_log(o, &quoted);
	return error_text(err, a->code ? -a->code : -EIO, "criu failed: %s%s (more in %s of the work folder)",
			  *a->message ? a->message :
			  a->code     ? error_errno_text(a->code) :
					"no reason given",
			  quoted.len ? quoted.data : "", o->log_file);
}

static int converse(const struct talk *t, struct criu_answer *a, struct error *err)
{
	char data[ANSWER_MAX];
	size_t n;
	int r, fd;

	for (;;) {
		fd = -EBADF;
		r = fd_recv(t->sock, data, sizeof(data), &n, &fd, 1);
		/* it may have gone before it read the request */
		if (r == -ECONNRESET)
			n = 0;
		else if (r < 0)
			return error_set(err, r, "receive an answer of %s", t->run->program);
		if (n == 0 || criu_answer_read(data, n, a) < 0) {
			*a = (struct criu_answer){ .message = "it ended without an answer" };
			r = 1;
		} else if (a->type == CRIU_NOTIFY) {
			r = on_notify(t, a, &fd, err);
		} else {
			r = 1;
		}
		if (fd >= 0)
			(void)close(fd);
		if (r != 0)
			return r < 0 ? r : a->success ? 0 : refused(t, a, err);
	}
}

int criu_run(enum criu_request type, const struct criu_run *run, pid_t *ret_pid, struct error *err)
{
	struct talk t = { .run = run, .sock = -EBADF, .program = -1 };
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct criu_answer a = { .type = 0 };
	int r, status = 0;

	r = find(&t, err);
	if (r == 0)
		r = begin(&t, err);
	if (r == 0) {
		criu_request_write(type, run->options, &b);
		r = say(&t, &b, err);
	}
	if (r == 0)
		r = converse(&t, &a, err);
	if (t.sock >= 0)
		(void)close(t.sock);
	/* Without its socket it takes back what it has done, and ends; a kill would leave that behind. */
	while (t.program > 0 && waitpid(t.program, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED)
		return error_text(err, -ENOEXEC, "%s cannot be run: install criu, or name it with --criu", t.path);
	if (r == 0 && ret_pid)
		*ret_pid = a.pid;
	return r;
}
