/*
 * One `create` (or `run`) in progress: what the parent has opened and made, and what
 * the child, which is a copy of it, goes on with. Private to runtime/container.
 */
#pragma once

#include <stdbool.h>

#include "cgroup/cgroup.h"
#include "container/container.h"
#include "container/guard.h"
#include "container/phase.h"
#include "container/process_exec.h"
#include "container/launch.h"
#include "container/notify.h"
#include "container/streams.h"
#include "filter/filter.h"
#include "monitor/supervise.h"
#include "os/intelrdt.h"
#include "os/ns.h"
#include "plan/plan.h"
#include "state/state.h"

struct create {
	const struct container_env *env;
	const struct container_create_options *opt;
	bool is_run;
	bool rootless, in_userns;

	char *root; /* state root */
	char *bundle; /* absolute */
	char *config_text; /* the configuration as read, kept for the state folder */
	size_t config_len;
	int proc_fd, root_fd, dir_fd, bundle_fd;
	int null_fd; /* verified /dev/null for masks */
	int console_sock, pidfd_sock, listener_sock;
	int reports_sock; /* the monitor's end, until it has it */
	int gate_fd; /* listening start gate; create only */
	int lock_fd; /* on the state folder, until the container is created */
	unsigned listen_fds; /* passed by LISTEN_FDS */

	struct spec *spec; /* narrowed by the policy from the plan phase on */
	struct guard guard;
	struct plan *plan;
	struct state_record *record;
	struct cgroup_request cgroup_request;
	struct cgroup cgroup;
	struct process_filters filters;
	struct ns_spec ns;
	struct ns_ids host_ns; /* our own: what the child must have left */
	struct launch launch; /* the init process, and the socket pair to it */
	int resolv_fd; /* the mount that says which name servers are asked, O_PATH; -EBADF = none */
	struct supervise supervise; /* under a policy that needs the resident programs */
	struct streams streams; /* of the init process, where its output is captured */
	struct notify notify; /* run under NOTIFY_SOCKET */
	int session_root_fd; /* the overlay over the root, detached */
	int master_fd; /* run without console socket: the pty's master, received from the child */

	/* undone when a phase fails */
	bool dir_made, session_made, cgroup_made, rdt_made, hooks_ran;

	/* child */
	int rootfs_fd, pty_slave;
	pid_t host_pid;
	bool terminal_done;
	struct process process;
};

extern const struct phase_list create_parent_phases;
extern const struct phase_list create_child_phases;

void create_init(struct create *c, const struct container_env *env, const struct container_create_options *opt,
		 bool is_run);
void create_done(struct create *c);

/* Entry of the child: never returns. */
_noreturn_ void create_child(void *arg);

/* Whether runtime hooks (prestart, createRuntime) are there, so that both sides exchange MOUNTED and HOOKED. */
bool create_has_runtime_hooks(const struct create *c);

/* "self/uid_map" says that this is not the initial user namespace. */
int in_user_namespace(int proc_fd, bool *ret, struct error *err);

/* Pid file: digits only, complete when it appears. */
int pid_file_write(const char *path, pid_t pid, struct error *err);

/* Sends the descriptor of the process to the --pidfd-socket. */
int pidfd_socket_send(int sock, int pidfd, struct error *err);

/* LISTEN_FDS of the environment when LISTEN_PID is this process, else 0. */
unsigned listen_fds_count(void);
/* Every descriptor 3 … 3+n-1 must have been inherited. Before anything marks them close-on-exec. */
int preserve_fds_check(unsigned n, struct error *err);

/* Everything of a record's resources: cgroup, rdt group, poststop hooks, folder. Used by delete and by a failed create. */
int container_release(int root_fd, const char *id, const struct state_record *rec, const struct cgroup *cg,
		      const struct spec *spec, struct error *err);

/* The record's cgroup as the cgroup layer's struct (pointers borrowed from the record). */
void record_to_cgroup(const struct state_record *rec, struct cgroup *ret);
int record_set_cgroup(struct state_record *rec, const struct cgroup *cg, struct error *err);

/* State document for hooks and the seccomp listener. pid 0 = no pid member. */
int hook_state_json(const struct state_record *rec, const char *status, pid_t pid, char **ret, struct error *err);
/* The container process state that a seccomp listener receives with its descriptor. */
int seccomp_state_json(const struct state_record *rec, const char *metadata, pid_t pid, char **ret, struct error *err);
