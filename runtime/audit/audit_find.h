/*
 * Which log somebody means.
 */
#pragma once

#include "audit/audit_scan.h"

/*
 * key: a container's id, an unambiguous beginning of one, or the name of a log. Several logs of
 * one container: the newest. root: only logs of containers below it; NULL = any. -ENOENT when
 * there is none, -EINVAL when it could be several containers; the message lists them.
 */
int audit_find(int dirfd, const char *key, const char *root, char ret_name[AUDIT_NAME_SIZE],
	       struct error *err);
/* The id of a log: from its name, or from its first record where that is cut. malloc'ed. */
int audit_find_id(int dirfd, const char *name, char **ret, struct error *err);
