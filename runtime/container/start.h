/*
 * The last exchange with a waiting process: START, its execve held and verified, the end
 * of the connection. For run and exec on their pair, for start on the gate. Private to runtime/container.
 */
#pragma once

#include "container/verify.h"

/*
 * sock: connected to the process. pid, start: as pidref. *ret_how: how it was verified,
 * NULL where nothing is demanded. On failure the process may still be there: the caller ends it.
 */
int start_verified(int sock, pid_t pid, int proc_fd, const struct state_expect *want, const char **ret_how,
		   struct error *err);
