/*
 * One `exec` in progress: what the parent has opened, and what the child, which is a
 * copy of it, goes on with. Private to runtime/container.
 */
#pragma once

#include "container/guard.h"
#include "container/launch.h"
#include "container/lifecycle.h"
#include "container/process_exec.h"
#include "container/streams.h"
#include "monitor/supervise.h"
#include "os/ns.h"

struct exec {
	const struct container_exec_options *opt;
	struct container_handle h;
	struct arena arena;
	struct spec *spec;
	struct guard guard;
	struct plan_process plan;
	struct process_filters filters;
	struct ns_spec ns;
	struct ns_ids host_ns; /* our own */
	bool joins_user, joins_mount;
	int root_fd; /* of a container that shares our mount namespace */
	int console_sock, master_fd, pidfd_sock, listener_sock;
	int reports_sock; /* the monitor's end, until it has it */
	struct link link; /* to the container's supervisor */
	uint32_t number; /* which it gave us */
	int cgroup_fd; /* of our own, from it */
	struct streams streams; /* where output is captured */
	struct launch launch; /* the process, and the socket pair to it */
	unsigned keep_fds;
	struct process process;
};

/* exec_supervise.c; without a supervisor the first does nothing and the second looks itself. */
int exec_announce(struct exec *e, struct error *err);
int exec_start(struct exec *e, const struct state_expect *want, struct error *err);

extern const struct phase_list exec_child_phases;
/* Entry of the child: never returns. */
_noreturn_ void exec_child(void *arg);
