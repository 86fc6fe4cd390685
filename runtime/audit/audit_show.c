/*
 * `show`: one process, what it executed and what it wrote.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "audit/audit_find.h"
#include "audit/audit_table.h"
#include "audit/audit_value.h"
#include "util/text.h"

struct show {
	struct audit_out out;
	char name[AUDIT_NAME_SIZE];
	bool live;
	uint32_t process;
	const char *stream;
	bool raw, any;
	uint64_t highest; /* number of a process that was seen */
	uint64_t programs;
	/* of the output */
	char now[16]; /* the stream whose bytes came last */
	bool fresh;   /* at the begin of a line */
	uint64_t next[AUDIT_TERMINAL + 1]; /* offset that would go on without a hole */
};

typedef void (*show_fn)(struct show *s, const struct audit_record *rec, const struct audit_pairs *pairs);

/* One pass over the records of the process. */
static int pass(struct show *s, const struct audit_pairs *pairs, show_fn fn, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	struct audit_record rec;
	uint64_t process;
	int k = audit_reader_open(&r, s->out.query->dirfd, s->name, s->live, err);

	if (k)
		return k < 0 ? k : error_text(err, -ENOENT, "the first part of audit log %s is missing", s->name);
	while ((k = audit_reader_next(&r, &rec, err)) == AUDIT_READ_RECORD) {
		bool of_process = audit_value_u64(rec.json, "process", &process);
		int64_t owner = pairs && !of_process ? audit_pairs_owner(pairs, rec.seq) : -1;
		/* Init has no record of its own but those of the container. */
		bool init = s->process == 0 && !of_process &&
			    (rec.type == AUDIT_CREATE || rec.type == AUDIT_START || rec.type == AUDIT_EXIT);

		if (owner >= 0) {
			of_process = true;
			process = (uint64_t)owner;
		}
		if (of_process)
			s->highest = MAX(s->highest, process);
		if (!init && (!of_process || process != s->process))
			continue;
		s->any = true;
		fn(s, &rec, pairs);
		k = audit_out_flush(&s->out, false, err);
		if (k < 0)
			return k;
	}
	return k;
}

static void put_line(struct show *s, const struct audit_record *rec, const struct audit_pairs *pairs _unused_)
{
	if (!rec->json)
		return;
	buf_add(&s->out.text, rec->line, rec->len);
	buf_adds(&s->out.text, "\n");
}

static void put_end(struct buf *b, const struct audit_end *end, bool live)
{
	if (!end) {
		buf_adds(b, live ? "  still running\n" : "  no exit recorded\n");
		return;
	}
	buf_adds(b, "  ended");
	if (end->signal && sigabbrev_np((int)MIN(end->signal, 1000)))
		buf_addf(b, " by SIG%s", sigabbrev_np((int)MIN(end->signal, 1000)));
	else if (end->signal)
		buf_addf(b, " by signal %" PRId64, end->signal);
	else if (end->code >= 0)
		buf_addf(b, " with status %" PRId64, end->code);
	if (end->duration) {
		buf_adds(b, " after ");
		audit_print_duration(b, end->duration);
	}
	buf_adds(b, "\n");
}

static void put_identity(struct buf *b, const struct json *json)
{
	uint64_t uid, gid;

	if (!audit_value_u64(json, "uid", &uid))
		return;
	(void)audit_value_u64(json, "gid", &gid);
	buf_addf(b, "  user %" PRIu64 ":%" PRIu64, uid, gid);
	if (json_member(json, "cwd")) {
		buf_adds(b, ", in ");
		audit_print_value(b, json_member(json, "cwd"));
	}
	buf_adds(b, audit_value_true(json, "terminal") ? ", with a terminal\n" : "\n");
}

static void put_head(struct show *s, const struct audit_record *rec, const struct audit_pairs *pairs)
{
	struct buf *b = &s->out.text;

	if (rec->type == AUDIT_EXEC)
		s->programs++;
	audit_table_bad(b, rec);
	if (rec->type == AUDIT_CREATE || rec->type == AUDIT_PROCESS) {
		buf_addf(b, "process %u: ", s->process);
		audit_print_argv(b, json_member(rec->json, "argv"));
		buf_adds(b, "\n");
		put_identity(b, rec->json);
	}
	if ((rec->type == AUDIT_START && s->process == 0) || rec->type == AUDIT_PROCESS) {
		buf_adds(b, "  started ");
		audit_print_time(b, rec->json);
		buf_adds(b, "\n");
		put_end(b, audit_pairs_end(pairs, rec->seq), s->live);
	}
}

