/*
 * Which logs a folder holds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audit/audit_store.h"

struct audit_scan_log {
	char *name;
	uint64_t bytes; /* of all parts */
	uint32_t parts; /* the highest number; parts between may be missing */
};
struct audit_scan {
	struct audit_scan_log *logs; /* the oldest start first */
	size_t count, room;
};
#define AUDIT_SCAN_NULL ((struct audit_scan){ 0 })

#define AUDIT_LOGS_MAX 1000000

int audit_scan_read(int dirfd, struct audit_scan *ret, struct error *err);
void audit_scan_done(struct audit_scan *s);
