/*
 * Running a helper program to its end: clean descriptors and signals, streams
 * captured with a limit, a deadline. Knows nothing of what it runs.
 *
 * Descriptors 0-2 of this process must be open (the program's start sees to it).
 */
#include "os/spawn.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "os/pidref.h"
#include "os/procattr.h"
#include "os/syscalls.h"
#include "util/fd.h"
#include "util/str.h"

#define SPAWN_CHUNK 4096

enum spawn_step { SPAWN_STEP_SIGNALS, SPAWN_STEP_CHDIR, SPAWN_STEP_STREAMS, SPAWN_STEP_EXEC };

/* What the child writes before it ends without having become the program. */
struct spawn_failure {
	int step; /* enum spawn_step */
	int error;
};

struct spawn_pipe {
	int r, w;
};
#define SPAWN_PIPE_NULL ((struct spawn_pipe){ -EBADF, -EBADF })

/* The parent's view of the run. */
struct spawn_run {
	const struct spawn *s;
	struct spawn_pipe in, out, err, fail;
	struct pidref child;
	struct buf out_text, err_text;
	size_t written;
	bool epipe;
	int64_t deadline_ms; /* 0 = none */
};

static int64_t clock_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void close_one(int *fd)
{
	cleanup_closep(fd);
	*fd = -EBADF;
}

static void pipe_done(struct spawn_pipe *p)
{
	close_one(&p->r);
	close_one(&p->w);
}

static void run_done(struct spawn_run *run)
{
	pipe_done(&run->in);
	pipe_done(&run->out);
	pipe_done(&run->err);
	pipe_done(&run->fail);
	pidref_done(&run->child);
	buf_done(&run->out_text);
	buf_done(&run->err_text);
}

static int pipe_make(struct spawn_pipe *p, struct error *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, -errno, "make pipe");
	p->r = fds[0];
	p->w = fds[1];
	return 0;
}

static int pipes_make(struct spawn_run *run, struct error *err)
{
	int r;

	r = pipe_make(&run->in, err);
	if (r == 0 && run->s->out_fd <= 2)
		r = pipe_make(&run->out, err);
	if (r == 0 && run->s->err_fd <= 2)
		r = pipe_make(&run->err, err);
	if (r == 0)
		r = pipe_make(&run->fail, err);
	return r;
}

static _noreturn_ void child_fail(const struct spawn_run *run, enum spawn_step step)
{
	struct spawn_failure f = { .step = (int)step, .error = errno };

	(void)fd_write_all(run->fail.w, &f, sizeof(f));
	_exit(127);
}

static _noreturn_ void child_run(const struct spawn_run *run)
{
	static char *const no_env[] = { NULL };
	const struct spawn *s = run->s;
	int r;

	r = signals_reset();
	if (r < 0) {
		errno = -r;
		child_fail(run, SPAWN_STEP_SIGNALS);
	}
	if (s->cwd && chdir(s->cwd) < 0)
		child_fail(run, SPAWN_STEP_CHDIR);
	if (dup2(run->in.r, STDIN_FILENO) < 0 ||
	    dup2(s->out_fd > 2 ? s->out_fd : run->out.w, STDOUT_FILENO) < 0 ||
	    dup2(s->err_fd > 2 ? s->err_fd : run->err.w, STDERR_FILENO) < 0 ||
	    (!s->swept && fd_cloexec_from(3) < 0))
		child_fail(run, SPAWN_STEP_STREAMS);
	(void)execve(s->path, s->argv, s->envp ? s->envp : no_env);
	child_fail(run, SPAWN_STEP_EXEC);
}

static int child_start(struct spawn_run *run, struct error *err)
{
	pid_t pid = sys_clone_pidfd(&run->child.fd);

	if (pid < 0)
		return error_set(err, -errno, "clone process for %s", run->s->path);
	if (pid == 0)
		child_run(run);
	run->child.pid = pid;
	close_one(&run->in.r);
	close_one(&run->out.w);
	close_one(&run->err.w);
	close_one(&run->fail.w);
	return 0;
}

/* Blocks until execve(2) closed the pipe or the child told why there is none. */
static int child_wait_exec(struct spawn_run *run, struct error *err)
{
	struct spawn_failure f;
	ssize_t n;

	do
		n = read(run->fail.r, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(f))
		return 0;
	switch (f.step) {
	case SPAWN_STEP_SIGNALS:
		return error_set(err, -f.error, "reset the signals of %s", run->s->path);
	case SPAWN_STEP_CHDIR:
		return error_set(err, -f.error, "chdir %s", run->s->cwd);
	case SPAWN_STEP_STREAMS:
		return error_set(err, -f.error, "set up the streams of %s", run->s->path);
	default:
		return error_set(err, -f.error, "exec %s", run->s->path);
	}
}

static void input_write(struct spawn_run *run)
{
	const struct spawn *s = run->s;
	ssize_t n;

	n = write(run->in.w, s->input + run->written, s->input_len - run->written);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		/* It does not want to read: its business. */
		run->epipe |= errno == EPIPE;
		close_one(&run->in.w);
		return;
	}
	run->written += (size_t)n;
	if (run->written == s->input_len)
		close_one(&run->in.w);
}

/* One read; closes the pipe at its end. Whether something was there. */
static bool output_read(struct spawn_run *run, int *fd, struct buf *b)
{
	char chunk[SPAWN_CHUNK];
	ssize_t n = read(*fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_one(fd);
		return false;
	}
	buf_add(b, chunk, MIN((size_t)n, run->s->output_max - b->len));
	return true;
}

