/*
 * Who looks at a process through a pidfd. Such a one sees its end when it has happened,
 * while wait(2) tells of it only when its tracer lets it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/*
 * Whether the parent of a process holds a pidfd of it. proc_fd: where both are visible. A
 * parent that may not be looked at counts as one that does not.
 */
int pidfd_is_watched(int proc_fd, pid_t pid, pid_t *ret_parent, bool *ret, struct error *err);
