/*
 * The last exchange with a waiting process: START, its execve held and verified, the end
 * of the connection. For run and exec on their pair, for start on the gate. Private to runtime/container.
 */
#pragma once

#include "container/verify.h"

/*
 * sock: connected to the process. pid, start: as pidref. *ret_how: how it was verified,
 * NULL where nothing is demanded, or where the execve itself failed: then the process has told why on its stderr, and ended with 255.
 * On failure the process may still be there: the caller ends it.
 */
int start_verified(int sock, pid_t pid, int proc_fd, const struct state_expect *want, const char **ret_how,
		   struct error *err);

struct link;
struct link_msg;
struct state_record;
/*
 * The same for a process that has a supervisor, which does the looking: msg is what it is asked for
 * (START, or PROCESS with the descriptors that are passed along).
 */
int start_supervised(int sock, struct link *l, struct link_msg *msg, const int *passed, size_t n_passed, int proc_fd,
		     const struct state_expect *want, const char **ret_how, struct error *err);
/* Init, whichever way its record says. */
int start_container(int sock, int dir_fd, int proc_fd, const struct state_record *rec, const char **ret_how,
		    struct error *err);
