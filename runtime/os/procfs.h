/*
 * The one handle through which /proc is read and written. It is opened once,
 * early, while the mount namespace is still the host's; it is checked to be the
 * root of a procfs, and everything below it is resolved without crossing mounts,
 * so that nothing mounted over /proc/… can redirect a write (CVE-2019-16884,
 * CVE-2019-19921, CVE-2025-52881).
 */
#pragma once

#include <sys/types.h>

#include "util/error.h"

/* O_PATH descriptor of a verified /proc; works across later setns and pivot_root. */
int procfs_open(int *ret_fd, struct error *err);
/* openat2 below the handle: no symlinks out of it ("self" is one inside), no magic links, no mount crossing. */
int procfs_openat(int proc_fd, const char *path, int flags, int *ret_fd, struct error *err);
/* One write(2) to an existing file below the handle. */
int procfs_write(int proc_fd, const char *path, const char *data, size_t len, struct error *err);
/*
 * As procfs_write() for PROC/self/NAME, also from a process that is not dumpable (after a
 * change of ids): its files belong to the host's root, so it becomes dumpable for the one open.
 */
int procfs_write_self(int proc_fd, const char *name, const char *data, size_t len,
		      struct error *err);
/* Whole small file (64 KiB at most), malloc'ed. */
int procfs_read(int proc_fd, const char *path, char **ret_text, struct error *err);
/* Re-opens a descriptor of this process with other flags through PROC/self/fd (magic link on purpose). */
int procfs_reopen(int proc_fd, int fd, int flags, int *ret_fd, struct error *err);
/*
 * Opens a namespace of a process (PROC/PID/ns/NAME; pid 0 = this one) for setns.
 * The one other magic link that is followed on purpose.
 */
int procfs_open_ns(int proc_fd, pid_t pid, const char *name, int *ret_fd, struct error *err);
/*
 * The number that a process has in the pid namespace of this procfs, which after a clone into a new
 * one is not our own any more; -ESRCH when it is gone or not visible there.
 */
int procfs_pid_of(int proc_fd, int pidfd, pid_t *ret, struct error *err);
/* Field 22 of PROC/PID/stat in clock ticks and the state letter; -ESRCH when there is no such process. */
int procfs_stat(int proc_fd, pid_t pid, unsigned long long *ret_start, char *ret_state, struct error *err);
