/*
 * The birth of a container's process, for create and exec alike: cloned into its
 * namespaces and cgroup, connected to us by a socket pair. Private to runtime/container.
 */
#pragma once

#include <stdbool.h>

#include "cgroup/cgroup.h"
#include "os/ns.h"
#include "os/pidref.h"

struct launch {
	/* in */
	const struct ns_spec *ns;
	const struct cgroup *cgroup;
	int proc_fd; /* borrowed */
	ns_child_fn fn;
	void *arg; /* holds this struct: the child finds it in its copy */
	int clone_fd; /* borrowed: the v2 folder to be born in, or -EBADF = the container's */
	bool by_hand; /* the caller moves it into cgroups itself (exec --cgroup) */
	pid_t peer; /* exec: the init whose cgroup is taken when the container's own cannot have processes (v2) */
	/* out, and state */
	struct cgroup_join join;
	int sync_parent, sync_child;
	struct pidref ref;
};

#define LAUNCH_NULL ((struct launch){ .proc_fd = -EBADF, .clone_fd = -EBADF, .sync_parent = -EBADF, .sync_child = -EBADF, .ref = PIDREF_NULL })

/*
 * Parent: returns when the child is in its cgroup and waits for GO. On failure the child,
 * if any, has been killed and reaped.
 */
int launch_run(struct launch *l, struct error *err);
/* Child, first of all: enters the cgroup, reports, waits for GO. *ret_host_pid: its pid as the host sees it. */
int launch_child(struct launch *l, pid_t *ret_host_pid, struct error *err);
/* Kills and reaps the process, if it is there. */
void launch_kill(struct launch *l);
void launch_done(struct launch *l);
