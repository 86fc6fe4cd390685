/*
 * Owns the chain and the queue: a record exists when its whole line is queued, and only
 * then the sequence and the hash move on. What was queued is written in order, whole; a
 * short write is continued where it stopped. So the file never holds half a record with
 * another one behind it, whatever fails in between.
 */
#include "audit/audit_sink.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "audit/audit_event.h"
#include "audit/audit_line.h"

#define WRITE_AT      ((size_t)32 * 1024) /* queued bytes that are written without being asked */
#define QUEUE_KEPT    ((size_t)32 * 1024) /* memory that an empty queue keeps */
#define RETRY_NS      UINT64_C(1000000000)
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

static int stop_or_go(struct audit_sink *s, struct error *err)
{
	if (!s->stopped)
		return 0;
	*err = s->why;
	return AUDIT_E_STOP;
}

/* Nothing can be kept: remembers why, and whether that is the end. */
static int fail(struct audit_sink *s, int code, const char *what, struct error *err)
{
	assert(code < 0);
	s->failure = code;
	s->retry_at = audit_now() + RETRY_NS;
	if (s->on_failure == AUDIT_STOP && !s->stopped) {
		s->stopped = true;
		(void)error_text(&s->why, code,
				 "cannot %s the audit log: %s; make room or repair it, or let "
				 "audit.onFailure in the policy be \"continue\"",
				 what, error_errno_text(code));
	}
	return stop_or_go(s, err);
}

static void queue_shrink(struct audit_sink *s)
{
	s->queue.len = 0;
	s->done = 0;
	if (s->queue.cap > QUEUE_KEPT)
		buf_done(&s->queue);
}

static int write_queue(struct audit_sink *s, struct error *err)
{
	ssize_t n;

	while (s->done < s->queue.len) {
		n = write(s->fd, s->queue.data + s->done, s->queue.len - s->done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(s, n < 0 ? -errno : -EIO, "write", err);
		s->done += (size_t)n;
		if (!s->dirty_since)
			s->dirty_since = audit_now();
	}
	queue_shrink(s);
	s->written = s->head;
	s->failure = 0;
	s->retry_at = 0;
	return stop_or_go(s, err);
}

static int sync_file(struct audit_sink *s, struct error *err)
{
	if (!s->dirty_since)
		return stop_or_go(s, err);
	/* EINVAL, EROFS: not a file that can be synced, such as a pipe in a test. */
	if (fdatasync(s->fd) < 0 && errno != EINVAL && errno != EROFS) {
		s->dirty_since = audit_now();
		return fail(s, -errno, "sync", err);
	}
	s->dirty_since = 0;
	return stop_or_go(s, err);
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
	return fail(s, code, "add to", err);
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
		return write_queue(s, err);
	return stop_or_go(s, err);
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
	r = audit_record_end(s, AUDIT_GAP, mark, err);
	if (s->gap) { /* there was no room for it either: counted with the others */
		s->gap = gap;
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
		r = write_queue(s, err);
	if (s->gap && s->queue.len < AUDIT_BUFFER_MAX / 2)
		r = put_gap(s, err);
	return r;
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
	return wants_sync(e.type) ? audit_sink_flush(s, true, err) : r;
}

int audit_sink_flush(struct audit_sink *s, bool sync, struct error *err)
{
	int r;

	assert(s && err);
	r = write_queue(s, err);
	if (s->gap && !s->failure) {
		(void)put_gap(s, err);
		r = write_queue(s, err);
	}
	return sync && !s->failure ? sync_file(s, err) : r;
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
		return sync_file(s, err);
	return stop_or_go(s, err);
}
