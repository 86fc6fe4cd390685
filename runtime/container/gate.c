/*
 * Waiting at the start gate. After COMMIT nobody holds our hand: the creator has
 * exited, and all that can happen is a start, a signal, or the end of the cgroup.
 */
#include "container/gate.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "container/proto.h"
#include "util/fd.h"

/* A starter connects and speaks at once. */
#define VISIT_TIMEOUT_S 1

/*
 * As first process of a pid namespace we would not even notice a TERM with default
 * disposition, so all are blocked and read; those that stop or are ignored by default stay so.
 */
static int signals_watch(int *ret_fd, struct error *err)
{
	static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU };
	sigset_t set;
	size_t i;
	int fd;

	(void)sigfillset(&set);
	for (i = 0; i < ELEMENTSOF(harmless); i++)
		(void)sigdelset(&set, harmless[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_set(err, -errno, "block signals at the start gate");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_set(err, -errno, "open a signal descriptor for the start gate");
	*ret_fd = fd;
	return 0;
}

static void die_of_signal(int sig_fd)
{
	struct signalfd_siginfo info;

	if (read(sig_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		_exit(128 + (int)info.ssi_signo);
}

/* 0: START was taken; PROTO_E_CLOSED: a visitor who went away without a word. */
static int take_start(int sock, struct error *err)
{
	struct proto_msg msg;
	int r;

	r = proto_recv(sock, &msg, err);
	if (r != 0)
		return r;
	if (msg.type != PROTO_START)
		return error_text(err, -EPROTO, "start gate got %s instead of START", proto_type_name(msg.type));
	return proto_send(sock, PROTO_STARTED, 0, err);
}

int gate_wait(int listen_fd, int connected_fd, int *ret_sock, struct error *err)
{
	const struct timeval visit = { .tv_sec = VISIT_TIMEOUT_S };
	_cleanup_close_ int sig_fd = -EBADF;
	int r;

	assert((listen_fd >= 0) != (connected_fd >= 0));

	r = signals_watch(&sig_fd, err);
	if (r < 0)
		return r;
	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = listen_fd >= 0 ? listen_fd : connected_fd, .events = POLLIN },
			{ .fd = sig_fd, .events = POLLIN },
		};
		_cleanup_close_ int conn = -EBADF;

		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_set(err, -errno, "wait at the start gate");
		}
		if (fds[1].revents)
			die_of_signal(sig_fd);
		if (!fds[0].revents)
			continue;

		if (listen_fd < 0) {
			r = take_start(connected_fd, err);
			if (r == PROTO_E_CLOSED)
				return error_text(err, -EPIPE, "the starter ended before it started the container");
			*ret_sock = connected_fd;
			return r;
		}
		conn = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (conn < 0)
			continue;
		/* A bad visitor must neither end the container nor hold it: only a whole START counts. */
		if (setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &visit, sizeof(visit)) < 0)
			continue;
		if (take_start(conn, err) == 0) {
			*ret_sock = take_fd(&conn);
			return 0;
		}
	}
}

void child_fail(int sock, const struct error *err)
{
	if (sock >= 0)
		proto_send_error(sock, err);
	_exit(1);
}

void process_run(struct process *p)
{
	struct error err = ERROR_NULL;
	int r;

	r = process_execute(p, &err);
	if (r == PROCESS_E_EXEC) {
		/* The starter already counts this as started; the user reads it in the container's log. */
		(void)fd_write_all(STDERR_FILENO, err.text, strlen(err.text));
		(void)fd_write_all(STDERR_FILENO, "\n", 1);
		if (p->error_sock >= 0)
			proto_send_exec_failed(p->error_sock, &err);
		_exit(255);
	}
	child_fail(p->error_sock, &err);
}
