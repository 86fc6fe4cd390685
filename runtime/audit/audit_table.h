/*
 * Records as rows. Between the files of the queries.
 */
#pragma once

#include "audit/audit_pairs.h"
#include "audit/audit_query.h"
#include "audit/audit_read.h"

struct audit_out {
	const struct audit_query *query;
	struct buf text;
	int failed; /* negative errno of the first write that did */
};
/* Writes when there is enough, or now. 0 or an error. */
int audit_out_flush(struct audit_out *o, bool now, struct error *err);
void audit_out_done(struct audit_out *o);

void audit_table_head(struct buf *out);
/*
 * One row. owner: the process it belongs to, -1 = as the record says. end: how the program or
 * process of the row ended, NULL = unknown or not yet.
 * A bad record gets a line that says so in front.
 */
void audit_table_row(struct buf *out, const struct audit_record *rec, int64_t owner,
		     const struct audit_end *end);
void audit_table_bad(struct buf *out, const struct audit_record *rec);
/* Rows that say nothing beside the others are left out unless they were asked for. */
bool audit_table_dull(const struct audit_record *rec);
/* "0", "SIGKILL", "" */
void audit_table_status(struct buf *out, const struct json *json);
bool audit_filter_takes(const struct audit_filter *f, const struct audit_record *rec, int64_t owner);
