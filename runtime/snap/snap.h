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

#include "util/arena.h"
#include "util/error.h"

#define SNAP_DIR "/var/lib/agentrun/sessions"
#define SNAP_LAYERS_MAX 32
#define SNAP_SIZE_MIN (UINT64_C(16) << 20)

/* One original and its upper folder, whose number is the index. */
struct snap_layer {
	char *destination; /* inside the container, "/" for its root */
	char *source;	   /* canonical path of the original */
	uint64_t dev, ino; /* of the original's top */
	uint64_t merged;   /* device number of the overlay that the container sees; 0 = unknown */
};

struct snap_record {
	struct arena arena; /* of all strings */
	char *id, *root;    /* the container's, and the folder its state is below */
	char *boot;	    /* id of the boot in which dev numbers are valid */
	struct timespec since; /* what changed in the original later was not seen when the session began */
	uint64_t size, inodes; /* caps */
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
	SNAP_E_NOT_FOUND = 1, /* no session there */
};

/* A layer while it is being mounted. */
struct snap_over {
	int lower_fd;	   /* the original: a detached clone of its mount alone; used up */
	const char *label; /* for SELinux, or NULL */
	int mount_fd;	   /* out: the overlay, detached, with the original's nosuid, nodev and noexec */
	const char *source; /* for messages */
	size_t layer;	    /* number of the upper folder in the image */
	bool view;	    /* to look at only: nothing can be written */
};
#define SNAP_OVER_NULL ((struct snap_over){ .lower_fd = -EBADF, .mount_fd = -EBADF })

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

/* The layer that a path inside the container belongs to, and the rest of the path ("" = all of it), malloc'ed. */
int snap_locate(const struct snap_record *rec, const char *path, size_t *ret_layer, char **ret_below, struct error *err);

/* Where long output goes, piece by piece; 0 or negative errno. */
struct snap_out {
	int (*write)(void *arg, const char *text, size_t len);
	void *arg;
};
enum snap_diff_form { SNAP_DIFF_TEXT, SNAP_DIFF_JSON, SNAP_DIFF_PATCH };
/* What the session changed, all of it or at path (as the container sees it) and below. */
int snap_diff(const struct snap *s, const char *path, enum snap_diff_form form, const struct snap_out *out, struct error *err);
