/*
 * The threads of a process that is about to lose its first one.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/*
 * Whether every other thread than the first is dead or dying (exit_group(2), a fatal signal), so that
 * the process ends with its first one; else that one ends alone. The others are told one
 * after the other, so it is asked again for up to 20 ms before the answer is no.
 */
int threads_all_ending(int proc_fd, pid_t pid, bool *ret, struct error *err);
