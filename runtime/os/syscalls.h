/*
 * System calls that glibc 2.36 lacks, and constants that Debian 12's headers
 * lack. Thin: -1 and errno as the C library would.
 */
#pragma once

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int sys_openat2(int dirfd, const char *path, const struct open_how *how)
{
	return (int)syscall(SYS_openat2, dirfd, path, how, sizeof(*how));
}

static inline pid_t sys_clone3(struct clone_args *args)
{
	return (pid_t)syscall(SYS_clone3, args, sizeof(*args));
}

/*
 * fork(2) with a pidfd by the old clone(2) (Linux 5.2): startContainer hooks run under the
 * container's filter, and the engines' profiles answer clone3 with ENOSYS. The third
 * argument receives the pidfd on every architecture.
 */
static inline pid_t sys_clone_pidfd(int *ret_pidfd)
{
	return (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_PIDFD | SIGCHLD), NULL, ret_pidfd, NULL, 0);
}

static inline int sys_pidfd_open(pid_t pid, unsigned flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int sys_pidfd_send_signal(int fd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

static inline int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}
