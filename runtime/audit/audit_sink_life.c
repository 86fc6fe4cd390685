/*
 * The begin and the end of a sink, of a part, and handing the log to another process: the
 * records that the log writes about itself.
 */
#include "audit/audit_sink.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "audit/audit_line.h"

#define FORMAT_NUMBER 1

bool audit_sink_wants_part(const struct audit_sink *s)
{
	return !s->failure && s->head.part_bytes >= s->part_bytes;
}

int audit_sink_part(struct audit_sink *s, int fd, struct error *err)
{
	_cleanup_close_ int next = fd;
	char hex[SHA256_HEX_SIZE];
	size_t mark;
	int r;

	assert(s && fd >= 0 && err);
	/* What must stand in the present file has to be in it first; else it is tried again later. */
	r = audit_sink_flush(s, false, err);
	if (s->failure)
		return r;
	audit_record_begin(s, AUDIT_PART_END, -1, 0, &mark);
	audit_line_u64(&s->queue, "next", s->head.part + 1);
	(void)audit_record_end(s, AUDIT_PART_END, mark, err);
	r = audit_sink_flush(s, true, err);
	if (s->queue.len) /* the end waits: a part that says so goes nowhere until it is written */
		return r;
	(void)close(s->fd);
	s->past_bytes += s->file_bytes;
	audit_queue_file(s, take_fd(&next));
	s->head.part++;
	s->head.part_bytes = 0;
	sha256_to_hex(s->head.hash, hex);
	audit_record_begin(s, AUDIT_PART, -1, 0, &mark);
	audit_line_u64(&s->queue, "part", s->head.part);
	audit_line_string(&s->queue, "after", hex);
	(void)audit_record_end(s, AUDIT_PART, mark, err);
	return audit_sink_flush(s, false, err);
}

void audit_sink_head(const struct audit_sink *s, struct audit_head *ret)
{
	*ret = s->written;
}

uint64_t audit_sink_missing(const struct audit_sink *s)
{
	return s->head.missing;
}

struct audit_sink *audit_sink_free(struct audit_sink *s)
{
	if (!s)
		return NULL;
	if (s->fd >= 0)
		(void)close(s->fd);
	buf_done(&s->queue);
	audit_redactor_free(s->redactor);
	free(s);
	return NULL;
}

static int put_open(struct audit_sink *s, const struct audit_sink_options *opt, struct error *err)
{
	size_t mark;
	int r;

	audit_record_begin(s, AUDIT_OPEN, -1, 0, &mark);
	audit_line_u64(&s->queue, "format", FORMAT_NUMBER);
	audit_line_string(&s->queue, "id", opt->id);
	audit_line_string(&s->queue, "root", opt->root);
	r = audit_record_end(s, AUDIT_OPEN, mark, err);
	return r == 0 ? audit_sink_flush(s, false, err) : r;
}

int audit_sink_open(const struct audit_sink_options *opt, struct audit_sink **ret, struct error *err)
{
	struct audit_sink *s;
	int r;

	assert(opt && opt->fd >= 0 && ret && err && (opt->head.records || (opt->id && opt->root)));
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_oom(err);
	s->fd = -EBADF;
	s->on_failure = AUDIT_STOP;
	s->part_bytes = opt->part_bytes ? opt->part_bytes : AUDIT_PART_BYTES;
	s->log_bytes = opt->log_bytes;
	s->sync_ns = opt->sync_ns ? opt->sync_ns : AUDIT_SYNC_NS;
	s->head = opt->head;
	if (!s->head.part)
		s->head.part = 1;
	s->written = s->head;
	s->past_bytes = (s->head.part - 1) * s->part_bytes;
	r = audit_redactor_new(opt->redact, opt->n_redact, &s->redactor, err);
	audit_queue_file(s, opt->fd);
	if (r == 0 && !s->head.records)
		r = put_open(s, opt, err);
	s->on_failure = opt->on_failure;
	if (r == 0) {
		*ret = s;
		return 0;
	}
	s->fd = -EBADF; /* the caller's again */
	audit_sink_free(s);
	return err->code < 0 ? err->code : -EIO;
}

int audit_sink_detach(struct audit_sink *s, int *ret_fd, struct audit_head *ret_head,
		      struct error *err)
{
	int r;

	assert(s && ret_fd && ret_head && err);
	(void)audit_sink_flush(s, true, err);
	r = s->failure;
	if (r == 0) {
		*ret_head = s->written;
		*ret_fd = take_fd(&s->fd);
	} else if (err->code == 0) {
		(void)error_set(err, r, "write the audit log");
	}
	audit_sink_free(s);
	return r;
}

int audit_sink_close(struct audit_sink *s, struct audit_head *ret_head, struct error *err)
{
	size_t mark, i;
	int r;

	assert(s && err);
	audit_last_words(s, err);
	audit_record_begin(s, AUDIT_CLOSE, -1, 0, &mark);
	audit_line_u64(&s->queue, "records", s->head.records + 1);
	audit_line_u64(&s->queue, "missing", s->head.missing);
	audit_line_open(&s->queue, "counts", '{');
	for (i = 0; i < AUDIT_TYPES; i++)
		if (s->head.counts[i])
			audit_line_u64(&s->queue, enum_to_name(&audit_type_table, i), s->head.counts[i]);
	audit_line_shut(&s->queue, '}');
	(void)audit_record_end(s, AUDIT_CLOSE, mark, err);
	r = audit_sink_flush(s, true, err);
	if (ret_head)
		*ret_head = s->written;
	audit_sink_free(s);
	return r;
}
