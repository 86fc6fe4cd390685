/*
 * `list`: all logs of the folder, by what their names and their ends say; none is read
 * whole.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "audit/audit_find.h"
#include "audit/audit_name.h"
#include "audit/audit_scan.h"
#include "audit/audit_table.h"
#include "audit/audit_tail.h"
#include "audit/audit_value.h"
#include "util/json_write.h"

#define TAIL_BYTES ((size_t)64 * 1024)

struct summary {
	const char *name, *start;
	char *id;
	uint64_t bytes, records, commands, denied;
	uint32_t parts;
	bool live, closed, counted;
	struct buf status; /* of the first process */
};

static void summary_done(struct summary *s)
{
	free(s->id);
	buf_done(&s->status);
}

static void take_counts(struct summary *s, const struct json *counts)
{
	uint64_t n;

	if (!counts || counts->type != JSON_OBJECT)
		return;
	s->counted = true;
	(void)audit_value_u64(counts, "exec", &s->commands);
	(void)audit_value_u64(counts, "egress-denied", &s->denied);
	(void)audit_value_u64(counts, "call-denied", &n);
	s->denied += n;
}

static void take_line(struct summary *s, char *line, size_t len)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	const char *type;
	struct json *json;
	uint8_t hash[SHA256_BYTES];
	uint64_t seq;

	if (!audit_tail_seal(line, len, &seq, hash))
		return;
	s->records = seq;
	/* Most of what stands at the end of a log is output: not worth parsing. */
	if (!memmem(line, len, "\"type\":\"exit\"", 13) && !memmem(line, len, "\"type\":\"close\"", 14))
		return;
	if (json_parse("record", line, len, 0, &arena, &json, &err) < 0 || json->type != JSON_OBJECT)
		return;
	type = audit_value_string(json, "type");
	if (type && str_eq(type, "exit")) {
		s->status.len = 0;
		audit_table_status(&s->status, json);
	} else if (type && str_eq(type, "close")) {
		s->closed = true;
		take_counts(s, json_member(json, "counts"));
	}
}

static void read_tail(int dirfd, struct summary *s)
{
	char file[AUDIT_FILE_SIZE], *line, *end;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	size_t len;

	audit_name_file(s->name, s->parts, file);
	fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || audit_tail_text(fd, TAIL_BYTES, &text, &len) < 0)
		return;
	for (line = text; (end = memchr(line, '\n', len - (size_t)(line - text))); line = end + 1)
		take_line(s, line, (size_t)(end - line));
}

/* "2026-11-30 23:40:44" of a name's "20261130T234044.123456Z" */
static void print_start(struct buf *out, const char *t)
{
	buf_addf(out, "%.4s-%.2s-%.2s %.2s:%.2s:%.2s", t, t + 4, t + 6, t + 9, t + 11, t + 13);
}

static const char *state_of(const struct summary *s)
{
	return s->live ? "open" : s->closed ? "closed" : "broken off";
}

static void put_row(struct buf *out, const struct summary *s)
{
	char commands[24] = "-", denied[24] = "-";
	_cleanup_buf_ struct buf size = BUF_NULL;

	if (s->counted) {
		(void)snprintf(commands, sizeof(commands), "%" PRIu64, s->commands);
		(void)snprintf(denied, sizeof(denied), "%" PRIu64, s->denied);
	}
	audit_print_size(&size, s->bytes);
	print_start(out, s->start);
	buf_addf(out, "  %-10s  %-8s %-9s %-7s %-9" PRIu64 " %-10s %s\n", state_of(s), s->status.len ? s->status.data : "-",
		 commands, denied, s->records, size.len ? size.data : "", s->id);
}

static void put_json(struct json_writer *w, const struct summary *s)
{
	_cleanup_buf_ struct buf start = BUF_NULL;

	json_object_begin(w, NULL);
	json_string(w, "id", s->id);
	json_string(w, "log", s->name);
	print_start(&start, s->start);
	json_string(w, "start", start.data);
	json_string(w, "state", state_of(s));
	json_string(w, "exit", s->status.len ? s->status.data : NULL);
	if (s->counted) {
		json_u64(w, "commands", s->commands);
		json_u64(w, "denied", s->denied);
	}
	json_u64(w, "records", s->records);
	json_u64(w, "bytes", s->bytes);
	json_u64(w, "parts", s->parts);
	json_object_end(w);
}

static int list_one(const struct audit_query *q, const struct audit_scan_log *log, const char *root,
		    struct buf *out, struct json_writer *w, struct error *err)
{
	_cleanup_(summary_done) struct summary s = { .name = log->name, .bytes = log->bytes, .parts = log->parts };
	struct audit_name parsed;
	int r;

	if (!audit_name_parse(log->name, &parsed) || (root && !str_eq(parsed.root, root)))
		return 0;
	s.start = parsed.start;
	r = audit_find_id(q->dirfd, log->name, &s.id, err);
	if (r < 0)
		return r;
	s.live = audit_store_busy(q->dirfd, log->name);
	read_tail(q->dirfd, &s);
	if (w)
		put_json(w, &s);
	else
		put_row(out, &s);
	return 0;
}

int audit_query_list(const struct audit_query *q, struct error *err)
{
	_cleanup_(audit_scan_done) struct audit_scan scan = AUDIT_SCAN_NULL;
	_cleanup_(audit_out_done) struct audit_out o = { .query = q };
	_cleanup_json_writer_ struct json_writer *w = q->json ? json_writer_new(2) : NULL;
	char digits[AUDIT_ROOT_DIGITS + 1];
	_cleanup_free_ char *text = NULL;
	size_t i;
	int r;

	assert(err);
	if (q->json && !w)
		return error_oom(err);
	if (q->root)
		audit_name_root(q->root, digits);
	r = audit_scan_read(q->dirfd, &scan, err);
	if (w)
		json_array_begin(w, NULL);
	else
		buf_addf(&o.text, "%-19s  %-10s  %-8s %-9s %-7s %-9s %-10s %s\n", "START", "STATE", "EXIT",
			 "COMMANDS", "DENIED", "RECORDS", "SIZE", "ID");
	for (i = 0; r == 0 && i < scan.count; i++) {
		r = list_one(q, &scan.logs[i], q->root ? digits : NULL, &o.text, w, err);
		if (r == 0)
			r = audit_out_flush(&o, false, err);
	}
	if (r == 0 && w) {
		json_array_end(w);
		r = json_take(w, &text, err);
		buf_addf(&o.text, "%s\n", text ? text : "");
	}
	return r < 0 ? r : audit_out_flush(&o, true, err);
}
