/*
 * What commit, undo, rollback and recovery share. Private to runtime/snap.
 */
#pragma once

#include "snap/snap_change.h"
#include "snap/snap_journal.h"
#include "snap/snap_undo.h"

/* What is to be done in one layer. */
struct snap_part {
	size_t layer;
	struct snap_view view;
	struct snap_changes changes;
	struct snap_paths paths;
};

struct snap_parts {
	struct snap_part *items;
	size_t n;
};
void snap_parts_done(struct snap_parts *p);
#define _cleanup_snap_parts_ _cleanup_(snap_parts_done)

/* The layers that path (NULL = all) is about, opened and walked. below: malloc'ed rest of the path. */
int snap_parts_open(const struct snap *s, const char *path, bool writable, struct snap_parts *ret, char **ret_below, struct error *err);
/* -ENAMETOOLONG when the list lacks what is too deep. removing: new folders may hold such, since all that is in them goes. */
int snap_check_seen(const struct snap_changes *c, bool removing, struct error *err);
/*
 * Adds the folders above below that are missing in to and there in from; -EEXIST when something else is in
 * their place there.
 */
int snap_paths_add_above(int from_fd, int to_fd, const char *below, struct snap_paths *paths, struct error *err);

/* snap_conflict.c: why this change must not reach the original unasked; NULL = it may. */
const char *snap_conflict(const struct snap *s, const struct snap_part *p, const struct snap_change *c, const struct snap_ours *ours);

/* Copies to the originals what the paths of commit number name, and notes it. For the first time and after a crash. */
int snap_commit_apply(const struct snap *s, uint64_t number, const char *temp, const struct snap_stage *stage, bool force,
		      struct snap_report *report, struct error *err);
int snap_undo_apply(const struct snap *s, uint64_t number, const char *temp, struct snap_report *report, struct error *err);
int snap_roll_apply(const struct snap *s, const struct snap_journal *j, const int *merged, struct snap_report *report, struct error *err);
/* The original of a layer, which must still be the folder it was. */
int snap_original_open(const struct snap_record *rec, size_t layer, int *ret_fd, struct error *err);
