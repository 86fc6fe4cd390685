/*
 * The guest's end of the command channel: reads frames from a virtio serial port, runs one
 * shell script at a time as root, and sends back its output and wait status.
 *
 * A frame is a struct frame and then `length` bytes.
 *   host to guest   r SCRIPT   run (ends what is still running)
 *                   k          kill the running script
 *                   p TOKEN    answered by the same frame: who opens the channel skips all
 *                              bytes up to its own token, and is then in step
 *   guest to host   o BYTES, e BYTES   standard output, standard error
 *                   x STATUS   wait status, 4 bytes
 * A script ends with the host that asked for it: when the host leaves, it is killed.
 * Daemons that a script leaves behind live on; they are not waited for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME_MAX (16u << 20)
/* How long the pipes of an ended script are still read while others hold them open. */
#define LINGER_MS 300

struct frame {
	char type;
	char zero[3];
	uint32_t length;
};

struct agent {
	int port;
	char *input; /* FRAME_MAX and a frame */
	size_t filled;

	pid_t child; /* 0: nothing runs */
	int pidfd;
	int out;
	int err;
	bool ended;
	int status;
};

/* False when the host has gone: the bytes are lost, and the caller need not care. */
static bool send_bytes(struct agent *a, const void *bytes, size_t length)
{
	const char *next = bytes;

	while (length > 0) {
		ssize_t n = write(a->port, next, length);

		if (n > 0) {
			next += n;
			length -= n;
			continue;
		}
		struct pollfd p = { .fd = a->port, .events = POLLOUT };

		if (poll(&p, 1, 1000) > 0 && (p.revents & POLLHUP))
			return false;
	}
	return true;
}

static void send_frame(struct agent *a, char type, const void *bytes, size_t length)
{
	struct frame f = { .type = type, .length = length };

	if (send_bytes(a, &f, sizeof(f)))
		send_bytes(a, bytes, length);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void forget_child(struct agent *a)
{
	close_fd(&a->pidfd);
	close_fd(&a->out);
	close_fd(&a->err);
	a->child = 0;
	a->ended = false;
}

static void end_child(struct agent *a)
{
	if (a->child > 0 && !a->ended) {
		kill(-a->child, SIGKILL);
		waitpid(a->child, &a->status, 0);
	}
	forget_child(a);
}

static void report_end(struct agent *a)
{
	send_frame(a, 'x', &a->status, sizeof(a->status));
	forget_child(a);
}

static void run_script(const char *script, int out, int err)
{
	static char *const environment[] = {
		"HOME=/root",	 "USER=root",	     "LOGNAME=root", "SHELL=/bin/bash", "TERM=dumb",
		"LC_ALL=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		NULL,
	};
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	/* The agent outlives a lack of memory; containers must not inherit that. */
	if (write(oom, "0", 1) != 1)
		_exit(126);
	setsid();
	if (chdir("/root") || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	signal(SIGPIPE, SIG_DFL);
	execle("/bin/bash", "bash", "-c", script, (char *)NULL, environment);
	_exit(127);
}

static void start_child(struct agent *a, const char *script)
{
	int out[2] = { -1, -1 };
	int err[2] = { -1, -1 };

	end_child(a);
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		abort();
	a->child = fork();
	if (a->child == 0)
		run_script(script, out[1], err[1]);
	if (a->child < 0)
		abort();
	close(out[1]);
	close(err[1]);
	a->out = out[0];
	a->err = err[0];
	a->pidfd = pidfd_open(a->child, 0);
}

static void forward(struct agent *a, int *fd, char type)
{
	char bytes[32768];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n > 0)
		send_frame(a, type, bytes, n);
	else
		close_fd(fd);
}

static void obey(struct agent *a, char type, char *payload, size_t length)
{
	switch (type) {
	case 'r':
		payload[length] = '\0';
		start_child(a, payload);
		break;
	case 'k':
		if (a->child > 0 && !a->ended)
			kill(-a->child, SIGKILL);
		break;
	case 'p':
		send_frame(a, 'p', payload, length);
		break;
	}
}

static void read_port(struct agent *a)
{
	size_t room = FRAME_MAX + sizeof(struct frame) - a->filled;
	ssize_t n = read(a->port, a->input + a->filled, room);

	if (n <= 0)
		return;
	a->filled += n;
	for (;;) {
		struct frame f;

		if (a->filled < sizeof(f))
			return;
		memcpy(&f, a->input, sizeof(f));
		if (f.length > FRAME_MAX) { /* out of step: the next host's token sets it right */
			a->filled = 0;
			return;
		}
		if (a->filled < sizeof(f) + f.length)
			return;
		char *payload = a->input + sizeof(f);
		size_t rest = a->filled - sizeof(f) - f.length;
		char first_of_rest = payload[f.length];

		obey(a, f.type, payload, f.length);
		payload[f.length] = first_of_rest;
		memmove(a->input, payload + f.length, rest);
		a->filled = rest;
	}
}

/* A restored snapshot finds the host gone and, a moment later, a new one there. */
static void host_left(struct agent *a)
{
	end_child(a);
	a->filled = 0;
	usleep(20000);
}

static void step(struct agent *a)
{
	struct pollfd p[] = {
		{ .fd = a->port, .events = POLLIN },
		{ .fd = a->out, .events = POLLIN },
		{ .fd = a->err, .events = POLLIN },
		{ .fd = a->ended ? -1 : a->pidfd, .events = POLLIN },
	};
	int n = poll(p, 4, a->ended ? LINGER_MS : -1);

	if (n < 0)
		return;
	if (n == 0) {
		report_end(a);
		return;
	}
	if (p[1].revents)
		forward(a, &a->out, 'o');
	if (p[2].revents)
		forward(a, &a->err, 'e');
	if (p[3].revents && waitpid(a->child, &a->status, 0) == a->child)
		a->ended = true;
	/* Without a host the port is readable, too: it then reads as ended. */
	if (p[0].revents & (POLLHUP | POLLERR))
		host_left(a);
	else if (p[0].revents & POLLIN)
		read_port(a);
	if (a->ended && a->out < 0 && a->err < 0)
		report_end(a);
}

/* Without udev the port has its kernel name only. */
static int open_port(void)
{
	for (;;) {
		int fd = open("/dev/vport0p1", O_RDWR | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0)
			return fd;
		usleep(20000);
	}
}

int main(void)
{
	struct agent a = { .pidfd = -1, .out = -1, .err = -1 };
	struct rlimit files = { .rlim_cur = 1u << 20, .rlim_max = 1u << 20 };

	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	a.port = open_port();
	a.input = malloc(FRAME_MAX + sizeof(struct frame) + 1);
	if (!a.input)
		return 1;
	for (;;)
		step(&a);
}
