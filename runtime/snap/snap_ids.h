/*
 * Work on files with other ids than our own, and all capabilities.
 */
#pragma once

#include <sys/types.h>

#include "os/creds.h"
#include "snap/snap.h"

struct snap_ids {
	struct caps_sets caps;
	uid_t uid;
	gid_t gid;
	int dumpable;
};
/* fsuid and fsgid; on failure nothing has changed. */
int snap_ids_assume(uid_t uid, gid_t gid, struct snap_ids *ret, struct error *err);
int snap_ids_restore(const struct snap_ids *saved, struct error *err);
