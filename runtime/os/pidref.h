/*
 * A process as {pid, start time, pidfd}: a bare pid may name another process by
 * the time it is used.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

struct pidref {
	pid_t pid; /* in the pid namespace of /proc; 0 = none */
	unsigned long long start; /* clock ticks since boot, as in stat field 22 */
	int fd; /* pidfd or -EBADF */
};

#define PIDREF_NULL ((struct pidref){ .fd = -EBADF })

/*
 * Opens the process and, when start is not 0, checks that it is still the same
 * one. Returns PIDREF_E_GONE when it is not there any more (a zombie is there).
 */
enum { PIDREF_E_GONE = 1 };
int pidref_open(int proc_fd, pid_t pid, unsigned long long start, struct pidref *ret, struct error *err);
/* Fills start for a child just cloned; ref->pid and ref->fd are set. */
int pidref_fill(int proc_fd, struct pidref *ref, struct error *err);
/* Whether the process has exited (zombie or gone). Needs ref->fd. */
bool pidref_exited(const struct pidref *ref);
/* pidfd_send_signal; -ESRCH when it has exited. */
int pidref_signal(const struct pidref *ref, int sig);
/* Waits until it has exited: 0, or -ETIMEDOUT. timeout_ms < 0 = for ever. */
int pidref_wait_exit(const struct pidref *ref, int timeout_ms);
/* Reaps a child: exit code, or 128 + signal. */
int pidref_reap(const struct pidref *ref, int *ret_status, struct error *err);
void pidref_done(struct pidref *ref);
