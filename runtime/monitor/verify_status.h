/*
 * Whether a process is what its record says it must be, by the kernel's own account.
 */
#pragma once

#include <sys/types.h>

#include "state/state.h"
#include "util/error.h"

/* -EPERM and the control's name when it is more than want allows; reads PROC/PID/status. */
int verify_compare(int proc_fd, pid_t pid, const struct state_expect *want, struct error *err);
