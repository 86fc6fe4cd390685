/*
 * Sessions in the life of a container: found by its record, or by its id when they outlived
 * it. snap/ makes, reads and changes them.
 */
#pragma once

#include "container/container.h"
#include "snap/snap.h"

enum session_state {
	SESSION_KEPT,	 /* the container is gone */
	SESSION_STOPPED,
	SESSION_LIVE,	 /* its processes may write */
};

struct session {
	struct snap snap;
	enum session_state state;
};
#define SESSION_NULL ((struct session){ .snap = SNAP_NULL })

/* lock: for whoever changes something. -ENOENT when the container has none. */
int session_open(const struct container_env *env, const char *id, bool lock, struct session *ret, struct error *err);
void session_done(struct session *s);
#define _cleanup_session_ _cleanup_(session_done)

/* At delete: the session goes, unless it is kept until it is committed or discarded. */
int session_release(const char *path, struct error *err);
