/* Which streams are relayed, the pipes that take their place, and ends that never block. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/stdio_relay.h"
#include "tests/unit/tap.h"
#include "util/cleanup.h"

#define OTHER_UID 65534

static struct error err;
static char dir[] = "/tmp/test_stdio_relay.XXXXXX";
static int proc = -1;

static struct stdio_choice decide_one(int fd)
{
	const int fds[3] = { -1, fd, -1 };
	struct stdio_choice c[3];

	stdio_decide(fds, false, c);
	return c[1];
}

static void check_kind(int fd, enum stdio_kind kind, bool relayed, const char *what)
{
	struct stdio_choice c = decide_one(fd);

	is_str(stdio_kind_name(c.kind), stdio_kind_name(kind), what);
	ok(c.relayed == relayed, "%s: %s", what, relayed ? "relayed" : "left alone");
	if (fd >= 0)
		close(fd);
}

static int pipe_end(int n)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	close(p[1 - n]);
	return p[n];
}

static int socket_end(int type)
{
	int p[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, p) < 0)
		return -1;
	close(p[0]);
	return p[1];
}

static int slave(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), fd;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	return fd; /* the master stays open: a slave without one is no terminal any more */
}

static void test_kinds(void)
{
	char path[64];

	check_kind(-1, STDIO_CLOSED, false, "closed");
	check_kind(1000, STDIO_CLOSED, false, "not open");
	check_kind(open("/dev/null", O_WRONLY), STDIO_NULL, false, "/dev/null");
	snprintf(path, sizeof(path), "%s/file", dir);
	check_kind(open(path, O_WRONLY | O_CREAT, 0600), STDIO_FILE, false, "a file");
	unlink(path);
	check_kind(open("/dev/full", O_WRONLY), STDIO_DEVICE, false, "/dev/full");
	check_kind(slave(), STDIO_TTY, false, "a terminal");
	check_kind(pipe_end(1), STDIO_PIPE, true, "a pipe");
	check_kind(pipe_end(0), STDIO_CLOSED, false, "the wrong end of a pipe");
	check_kind(open("/", O_PATH), STDIO_CLOSED, false, "a path");
	snprintf(path, sizeof(path), "%s/fifo", dir);
	ok(mkfifo(path, 0600) == 0, "mkfifo");
	check_kind(open(path, O_RDWR), STDIO_PIPE, true, "a named pipe");
	unlink(path);
	check_kind(socket_end(SOCK_STREAM), STDIO_SOCKET, true, "a stream socket");
	check_kind(socket_end(SOCK_SEQPACKET), STDIO_DEVICE, false, "a packet socket");
}

static void test_sharing(void)
{
	struct stdio_choice c[3];
	int p[2], q[2], s[2], again;
	char path[32];

	ok(pipe2(p, O_CLOEXEC) == 0 && pipe2(q, O_CLOEXEC) == 0, "pipes");
	stdio_decide((const int[]){ -1, p[1], q[1] }, false, c);
	ok(c[1].relayed && c[2].relayed && c[2].like == -1, "two pipes");
	stdio_decide((const int[]){ -1, p[1], p[1] }, false, c);
	ok(c[2].relayed && c[2].like == 1, "2>&1");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p[1]);
	again = open(path, O_WRONLY | O_CLOEXEC);
	stdio_decide((const int[]){ -1, p[1], again }, false, c);
	ok(again >= 0 && c[2].like == 1, "the same pipe opened twice");
	stdio_decide((const int[]){ q[0], p[1], p[1] }, false, c);
	ok(!c[0].relayed, "the input only when asked");
	stdio_decide((const int[]){ q[0], p[1], p[1] }, true, c);
	ok(c[0].relayed && c[0].like == -1, "and then");
	stdio_decide((const int[]){ p[1], -1, -1 }, true, c);
	ok(!c[0].relayed, "but not from the wrong end");
	ok(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0, "socket pair");
	stdio_decide((const int[]){ s[0], s[0], s[0] }, true, c);
	ok(c[0].relayed && c[1].relayed && c[1].like == -1 && c[2].like == 1, "one socket for all");
	close(p[0]), close(p[1]), close(q[0]), close(q[1]), close(s[0]), close(s[1]), close(again);
}

