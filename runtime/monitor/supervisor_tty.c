/*
 * Owns the supervisor's part in a terminal session: the helper that has the engine's
 * terminal as its controlling one.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/supervisor.h"
#include "os/libexec.h"
#include "os/procattr.h"
#include "os/syscalls.h"
#include "util/fd.h"

#define TTY_PROGRAM "agentrun-tty"

/* In the child; the descriptors are the program's interface. */
static void become_tty(int exe, int outer, int inner, int sock, bool keep_user)
{
	char *const argv[] = { (char *)TTY_PROGRAM, keep_user ? (char *)"keep-user" : NULL, NULL };
	char *const envp[] = { NULL };
	int high[3] = { fcntl(outer, F_DUPFD_CLOEXEC, 16), fcntl(inner, F_DUPFD_CLOEXEC, 16),
			fcntl(sock, F_DUPFD_CLOEXEC, 16) };
	int i;

	exe = fcntl(exe, F_DUPFD_CLOEXEC, 16);
	if (signals_reset() < 0)
		_exit(125);
	for (i = 0; i < 3; i++)
		if (exe < 0 || high[i] < 0 || dup2(high[i], 3 + i) < 0)
			_exit(125);
	if (fd_cloexec_from(6) < 0)
		_exit(125);
	(void)syscall(SYS_execveat, exe, "", argv, envp, AT_EMPTY_PATH);
	_exit(126);
}

int sup_tty_start(struct sup_process *p, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	_cleanup_close_ int exe = -EBADF;
	int socks[2];
	pid_t pid;
	int r;

	if (fds[0] < 0 || fds[1] < 0 || fds[2] >= 0)
		return error_text(err, -EPROTO, "a terminal is two descriptors");
	r = libexec_open(TTY_PROGRAM, &exe, err);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "create a socket pair for %s", TTY_PROGRAM);
	/* Nothing of ours is changed in the child, so it may borrow our memory until its execve. */
	pid = vfork();
	if (pid == 0)
		become_tty(exe, fds[1], fds[0], socks[1], p->sup->record->rootless);
	(void)close(socks[1]);
	fds[2] = socks[0];
	if (pid < 0)
		return error_set(err, -errno, "start %s", TTY_PROGRAM);
	p->tty_pid = pid;
	return 0;
}

void sup_tty_reap(struct sup_process *p)
{
	if (p->tty_pid > 0 && waitpid(p->tty_pid, NULL, WNOHANG) == p->tty_pid)
		p->tty_pid = 0;
}
