/*
 * Owns the rows that people read: one line for each record, the same columns for all.
 */
#include "audit/audit_table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "audit/audit_value.h"
#include "util/text.h"

#define WRITE_AT    ((size_t)64 * 1024)
#define PREVIEW_MAX ((size_t)100)

int audit_out_flush(struct audit_out *o, bool now, struct error *err)
{
	int r;

	if (!buf_ok(&o->text))
		return error_oom(err);
	if (o->text.len == 0 || (!now && o->text.len < WRITE_AT))
		return 0;
	r = o->query->write(o->query->arg, o->text.data, o->text.len);
	o->text.len = 0;
	return r < 0 ? error_set(err, r, "write to standard output") : 0;
}

void audit_out_done(struct audit_out *o)
{
	buf_done(&o->text);
}

static void print_signal(struct buf *out, uint64_t signal)
{
	const char *name = signal < 65 ? sigabbrev_np((int)signal) : NULL;

	if (name)
		buf_addf(out, "SIG%s", name);
	else
		buf_addf(out, "signal %" PRIu64, signal);
}

void audit_table_status(struct buf *out, const struct json *json)
{
	uint64_t v;

	if (audit_value_u64(json, "signal", &v))
		print_signal(out, v);
	else if (audit_value_u64(json, "code", &v))
		buf_addf(out, "%" PRIu64, v);
}

/* " KEY VALUE" of a text member that is there. */
static void add(struct buf *out, const struct json *json, const char *key, const char *before,
		const char *after)
{
	const struct json *v = json_member(json, key);

	if (!v)
		return;
	buf_adds(out, before);
	audit_print_value(out, v);
	buf_adds(out, after);
}

static void add_number(struct buf *out, const struct json *json, const char *key, const char *before)
{
	uint64_t v;

	if (audit_value_u64(json, key, &v))
		buf_addf(out, "%s%" PRIu64, before, v);
}

static void add_flag(struct buf *out, const struct json *json, const char *key, const char *text)
{
	if (audit_value_true(json, key))
		buf_adds(out, text);
}

static void what_create(struct buf *out, const struct json *json)
{
	const struct json *list = json_member(json, "decisions"), *d;

	add(out, json, "profile", "profile ", "");
	if (json_member(json, "policyFile"))
		add(out, json, "policyFile", ", policy ", "");
	else
		buf_adds(out, ", built-in policy");
	add(out, json, "bundle", ", bundle ", "");
	for (d = list && list->type == JSON_ARRAY ? list->kids.first : NULL; d; d = d->next) {
		if (d->type != JSON_OBJECT)
			continue;
		buf_adds(out, "; ");
		audit_print_value(out, json_member(d, "control"));
		add(out, d, "action", " ", "");
		add(out, d, "asked", ": asked ", "");
		add(out, d, "given", ", given ", "");
	}
	list = json_member(json, "scrubbed");
	for (d = list && list->type == JSON_ARRAY ? list->kids.first : NULL; d; d = d->next) {
		buf_adds(out, d == list->kids.first ? "; environment without " : " ");
		audit_print_value(out, d);
	}
}

static void what_command(struct buf *out, const struct json *json)
{
	audit_print_argv(out, json_member(json, "argv"));
	add_flag(out, json, "argvCut", " ...");
	add_flag(out, json, "truncated", " ...");
	add_number(out, json, "uid", "  (uid ");
	if (!json_member(json, "uid"))
		buf_adds(out, "  (uid ?");
	add_number(out, json, "pid", ", pid ");
	add(out, json, "cwd", ", in ", "");
	add_flag(out, json, "terminal", ", terminal");
	add_flag(out, json, "script", ", script");
	add_flag(out, json, "unlinked", ", program without a name");
	add_flag(out, json, "unreadable", ", arguments unreadable");
	/* What was executed under another name. */
	if (audit_value_true(json, "unlinked") || audit_value_true(json, "script"))
		add(out, json, "file", " ", "");
	buf_adds(out, ")");
}

static void what_exit(struct buf *out, const struct json *json)
{
	uint64_t v;

	add(out, json, "reason", "", "");
	if (audit_value_u64(json, "memoryPeak", &v) && v) {
		buf_adds(out, ", memory at most ");
		audit_print_size(out, v);
	}
	add_number(out, json, "pidsPeak", ", processes at most ");
	if (audit_value_u64(json, "cpu", &v) && v) {
		buf_adds(out, ", cpu ");
		audit_print_duration(out, v);
	}
}

