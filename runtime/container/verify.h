/*
 * Proof that what was decided is in force: the process is held at its execve, before the
 * first instruction of the container's own program, and the kernel's view of it is
 * compared with the plan. Private to runtime/container.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "container/process_exec.h"
#include "monitor/verify_status.h"
#include "state/state.h"

struct verify {
	pid_t pid;
	int proc_fd; /* borrowed */
	bool traced;
};

enum { VERIFY_E_ENDED = 1 }; /* it ended before its execve: the reason comes over the start socket */

/* What the plan says the process will be, for the record. Nothing under passthrough. */
void verify_expect(const struct plan_process *p, const struct process_filters *f, bool passthrough, struct state_expect *ret);

/*
 * Attaches before START is sent. Where the kernel forbids tracing (yama ptrace_scope 3,
 * rootless beside an undumpable process) verify_exec() looks right after execve instead.
 */
int verify_begin(pid_t pid, int proc_fd, struct verify *ret, struct error *err);
/*
 * Waits for the execve stop, compares, lets it run. On a difference the process is killed
 * and the error names the control. *ret_how: "exec-stop" or "after-exec", static.
 */
int verify_exec(struct verify *v, const struct state_expect *want, const char **ret_how, struct error *err);
