/*
 * Objects in a tree that somebody hostile has written: always by the tree's top and a relative
 * path, never through a link, another mount or "..". Nothing is held open by depth, so
 * a deep tree costs no descriptors; a path longer than the kernel takes is an error that says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "util/error.h"

#define SNAP_PATH_MAX  4000 /* bytes of a path below a layer's top: room for our own folders above it */
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

/* Names in a folder, sorted by bytes. */
struct snap_names {
	char **items;
	size_t n;
};
int snap_names_read(int top_fd, const char *path, struct snap_names *ret, struct error *err);
bool snap_names_have(const struct snap_names *names, const char *name);
void snap_names_done(struct snap_names *names);
#define _cleanup_snap_names_ _cleanup_(snap_names_done)

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