static void what_output(struct buf *out, const struct json *json)
{
	_cleanup_buf_ struct buf data = BUF_NULL;
	const char *end;
	uint64_t v;
	size_t n;

	add(out, json, "stream", "", "");
	if (audit_value_u64(json, "bytes", &v))
		buf_addf(out, " %" PRIu64 " bytes", v);
	add_flag(out, json, "tail", " (the end of it)");
	if (!audit_value_bytes(json_member(json, "data"), &data) || !data.len)
		return;
	end = memchr(data.data, '\n', data.len);
	n = MIN(end ? (size_t)(end - data.data) : data.len, PREVIEW_MAX);
	buf_adds(out, ": ");
	text_print(out, data.data, n, false);
	buf_adds(out, n < data.len - (end ? 1 : 0) ? " ..." : "");
}

static void what_output_end(struct buf *out, const struct json *json)
{
	uint64_t bytes, kept;

	add(out, json, "stream", "", "");
	if (audit_value_u64(json, "bytes", &bytes)) {
		buf_adds(out, ": ");
		audit_print_size(out, bytes);
	}
	if (audit_value_u64(json, "kept", &kept)) {
		buf_adds(out, ", kept ");
		audit_print_size(out, kept);
	}
	add(out, json, "why", ", ", "");
}

static void what_denied(struct buf *out, const struct json *json)
{
	uint64_t v;

	add(out, json, "what", "", "");
	add(out, json, "name", " ", "");
	add(out, json, "address", " ", "");
	add_number(out, json, "port", ":");
	add(out, json, "protocol", " ", "");
	add(out, json, "reason", " (", ")");
	add(out, json, "comm", " by ", "");
	if (audit_value_u64(json, "suppressed", &v) && v)
		buf_addf(out, ", and %" PRIu64 " more like it", v);
}

/* The reason is a sentence: the record has it, a line has no room. */
static void what_call_denied(struct buf *out, const struct json *json)
{
	uint64_t v;

	add(out, json, "call", "", "");
	add(out, json, "detail", "(", ")");
	add(out, json, "error", " = ", "");
	add(out, json, "rule", " (", ")");
	add(out, json, "comm", " by ", "");
	add(out, json, "allowedBy", "; allowed by ", "");
	if (audit_value_u64(json, "suppressed", &v) && v)
		buf_addf(out, ", and %" PRIu64 " more like it", v);
}

static void what_limits(struct buf *out, const struct json *json)
{
	uint64_t v;

	add(out, json, "what", "", "");
	if (audit_value_u64(json, "limit", &v)) {
		buf_adds(out, " limit ");
		if (str_eq(audit_value_string(json, "type") ? audit_value_string(json, "type") : "", "deadline"))
			audit_print_duration(out, v);
		else
			buf_addf(out, "%" PRIu64, v);
	}
	add_number(out, json, "count", ", times ");
	add(out, json, "step", ", ", "");
	add(out, json, "detail", ", ", "");
}

static void what_close(struct buf *out, const struct json *json)
{
	const struct json *counts = json_member(json, "counts"), *c;

	add_number(out, json, "records", "records ");
	add_number(out, json, "missing", ", missing ");
	for (c = counts && counts->type == JSON_OBJECT ? counts->kids.first : NULL; c; c = c->next) {
		if (c->type != JSON_NUMBER)
			continue;
		buf_adds(out, ", ");
		text_print(out, c->key, strlen(c->key), false);
		buf_adds(out, " ");
		audit_print_value(out, c);
	}
}

static void what_other(struct buf *out, const struct json *json)
{
	uint64_t v;

	add(out, json, "id", "container ", "");
	add(out, json, "name", "", "");
	add(out, json, "source", "events of ", "");
	add_number(out, json, "pid", "pid ");
	if (audit_value_u64(json, "signal", &v)) {
		buf_adds(out, " ");
		print_signal(out, v);
	}
	add_number(out, json, "records", "records that are missing: ");
	add_number(out, json, "count", ": ");
	add(out, json, "snapshot", " ", "");
	add(out, json, "path", " ", "");
	add_number(out, json, "files", ", files ");
	add_number(out, json, "rows", "rows ");
	add_number(out, json, "columns", ", columns ");
	add_number(out, json, "next", "part ");
	add_number(out, json, "part", "part ");
	add_flag(out, json, "forced", "forced");
	add(out, json, "why", " (", ")");
	add(out, json, "detail", " ", "");
}

