/*
 * The relay of notifications: what a container may say, and that its datagrams cannot do
 * more to us than be read.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "container/notify.h"
#include "os/procfs.h"
#include "os/syscalls.h"
#include "os/tty.h"
#include "state/state.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

static struct error err;
static char folder[] = "/tmp/agentrun-test-notify-XXXXXX";

static void filtered(const char *in, size_t len, const char *want, unsigned want_state, const char *name)
{
	char out[NOTIFY_MESSAGE_MAX + 2];
	unsigned state = 99;
	size_t n = notify_filter(in, len, out, &state);

	is_str(out, want, name);
	ok(n == strlen(want) && state == want_state, "%s: length %zu, state %u", name, n, state);
}

static void test_filter(void)
{
	static const struct {
		const char *in, *want;
		unsigned state;
	} cases[] = {
		{ "READY=1", "READY=1\n", NOTIFY_READY },
		{ "READY=1\n", "READY=1\n", NOTIFY_READY },
		{ "\n\nREADY=1\n\n", "READY=1\n", NOTIFY_READY },
		{ "STATUS=a b\nREADY=1\nWATCHDOG=1", "STATUS=a b\nREADY=1\nWATCHDOG=1\n", NOTIFY_READY },
		{ "RELOADING=1\nMONOTONIC_USEC=18446744073709551615", "RELOADING=1\nMONOTONIC_USEC=18446744073709551615\n",
		  NOTIFY_RELOADING },
		{ "STOPPING=1\nERRNO=4095", "STOPPING=1\nERRNO=4095\n", NOTIFY_STOPPING },
		{ "READY=1\nREADY=1", "READY=1\n", NOTIFY_READY },
		{ "STATUS=first\nSTATUS=second", "STATUS=first\n", 0 },
		{ "STATUS=", "STATUS=\n", 0 },
		{ "STATUS=a=b=c", "STATUS=a=b=c\n", 0 },
		{ "STATUS=\xf0\x9f\x8e\x89", "STATUS=\xf0\x9f\x8e\x89\n", 0 },
		/* nothing of these */
		{ "", "", 0 },
		{ "\n", "", 0 },
		{ "READY", "", 0 },
		{ "READY=", "", 0 },
		{ "READY=0", "", 0 },
		{ "READY=11", "", 0 },
		{ "READY=1 ", "", 0 },
		{ " READY=1", "", 0 },
		{ "ready=1", "", 0 },
		{ "XREADY=1", "", 0 },
		{ "READY=1\r\n", "", 0 },
		{ "MAINPID=1", "", 0 },
		{ "MAINPIDFD=1", "", 0 },
		{ "FDSTORE=1\nFDNAME=a\nFDPOLL=0\nFDSTOREREMOVE=1", "", 0 },
		{ "BARRIER=1", "", 0 },
		{ "WATCHDOG_USEC=1", "", 0 },
		{ "WATCHDOG=trigger", "", 0 },
		{ "EXTEND_TIMEOUT_USEC=1", "", 0 },
		{ "NOTIFYACCESS=all", "", 0 },
		{ "EXIT_STATUS=0", "", 0 },
		{ "BUSERROR=org.example", "", 0 },
		{ "ERRNO=4096\nMONOTONIC_USEC=1x", "", 0 },
		{ "ERRNO=-1\nMONOTONIC_USEC=", "", 0 },
		{ "STATUS=a\tb", "", 0 },
		{ "STATUS=\x1b[31m", "", 0 },
		{ "STATUS=\x7f", "", 0 },
		{ "STATUS=\xc2\x80", "", 0 },
		{ "STATUS=\xc2\x9f", "", 0 },
		{ "STATUS=\xff", "", 0 },
		{ "STATUS=\xc3", "", 0 },
		{ "STATUS=\xc0\x80", "", 0 },
	};
	char big[NOTIFY_MESSAGE_MAX + 2], status[NOTIFY_STATUS_MAX + 32], want[NOTIFY_STATUS_MAX + 64];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++)
		filtered(cases[i].in, strlen(cases[i].in), cases[i].want, cases[i].state, "lines");
	filtered("STATUS=\xc2\xa0", 9, "STATUS=\xc2\xa0\n", 0, "U+00A0 is no control character");
	filtered("READY=1\0", 8, "", 0, "a NUL byte at the end");
	filtered("READY=1\n\0STATUS=x", 17, "", 0, "a NUL byte inside");

	(void)snprintf(status, sizeof(status), "STATUS=%0*d", NOTIFY_STATUS_MAX, 0);
	(void)snprintf(want, sizeof(want), "%s\n", status);
	filtered(status, strlen(status), want, 0, "the longest status");
	(void)snprintf(status, sizeof(status), "STATUS=%0*d", NOTIFY_STATUS_MAX + 1, 0);
	filtered(status, strlen(status), "", 0, "a longer one");

	memset(big, '\n', sizeof(big));
	memcpy(big + NOTIFY_MESSAGE_MAX - 7, "READY=1", 7);
	filtered(big, NOTIFY_MESSAGE_MAX, "READY=1\n", NOTIFY_READY, "the largest datagram");
	filtered(big, NOTIFY_MESSAGE_MAX + 1, "", 0, "a larger one");
}

