/*
 * Owns the list of system calls that the monitor's loop needs, and nothing else may make.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "monitor/lockdown.h"
#include "monitor/monitor.h"

static const int allowed[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_close, SYS_fstat,
	SYS_lseek, SYS_fsync, SYS_fdatasync, SYS_splice, SYS_tee, SYS_pipe2, SYS_fcntl,
	SYS_dup3, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_epoll_ctl,
	SYS_epoll_pwait, SYS_ppoll, SYS_timerfd_settime, SYS_timerfd_create, SYS_timerfd_gettime,
	SYS_eventfd2, SYS_signalfd4, SYS_socket, SYS_bind, SYS_listen, SYS_connect, SYS_accept4,
	SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
	SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername, SYS_clock_gettime,
	SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_gettid,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_exit, SYS_exit_group, SYS_futex,
	SYS_bpf, SYS_restart_syscall, SYS_tgkill, SYS_geteuid, SYS_newfstatat,
	SYS_vmsplice, SYS_preadv2, SYS_pwritev2, SYS_fstatfs,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
};

/* The log is open for writing here: no call may take out what stands in it. */
static const struct lockdown_form forms[] = {
	{ SYS_fallocate, FALLOC_FL_KEEP_SIZE, EPERM },
	{ SYS_ioctl, FIONREAD, ENOTTY },
	{ SYS_ioctl, TCGETS, ENOTTY },
	{ SYS_ioctl, TCSETS, ENOTTY },
};

int monitor_lockdown(struct monitor *m, struct error *err)
{
	int r = lockdown_rights(m->config->rootless, err);

	return r < 0 ? r : lockdown_calls(allowed, sizeof(allowed) / sizeof(allowed[0]), forms,
					  sizeof(forms) / sizeof(forms[0]), err);
}