static void what_name(struct buf *out, const struct json *json)
{
	add(out, json, "name", "", "");
	add(out, json, "rule", " allowed by ", "");
	add(out, json, "addresses", ": ", "");
}

static void (*const whats[AUDIT_TYPES])(struct buf *out, const struct json *json) = {
	[AUDIT_CREATE] = what_create,	      [AUDIT_EXIT] = what_exit,
	[AUDIT_PROCESS] = what_command,	      [AUDIT_EXEC] = what_command,
	[AUDIT_PROCESS_EXIT] = what_exit,     [AUDIT_OUTPUT] = what_output,
	[AUDIT_OUTPUT_END] = what_output_end, [AUDIT_EGRESS_NAME] = what_name,
	[AUDIT_EGRESS_DENIED] = what_denied,  [AUDIT_CALL_DENIED] = what_call_denied,
	[AUDIT_LIMIT] = what_limits,	      [AUDIT_DEADLINE] = what_limits,
	[AUDIT_CLOSE] = what_close,
};

bool audit_table_dull(const struct audit_record *rec)
{
	uint64_t bytes, kept;

	switch (rec->type) {
	case AUDIT_PART:
	case AUDIT_PART_END:
		return true;
	case AUDIT_OUTPUT_END: /* it matters where something was left out */
		return audit_value_u64(rec->json, "bytes", &bytes) &&
		       audit_value_u64(rec->json, "kept", &kept) && bytes == kept;
	default:
		return false;
	}
}

void audit_table_head(struct buf *out)
{
	buf_addf(out, "%-23s  %-4s  %-14s %-8s %-9s %s\n", "TIME", "PROC", "EVENT", "EXIT", "TOOK", "WHAT");
}

void audit_table_bad(struct buf *out, const struct audit_record *rec)
{
	if (rec->bad)
		buf_addf(out, "!! part %u, line %" PRIu64 ": %s\n", rec->part, rec->number, rec->bad);
}

/* What is in the cell so far, padded. */
static void cell(struct buf *out, struct buf *text, int width)
{
	buf_addf(out, "%-*s ", width, text->len ? text->data : "");
	out->failed = out->failed || text->failed;
	text->len = 0;
	if (text->data)
		text->data[0] = '\0';
}

void audit_table_row(struct buf *out, const struct audit_record *rec, int64_t owner,
		     const struct audit_end *end)
{
	_cleanup_buf_ struct buf text = BUF_NULL;
	uint64_t v;

	audit_table_bad(out, rec);
	if (!rec->json)
		return;
	audit_print_time(&text, rec->json);
	cell(out, &text, 24);
	if (owner >= 0)
		buf_addf(&text, "%" PRId64, owner);
	else if (audit_value_u64(rec->json, "process", &v))
		buf_addf(&text, "%" PRIu64, v);
	cell(out, &text, 5);
	audit_print_value(&text, json_member(rec->json, "type"));
	cell(out, &text, 14);
	if (end && end->signal)
		print_signal(&text, (uint64_t)end->signal);
	else if (end && end->code >= 0)
		buf_addf(&text, "%" PRId64, end->code);
	else if (end && end->replaced)
		buf_adds(&text, "exec");
	else if (rec->type == AUDIT_EXIT || rec->type == AUDIT_PROCESS_EXIT || rec->type == AUDIT_EXEC_EXIT)
		audit_table_status(&text, rec->json);
	cell(out, &text, 8);
	if (end && end->duration)
		audit_print_duration(&text, end->duration);
	else if (audit_value_u64(rec->json, "duration", &v))
		audit_print_duration(&text, v);
	cell(out, &text, 9);
	if (rec->type < AUDIT_TYPES && whats[rec->type])
		whats[rec->type](out, rec->json);
	else
		what_other(out, rec->json);
	buf_adds(out, "\n");
}