/* As a process does: its output opened again by name, with its own rights. */
static int reopen_as(const struct stdio_relay *r, uid_t uid)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		int fd;

		if (stdio_relay_install(r, &err) < 0 || (uid && (setgid(uid) < 0 || setuid(uid) < 0)))
			_exit(3);
		fd = open("/proc/self/fd/2", O_WRONLY);
		if (fd < 0 || write(1, "one ", 4) != 4 || write(2, "two ", 4) != 4 || write(fd, "three", 5) != 5)
			_exit(1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_pipes(void)
{
	struct stdio_relay r = STDIO_RELAY_NULL;
	uid_t uid = geteuid() == 0 ? OTHER_UID : getuid();
	char text[64] = "";
	struct stat st;
	int p[2];

	ok(pipe2(p, O_CLOEXEC) == 0 && fcntl(p[1], F_SETPIPE_SZ, 8192) == 8192, "a small pipe");
	is_int(stdio_relay_make((const int[]){ -1, p[1], p[1] }, false, proc, &r, &err), 0, "make");
	stdio_relay_give(&r, uid, uid);
	ok(r.process[1] >= 0 && r.process[2] < 0 && r.process[0] < 0, "one pipe");
	is_int(fcntl(r.process[1], F_GETPIPE_SZ), 8192, "of the same size");
	ok(fstat(r.process[1], &st) == 0 && st.st_uid == uid && st.st_gid == (geteuid() == 0 ? uid : getgid()),
	   "the owner");
	ok(!(fcntl(r.process[1], F_GETFL) & O_NONBLOCK), "the process's end blocks");
	ok(fcntl(r.inside[1].fd, F_GETFL) & O_NONBLOCK, "the relay's does not");
	ok(r.engine[1].how == STDIO_OWN && (fcntl(r.engine[1].fd, F_GETFL) & O_NONBLOCK), "the engine's for us");
	ok(!(fcntl(p[1], F_GETFL) & O_NONBLOCK), "and nobody else");
	is_int(reopen_as(&r, geteuid() == 0 ? uid : 0), 0, "reopened by its user");
	is_int(stdio_read(&r.inside[1], text, sizeof(text) - 1), 13, "read");
	is_str(text, "one two three", "in order");
	is_int(stdio_read(&r.inside[1], text, 1), -EAGAIN, "no more yet");
	stdio_relay_close_process(&r);
	is_int(stdio_read(&r.inside[1], text, 1), 0, "end of file");
	stdio_relay_done(&r);
	close(p[0]), close(p[1]);
}

static void test_flags(void)
{
	struct stdio_relay r = STDIO_RELAY_NULL;
	char text[8];
	int p[2], q[2];

	ok(pipe2(p, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(q, O_CLOEXEC | O_DIRECT) == 0, "pipes");
	is_int(stdio_relay_make((const int[]){ q[0], p[1], q[1] }, true, proc, &r, &err), 0,
	       "make");
	ok(fcntl(r.process[1], F_GETFL) & O_NONBLOCK, "a non-blocking stream stays one");
	ok(fcntl(r.process[2], F_GETFL) & O_DIRECT, "packets stay packets");
	ok((fcntl(r.process[0], F_GETFL) & O_ACCMODE) == O_RDONLY, "the input is read");
	ok(write(r.process[2], "ab", 2) == 2 && write(r.process[2], "c", 1) == 1, "two packets");
	is_int(stdio_read(&r.inside[2], text, sizeof(text)), 2, "are two");
	ok(!stdio_can_splice(&r.inside[2], &r.engine[2]), "packets are not spliced");
	ok(stdio_can_splice(&r.inside[1], &r.engine[1]), "pipes are");
	stdio_relay_done(&r);
	close(p[0]), close(p[1]), close(q[0]), close(q[1]);
}

static void fill(const struct stdio_end *e, int p, const char *name)
{
	static char data[1 << 20];
	ssize_t n, total = 0;

	alarm(60); /* a write that blocks ends the test */
	while ((n = stdio_write(e, data, sizeof(data))) > 0)
		total += n;
	alarm(0);
	is_int(n, -EAGAIN, name);
	ok(total >= PIPE_BUF, "%s: %zd bytes", name, total);
	ok(!(fcntl(p, F_GETFL) & O_NONBLOCK), "%s: its flags are as they were", name);
}

static void test_ends(void)
{
	struct stdio_relay r = STDIO_RELAY_NULL;
	int p[2], s[2], nowhere = open("/", O_PATH | O_CLOEXEC);

	ok(pipe2(p, O_CLOEXEC) == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == 0, "ends");
	is_int(stdio_relay_make((const int[]){ -1, p[1], s[1] }, false, nowhere, &r, &err), 0,
	       "make without procfs");
	is_int(r.engine[1].how, STDIO_SHARED, "the pipe could not be opened again");
	ok(stdio_how_of(r.engine[1].fd) == STDIO_SHARED && stdio_how_of(r.engine[2].fd) == STDIO_TALK &&
	   stdio_how_of(r.inside[1].fd) == STDIO_OWN, "how can be told from the descriptor");
	is_int(r.engine[2].how, STDIO_TALK, "a socket");
	fill(&r.engine[1], p[1], "a shared pipe");
	fill(&r.engine[2], s[1], "a shared socket");
	ok(stdio_hangup_is_final(&r.engine[1]) && stdio_hangup_is_final(&r.engine[2]), "final");
	close(p[0]);
	is_int(stdio_write(&r.engine[1], "x", 1), -EPIPE, "no reader");
	close(s[0]);
	is_int(stdio_write(&r.engine[2], "x", 1), -EPIPE, "no peer");
	stdio_relay_done(&r);
	close(p[1]), close(s[1]), close(nowhere);
}

static void test_fifo(void)
{
	struct stdio_relay r = STDIO_RELAY_NULL;
	struct stdio_end end;
	char path[64], text[8];
	int rd, wr;

	snprintf(path, sizeof(path), "%s/fifo", dir);
	ok(mkfifo(path, 0600) == 0, "mkfifo");
	rd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	wr = open(path, O_WRONLY | O_CLOEXEC);
	is_int(stdio_relay_make((const int[]){ -1, wr, -1 }, false, proc, &r, &err), 0, "make");
	ok(!stdio_hangup_is_final(&r.engine[1]), "another reader may come");
	stdio_relay_done(&r);
	close(rd);
	is_int(stdio_relay_make((const int[]){ -1, wr, -1 }, false, proc, &r, &err), 0,
	       "no reader at the moment");
	is_int(r.engine[1].how, STDIO_SHARED, "so it is kept as it is");
	/* Named pipes know no RWF_NOWAIT: the way of all pipes on older kernels. */
	is_int(stdio_write(&r.engine[1], "abc", 3), -EPIPE, "without a reader");
	rd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	end = (struct stdio_end){ .fd = rd, .how = STDIO_SHARED };
	fcntl(rd, F_SETFL, 0);
	is_int(stdio_read(&end, text, sizeof(text)), -EAGAIN, "reading does not block");
	is_int(stdio_write(&r.engine[1], "abc", 3), 3, "a reader has come");
	is_int(stdio_read(&end, text, sizeof(text)), 3, "and reads");
	fill(&r.engine[1], wr, "without RWF_NOWAIT");
	stdio_relay_done(&r);
	close(rd);
	close(wr);
	unlink(path);
}

int main(void)
{
	TAP_BEGIN();
	signal(SIGPIPE, SIG_IGN);
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ok(mkdtemp(dir) != NULL, "folder");
	test_kinds();
	test_sharing();
	test_pipes();
	test_flags();
	test_ends();
	test_fifo();
	rmdir(dir);
	close(proc);
	return TAP_END();
}
