/*
 * Which process of the container a program belongs to, where its record does not say: the
 * kernel knows tasks and their parents, and the log says which task began each process.
 */
#pragma once

#include <stdint.h>

#include "audit/audit_read.h"

struct audit_owners;

struct audit_owners *audit_owners_new(void); /* NULL when out of memory */
struct audit_owners *audit_owners_free(struct audit_owners *o);
/* Every record, in order. 0 or negative errno. */
int audit_owners_take(struct audit_owners *o, const struct audit_record *rec);
/* After the last. 0 or negative errno. */
int audit_owners_resolve(struct audit_owners *o);
/* The number of the process for the record of an exec, -1 = unknown. */
int64_t audit_owners_find(const struct audit_owners *o, uint64_t seq);
