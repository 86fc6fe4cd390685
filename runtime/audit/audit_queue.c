/*
 * Owns the queue's way into the file, and what happens when it is barred: whole lines in
 * order, nothing lost that was begun, and room kept for the end of the log.
 */
#include "audit/audit_sink.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUEUE_KEPT   ((size_t)32 * 1024) /* memory that an empty queue keeps */
#define RETRY_NS     UINT64_C(1000000000)
#define LAST_WORDS   UINT64_C(16384) /* on the disk, for gap, exit and close */
#define RESERVE_STEP UINT64_C(32768)

int audit_stop_or_go(struct audit_sink *s, struct error *err)
{
	if (!s->stopped)
		return 0;
	*err = s->why;
	return AUDIT_E_STOP;
}

int audit_fail(struct audit_sink *s, int code, const char *what, struct error *err)
{
	assert(code < 0);
	s->failure = code;
	s->retry_at = audit_now() + RETRY_NS;
	if (s->on_failure == AUDIT_STOP && !s->stopped) {
		s->stopped = true;
		if (s->full)
			(void)error_text(&s->why, code,
					 "the audit log has the size that is allowed; raise audit.maxBytes in the policy, "
					 "or let audit.onFailure be \"continue\"");
		else
			(void)error_text(&s->why, code,
					 "cannot %s the audit log: %s; make room or repair it, or let "
					 "audit.onFailure in the policy be \"continue\"",
					 what, error_errno_text(code));
	}
	return audit_stop_or_go(s, err);
}

static void queue_shrink(struct audit_sink *s)
{
	s->queue.len = 0;
	s->done = 0;
	if (s->queue.cap > QUEUE_KEPT)
		buf_done(&s->queue);
}

/*
 * Keeps room on the disk behind what is written, so that a full disk is met between two
 * records, and the last ones still fit. Where the filesystem cannot do that, it is met when it
 * is met. A log that has its size is a full disk, too: or a loop of programs would fill the host's.
 */
static int reserve(struct audit_sink *s)
{
	uint64_t need = s->file_bytes + (s->queue.len - s->done) + LAST_WORDS;
	uint64_t step;

	s->full = s->log_bytes && s->past_bytes + need > s->log_bytes;
	if (s->full)
		return -EDQUOT;
	if (s->no_reserve || need <= s->reserved)
		return 0;
	for (step = RESERVE_STEP;; step = 0) {
		if (fallocate(s->fd, FALLOC_FL_KEEP_SIZE, (off_t)s->file_bytes,
			      (off_t)(need + step - s->file_bytes)) == 0) {
			s->reserved = need + step;
			return 0;
		}
		if (errno == EINTR)
			continue;
		if (errno != ENOSPC && errno != EDQUOT) {
			s->no_reserve = true;
			return 0;
		}
		if (step == 0)
			return -errno;
	}
}

int audit_queue_write(struct audit_sink *s, struct error *err)
{
	ssize_t n;
	int r = s->last_words ? 0 : reserve(s);

	if (r < 0)
		return audit_fail(s, r, "write", err);
	while (s->done < s->queue.len) {
		n = write(s->fd, s->queue.data + s->done, s->queue.len - s->done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return audit_fail(s, n < 0 ? -errno : -EIO, "write", err);
		s->done += (size_t)n;
		s->file_bytes += (uint64_t)n;
		if (!s->dirty_since)
			s->dirty_since = audit_now();
	}
	queue_shrink(s);
	s->queued_gap = 0;
	s->queued_gaps = 0;
	s->written = s->head;
	s->failure = 0;
	s->retry_at = 0;
	return audit_stop_or_go(s, err);
}

int audit_queue_sync(struct audit_sink *s, struct error *err)
{
	if (!s->dirty_since)
		return audit_stop_or_go(s, err);
	/* EINVAL, EROFS: not a file that can be synced, such as a pipe in a test. */
	if (fdatasync(s->fd) < 0 && errno != EINVAL && errno != EROFS) {
		s->dirty_since = audit_now();
		return audit_fail(s, -errno, "sync", err);
	}
	s->dirty_since = 0;
	return audit_stop_or_go(s, err);
}

void audit_queue_drop(struct audit_sink *s)
{
	uint64_t lost = s->head.records - s->written.records - s->queued_gaps, missing = s->head.missing + lost;

	if (s->done || !s->queue.len)
		return;
	if (!s->gap)
		s->gap_since = audit_now();
	s->gap += lost + s->queued_gap;
	s->gap_code = s->failure;
	s->head = s->written;
	s->head.missing = missing;
	s->queued_gap = 0;
	s->queued_gaps = 0;
	queue_shrink(s);
}

void audit_queue_file(struct audit_sink *s, int fd)
{
	struct stat st;

	s->fd = fd;
	s->file_bytes = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	s->reserved = 0;
}
