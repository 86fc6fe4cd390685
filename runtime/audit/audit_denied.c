/*
 * Adds up the denied calls of a log. Reads it as it is being written, and believes no line.
 */
#include "audit/audit_denied.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "audit/audit_read.h"
#include "audit/audit_value.h"
#include "util/str.h"

static const char *keep(struct arena *arena, const struct json *record, const char *key)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	audit_print_value(&b, json_member(record, key));
	return buf_ok(&b) && b.len > 0 ? arena_strdup(arena, b.data) : NULL;
}

static void add(struct buf *b, const struct json *record, const char *key, const char *before, const char *after)
{
	const struct json *v = json_member(record, key);

	if (!v)
		return;
	buf_adds(b, before);
	audit_print_value(b, v);
	buf_adds(b, after);
}

static const char *what(struct arena *arena, const struct json *record)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	add(&b, record, "call", "", "");
	add(&b, record, "detail", "(", ")");
	return buf_ok(&b) && b.len > 0 ? arena_strdup(arena, b.data) : NULL;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && str_eq(a, b));
}

static int note(struct audit_denied_list *l, const struct json *record, struct error *err)
{
	const char *error = keep(&l->arena, record, "error");
	struct audit_denied d = {
		.what = what(&l->arena, record),
		.error = error ? error : "denied",
		.rule = keep(&l->arena, record, "rule"),
		.allowed_by = keep(&l->arena, record, "allowedBy"),
	};
	uint64_t suppressed = 0;
	size_t i;

	if (!d.what)
		return error_oom(err);
	(void)audit_value_u64(record, "suppressed", &suppressed);
	d.count = 1 + suppressed;
	for (i = 0; i < l->count; i++)
		if (str_eq(l->items[i].what, d.what) && same(l->items[i].error, d.error) && same(l->items[i].rule, d.rule))
			break;
	if (i < l->count)
		l->items[i].count += d.count;
	else if (i < AUDIT_DENIED_KINDS)
		l->items[l->count++] = d;
	else
		l->others += d.count;
	return 0;
}

static int lost(struct audit_denied_list *l, const struct json *record)
{
	const char *source = audit_value_string(record, "source");
	uint64_t count;

	if (source && str_eq(source, "call") && audit_value_u64(record, "count", &count))
		l->others += count;
	return 0;
}

int audit_denied_read(int dirfd, const char *name, struct audit_denied_list *ret, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader reader = AUDIT_READER_NULL;
	struct audit_record rec;
	size_t n = 0;
	int r;

	assert(name && ret && err);

	r = audit_reader_open(&reader, dirfd, name, true, err);
	if (r != 0)
		return r;
	while ((r = audit_reader_next(&reader, &rec, err)) == AUDIT_READ_RECORD) {
		if (++n > AUDIT_DENIED_RECORDS) {
			ret->cut = true;
			return 0;
		}
		if (!rec.json)
			continue;
		r = rec.type == AUDIT_CALL_DENIED ? note(ret, rec.json, err) : rec.type == AUDIT_LOST ? lost(ret, rec.json) : 0;
		if (r < 0)
			return r;
	}
	return r;
}

void audit_denied_done(struct audit_denied_list *l)
{
	arena_done(&l->arena);
	*l = (struct audit_denied_list){ .count = 0 };
}
