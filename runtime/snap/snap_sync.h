/*
 * Makes objects of one tree be as they are in another, path by path: what rollback, commit and undo have
 * in common. A file is complete under a temporary name before it takes its place; what is
 * already right is left alone, so that doing it again after a crash finishes it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/arena.h"
#include "util/error.h"

#define SNAP_TEMP_SIZE 40

struct snap_stage;

/* Paths relative to a tree's top, without repetition; parents before what is in them after snap_paths_sort(). */
struct snap_paths {
	struct arena arena;
	const char **items;
	size_t n, room;
};
int snap_paths_add(struct snap_paths *p, const char *path, struct error *err);
void snap_paths_sort(struct snap_paths *p);
void snap_paths_done(struct snap_paths *p);
#define _cleanup_snap_paths_ _cleanup_(snap_paths_done)

struct snap_sync {
	int from_fd, to_fd;	 /* tops; whiteouts of from count as nothing */
	const char *temp;	 /* name for unfinished files, not to be met otherwise */
	/*
	 * to_fd is the session's own: it may be full, and can be made again from from_fd, so what is in the way goes first; and
	 * a folder that must go goes with all it holds.
	 */
	bool tight;
	const struct snap_stage *stage; /* copies made before, of this layer; NULL = none */
	size_t layer;
	uint64_t files, bytes;	 /* out: changed objects, bytes copied */
	uint64_t skipped;	 /* out: places where something else is mounted, or in use */
};

/* paths: sorted. Stops at the first failure; what was done stays. */
int snap_sync(struct snap_sync *s, const struct snap_paths *paths, struct error *err);
/* Removes unfinished files beside the paths. */
void snap_sync_clean(int to_fd, const struct snap_paths *paths, const char *temp);

/* Whether the two objects (O_PATH) are the same in content and attributes; folders: attributes but times. */
int snap_same_object(int a_fd, const struct stat *a, int b_fd, const struct stat *b, bool *ret, struct error *err);
/*
 * A copy of the object (no folder: those are made empty) as dirfd/name, which must not exist, with all
 * attributes; holes stay holes.
 */
int snap_object_copy(int from_fd, const struct stat *from, int dirfd, const char *name, uint64_t *bytes, struct error *err);
/* snap_stage.c: gives a copy that was made ahead a name; -ENOENT when there is none of this file as it is. s may be NULL. */
int snap_stage_link(const struct snap_stage *s, size_t layer, const struct stat *st, int dirfd, const char *name);
/* The file of an O_PATH descriptor, for reading: it cannot have become another one meanwhile. -errno. */
int snap_object_reopen(int fd);
/* Data of one file into another, empty, one. Shared where the filesystem can. -errno. */
int snap_data_copy(int from_fd, int to_fd, off_t size);
