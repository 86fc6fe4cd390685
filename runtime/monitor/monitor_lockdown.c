/*
 * Owns what the monitor gives up before it reads the first byte from inside: its user, all
 * capabilities, and every system call that its loop does not need. Then it proves it.
 */
#include <errno.h>
#include <grp.h>
#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/monitor.h"
#include "os/creds.h"

/*
 * One user for each monitor, so that none can signal or trace another: above every range
 * that user databases and id maps hand out. pid_max is 2^22.
 */
#define MONITOR_UID_BASE 0x70000000u

/* As <linux/audit.h> composes them, whose names are also those of our log. */
#define ARCH_64BIT  0x80000000u
#define ARCH_LITTLE 0x40000000u
#if defined(__x86_64__)
#define MONITOR_ARCH (EM_X86_64 | ARCH_64BIT | ARCH_LITTLE)
#elif defined(__aarch64__)
#define MONITOR_ARCH (EM_AARCH64 | ARCH_64BIT | ARCH_LITTLE)
#else
#error "the monitor's filter knows x86_64 and aarch64"
#endif

static const int allowed[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_close, SYS_fstat,
	SYS_lseek, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_splice, SYS_tee, SYS_pipe2, SYS_fcntl,
	SYS_dup3, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_epoll_ctl,
	SYS_epoll_pwait, SYS_ppoll, SYS_timerfd_settime, SYS_timerfd_create, SYS_timerfd_gettime,
	SYS_eventfd2, SYS_signalfd4, SYS_socket, SYS_bind, SYS_listen, SYS_connect, SYS_accept4,
	SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
	SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername, SYS_clock_gettime,
	SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_gettid,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_exit, SYS_exit_group, SYS_futex,
	SYS_bpf, SYS_ioctl, SYS_restart_syscall, SYS_tgkill, SYS_geteuid, SYS_newfstatat,
	SYS_fallocate, SYS_vmsplice, SYS_preadv2, SYS_pwritev2, SYS_fstatfs,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
};
#define N_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

static int load_filter(struct error *err)
{
	struct sock_filter code[N_ALLOWED + 8];
	struct sock_fprog prog = { .filter = code };
	size_t n = 0, i;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MONITOR_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < N_ALLOWED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
							 (uint8_t)(N_ALLOWED - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return error_set(err, -errno, "load the monitor's system call filter");
	return 0;
}

static int drop_ids(uid_t id, struct error *err)
{
	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return error_set(err, -errno, "become user %u", id);
	if (setresuid(0, 0, 0) == 0)
		return error_text(err, -EPERM, "the monitor can still become root: refusing to run it");
	return 0;
}

int monitor_lockdown(struct monitor *m, struct error *err)
{
	const struct caps_sets none = { 0 };
	int r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, -errno, "give up new privileges");
	/* In a user namespace there is no spare user: there the capabilities go, and the user stays. */
	if (geteuid() == 0 && !m->config->rootless)
		r = drop_ids(MONITOR_UID_BASE + (uid_t)getpid(), err);
	if (r == 0)
		r = caps_set(&none) < 0 ? error_set(err, -errno, "give up capabilities") : 0;
	if (r < 0)
		return r;
	/* A change of ids makes a process undumpable; said again where there was none. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return error_set(err, -errno, "make the monitor undumpable");
	return load_filter(err);
}
