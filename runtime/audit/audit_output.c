/*
 * Output on its way into the log. Bytes wait until a line is whole or a record is full, so
 * that secrets are seen whole and records end at lines. Past the head only a ring with the
 * end of the stream is kept. All memory comes as it is needed: a stream that says nothing
 * costs nothing.
 */
#include <assert.h>
#include <errno.h>

#include "audit/audit_line.h"
#include "audit/audit_sink.h"
#include "util/secrets.h"

#define TAIL_MAX   ((size_t)8 * 1024)
#define TAILS_MAX  ((uint64_t)256 * 1024) /* of all streams together */
#define WINDOW	   (2 * AUDIT_OUTPUT_CHUNK) /* bytes that wait at most */
#define AHEAD	   ((size_t)1024) /* of which are looked at to see what a record ends in */
#define LAG_NS	   UINT64_C(100000000) /* of a terminal: so that it can be played back in time */

struct audit_output {
	struct audit_sink *sink;
	int32_t process;
	enum audit_stream stream;
	uint64_t head_max;
	size_t tail_max;

	uint64_t total, unread, kept;
	uint64_t offset; /* of the first waiting byte in the stream */
	uint64_t since;	 /* when that came */
	struct audit_redact_state redact;
	char *waiting; /* WINDOW bytes, NULL when there are none */
	size_t n_waiting;
	char *tail; /* a ring of tail_max bytes */
	size_t tail_at, tail_len;
};

int audit_output_open(struct audit_sink *s, int32_t process, enum audit_stream stream, uint64_t cap,
		      struct audit_output **ret, struct error *err)
{
	struct audit_output *o;

	assert(s && ret && err);
	o = calloc(1, sizeof(*o));
	if (!o)
		return error_oom(err);
	o->sink = s;
	o->process = process;
	o->stream = stream;
	o->tail_max = (size_t)MIN(cap / 4, (uint64_t)TAIL_MAX);
	o->head_max = cap - o->tail_max;
	*ret = o;
	return 0;
}

bool audit_output_full(const struct audit_output *o)
{
	return o->offset + o->n_waiting >= o->head_max;
}

bool audit_output_pending(const struct audit_output *o)
{
	return o->n_waiting > 0;
}

static int put_record(struct audit_output *o, uint64_t offset, size_t bytes, uint64_t when,
		      const struct buf *text, bool tail, struct error *err)
{
	struct audit_sink *s = o->sink;
	size_t mark;

	audit_record_begin(s, AUDIT_OUTPUT, o->process, when, &mark);
	audit_line_string(&s->queue, "stream", enum_to_name(&audit_stream_table, o->stream));
	audit_line_u64(&s->queue, "offset", offset);
	audit_line_u64(&s->queue, "bytes", bytes);
	if (tail)
		audit_line_true(&s->queue, "tail");
	audit_line_bytes(&s->queue, "data", (struct audit_bytes){ text->len ? text->data : "", text->len },
			 AUDIT_RECORD_MAX / 4);
	s->queue.failed = s->queue.failed || text->failed;
	return audit_record_end(s, AUDIT_OUTPUT, mark, err);
}

/*
 * How much of the text makes a good record: whole lines, else whole words, else all. Of what is
 * typed only lines: somebody who types slowly would have the name of a secret recorded before it.
 */
static size_t good_cut(enum audit_stream stream, const char *text, size_t len)
{
	const char *p = memrchr(text, '\n', len), *enter;
	size_t n = len;

	if (stream == AUDIT_STDIN) {
		enter = memrchr(text, '\r', len);
		p = !p || (enter && enter > p) ? enter : p;
		n = 0;
	}
	if (p)
		return (size_t)(p + 1 - text);
	while (n && secret_in_set(SECRET_ANY, text[n - 1]))
		n--;
	return n;
}

/* Records text piece by piece up to a good cut, or all of it; returns what was used. */
static size_t put_text(struct audit_output *o, const char *text, size_t len, bool all, bool tail,
		       struct error *err, int *ret)
{
	size_t used = 0, cut, n;
	int r;

	while (used < len) {
		_cleanup_buf_ struct buf clean = BUF_NULL;
		struct audit_bytes rest = { text + used, len - used }, seen = rest;

		cut = good_cut(o->stream, rest.data, MIN(rest.len, AUDIT_OUTPUT_CHUNK));
		if (cut == 0 && !all && rest.len < AUDIT_OUTPUT_CHUNK)
			break;
		if (cut == 0 || (all && rest.len <= AUDIT_OUTPUT_CHUNK))
			cut = MIN(rest.len, AUDIT_OUTPUT_CHUNK);
		seen.len = MIN(rest.len, cut + AHEAD);
		n = audit_redact_text(o->sink->redactor, &o->redact, seen, cut, &clean);
		r = clean.len || clean.failed || tail ?
			    put_record(o, o->offset, n, o->since, &clean, tail, err) :
			    0;
		*ret = r ? r : *ret;
		o->offset += n;
		o->kept += n;
		used += n;
	}
	return used;
}

static int record_waiting(struct audit_output *o, bool all, struct error *err)
{
	size_t used;
	int ret = 0;

	if (!o->n_waiting)
		return 0;
	used = put_text(o, o->waiting, o->n_waiting, all, false, err, &ret);
	o->n_waiting -= used;
	if (o->n_waiting) {
		memmove(o->waiting, o->waiting + used, o->n_waiting);
	} else {
		free(o->waiting);
		o->waiting = NULL;
	}
	return ret;
}