/* After the program's end: what is in the pipes already, not what a descendant may still write. */
static void output_drain(struct spawn_run *run)
{
	int left = 64 * 1024 / SPAWN_CHUNK + 1; /* one pipe's capacity: a writer must not hold us */
	int i;

	for (i = 0; i < left && run->out.r >= 0 && output_read(run, &run->out.r, &run->out_text);
	     i++)
		;
	for (i = 0; i < left && run->err.r >= 0 && output_read(run, &run->err.r, &run->err_text);
	     i++)
		;
}

static int poll_timeout(const struct spawn_run *run)
{
	int64_t left;

	if (run->deadline_ms == 0)
		return -1;
	left = run->deadline_ms - clock_ms();
	return (int)MIN(MAX(left, (int64_t)0), (int64_t)1000 * 3600);
}

/* Until the program has ended: 0, SPAWN_E_TIMEOUT or an error. */
static int run_loop(struct spawn_run *run, struct error *err)
{
	for (;;) {
		struct pollfd p[] = {
			{ .fd = run->in.w, .events = POLLOUT },
			{ .fd = run->out.r, .events = POLLIN },
			{ .fd = run->err.r, .events = POLLIN },
			{ .fd = run->child.fd, .events = POLLIN },
		};
		int n = poll(p, ELEMENTSOF(p), poll_timeout(run));

		if (n < 0 && errno != EINTR)
			return error_set(err, -errno, "wait for %s", run->s->path);
		if (n > 0) {
			if (p[0].revents)
				input_write(run);
			if (p[1].revents)
				(void)output_read(run, &run->out.r, &run->out_text);
			if (p[2].revents)
				(void)output_read(run, &run->err.r, &run->err_text);
			if (p[3].revents)
				return 0;
		}
		if (run->deadline_ms != 0 && clock_ms() >= run->deadline_ms)
			return SPAWN_E_TIMEOUT;
	}
}

/* Kills what is left, reaps, gives the wait(2) status. */
static int child_end(struct spawn_run *run, bool kill, int *ret_status, struct error *err)
{
	pid_t pid;

	if (kill)
		(void)sys_pidfd_send_signal(run->child.fd, SIGKILL);
	do
		pid = waitpid(run->child.pid, ret_status, 0);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return error_set(err, -errno, "wait for %s", run->s->path);
	return 0;
}

static int outputs_give(struct spawn_run *run, char **ret_out, char **ret_err, struct error *err)
{
	_cleanup_free_ char *out = NULL;
	_cleanup_free_ char *said = NULL;

	/* An empty addition makes an empty string of an untouched buffer. */
	buf_add(&run->out_text, "", 0);
	buf_add(&run->err_text, "", 0);
	if (!buf_ok(&run->out_text) || !buf_ok(&run->err_text))
		return error_oom(err);
	out = buf_take(&run->out_text);
	said = buf_take(&run->err_text);
	if (!out || !said)
		return error_oom(err);
	if (ret_out)
		*ret_out = take_ptr(out);
	if (ret_err)
		*ret_err = take_ptr(said);
	return 0;
}

static int run_started(struct spawn_run *run, int *ret_status, struct error *err)
{
	struct error ignored = ERROR_NULL;
	int r, e;

	r = child_wait_exec(run, err);
	if (r == 0) {
		if (run->s->input_len == 0)
			close_one(&run->in.w);
		if (run->in.w >= 0)
			(void)fcntl(run->in.w, F_SETFL, O_NONBLOCK);
		if (run->out.r >= 0)
			(void)fcntl(run->out.r, F_SETFL, O_NONBLOCK);
		if (run->err.r >= 0)
			(void)fcntl(run->err.r, F_SETFL, O_NONBLOCK);
		if (run->s->timeout_ms > 0)
			run->deadline_ms = clock_ms() + (int64_t)MIN(run->s->timeout_ms,
								     (uint64_t)INT64_MAX / 4);
		r = run_loop(run, err);
	}
	e = child_end(run, r != 0, ret_status, r < 0 ? &ignored : err);
	if (e < 0 && r >= 0)
		r = e;
	if (r >= 0)
		output_drain(run);
	return r;
}

/* Blocks SIGPIPE around the writes to stdin; *ret_pending: one was waiting already. */
static void sigpipe_block(sigset_t *old, bool *ret_pending)
{
	sigset_t set;

	(void)sigpending(&set);
	*ret_pending = sigismember(&set, SIGPIPE) == 1;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &set, old);
}

static void sigpipe_restore(const sigset_t *old, bool consume)
{
	const struct timespec none = { 0 };
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	if (consume)
		(void)sigtimedwait(&set, NULL, &none);
	(void)sigprocmask(SIG_SETMASK, old, NULL);
}

int spawn_run(const struct spawn *s, int *ret_status, char **ret_out, char **ret_err,
	      struct error *err)
{
	_cleanup_(run_done) struct spawn_run run = {
		.s = s,
		.in = SPAWN_PIPE_NULL,
		.out = SPAWN_PIPE_NULL,
		.err = SPAWN_PIPE_NULL,
		.fail = SPAWN_PIPE_NULL,
		.child = PIDREF_NULL,
	};
	sigset_t old;
	bool pending;
	int status = 0, r, g;

	assert(s && s->path && s->argv);
	assert(s->input_len == 0 || s->input);
	assert(ret_status);

	r = pipes_make(&run, err);
	if (r < 0)
		return r;
	r = child_start(&run, err);
	if (r < 0)
		return r;
	sigpipe_block(&old, &pending);
	r = run_started(&run, &status, err);
	sigpipe_restore(&old, run.epipe && !pending);
	if (r < 0)
		return r;
	g = outputs_give(&run, ret_out, ret_err, err);
	if (g < 0)
		return g;
	*ret_status = status;
	return r;
}
