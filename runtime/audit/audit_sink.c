/*
 * Owns the chain and the queue: a record exists when its whole line is queued, and only
 * then the sequence and the hash move on. What was queued is written in order, whole; a
 * short write is continued where it stopped. So the file never holds half a record with
 * another one behind it, whatever fails in between.
 */
#include "audit/audit_sink.h"

#include <assert.h>

#include "audit/audit_event.h"
#include "audit/audit_line.h"

#define WRITE_AT      ((size_t)32 * 1024) /* queued bytes that are written without being asked */
#define HASH_MEMBER   ",\"hash\":\""

uint64_t audit_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The wall clock at a moment of the other one, as far as the clocks agree now. */
static struct timespec wall_at(uint64_t mono_ns)
{
	struct timespec ts;
	int64_t ns;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec - (int64_t)(audit_now() - mono_ns);
	if (ns < 0)
		ns = 0;
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

/* The line that began at mark gets its hash; 0, or why it must not stand there. */
static int seal(struct audit_sink *s, size_t mark, enum audit_type type)
{
	char hex[SHA256_HEX_SIZE];
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;

	if (!buf_ok(&s->queue))
		return -ENOMEM;
	sha256_to_hex(s->head.hash, hex);
	sha256_begin(&h);
	sha256_add(&h, hex, SHA256_HEX_SIZE - 1);
	sha256_add(&h, s->queue.data + mark, s->queue.len - mark);
	sha256_end(&h, digest);
	sha256_to_hex(digest, hex);
	buf_adds(&s->queue, HASH_MEMBER);
	buf_adds(&s->queue, hex);
	buf_adds(&s->queue, "\"}\n");
	if (!buf_ok(&s->queue))
		return -ENOMEM;
	if (s->queue.len > AUDIT_BUFFER_MAX)
		return s->failure ? s->failure : -ENOBUFS;
	memcpy(s->head.hash, digest, sizeof(digest));
	s->head.part_bytes += s->queue.len - mark;
	s->head.records++;
	s->head.counts[type]++;
	return 0;
}

void audit_record_begin(struct audit_sink *s, enum audit_type type, int32_t process, uint64_t mono_ns,
			size_t *ret_mark)
{
	struct timespec wall;

	*ret_mark = s->queue.len;
	if (!mono_ns)
		mono_ns = audit_now();
	wall = wall_at(mono_ns);
	audit_line_begin(&s->queue, s->head.records + 1, &wall, mono_ns,
			 enum_to_name(&audit_type_table, type));
	if (process >= 0)
		audit_line_i64(&s->queue, "process", process);
}

int audit_sink_fail(struct audit_sink *s, int code, struct error *err)
{
	if (!s->gap++)
		s->gap_since = audit_now();
	s->gap_code = code;
	s->head.missing++;
	return audit_fail(s, code, "add to", err);
}

/* Out of memory in the middle of a queue loses no line of it: realloc keeps the old block. */
int audit_record_end(struct audit_sink *s, enum audit_type type, size_t mark, struct error *err)
{
	int r = seal(s, mark, type);

	if (r < 0) {
		s->queue.len = mark;
		s->queue.failed = false;
		return audit_sink_fail(s, r, err);
	}
	if (s->queue.len - s->done >= WRITE_AT && !s->retry_at)
		return audit_queue_write(s, err);
	return audit_stop_or_go(s, err);
}

static int put_gap(struct audit_sink *s, struct error *err)
{
	uint64_t gap = s->gap;
	size_t mark;
	int r;

	s->gap = 0;
	audit_record_begin(s, AUDIT_GAP, -1, 0, &mark);
	audit_line_u64(&s->queue, "records", gap);
	audit_line_u64(&s->queue, "sinceMono", s->gap_since);
	audit_line_string(&s->queue, "why", error_errno_text(s->gap_code));
	s->queued_gap += gap;
	s->queued_gaps++;
	r = audit_record_end(s, AUDIT_GAP, mark, err);
	if (s->gap) { /* there was no room for it either: counted with the others */
		s->gap = gap;
		s->queued_gap -= gap;
		s->queued_gaps--;
		s->head.missing--;
	}
	return r;
}

/* Before a record: tries to get room after a failure, and tells of what is missing. */
static int prepare(struct audit_sink *s, struct error *err)
{
	int r = 0;

	if (s->queue.len > AUDIT_BUFFER_MAX - AUDIT_RECORD_MAX &&
	    (!s->retry_at || audit_now() >= s->retry_at))
		r = audit_queue_write(s, err);
	if (s->gap && s->queue.len < AUDIT_BUFFER_MAX / 2)
		r = put_gap(s, err);
	return r;
}

void audit_last_words(struct audit_sink *s, struct error *err)
{
	(void)audit_sink_flush(s, false, err);
	if (s->failure)
		audit_queue_drop(s);
	s->last_words = true;
	if (s->gap)
		(void)put_gap(s, err);
}

static bool wants_sync(enum audit_type type)
{
	return type == AUDIT_EXIT || type == AUDIT_DELETE || type == AUDIT_MONITOR_LOST;
}

int audit_sink_emit(struct audit_sink *s, const struct audit_event *event, struct error *err)
{
	_cleanup_buf_ struct buf argv = BUF_NULL;
	struct audit_event e;
	struct audit_bytes *args;
	size_t mark;
	int r;

	assert(s && event && err);
	if (wants_sync(event->type))
		audit_last_words(s, err);
	else
		(void)prepare(s, err);
	e = *event; /* a copy: argv may be replaced */
	args = audit_event_argv(&e);
	if (args && args->data && audit_redact_argv(s->redactor, *args, &argv))
		*args = (struct audit_bytes){ argv.data, argv.len };
	audit_record_begin(s, e.type, e.process, e.mono_ns, &mark);
	audit_event_members(&s->queue, &e);
	/* An argv that could not be redacted must not be recorded. */
	s->queue.failed = s->queue.failed || argv.failed;
	r = audit_record_end(s, e.type, mark, err);
	if (wants_sync(e.type))
		r = audit_sink_flush(s, true, err);
	s->last_words = false;
	return r;
}

int audit_sink_flush(struct audit_sink *s, bool sync, struct error *err)
{
	int r;

	assert(s && err);
	r = audit_queue_write(s, err);
	if (s->gap && !s->failure) {
		(void)put_gap(s, err);
		r = audit_queue_write(s, err);
	}
	return sync && !s->failure ? audit_queue_sync(s, err) : r;
}

uint64_t audit_sink_due(const struct audit_sink *s)
{
	uint64_t sync_at = s->dirty_since ? s->dirty_since + s->sync_ns : 0;

	if (s->retry_at && (!sync_at || s->retry_at < sync_at))
		return s->retry_at;
	return sync_at;
}

int audit_sink_tick(struct audit_sink *s, struct error *err)
{
	uint64_t now = audit_now();

	assert(s && err);
	if (s->retry_at && now >= s->retry_at)
		return audit_sink_flush(s, s->dirty_since && now - s->dirty_since >= s->sync_ns, err);
	if (s->dirty_since && now - s->dirty_since >= s->sync_ns)
		return audit_queue_sync(s, err);
	return audit_stop_or_go(s, err);
}
