/*
 * What a session changed, layer by layer: found by walking the upper folder alone, so that
 * the cost follows the changes and not the tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "snap/snap.h"
#include "snap/snap_attrs.h"

enum snap_kind {
	SNAP_ADDED,
	SNAP_MODIFIED,	/* the same type */
	SNAP_REPLACED,	/* by something of another type */
	SNAP_DELETED,
	SNAP_RENAMED,	/* a file that is found under another name; from is gone */
};

#define SNAP_ATTR_CONTENT (1u << 8) /* beside enum snap_attr */
#define SNAP_HANDLE_MAX 128

/* A layer opened for reading. */
struct snap_view {
	int upper_fd, lower_fd; /* tops, O_PATH */
	int mount_fd;		/* of the image */
	size_t layer;
};
#define SNAP_VIEW_NULL ((struct snap_view){ .upper_fd = -EBADF, .lower_fd = -EBADF, .mount_fd = -EBADF })

struct snap_change {
	enum snap_kind kind;
	const char *path; /* relative to the layer's top, which is "" */
	const char *from; /* SNAP_RENAMED: the old path */
	const char *link; /* another name of the same new file that stands before it in the list */
	unsigned attrs;	  /* that differ: SNAP_ATTR_*; not for added and deleted ones */
	bool unseen;	  /* a folder that holds more, too deep or too much to be listed */
	bool implied;	  /* below a deleted or replaced folder: listed only on demand */
	struct stat old, new; /* where there is one */
	const void *handle; /* of the file before the session: for renames, and to know it again */
	size_t handle_len;
};

struct snap_changes {
	struct arena arena;
	struct snap_change *items; /* parents before what is in them */
	size_t n, room;
};
void snap_changes_done(struct snap_changes *c);
#define _cleanup_snap_changes_ _cleanup_(snap_changes_done)
struct snap_change *snap_changes_add(struct snap_changes *c, enum snap_kind kind, const char *path);

/*
 * The layer of an open session: its upper folder, and the original, which must still be the folder
 * it was. writable: the upper one can be changed.
 */
int snap_view_open(const struct snap *s, size_t layer, bool writable, struct snap_view *ret, struct error *err);
void snap_view_done(struct snap_view *v);
#define _cleanup_snap_view_ _cleanup_(snap_view_done)

/*
 * Everything that differs at path or below. deep: also what lies below deleted and replaced folders of
 * the original, marked implied, which costs what they hold.
 */
int snap_walk(const struct snap_view *v, const char *path, bool deep, struct snap_changes *ret, struct error *err);
/* Turns pairs of a deleted and an added file that are the same one into renames. */
int snap_find_renames(const struct snap_view *v, struct snap_changes *c, struct error *err);
/* Bytes of the handle, its type first; 0: none. Of what overlay copied the object of an upper folder from; of the object itself. */
size_t snap_handle_origin(int fd, unsigned char ret[SNAP_HANDLE_MAX + 1]);
size_t snap_handle_of(int fd, unsigned char ret[SNAP_HANDLE_MAX + 1]);
/* Whether two regular files hold the same bytes. */
int snap_same_content(int a_fd, int b_fd, bool *ret);

/* An object on one side; fd -EBADF: there is none. */
struct snap_object {
	int fd; /* O_PATH */
	struct stat st;
};
#define SNAP_OBJECT_NULL ((struct snap_object){ .fd = -EBADF })
/* What differs between the layer's object and the original's of the same type and path. */
int snap_compare(const struct snap_view *v, const char *path, const struct snap_object *up, const struct snap_object *low, unsigned *ret,
		 struct error *err);
