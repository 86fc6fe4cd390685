/*
 * Sessions: what a container changes in its root filesystem or in a folder of the host is kept in a
 * layer of its own until somebody has looked at it. An overlay lies over each original; all
 * upper folders of a container live in one image file of fixed size with a filesystem of its
 * own, so that the cap in bytes and inodes holds whatever the host's filesystem can do.
 *
 *   SNAP_DIR/ROOT-HASH/ID/session.json   what is layered over what, and since when
 *                         layer.img      the upper folders: N/upper, N/work
 *
 * Needs the host's root. Knows no policy, no cgroup and no running process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "os/mount.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/json_write.h"
#include "util/str.h"

#define SNAP_DIR "/var/lib/agentrun/sessions"
#define SNAP_LAYERS_MAX 32
#define SNAP_SIZE_MIN (UINT64_C(16) << 20)

/* One original and its upper folder, whose number is the index. */
struct snap_layer {
	char *destination; /* inside the container, "/" for its root */
	char *source;	   /* canonical path of the original */
	uint64_t dev, ino; /* of the original's top */
	uint64_t born;	   /* when that was made, ns; 0 = its filesystem does not know */
	uint64_t merged;   /* device number of the overlay that the container sees; 0 = unknown */
	struct id_maps uids, gids; /* of an id-mapped mount of the original, else empty */
};

struct snap_record {
	struct arena arena; /* of all strings */
	char *id, *root;    /* the container's, and the folder its state is below */
	char *boot;	    /* id of the boot in which dev numbers are valid */
	struct timespec since; /* what changed in the original later was not seen when the session began */
	uint64_t size, inodes; /* caps */
	char *log;  /* name of the container's audit log, once the container is gone; NULL = none */
	bool outlived; /* the container is gone */
	bool keep; /* outlives the container until it is committed or discarded */
	struct snap_layer *layers;
	size_t n_layers;
};

struct snap_record *snap_record_free(struct snap_record *rec);
static inline void snap_record_freep(struct snap_record **rec)
{
	*rec = snap_record_free(*rec);
}
#define _cleanup_snap_record_ _cleanup_(snap_record_freep)

/* Where the session of a container is, whether there is one or not; root is made canonical. malloc'ed. */
int snap_path(const char *root, const char *id, char **ret, struct error *err);

/* An open session. */
struct snap {
	char *path;
	int dir_fd;
	int lock_fd; /* held by whoever changes something */
	struct snap_record *record;
};
#define SNAP_NULL ((struct snap){ .dir_fd = -EBADF, .lock_fd = -EBADF })
enum snap_conditions {
	SNAP_E_NOT_FOUND = 1, /* no session, snapshot, ... there */
	SNAP_E_CONFLICT = 2,  /* a commit would write over others' changes: nothing was done */
};

/* A layer while it is being mounted. */
struct snap_over {
	int lower_fd;	   /* the original: a detached clone of its mount alone; used up */
	const char *label; /* for SELinux, or NULL */
	int mount_fd;	   /* out: the overlay, detached, with the original's nosuid, nodev and noexec */
	const char *source; /* for messages */
	size_t layer;	    /* number of the upper folder in the image */
	bool view;	    /* to look at only: nothing can be written */
	/*
	 * For an id-mapped lower_fd: plain_fd is the original as it is, userns_fd has the mapping. The upper folder is
	 * mapped the same way, so that it holds ids as the original does; work is done in the name of uid and gid, which are mapped.
	 */
	int plain_fd, userns_fd;
	uid_t uid;
	gid_t gid;
};
#define SNAP_OVER_NULL ((struct snap_over){ .lower_fd = -EBADF, .mount_fd = -EBADF, .plain_fd = -EBADF, .userns_fd = -EBADF })
/* The mapping of the layer (none: nothing happens), and who works by it. */
int snap_over_map(struct snap_over *over, const struct snap_layer *layer, struct error *err);
void snap_over_done(struct snap_over *over);

/*
 * Makes the session's folder, record, image and overlays from rec (borrowed): id, root, caps, keep,
 * and layers with destination and source; the rest is filled in. overs: one for each layer. -EEXIST when
 * a kept session is there. On failure nothing new is left.
 */
int snap_make(const char *path, struct snap_record *rec, struct snap_over *overs, struct error *err);
/* Whether other mounts lie below the canonical path: an overlay over it would not show them. */
int snap_has_mounts_below(int proc_fd, const char *path, bool *ret, struct error *err);
/* Everything of it is gone; missing is done. Processes that still use it keep what they have. */
int snap_remove(const char *path, struct error *err);

/* SNAP_E_NOT_FOUND. lock: for whoever changes something; waits for another one. */
int snap_open(const char *path, bool lock, struct snap *ret, struct error *err);
void snap_done(struct snap *s);
#define _cleanup_snap_ _cleanup_(snap_done)

