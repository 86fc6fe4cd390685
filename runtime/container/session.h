/*
 * Sessions in the life of a container: found by its record, or by its id when they outlived
 * it, and held still while something is done to them. snap/ makes, reads and changes them.
 */
#pragma once

#include "container/container.h"
#include "snap/snap.h"

struct session {
	struct snap snap;
	bool kept; /* the container is gone */
};
#define SESSION_NULL ((struct session){ .snap = SNAP_NULL })

/* For reading. -ENOENT when the container has none. */
int session_open(const struct container_env *env, const char *id, struct session *ret, struct error *err);
void session_done(struct session *s);
#define _cleanup_session_ _cleanup_(session_done)

/* A session that is to be changed. */
struct session_change;
struct session_how {
	bool recover; /* finishes what a crash interrupted */
	bool force; /* over others' changes */
	bool stage; /* a commit of path (NULL = all) comes: copies are made before anything is frozen */
	const char *path;
};
/* Locks the session and freezes what may write to it. */
int session_begin(const struct container_env *env, const char *id, const struct session_how *how, struct session_change **ret,
		  struct error *err);
/* Lets the container go on. Frees in any case. */
int session_end(struct session_change *c, struct error *err);
struct snap *session_snap(struct session_change *c);
bool session_kept(const struct session_change *c);
/* What was copied ahead; may be NULL. */
const struct snap_stage *session_stage(const struct session_change *c);
/* For rollback: the overlays of a live container, else NULL. */
const int *session_merged(const struct session_change *c);
/* The container's audit log gets to know; what: "snapshot", "rollback", "commit", "undo". 0 when there is no log. */
int session_log(struct session_change *c, const char *what, const char *snapshot, const char *path, uint64_t files, uint64_t bytes,
		struct error *err);

/* At delete: the session goes, unless it is kept until it is committed or discarded. log: as in the record. */
int session_release(const char *path, const char *log, struct error *err);