static void put_program(struct show *s, const struct audit_record *rec, const struct audit_pairs *pairs)
{
	if (rec->type == AUDIT_EXEC)
		audit_table_row(&s->out.text, rec, s->process, audit_pairs_end(pairs, rec->seq));
}

static void put_hole(struct show *s, const struct audit_record *rec, uint64_t stream)
{
	uint64_t offset, bytes;

	(void)audit_value_u64(rec->json, "offset", &offset);
	(void)audit_value_u64(rec->json, "bytes", &bytes);
	if (offset > s->next[stream] && !s->raw) {
		buf_addf(&s->out.text, "%s[", s->fresh ? "" : "\n");
		audit_print_size(&s->out.text, offset - s->next[stream]);
		buf_adds(&s->out.text, " were not kept]\n");
		s->fresh = true;
	}
	s->next[stream] = offset + bytes;
}

/* Each line behind a mark: no output can pass for a heading or a record. */
static void put_lines(struct show *s, const char *data, size_t len)
{
	const char *end;
	size_t n;

	for (; len > 0; data += n, len -= n) {
		end = memchr(data, '\n', len);
		n = end ? (size_t)(end + 1 - data) : len;
		if (s->fresh)
			buf_adds(&s->out.text, "| ");
		text_print(&s->out.text, data, n, true);
		s->fresh = end;
	}
}

static void put_output(struct show *s, const struct audit_record *rec, const struct audit_pairs *pairs _unused_)
{
	_cleanup_buf_ struct buf data = BUF_NULL;
	const char *stream = audit_value_string(rec->json, "stream");
	struct buf *b = &s->out.text;
	uint64_t number;

	if (rec->type != AUDIT_OUTPUT || !stream || enum_from_name(&audit_stream_table, stream, &number) < 0 ||
	    (s->stream && !str_eq(stream, s->stream)) || !audit_value_bytes(json_member(rec->json, "data"), &data))
		return;
	if (!s->raw && !str_eq(s->now, stream)) {
		buf_addf(b, "%s-- %s\n", s->fresh ? "" : "\n", stream);
		s->fresh = true;
		memcpy(s->now, stream, MIN(strlen(stream) + 1, sizeof(s->now)));
	}
	put_hole(s, rec, number);
	if (!data.len)
		return;
	if (s->raw)
		buf_add(b, data.data, data.len);
	else
		put_lines(s, data.data, data.len);
	b->failed = b->failed || data.failed;
}

static int show_json(struct show *s, struct error *err)
{
	_cleanup_audit_pairs_ struct audit_pairs *pairs = NULL;
	int r = audit_pairs_read(s->out.query->dirfd, s->name, s->live, &pairs, err);

	return r < 0 ? r : pass(s, pairs, put_line, err);
}

static int show_all(struct show *s, struct error *err)
{
	_cleanup_audit_pairs_ struct audit_pairs *pairs = NULL;
	int r = audit_pairs_read(s->out.query->dirfd, s->name, s->live, &pairs, err);

	if (r == 0)
		r = pass(s, pairs, put_head, err);
	if (r == 0 && s->any && s->programs) {
		buf_adds(&s->out.text, "\n");
		audit_table_head(&s->out.text);
		r = pass(s, pairs, put_program, err);
	}
	if (r == 0 && s->any) {
		buf_adds(&s->out.text, "\n");
		s->fresh = true;
		r = pass(s, pairs, put_output, err);
		buf_adds(&s->out.text, s->fresh ? "" : "\n");
	}
	return r;
}

int audit_query_show(const struct audit_query *q, const char *id, uint32_t process, const char *stream,
		     bool raw, struct error *err)
{
	struct show s = { .out = { .query = q }, .process = process, .stream = stream, .raw = raw, .fresh = true };
	uint64_t value;
	int r;

	assert(q && id && err);
	if (stream && enum_from_name(&audit_stream_table, stream, &value) < 0)
		return error_text(err, -EINVAL, "unknown stream \"%s\": it must be stdin, stdout, stderr or terminal",
				  stream);
	r = audit_find(q->dirfd, id, q->root, s.name, err);
	if (r < 0)
		return r;
	s.live = audit_store_busy(q->dirfd, s.name);
	r = q->json ? show_json(&s, err) : raw ? pass(&s, NULL, put_output, err) : show_all(&s, err);
	if (r == 0 && !s.any)
		r = error_text(err, -ENOENT, "%s has no process %u: they are numbered from 0 to %" PRIu64
			       " (column PROC of \"agentrun audit log\")", s.name, process, s.highest);
	if (r == 0)
		r = audit_out_flush(&s.out, true, err);
	audit_out_done(&s.out);
	return r;
}