/* Bytes of the head; returns how many were taken. */
static int add_head(struct audit_output *o, const char *data, size_t len, struct error *err)
{
	uint64_t now = audit_now();
	int r, ret = 0;
	size_t n;

	if (o->stream == AUDIT_TERMINAL && o->n_waiting && now - o->since > LAG_NS)
		ret = record_waiting(o, false, err);
	while (len) {
		if (!o->waiting)
			o->waiting = malloc(WINDOW);
		if (!o->waiting)
			return -ENOMEM;
		if (!o->n_waiting)
			o->since = now;
		n = MIN(len, WINDOW - o->n_waiting);
		memcpy(o->waiting + o->n_waiting, data, n);
		o->n_waiting += n;
		data += n;
		len -= n;
		if (o->n_waiting < WINDOW)
			break;
		r = record_waiting(o, false, err);
		ret = r ? r : ret;
	}
	return ret;
}

static void add_tail(struct audit_output *o, const char *data, size_t len)
{
	size_t n;

	if (!o->tail && o->tail_max && o->sink->tails + o->tail_max <= TAILS_MAX) {
		o->tail = malloc(o->tail_max);
		o->sink->tails += o->tail ? o->tail_max : 0;
	}
	if (!o->tail)
		return;
	if (len > o->tail_max) {
		data += len - o->tail_max;
		len = o->tail_max;
	}
	while (len) {
		n = MIN(len, o->tail_max - o->tail_at);
		memcpy(o->tail + o->tail_at, data, n);
		o->tail_at = (o->tail_at + n) % o->tail_max;
		o->tail_len = MIN(o->tail_len + n, o->tail_max);
		data += n;
		len -= n;
	}
}

int audit_output_add(struct audit_output *o, const void *data, size_t len, struct error *err)
{
	size_t head;
	int r = 0;

	assert(o && (data || len == 0) && err);
	/* Once something went by unseen, only the end of the stream is of use. */
	head = o->total < o->head_max && !o->unread ? (size_t)MIN((uint64_t)len, o->head_max - o->total) : 0;
	if (head)
		r = add_head(o, data, head, err);
	o->total += len;
	if (len > head)
		add_tail(o, (const char *)data + head, len - head);
	if (r == -ENOMEM) {
		o->unread += head;
		r = audit_sink_fail(o->sink, -ENOMEM, err);
	}
	return r;
}

/* The stream goes on without us: half a word at the end may be half a secret, and goes too. */
static int end_head(struct audit_output *o, struct error *err)
{
	int r = record_waiting(o, false, err);

	o->n_waiting = 0;
	free(o->waiting);
	o->waiting = NULL;
	return r;
}

int audit_output_skip(struct audit_output *o, uint64_t bytes, struct error *err)
{
	int r;

	assert(o && err);
	r = end_head(o, err);
	o->total += bytes;
	o->unread += bytes;
	o->tail_len = 0;
	o->tail_at = 0;
	return r;
}

int audit_output_flush(struct audit_output *o, struct error *err)
{
	assert(o && err);
	return record_waiting(o, o->stream != AUDIT_STDIN && !audit_output_full(o), err);
}

/* What waits and, right behind it or after a hole, the ring from its oldest byte. */
static int put_rest(struct audit_output *o, bool hole, struct error *err)
{
	size_t first, part, skip = 0, n = o->n_waiting + o->tail_len;
	_cleanup_free_ char *text = NULL;
	int ret = 0;

	if (n == 0)
		return 0;
	text = malloc(n);
	if (!text)
		return audit_sink_fail(o->sink, -ENOMEM, err);
	if (o->n_waiting)
		memcpy(text, o->waiting, o->n_waiting);
	if (o->tail_len) {
		first = (o->tail_at + o->tail_max - o->tail_len) % o->tail_max;
		part = MIN(o->tail_len, o->tail_max - first);
		memcpy(text + o->n_waiting, o->tail + first, part);
		memcpy(text + o->n_waiting + part, o->tail, o->tail_len - part);
	}
	if (hole) {
		skip = secret_run(SECRET_ANY, (struct secret_text){ text, n });
		o->redact = (struct audit_redact_state){ 0 };
		o->offset = o->total - n + skip;
	}
	if (hole || !o->n_waiting)
		o->since = audit_now();
	(void)put_text(o, text + skip, n - skip, true, hole, err, &ret);
	return ret;
}

static int put_end(struct audit_output *o, const char *why, struct error *err)
{
	struct audit_sink *s = o->sink;
	size_t mark;

	audit_record_begin(s, AUDIT_OUTPUT_END, o->process, 0, &mark);
	audit_line_string(&s->queue, "stream", enum_to_name(&audit_stream_table, o->stream));
	audit_line_u64(&s->queue, "bytes", o->total);
	audit_line_u64(&s->queue, "kept", o->kept);
	if (o->unread)
		audit_line_u64(&s->queue, "unread", o->unread);
	audit_line_string(&s->queue, "why", why);
	return audit_record_end(s, AUDIT_OUTPUT_END, mark, err);
}

int audit_output_close(struct audit_output *o, const char *why, struct error *err)
{
	bool hole = o->unread || o->total - o->tail_len > o->offset + o->n_waiting;
	int head = 0, tail, end;

	assert(o && why && err);
	if (hole)
		head = end_head(o, err);
	tail = put_rest(o, hole, err);
	end = put_end(o, why, err);
	if (o->tail)
		o->sink->tails -= o->tail_max;
	free(o->tail);
	free(o->waiting);
	free(o);
	return head ? head : tail ? tail : end;
}
