/*
 * Which exit belongs to which exec. One pass over a log before it is printed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit_read.h"

struct audit_end {
	uint64_t begin; /* number of the record it belongs to */
	uint64_t seq;	/* of its own record; 0 = none */
	int64_t code;	/* -1 = none */
	int64_t signal; /* 0 = none */
	uint64_t duration;
	bool replaced; /* the process executed another program after this one */
};

struct audit_pairs;

/* Reads the whole log. */
int audit_pairs_read(int dirfd, const char *name, bool live, struct audit_pairs **ret, struct error *err);
struct audit_pairs *audit_pairs_free(struct audit_pairs *p);
static inline void audit_pairs_freep(struct audit_pairs **p)
{
	*p = audit_pairs_free(*p);
}
#define _cleanup_audit_pairs_ _cleanup_(audit_pairs_freep)
/* How what began with that record ended, or NULL. */
const struct audit_end *audit_pairs_end(const struct audit_pairs *p, uint64_t begin);
/* The number of the process that an exec belongs to, recorded or by its parents; -1 = unknown. */
int64_t audit_pairs_owner(const struct audit_pairs *p, uint64_t seq);
/* Whether that record was found to be the end of something. */
bool audit_pairs_is_end(const struct audit_pairs *p, uint64_t seq);
