/*
 * The journal of a session: at most one operation is under way.
 */
#pragma once

#include <stdint.h>

#include "snap/snap_sync.h"
#include "util/arena.h"
#include "util/error.h"

enum snap_operation { SNAP_OP_COMMIT, SNAP_OP_UNDO, SNAP_OP_ROLLBACK };

struct snap_journal {
	struct arena arena; /* of what was read */
	uint64_t operation; /* enum snap_operation */
	uint64_t number;    /* of the commit */
	char *name, *path;  /* of a rollback; NULL = to the start, all */
	char *temp;	    /* name of unfinished files */
};

int snap_journal_temp(char temp[SNAP_TEMP_SIZE], struct error *err);
/* On the disk on return. */
int snap_journal_write(int dir_fd, const struct snap_journal *j, struct error *err);
/* SNAP_E_NOT_FOUND. arena_done(&ret->arena) in any case. */
int snap_journal_read(int dir_fd, struct snap_journal *ret, struct error *err);
int snap_journal_remove(int dir_fd, struct error *err);
