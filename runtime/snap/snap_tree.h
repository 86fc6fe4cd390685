/*
 * Objects in a tree that somebody hostile has written: always by the tree's top and a relative
 * path, never through a link, another mount or "..". Nothing is held open by depth, so
 * a deep tree costs no descriptors; a path longer than the kernel takes is opened in pieces.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "util/error.h"

/*
 * Bytes of a path below a layer's top, and of all paths of a layer: what lies deeper, or past that, is not looked into, since
 * paths grow with the square of the depth.
 */
#define SNAP_PATH_MAX	((size_t)32768)
#define SNAP_PATHS_BYTES ((size_t)256 << 20)
#define SNAP_NAMES_MAX ((size_t)4000000) /* in one folder */

/*
 * path "" is the top. -errno: with O_PATH -ENOENT also when a folder of the path is something else, and -EXDEV
 * when something is mounted in the way.
 */
int snap_tree_open(int top_fd, const char *path, int flags);
/* The folder that holds the last component of path ("" has none), and that component, which points into path. */
int snap_tree_parent(int top_fd, const char *path, int *ret_fd, const char **ret_name);
/* lstat; -ENOENT also when a parent is missing or no folder. */
int snap_tree_stat(int top_fd, const char *path, struct stat *ret);

/*
 * A way through a tree that keeps the folder of the last path open, so that the next one beside or below it is near. To be
 * given up (snap_cursor_done()) when that folder may have been exchanged.
 */
struct snap_cursor {
	int top_fd; /* borrowed */
	int fd;	    /* of the folder dir, O_PATH */
	char *dir;
	size_t len;
};
#define SNAP_CURSOR(top) ((struct snap_cursor){ .top_fd = (top), .fd = -EBADF })
/* As snap_tree_open(), snap_tree_stat() and snap_tree_parent(); *ret_fd stays the cursor's, until the next call. */
int snap_cursor_open(struct snap_cursor *c, const char *path, int flags);
int snap_cursor_stat(struct snap_cursor *c, const char *path, struct stat *ret);
int snap_cursor_parent(struct snap_cursor *c, const char *path, int *ret_fd, const char **ret_name);
/* It can be used again. */
void snap_cursor_done(struct snap_cursor *c);

/* Names in a folder, sorted by bytes. */
struct snap_names {
	char **items;
	size_t n;
};
int snap_names_read(int top_fd, const char *path, struct snap_names *ret, struct error *err);
int snap_cursor_names(struct snap_cursor *c, const char *path, struct snap_names *ret, struct error *err);
bool snap_names_have(const struct snap_names *names, const char *name);
void snap_names_done(struct snap_names *names);
#define _cleanup_snap_names_ _cleanup_(snap_names_done)

/* The folders from a tree's top to where a walk is: what would be recursion, if its depth were ours to choose. */
struct snap_level {
	char *path;
	struct snap_names names; /* whoever adds the level reads them */
	size_t at;
	bool was_dir; /* of a walk: in the original too */
	bool opaque;  /* of a walk: the original's content does not shine through */
};
struct snap_levels {
	struct snap_level *items;
	size_t n, room;
};
/* The new last one, NULL without memory; valid until the next is added. */
struct snap_level *snap_levels_add(struct snap_levels *l, const char *path);
void snap_levels_drop(struct snap_levels *l);
void snap_levels_done(struct snap_levels *l);
#define _cleanup_snap_levels_ _cleanup_(snap_levels_done)
/* The path of the next name, malloc'ed; NULL when there is none. */
int snap_level_next(struct snap_level *l, char **ret, struct error *err);

/* "path/name", or "name" below the top; malloc'ed. */
char *snap_tree_join(const char *path, const char *name);
/* The order of a walk, as if '/' were less than any other byte: what is in a folder follows it directly. */
int snap_tree_order(const char *x, const char *y);
/* path is dir or below it; "" contains everything. */
bool snap_tree_within(const char *path, const char *dir);

/* What stands for "deleted" in an upper folder. */
static inline bool snap_is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}
