/*
 * What commits replaced in the originals, so that they can be undone, and what they left
 * there, so that a change by somebody else is told from one of ours.
 *
 *   undo/N/LAYER.paths   the paths, each ended by NUL
 *   undo/N/LAYER/        a tree with what was at those paths before
 *   ours                 "LAYER INODE SECONDS NANOSECONDS PATH" and NUL for each
 */
#pragma once

#include "snap/snap_sync.h"

#define SNAP_UNDO_MAX 16 /* commits that can be undone; older ones are forgotten */

/* A folder for the next commit. */
int snap_undo_make(int dir_fd, uint64_t *ret_number, int *ret_fd, struct error *err);
int snap_undo_open(int dir_fd, uint64_t number, int *ret_fd, struct error *err);
/* The number of the last commit, 0 = none. */
int snap_undo_last(int dir_fd, uint64_t *ret, struct error *err);
int snap_undo_remove(int dir_fd, uint64_t number, struct error *err);
/* Forgets all but the last SNAP_UNDO_MAX. */
void snap_undo_prune(int dir_fd, uint64_t last);

/* Saves what is at the paths of the original. On failure what was saved is useless. */
int snap_undo_save(int undo_fd, size_t layer, int original_fd, const struct snap_paths *paths, struct error *err);
/* SNAP_E_NOT_FOUND: the commit had nothing in this layer. *ret_tree_fd: O_PATH. */
int snap_undo_load(int undo_fd, size_t layer, struct snap_paths *ret, int *ret_tree_fd, struct error *err);

struct snap_ours;
int snap_ours_read(int dir_fd, struct snap_ours **ret, struct error *err);
struct snap_ours *snap_ours_free(struct snap_ours *o);
static inline void snap_ours_freep(struct snap_ours **o)
{
	*o = snap_ours_free(*o);
}
#define _cleanup_snap_ours_ _cleanup_(snap_ours_freep)
/* Whether the object is as a commit of this session left it. */
bool snap_ours_has(const struct snap_ours *o, size_t layer, const char *path, const struct stat *st);
/* Whether a commit or an undo of this session made it, whatever has become of it. */
bool snap_ours_made(const struct snap_ours *o, size_t layer, const char *path, const struct stat *st);
/* Notes how the paths are now. */
int snap_ours_add(int dir_fd, size_t layer, int original_fd, const struct snap_paths *paths, struct error *err);
