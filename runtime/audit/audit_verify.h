/*
 * Is a log what was written? The chain finds what was changed, removed, inserted or moved;
 * the index finds a cut end and a log in the place of another.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit_store.h"

struct audit_verdict {
	uint64_t records;
	uint32_t parts;
	bool whole;	/* nothing against it */
	bool live;	/* somebody writes it: it goes on */
	bool closed;	/* it has its closing record */
	bool indexed;	/* the index knows it */
	uint64_t gaps;	/* records that it says are missing */
	/* The first bad one, when not whole: */
	char file[AUDIT_NAME_SIZE + 24];
	uint64_t line;	 /* 0 = the log as a whole */
	uint64_t seq;	 /* 0 = unreadable */
	char time[64];	 /* of the last good record before */
	char why[512];
};

/* A log of the folder. index_dirfd may be -EBADF. -ENOENT: audit_store_prune() removed it meanwhile. */
int audit_verify_log(int dirfd, int index_dirfd, const char *name, struct audit_verdict *ret,
		     struct error *err);
/* A file on its own; fd is taken over. No index can speak for it. */
int audit_verify_file(int fd, const char *file, struct audit_verdict *ret, struct error *err);
