/*
 * Adds up the denials of a log. Reads it as it is being written, and believes no line.
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

static const char *what(struct arena *arena, const struct json *record, bool call)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	uint64_t port;

	if (call) {
		add(&b, record, "call", "", "");
		add(&b, record, "detail", "(", ")");
	} else {
		add(&b, record, "what", "", "");
		/* Of a packet or a connection the name is that of a program, which says nothing of the policy. */
		if (str_eq(audit_value_string(record, "what"), "name") || str_eq(audit_value_string(record, "what"), "sni"))
			add(&b, record, "name", " ", "");
		add(&b, record, "address", " ", "");
		if (audit_value_u64(record, "port", &port))
			buf_addf(&b, ":%" PRIu64, port);
		add(&b, record, "protocol", " ", "");
	}
	return buf_ok(&b) && b.len > 0 ? arena_strdup(arena, b.data) : NULL;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && str_eq(a, b));
}

static int note(struct audit_denied_list *l, const struct json *record, bool call, struct error *err)
{
	const char *why = keep(&l->arena, record, call ? "error" : "reason");
	struct audit_denied d = {
		.call = call,
		.what = what(&l->arena, record, call),
		.why = why ? why : "denied",
		.rule = call ? keep(&l->arena, record, "rule") : NULL,
		.allowed_by = call ? keep(&l->arena, record, "allowedBy") : NULL,
	};
	uint64_t suppressed = 0;
	size_t i;

	if (!d.what)
		return error_oom(err);
	(void)audit_value_u64(record, "suppressed", &suppressed);
	d.count = 1 + suppressed;
	for (i = 0; i < l->count; i++)
		if (l->items[i].call == call && str_eq(l->items[i].what, d.what) && same(l->items[i].why, d.why) &&
		    same(l->items[i].rule, d.rule))
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

	if (source && (str_eq(source, "call") || str_eq(source, "egress")) && audit_value_u64(record, "count", &count))
		l->others += count;
	return 0;
}

int audit_denied_read(int dirfd, const char *name, struct audit_denied_list *ret, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader reader = AUDIT_READER_NULL;
	bool running = false; /* before that the monitor tries its own rules */
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
		running |= rec.type == AUDIT_EXEC || rec.type == AUDIT_START || rec.type == AUDIT_CALL_DENIED;
		if (!running || !rec.json)
			continue;
		if (rec.type == AUDIT_CALL_DENIED || rec.type == AUDIT_EGRESS_DENIED)
			r = note(ret, rec.json, rec.type == AUDIT_CALL_DENIED, err);
		else
			r = rec.type == AUDIT_LOST ? lost(ret, rec.json) : 0;
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
