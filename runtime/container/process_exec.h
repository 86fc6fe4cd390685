/*
 * The last steps of every container process, from the start gate to execve: labels,
 * identity, capabilities, filter, hooks, exec. Shared by init and by `exec`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "container/phase.h"
#include "filter/filter_agent.h"
#include "plan/plan.h"

/* Both must allow a call; either may be empty. */
struct process_filters {
	struct filter spec, agent;
	struct filter_pair pair;
	bool reports; /* agent's has a listener, which is the monitor's */
	const char *unreported; /* why not, or which calls are not; NULL = nothing to say */
};

struct process {
	const struct plan_process *plan;
	int proc_fd; /* verified procfs */
	int rootfs_fd; /* the container's root for look-ups */
	const struct process_filters *filters;
	int listener_sock; /* connected to the seccomp listener's socket or to the monitor, or -EBADF */
	const char *listener_state; /* JSON to send along; NULL for the monitor */
	const struct spec_hook *start_hooks; /* startContainer, for init only */
	size_t n_start_hooks;
	const char *hook_state; /* their stdin */
	const char *hook_stdout, *hook_stderr; /* files for their output, NULL = captured */
	unsigned keep_fds; /* descriptors 3 … 3+keep_fds-1 go to the process */
	int gate_fds[2]; /* what the process waits on until its start, or -EBADF */
	unsigned listen_fds; /* the first of them are for socket activation: LISTEN_FDS says so (sd_listen_fds(3)) */
	bool is_exec;
	/* found by process_prepare() */
	char *path; /* what execve gets */
	char **env; /* with HOME */
	struct filter_courier *courier;
	int error_sock; /* where a failure of the last steps is reported; set by the gate */
};

#define PROCESS_NULL                                                                               \
	((struct process){ .proc_fd = -EBADF,                                                      \
			   .rootfs_fd = -EBADF,                                                    \
			   .listener_sock = -EBADF,                                                \
			   .gate_fds = { -EBADF, -EBADF },                                         \
			   .error_sock = -EBADF })

/*
 * Before the gate, in the container's namespaces and root, still privileged: HOME,
 * working directory, and the executable, judged with the rights the process will have.
 */
int process_prepare(struct process *p, struct error *err);
/* Labels for the next execve. At create as well: an unknown one is an error of create. */
int process_labels(struct process *p, struct error *err);
/*
 * After the gate. Returns only on failure: negative when a step failed, which the
 * starter must hear of, or PROCESS_E_EXEC when execve itself did (a bad ELF file, a missing
 * interpreter), which engines expect on the container's stderr with exit status 255.
 */
enum { PROCESS_E_EXEC = 1 };
int process_execute(struct process *p, struct error *err);

extern const struct phase_list process_phases_nnp;
extern const struct phase_list process_phases_no_nnp;

/* Scheduler, io priority, memory policy, personality of a process, in its own context. */
int process_attributes(const struct plan_process *p, struct error *err);