/* A relay as in a container's folder; *ret_host hears what is handed on, *ret_client is the container. */
static int relay_open(struct notify *n, int *ret_host, int *ret_client)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char path[100];
	int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)snprintf(path, sizeof(path), "%s/host", folder);
	(void)unlink(path);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	*ret_host = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bind(*ret_host, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	(void)setenv("NOTIFY_SOCKET", path, 1);
	is_int(notify_open(dir_fd, n, &err), 0, "open the relay");
	(void)close(dir_fd);
	(void)snprintf(path, sizeof(path), "%s/" STATE_NOTIFY_DIR "/notify.sock", folder);
	return unix_connect_datagram(path, ret_client, &err);
}

static void say(int client, const char *text)
{
	if (send(client, text, strlen(text), 0) < 0)
		ok(false, "send %s", text);
}

/* What the host hears next, "" for nothing. */
static const char *heard(int host)
{
	static char text[NOTIFY_MESSAGE_MAX + 128];
	ssize_t n = recv(host, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static size_t open_fds(void)
{
	size_t n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_relay(void)
{
	struct notify n = NOTIFY_NULL;
	int host = -EBADF, client = -EBADF, fds[FD_SEND_MAX], i;
	char big[NOTIFY_MESSAGE_MAX + 10];
	struct stat st;
	size_t before;
	char path[128];

	is_int(relay_open(&n, &host, &client), 0, "connect to it");
	(void)snprintf(path, sizeof(path), "%s/" STATE_NOTIFY_DIR "/notify.sock", folder);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0666, "its mode, whatever the umask");
	(void)notify_relay(&n);
	is_str(heard(host), "", "nothing was said");

	say(client, "STATUS=one\nMAINPID=7");
	say(client, "MAINPID=8");
	say(client, "READY=1");
	(void)notify_relay(&n);
	is_str(heard(host), "STATUS=one\n", "what is harmless");
	(void)notify_relay(&n);
	is_str(heard(host), "", "what is not");
	ok(!n.ready, "not ready yet");
	(void)notify_relay(&n);
	is_str(heard(host), "READY=1\n", "ready, without a process to watch");
	ok(n.ready, "now");
	n.main_pid = 4711;
	say(client, "READY=1");
	(void)notify_relay(&n);
	is_str(heard(host), "READY=1\nMAINPID=4711\n", "ready, and whom to watch");

	memset(big, '\n', sizeof(big));
	memcpy(big, "READY=1", 7);
	ok(send(client, big, sizeof(big), 0) == (ssize_t)sizeof(big), "a datagram that is too long");
	(void)notify_relay(&n);
	is_str(heard(host), "", "is dropped");
	ok(send(client, "", 0, 0) == 0, "an empty datagram");
	say(client, "WATCHDOG=1");
	ok(notify_relay(&n), "was there");
	ok(notify_relay(&n), "and another one");
	ok(!notify_relay(&n), "and no more");
	is_str(heard(host), "WATCHDOG=1\n", "does not stop the next");

	before = open_fds();
	for (i = 0; i < FD_SEND_MAX; i++)
		fds[i] = client;
	is_int(fd_send(client, "STATUS=fds", 10, fds, FD_SEND_MAX), 0, "descriptors");
	(void)notify_relay(&n);
	is_str(heard(host), "STATUS=fds\n", "go nowhere");
	is_int(open_fds(), before, "and are not ours");
	say(client, "STATUS=1");
	say(client, "STOPPING=1");
	notify_drain(&n);
	is_str(heard(host), "STATUS=1\n", "all that is left");
	is_str(heard(host), "STOPPING=1\n", "to the last");
	(void)close(client);
	(void)close(host);

	/* The manager has gone: no signal, no failure. */
	is_int(unix_connect_datagram(path, &client, &err), 0, "connect again");
	say(client, "STATUS=nobody hears");
	(void)notify_relay(&n);
	ok(true, "alive");
	(void)close(client);
	notify_done(&n);
	ok(n.sock < 0 && n.host < 0, "closed");
}

static void test_flood(void)
{
	struct notify n = NOTIFY_NULL;
	int host = -EBADF, client = -EBADF, i, got = 0;

	is_int(relay_open(&n, &host, &client), 0, "a relay");
	for (i = 0; i < 500; i++) {
		say(client, "STATUS=flood");
		(void)notify_relay(&n);
		got += *heard(host) != '\0';
	}
	ok(got >= 50 && got < 100, "%d of 500 messages at once are handed on", got);
	say(client, "READY=1");
	(void)notify_relay(&n);
	is_str(heard(host), "READY=1\n", "the first READY always is");
	say(client, "READY=1");
	(void)notify_relay(&n);
	is_str(heard(host), "", "others are not");
	(void)usleep(450000);
	for (got = 0, i = 0; i < 20; i++) {
		say(client, "WATCHDOG=1");
		(void)notify_relay(&n);
		got += *heard(host) != '\0';
	}
	ok(got >= 4 && got < 12, "%d after a while", got);
	(void)close(client);
	(void)close(host);
	notify_done(&n);
}

/* Says READY after a while, or not, and ends. */
static struct pidref child_saying(int client, const char *text)
{
	struct pidref p = PIDREF_NULL;

	p.pid = fork();
	if (p.pid == 0) {
		(void)usleep(100000);
		if (text)
			(void)send(client, text, strlen(text), 0);
		_exit(0);
	}
	p.fd = (int)syscall(SYS_pidfd_open, p.pid, 0);
	return p;
}

/* Hears two datagrams, tells them all at once, and only then closes the barrier's descriptor. */
static pid_t manager_start(int host, int report)
{
	char text[256];
	size_t at = 0, len;
	int fd = -EBADF, i;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)fcntl(host, F_SETFL, 0);
	for (i = 0; i < 2; i++) {
		if (fd_recv(host, text + at, sizeof(text) - at, &len, &fd, 1) < 0)
			_exit(1);
		at += len;
	}
	if (fd < 0 || write(report, text, at) != (ssize_t)at)
		_exit(1);
	_exit(0);
}

static void test_wait(void)
{
	struct notify n = NOTIFY_NULL;
	int host = -EBADF, client = -EBADF, pipe_fds[2];
	struct timespec from, to;
	struct pidref p;
	char text[256];
	pid_t manager;
	ssize_t len;

	is_int(relay_open(&n, &host, &client), 0, "a relay");
	ok(pipe(pipe_fds) == 0, "pipe");
	p = child_saying(client, NULL);
	is_int(notify_wait(&n, &p, p.pid, &err), 0, "a process that ends without a word");
	ok(!n.ready, "is not ready");
	is_str(heard(host), "", "and nothing was said");
	(void)waitpid(p.pid, NULL, 0);
	pidref_done(&p);

	manager = manager_start(host, pipe_fds[1]);
	p = child_saying(client, "READY=1\nMAINPID=1");
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	is_int(notify_wait(&n, &p, 12, &err), 0, "one that is ready");
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	ok(to.tv_sec - from.tv_sec < 4, "the barrier was answered");
	len = read(pipe_fds[0], text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	is_str(text, "READY=1\nMAINPID=12\nBARRIER=1", "and what was said before it heard");
	(void)waitpid(manager, NULL, 0);
	(void)waitpid(p.pid, NULL, 0);
	pidref_done(&p);
	(void)close(client);
	(void)close(host);
	notify_done(&n);
}

static void test_open(void)
{
	struct notify n = NOTIFY_NULL;
	struct pidref nobody = PIDREF_NULL;
	int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)setenv("NOTIFY_SOCKET", "/no/such/socket", 1);
	is_int(notify_open(dir_fd, &n, &err), -ENOENT, "nobody listens");
	is_str(err.text, "NOTIFY_SOCKET: connect to socket /no/such/socket: no such file or directory", "its text");
	is_int(notify_open(root_fd, &n, &err), 0, "a container that was created without");
	ok(n.sock < 0, "has no relay");
	(void)setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	is_int(notify_open(dir_fd, &n, &err), -EINVAL, "another kind of socket");
	is_str(err.text, "NOTIFY_SOCKET: socket \"vsock:2:1234\" is neither an absolute path nor @NAME", "its text");
	(void)setenv("NOTIFY_SOCKET", "@", 1);
	is_int(notify_open(dir_fd, &n, &err), -EINVAL, "a name that is none");
	(void)setenv("NOTIFY_SOCKET", "@agentrun-test-nobody", 1);
	is_int(notify_open(dir_fd, &n, &err), -ECONNREFUSED, "an abstract name that nobody has");
	(void)setenv("NOTIFY_SOCKET", "", 1);
	ok(notify_host_socket() == NULL, "an empty variable is none");
	(void)unsetenv("NOTIFY_SOCKET");
	is_int(notify_open(dir_fd, &n, &err), 0, "without the variable");
	ok(n.sock < 0, "there is no relay");
	is_int(notify_wait(&n, &nobody, 1, &err), 0, "nor anything to wait for");
	(void)close(dir_fd);
	(void)close(root_fd);
}

int main(void)
{
	char path[128];
	struct mount_op op = MOUNT_OP_NULL;
	int dir_fd, proc_fd, made;
	char *dir = NULL;
	struct stat st;

	if (!mkdtemp(folder))
		return TAP_SKIP_ALL("no temporary folder");
	TAP_BEGIN();
	(void)umask(077);
	is_int(procfs_open(&proc_fd, &err), 0, "open /proc");
	dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)setenv("NOTIFY_SOCKET", "/anything", 1);
	is_int(notify_dir_path(folder, "", &dir, &err), 0, "path of the folder");
	op.source = dir;
	made = notify_dir_make(dir_fd, &op, proc_fd, &err);
	ok(made == 0 || made == -EPERM, "make the folder, and the mount where that is allowed: %d", made);
	ok(made < 0 || geteuid() != 0 || op.tree_fd >= 0, "the mount");
	mount_op_done(&op);
	ok(fstatat(dir_fd, STATE_NOTIFY_DIR, &st, 0) == 0 && (st.st_mode & 07777) == 0755, "its mode, whatever the umask");
	is_int(notify_dir_make(dir_fd, &op, proc_fd, &err), -EEXIST, "only once");
	(void)unsetenv("NOTIFY_SOCKET");
	free(take_ptr(dir));
	is_int(notify_dir_path(folder, "", &dir, &err), 0, "without the variable");
	is_str(dir, NULL, "there is no such path");
	(void)close(dir_fd);
	test_filter();
	test_open();
	test_relay();
	test_flood();
	test_wait();
	(void)snprintf(path, sizeof(path), "rm -r %s", folder);
	ok(system(path) == 0, "clean up");
	return TAP_END();
}
