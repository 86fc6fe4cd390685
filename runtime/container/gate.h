/*
 * The start gate, on the side of the waiting process, and the one entry of a child
 * process into its last steps. Private to runtime/container.
 */
#pragma once

#include "container/process_exec.h"

/*
 * Waits for START: on a listening socket from any number of visitors (create), or on a
 * connected one (run, exec). A terminating signal that arrives meanwhile ends the process with
 * 128 + n, as it would end the program that is not there yet. *ret_sock: where to report errors.
 */
int gate_wait(int listen_fd, int connected_fd, int *ret_sock, struct error *err);

/* process_execute(), and the report of its failure; never returns. */
_noreturn_ void process_run(struct process *p);
/* Reports err to the other side and ends. */
_noreturn_ void child_fail(int sock, const struct error *err);
