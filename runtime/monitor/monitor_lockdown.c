/*
 * Owns the list of system calls that the monitor's loop needs, and nothing else may make.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "audit/audit.h"
#include "monitor/lockdown.h"
#include "monitor/monitor.h"

static const int allowed[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_close, SYS_fstat,
	SYS_lseek, SYS_fsync, SYS_fdatasync, SYS_splice, SYS_tee, SYS_pipe2,
	SYS_dup3, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_epoll_ctl,
	SYS_epoll_pwait, SYS_ppoll, SYS_timerfd_settime, SYS_timerfd_create, SYS_timerfd_gettime,
	SYS_eventfd2, SYS_signalfd4, SYS_bind, SYS_listen, SYS_connect, SYS_accept4,
	SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
	SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername, SYS_clock_gettime,
	SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_gettid,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_exit, SYS_exit_group, SYS_futex,
	SYS_restart_syscall, SYS_tgkill, SYS_geteuid, SYS_newfstatat,
	SYS_vmsplice, SYS_preadv2, SYS_fstatfs,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
};

/*
 * The log is open for writing here: no call may take out what stands in it, write over it
 * (pwrite(2), RWF_NOAPPEND), or take O_APPEND off (F_SETFL). Sockets are those of the
 * container's network: unix ones would lead to the host's services by their paths.
 */
static const struct lockdown_form forms[] = {
	{ SYS_fallocate, 1, FALLOC_FL_KEEP_SIZE, EPERM },
	{ SYS_ioctl, 1, FIONREAD, ENOTTY },
	{ SYS_ioctl, 1, TCGETS, ENOTTY },
	{ SYS_ioctl, 1, TCSETS, ENOTTY },
	/* Of listeners no more than this: to ask, and to answer. Not ADDFD, which puts a descriptor into the container. */
	{ SYS_ioctl, 1, (uint32_t)SECCOMP_IOCTL_NOTIF_RECV, ENOTTY },
	{ SYS_ioctl, 1, (uint32_t)SECCOMP_IOCTL_NOTIF_SEND, ENOTTY },
	{ SYS_fcntl, 1, F_GETFD, EPERM },
	{ SYS_fcntl, 1, F_SETFD, EPERM },
	{ SYS_fcntl, 1, F_GETFL, EPERM },
	{ SYS_fcntl, 1, F_DUPFD_CLOEXEC, EPERM },
	{ SYS_fcntl, 1, F_GETPIPE_SZ, EPERM },
	{ SYS_fcntl, 1, F_SETPIPE_SZ, EPERM },
	{ SYS_pwritev2, 5, 0, EPERM },
	{ SYS_pwritev2, 5, RWF_NOWAIT, EPERM },
	/* The tables of its own container; elsewhere the call leads to the verifier and to programs of the host. */
	{ SYS_bpf, 0, BPF_MAP_LOOKUP_ELEM, EPERM },
	{ SYS_bpf, 0, BPF_MAP_UPDATE_ELEM, EPERM },
	{ SYS_bpf, 0, BPF_MAP_UPDATE_BATCH, EPERM },
	{ SYS_bpf, 0, BPF_MAP_DELETE_ELEM, EPERM },
	{ SYS_socket, 0, AF_INET, EPERM },
	{ SYS_socket, 0, AF_INET6, EPERM },
};

/* A part of the log and what follows before the next one is there; it cannot fill the disk with one file. */
#define FILE_BYTES_MAX (2 * AUDIT_PART_BYTES)

int monitor_lockdown(struct monitor *m, struct error *err)
{
	const struct rlimit file = { FILE_BYTES_MAX, FILE_BYTES_MAX };
	struct rlimit files;
	int r;

	/* Several for each command that runs. */
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return error_set(err, -errno, "read the limit on open files");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return error_set(err, -errno, "raise the limit on open files");
	if (setrlimit(RLIMIT_FSIZE, &file) < 0)
		return error_set(err, -errno, "limit the size of the monitor's files");
	r = lockdown_rights(m->config->rootless, err);

	return r < 0 ? r : lockdown_calls(allowed, sizeof(allowed) / sizeof(allowed[0]), forms,
					  sizeof(forms) / sizeof(forms[0]), err);
}