/* A session of this host. */
struct snap_listed {
	struct snap_record *record;
	char *id, *path; /* of its folder */
	uint64_t bytes;	 /* of its layer, on the disk */
};
struct snap_list {
	struct snap_listed *items;
	size_t n, room;
};
/* All there are, below all roots. snap_list_done() in any case. */
int snap_list(struct snap_list *ret, struct error *err);
void snap_list_done(struct snap_list *l);
/* The one session whose id is, or begins with, id; both malloc'ed. SNAP_E_NOT_FOUND, -ENOTUNIQ. */
int snap_find(const char *id, char **ret_id, char **ret_root, struct error *err);

/*
 * Begins with what takes long and can be done while the container still runs: its layer goes to the disk, so that less is left to
 * write when it is frozen. What fails fails again there.
 */
void snap_write_out(const struct snap *s);

/* The layer that a path inside the container belongs to, and the rest of the path ("" = all of it), malloc'ed. */
int snap_locate(const struct snap_record *rec, const char *path, size_t *ret_layer, char **ret_below, struct error *err);

/* Where long output goes, piece by piece; 0 or negative errno. */
struct snap_out {
	int (*write)(void *arg, const char *text, size_t len);
	void *arg;
	bool terminal; /* a person reads it: control characters of files are shown as text */
};
enum snap_diff_form { SNAP_DIFF_TEXT, SNAP_DIFF_JSON, SNAP_DIFF_PATCH };
/* What the session changed, all of it or at path (as the container sees it) and below. */
int snap_diff(const struct snap *s, const char *path, enum snap_diff_form form, const struct snap_out *out, struct error *err);

/* What an operation did. */
struct snap_report {
	struct buf text; /* of a dry run, and the conflicts */
	uint64_t files, bytes;
	uint64_t skipped; /* places in use or with something else mounted */
	size_t conflicts;
};
void snap_report_done(struct snap_report *r);
#define _cleanup_snap_report_ _cleanup_(snap_report_done)

/*
 * The operations below change something: the session is locked, nothing writes to it (its processes are frozen or
 * gone), and snap_recover() was called. merged: for each layer the overlay of the frozen container, or NULL when it
 * has stopped.
 */

/* Finishes what a crash interrupted. force: a commit also over what others have changed since. */
int snap_recover(const struct snap *s, const int *merged, bool force, struct snap_report *report, struct error *err);
/* Whether something was interrupted. */
bool snap_interrupted(const struct snap *s);

struct snap_commit_options {
	const char *path; /* as the container sees it; NULL = all */
	bool dry_run, force;
	/* Called before anything of the originals changes, to record it; a failure stops the commit. May be NULL. */
	int (*log)(void *arg, uint64_t files, struct error *err);
	void *log_arg;
	const struct snap_stage *stage; /* of the same path; may be NULL */
};
/*
 * Copies ahead of a commit, so that the container need not be frozen for long: *ret may be NULL or hold nothing, and what is
 * not in it is copied by the commit. Writes the layer out, as snap_write_out().
 */
struct snap_stage;
void snap_stage_make(const struct snap *s, const char *path, struct snap_stage **ret);
struct snap_stage *snap_stage_free(struct snap_stage *s); /* NULL is fine; returns NULL */
/* Changes into the originals. 0 or SNAP_E_CONFLICT. */
int snap_commit(const struct snap *s, const struct snap_commit_options *opt, struct snap_report *report, struct error *err);
/* The changes as a layer of an OCI image: file (which must not exist) becomes an archive; originals stay. */
int snap_export(const struct snap *s, const char *path, const char *file, struct snap_report *report, struct error *err);
/* Takes the last commit back, also one that was interrupted: snap_recover() must not be called before then. */
int snap_undo(const struct snap *s, bool force, struct snap_report *report, struct error *err);
/* The container is gone: its session outlives it, and remembers the name of its audit log (may be NULL). */
int snap_outlive(struct snap *s, const char *log, struct error *err);
/* The layer of a kept session was committed: what remains is what an undo needs. */
int snap_finish(struct snap *s, struct error *err);
/* To a snapshot, or with NULL to the start; all, or what is at path and below. */
int snap_rollback(const struct snap *s, const char *name, const char *path, const int *merged, struct snap_report *report, struct error *err);

#define SNAP_NAME_MAX	 64
#define SNAP_COMMENT_MAX 1000
#define SNAP_TAKEN_MAX	 64 /* snapshots of a session */
/* Keeps the present state. name NULL: the next number. *ret_name: malloc'ed. -EEXIST. */
int snap_take(const struct snap *s, const char *name, const char *comment, char **ret_name, struct error *err);
int snap_take_remove(const struct snap *s, const char *name, struct error *err);
struct snap_taken {
	char *name, *comment, *created; /* RFC 3339 */
	uint64_t bytes; /* on the disk */
	uint64_t number;
};
struct snap_taken_list {
	struct arena arena;
	struct snap_taken *items; /* oldest first */
	size_t n;
};
int snap_taken_read(const struct snap *s, struct snap_taken_list *ret, struct error *err);
void snap_taken_done(struct snap_taken_list *l);
#define _cleanup_snap_taken_ _cleanup_(snap_taken_done)
