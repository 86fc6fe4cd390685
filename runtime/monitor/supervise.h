/*
 * How a command starts a supervisor, hands a container to it, and speaks to one that is
 * there. The only door to the resident programs.
 */
#pragma once

#include "audit/audit_store.h"
#include "monitor/protocol.h"
#include "os/pidref.h"

/* A supervisor that is being started. */
struct supervise {
	struct link link;
	struct pidref ref;
	pid_t monitor;
	int monitor_fd, to_monitor; /* its pidfd and its conversation, until the supervisor has them */
};

#define SUPERVISE_NULL \
	((struct supervise){ .link = { .fd = -EBADF }, .ref = PIDREF_NULL, .monitor_fd = -EBADF, .to_monitor = -EBADF })

/*
 * Starts it and the monitor, side by side: they load while the caller goes on, and know of no container yet.
 * apart: in a cgroup of their own, for which it needs root's rights.
 */
int supervise_spawn(struct supervise *s, int proc_fd, bool apart, struct error *err);
/* The state folder, which must have its record, with the cgroup, and monitor.json. Their work goes on beside the caller's. */
int supervise_begin(struct supervise *s, int dir_fd, struct error *err);
/*
 * Hands over the container's first process, which waits for its GO or at its gate. reports_fd: where the listener of
 * its filter will come from, or -EBADF.
 */
int supervise_hand_over(struct supervise *s, const struct pidref *init, int netns_fd, int reports_fd, struct error *err);
/* Waits until every control of the policy that lives in the monitor is in force. ret_log: the audit log's name, or "". */
int supervise_await(struct supervise *s, char ret_log[AUDIT_NAME_SIZE], struct error *err);
/* Whether it said why it ends a container that is being made; then *err is that. Waits for a second at most. */
bool supervise_last_words(struct supervise *s, struct error *err);
/* From here on it outlives the caller; without this its end is the container's and ours is its. */
int supervise_commit(struct supervise *s, struct error *err);
/* Closes the conversation; not committed, the supervisor ends. */
void supervise_done(struct supervise *s);

/* Connects to the supervisor of a container. */
int supervise_open(int dir_fd, struct link *ret, struct error *err);
/* One request and its OK. */
int supervise_ask(struct link *l, struct link_msg *msg, const int *fds, size_t n_fds, struct link_msg *ret,
		  int ret_fds[LINK_FDS_MAX], struct error *err);
/* supervise_open(), one request without descriptors, the end. ret may be NULL. */
int supervise_tell(int dir_fd, struct link_msg *msg, struct link_msg *ret, struct error *err);
void supervise_close(struct link *l);
/*
 * Narrower rules or other name servers (LINK_EGRESS_*) for the monitor, which monitor.json has by now. Waits until
 * names obey them.
 */
int supervise_egress(int dir_fd, unsigned what, struct error *err);
/* With SIGKILL, and waits: the kernel then ends what it traces. 0 also when it is gone. */
int supervise_kill(int proc_fd, const struct state_record *rec, struct error *err);
/* Waits for the end of a container's supervisor, after the container's; ends it when it does not come. */
int supervise_await_end(int dir_fd, int proc_fd, const struct state_record *rec, struct error *err);
