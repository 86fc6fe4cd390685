/* Terminals, console sockets, and the foreground proxy between two real ptys. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "os/pidref.h"
#include "os/procfs.h"
#include "os/syscalls.h"
#include "os/tty.h"
#include "tests/unit/tap.h"
#include "util/fd.h"

static struct error err;
static int proc = -1;

static void test_pty(void)
{
	int root = open("/", O_PATH | O_CLOEXEC), master = -1, slave = -1, n = 0;
	char name[64] = "", text[16] = "";
	struct termios t;
	struct winsize ws;

	is_int(tty_open_pty(root, &master, &slave, &err), 0, "open a pty");
	ok(isatty(master) && isatty(slave), "both are terminals");
	ok(ioctl(master, TIOCGPTN, &n) == 0 && ttyname_r(slave, name, sizeof(name)) == 0, "names");
	snprintf(text, sizeof(text), "/dev/pts/%d", n);
	is_str(name, text, "the slave belongs to the master");
	ok(tcgetattr(slave, &t) == 0 && (t.c_oflag & ONLCR), "lines end in CR LF, as engines expect");
	ok(t.c_lflag & ICANON, "but it is no raw terminal");
	ok((fcntl(master, F_GETFD) & FD_CLOEXEC) && (fcntl(slave, F_GETFD) & FD_CLOEXEC), "close-on-exec");
	ok(write(slave, "a\nb\n", 4) == 4, "write to the slave");
	memset(text, 0, sizeof(text));
	ok(read(master, text, sizeof(text) - 1) > 0, "read from the master");
	is_str(text, "a\r\nb\r\n", "they do");
	is_int(tty_plain_newlines(master, &err), 0, "behind the user's own terminal");
	ok(tcgetattr(slave, &t) == 0 && !(t.c_oflag & ONLCR), "they do not");
	is_int(tty_set_size(master, 33, 99, &err), 0, "set size");
	ok(ioctl(slave, TIOCGWINSZ, &ws) == 0 && ws.ws_row == 33 && ws.ws_col == 99, "it is seen");
	is_int(tty_set_size(root, 1, 1, &err), -EBADF, "size of no terminal");
	close(master);
	close(slave);
	close(root);
}

/* A container's /dev made by somebody else. */
static void test_bad_dev(void)
{
	char dir[] = "/tmp/test_tty.XXXXXX", path[128];
	int root, master = -1, slave = -1;

	ok(mkdtemp(dir) != NULL, "root");
	root = open(dir, O_PATH | O_CLOEXEC);
	is_int(tty_open_pty(root, &master, &slave, &err), -ENOENT, "no /dev");
	ok(strstr(err.text, "is devpts mounted at /dev/pts?") != NULL, "message: %s", err.text);
	snprintf(path, sizeof(path), "%s/dev", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/dev/ptmx", dir);
	close(open(path, O_CREAT | O_WRONLY, 0666));
	is_int(tty_open_pty(root, &master, &slave, &err), -ENODEV, "ptmx is a file");
	unlink(path);
	if (mknod(path, S_IFCHR | 0666, makedev(1, 3)) == 0)
		is_int(tty_open_pty(root, &master, &slave, &err), -ENODEV, "ptmx is another device");
	unlink(path);
	ok(symlink("/../../../../../../../../dev/ptmx", path) == 0, "a link out of the root");
	is_int(tty_open_pty(root, &master, &slave, &err), -ELOOP, "stays in the root");
	unlink(path);
	is_int(master, -1, "nothing was opened");
	snprintf(path, sizeof(path), "%s/dev", dir);
	rmdir(path);
	rmdir(dir);
	close(root);
}

static void test_sockets(void)
{
	char dir[] = "/tmp/test_tty.XXXXXX", path[600], name[200];
	struct stat st;
	int d, deep, listener = -1, a = -1, b = -1, fd = -1, pair[2], got, i;
	char text[32] = "";
	size_t n = 0;

	ok(mkdtemp(dir) != NULL, "folder");
	d = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	umask(0);
	is_int(unix_listen_at(d, "sock", &listener, &err), 0, "listen");
	umask(022);
	ok(fstatat(d, "sock", &st, 0) == 0 && S_ISSOCK(st.st_mode), "a socket");
	is_int(st.st_mode & 0777, 0600, "its mode");
	is_int(unix_connect_at(d, "sock", &a, &err), 0, "connect");
	b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	is_int(fd_send(a, "hello", 5, NULL, 0), 0, "send");
	is_int(fd_recv(b, text, sizeof(text), &n, NULL, 0), 0, "receive");
	is_int(n, 5, "one message");
	ok(symlinkat("sock", d, "link") == 0, "symlink");
	is_int(unix_connect_at(d, "link", &fd, &err), -ENOTSOCK, "a symlink is refused");
	is_int(unix_listen_at(d, "sock", &fd, &err), -EADDRINUSE, "name in use");
	is_int(unix_connect_at(d, "none", &fd, &err), -ENOENT, "no socket");
	close(a);
	close(b);
	close(listener);
	unlinkat(d, "link", 0);
	unlinkat(d, "sock", 0);

	/* A console socket whose path is far longer than sun_path. */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ok(mkdir(path, 0700) == 0, "deep folder");
	deep = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	{
		struct sockaddr_un addr = { .sun_family = AF_UNIX };

		listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/console.sock", deep);
		ok(bind(listener, (struct sockaddr *)&addr, sizeof(addr)) == 0 && listen(listener, 1) == 0,
		   "console listener");
	}
	snprintf(path, sizeof(path), "%s/%s/console.sock", dir, name);
	is_int(tty_socket_connect(path, "console socket", &a, &err), 0, "connect to a long path");
	b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	ok(pipe2(pair, O_CLOEXEC) == 0, "a descriptor to send");
	is_int(tty_send_master(a, pair[0], &err), 0, "send it");
	memset(text, 0, sizeof(text));
	is_int(fd_recv(b, text, sizeof(text) - 1, &n, &got, 1), 0, "receive it");
	is_str(text, "/dev/ptmx", "with its name");
	ok(write(pair[1], "x", 1) == 1 && read(got, text, 1) == 1, "it is that one");
	unlink(path);
	is_int(tty_socket_connect(path, "console socket", &fd, &err), -ENOENT, "no listener");
	ok(strncmp(err.text, "connect to console socket /tmp/", 31) == 0 &&
	   strstr(err.text, ": no such file or directory"), "its message");
	for (i = 0; i < 2; i++)
		close(pair[i]);
	close(a);
	close(b);
	close(got);
	close(listener);
	close(deep);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rmdir(path);
	close(d);
	ok(rmdir(dir) == 0, "all removed");
}

/* sh -c script on the slave of a new pty, as a container process would be. */
static pid_t start_on_pty(const char *script, int *ret_master)
{
	int root = open("/", O_PATH | O_CLOEXEC), slave = -1;
	sigset_t none;
	pid_t pid;

	if (tty_open_pty(root, ret_master, &slave, &err) < 0 || tty_plain_newlines(slave, &err) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		if (tty_attach(slave, &err) < 0)
			_exit(99);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(98);
	}
	close(slave);
	close(root);
	return pid;
}

/* The runtime's part: runs the proxy and ends with the child's status. */
static _noreturn_ void runtime(const char *script, const char *done)
{
	struct pidref child = PIDREF_NULL;
	int master = -1, status = -1;

	child.pid = start_on_pty(script, &master);
	child.fd = sys_pidfd_open(child.pid, 0);
	if (child.fd < 0 || tty_proxy_run(master, &child, NULL, &status, &err) < 0)
		_exit(97);
	if (done)
		dprintf(STDOUT_FILENO, "%s", done);
	_exit(status);
}

static size_t read_until(int fd, char *text, size_t size, const char *want, int ms)
{
	size_t len = strlen(text);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (!strstr(text, want) && len < size - 1 && poll(&p, 1, ms) > 0) {
		n = read(fd, text + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
		text[len] = '\0';
	}
	return len;
}

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* User's terminal ─ proxy ─ container's terminal. */
static void test_proxy_terminal(void)
{
	int root = open("/", O_PATH | O_CLOEXEC), outer = -1, user = -1;
	struct winsize big = { .ws_row = 50, .ws_col = 111 };
	char text[4096] = "";
	struct termios before, during, after;
	pid_t pid;

	ok(tty_open_pty(root, &outer, &user, &err) == 0, "the user's terminal");
	tcgetattr(user, &before);
	before.c_oflag |= ONLCR;
	tcsetattr(user, TCSANOW, &before);
	tty_set_size(outer, 24, 80, &err);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		/* A shell cannot trap what it was born ignoring, as below nohup(1). */
		(void)signal(SIGHUP, SIG_DFL);
		setsid();
		if (tty_attach(user, &err) < 0)
			_exit(96);
		runtime("stty size; tty; read a; echo got-$a; trap 'stty size' WINCH; trap 'echo hup' HUP;"
			" trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done", NULL);
	}
	read_until(outer, text, sizeof(text), "pts", 5000);
	ok(strstr(text, "24 80\r\n") != NULL, "the size is taken over, LF becomes CR LF for the user");
	tcgetattr(user, &during);
	ok(!(during.c_lflag & (ICANON | ECHO | ISIG)), "raw while it runs");
	text[0] = '\0';
	ok(write(outer, "one\r", 4) == 4, "type");
	read_until(outer, text, sizeof(text), "ready", 5000);
	ok(strstr(text, "got-one") != NULL, "input arrives");
	ok(strstr(text, "one\r\ngot-one") != NULL, "echoed once, by the inner terminal: %zu", strlen(text));
	text[0] = '\0';
	ioctl(outer, TIOCSWINSZ, &big);
	read_until(outer, text, sizeof(text), "50 111", 5000);
	ok(strstr(text, "50 111") != NULL, "a new size is followed");
	kill(pid, SIGHUP);
	read_until(outer, text, sizeof(text), "hup", 5000);
	ok(strstr(text, "hup") != NULL, "signals are handed on");
	kill(pid, SIGTERM);
	is_int(status_of(pid), 5, "exit status");
	tcgetattr(user, &after);
	ok(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag &&
	   after.c_oflag == before.c_oflag, "modes restored");
	close(outer);
	close(user);
	close(root);
}

/* stdin and stdout are pipes; everything that was written arrives before the end. */
static void test_proxy_pipes(void)
{
	int in[2], out[2], round, bad = 0;
	static char text[400000];
	pid_t pid;

	ok(pipe(in) == 0 && pipe(out) == 0, "pipes");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		runtime("stty -echo; echo go; read a; echo $a; seq 1 40000; exit 9", "THE-END");
	}
	close(out[1]);
	close(in[0]);
	text[0] = '\0';
	read_until(out[0], text, sizeof(text), "go\n", 5000);
	ok(write(in[1], "line\n", 5) == 5, "input");
	close(in[1]);
	read_until(out[0], text, sizeof(text), "THE-END", 10000);
	is_int(status_of(pid), 9, "exit status");
	ok(strstr(text, "go\nline\n1\n2\n3\n") != NULL, "input and first output");
	ok(strstr(text, "\n39999\n40000\nTHE-END") != NULL, "the last output, before the end");
	is_int(strlen(text), 228894 + 8 + 7, "nothing lost, nothing more");
	close(out[0]);

	/* A line written at the very end must not be overtaken by the exit. */
	for (round = 0; round < 50; round++) {
		if (pipe(out) < 0)
			break;
		pid = fork();
		if (pid == 0) {
			int null = open("/dev/null", O_RDONLY);

			dup2(null, 0);
			dup2(out[1], 1);
			runtime("exec echo last", NULL);
		}
		close(out[1]);
		text[0] = '\0';
		read_until(out[0], text, sizeof(text), "never", 5000);
		bad += strcmp(text, "last\n") != 0 || status_of(pid) != 0;
		close(out[0]);
	}
	is_int(bad, 0, "50 short programs");
}

