/*
 * agentrun-tty: the one process of a terminal session that the kernel tells of a new window
 * size, because the engine's terminal is its controlling one. It sets that size on the
 * container's terminal and reports it. Bytes are not its business.
 *
 * Descriptors: 3 slave of the engine's pty, 4 master of the container's, 5 the monitor.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/lockdown.h"
#include "monitor/relay_tty.h"
#include "util/fd.h"

#define OUTER_FD   3
#define INNER_FD   4
#define MONITOR_FD 5
/* An argument: there is no other user to become. */
#define KEEP_USER "keep-user"

static const int allowed[] = {
	SYS_read, SYS_ioctl, SYS_sendto, SYS_ppoll, SYS_close, SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
#ifdef SYS_poll
	SYS_poll,
#endif
};

/* Every signal becomes a message, the hang-up of the engine's terminal too. */
static int watch_signals(int *ret_fd, struct error *err)
{
	sigset_t all, told;
	int fd;

	(void)sigfillset(&all);
	(void)sigemptyset(&told);
	(void)sigaddset(&told, SIGWINCH);
	(void)sigaddset(&told, SIGHUP);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		return error_set(err, -errno, "block signals");
	fd = signalfd(-1, &told, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_set(err, -errno, "open a signal descriptor");
	*ret_fd = fd;
	return 0;
}

static void carry_size(void)
{
	struct relay_window w;
	struct winsize ws;

	/* No size yet: what the container's terminal has stays. */
	if (ioctl(OUTER_FD, TIOCGWINSZ, &ws) < 0 || (ws.ws_row == 0 && ws.ws_col == 0))
		return;
	(void)ioctl(INNER_FD, TIOCSWINSZ, &ws);
	w = (struct relay_window){ .rows = ws.ws_row, .cols = ws.ws_col };
	(void)send(MONITOR_FD, &w, sizeof(w), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* False when the engine's terminal hung up. */
static bool obey(int signal_fd)
{
	struct signalfd_siginfo info;
	bool resized = false;

	while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			return false;
		resized = true;
	}
	if (resized)
		carry_size();
	return true;
}

static int set_up(bool keep_user, int *ret_signal_fd, struct error *err)
{
	int r;

	r = watch_signals(ret_signal_fd, err);
	if (r < 0)
		return r;
	if (setsid() < 0 || ioctl(OUTER_FD, TIOCSCTTY, 0) < 0)
		return error_set(err, -errno, "make the engine's terminal the controlling one");
	r = lockdown_rights(keep_user, err);
	return r < 0 ? r : lockdown_calls(allowed, sizeof(allowed) / sizeof(allowed[0]), NULL, 0, err);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_NULL;
	int signal_fd = -EBADF;

	if (set_up(argc > 1 && strcmp(argv[1], KEEP_USER) == 0, &signal_fd, &err) < 0)
		return 1;
	carry_size();
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = signal_fd, .events = POLLIN },
			{ .fd = MONITOR_FD, .events = POLLIN },
		};

		if (poll(fds, ELEMENTSOF(fds), -1) < 0)
			continue;
		if (fds[1].revents)
			break;
		if (fds[0].revents && !obey(signal_fd))
			return 0;
	}
	return 0;
}
