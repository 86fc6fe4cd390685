/*
 * Which operation is legal in which state, and what is said when it is not: a table
 * of state × operation. Private to runtime/container.
 */
#pragma once

#include "cgroup/cgroup.h"
#include "container/container.h"
#include "os/pidref.h"

enum lifecycle_op { OP_START, OP_KILL, OP_DELETE, OP_PAUSE, OP_RESUME, OP_UPDATE, OP_EXEC, OP_STATS, OP_CHECKPOINT, _OP_MAX };

/* 0, or the refusal in runc's words. */
int lifecycle_check(enum lifecycle_op op, const struct container_view *v, struct error *err);

/* Everything a command on an existing container opens. */
struct container_handle {
	int proc_fd, root_fd, dir_fd;
	struct container_view view;
	struct pidref init; /* pid 0 when it has exited */
	struct cgroup cgroup; /* borrowed from the record */
};

/* "container does not exist" when it does not. */
int handle_open(const struct container_env *env, const char *id, struct container_handle *ret, struct error *err);
/* The same, but a creation that is still going on is waited for, up to timeout_ms. */
int handle_open_settled(const struct container_env *env, const char *id, int timeout_ms, struct container_handle *ret,
			struct error *err);
void handle_done(struct container_handle *h);
#define _cleanup_handle_ _cleanup_(handle_done)
#define HANDLE_NULL ((struct container_handle){ .proc_fd = -EBADF, .root_fd = -EBADF, .dir_fd = -EBADF, .init = PIDREF_NULL })

/* The state root of a command; creates nothing. STATE_E_NOT_FOUND when missing. */
int root_open(const struct container_env *env, bool create, int *ret_fd, struct error *err);
/* The configuration kept in the state folder. */
int handle_load_spec(const struct container_handle *h, struct spec **ret, struct error *err);
/* SIGKILL to everything that belongs to it; waits for init's end, 10 s at most. */
int handle_kill_all(struct container_handle *h, struct error *err);