static void test_proxy_reader_gone(void)
{
	int out[2];
	pid_t pid;

	ok(pipe(out) == 0, "pipe");
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDONLY);

		dup2(null, 0);
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		runtime("seq 1 100000; exit 3", NULL);
	}
	close(out[0]);
	close(out[1]);
	is_int(status_of(pid), 3, "a reader that goes away stops nothing");
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		runtime("exec 0<&- 1>&- 2>&-; sleep 0.3; exit 4", NULL);
	}
	is_int(status_of(pid), 4, "a child that closes its terminal is waited for");
}

static pid_t start_plain(const char *script)
{
	pid_t pid = fork();
	sigset_t none;

	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(98);
	}
	return pid;
}

static void test_wait(void)
{
	struct pidref child = PIDREF_NULL;
	int status = -1, fds[2];
	char c;
	pid_t pid;

	child.pid = start_plain("exit 6");
	child.fd = sys_pidfd_open(child.pid, 0);
	is_int(wait_forwarding(&child, NULL, &status, &err), 0, "wait");
	is_int(status, 6, "exit status");
	pidref_done(&child);

	ok(pipe2(fds, 0) == 0, "pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		sigset_t all;
		char script[128];

		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		snprintf(script, sizeof(script),
			 "trap 'exit 21' USR1; echo x >&%d; while :; do sleep 0.05; done", fds[1]);
		child.pid = start_plain(script);
		child.fd = sys_pidfd_open(child.pid, 0);
		if (wait_forwarding(&child, NULL, &status, &err) < 0)
			_exit(97);
		_exit(status);
	}
	ok(read(fds[0], &c, 1) == 1, "child is ready");
	kill(pid, SIGPIPE);
	kill(pid, SIGCHLD);
	kill(pid, SIGUSR1);
	is_int(status_of(pid), 21, "the signal reached the child, the others did not end us");
	close(fds[0]);
	close(fds[1]);

	pid = fork();
	if (pid == 0) {
		child.pid = start_plain("kill -TERM $$");
		child.fd = sys_pidfd_open(child.pid, 0);
		if (wait_forwarding(&child, NULL, &status, &err) < 0)
			_exit(97);
		_exit(status);
	}
	is_int(status_of(pid), 128 + SIGTERM, "status of a signal");
}

int main(void)
{
	if (geteuid() != 0)
		return TAP_SKIP_ALL("needs root");
	TAP_BEGIN();
	alarm(60);
	is_int(procfs_open(&proc, &err), 0, "open /proc");
	test_pty();
	test_bad_dev();
	test_sockets();
	test_proxy_terminal();
	test_proxy_pipes();
	test_proxy_reader_gone();
	test_wait();
	return TAP_END();
}
