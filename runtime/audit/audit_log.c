/*
 * `log` and `follow`: the records in their order, read once or as they come.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "audit/audit_find.h"
#include "audit/audit_table.h"

#define LOOK_MS 1000 /* at most so late is it seen that a writer was killed */

static int open_log(const struct audit_query *q, const char *id, bool live, char name[AUDIT_NAME_SIZE],
		    struct audit_reader *r, struct error *err)
{
	int k = audit_find(q->dirfd, id, q->root, name, err);

	if (k < 0)
		return k;
	k = audit_reader_open(r, q->dirfd, name, live || audit_store_busy(q->dirfd, name), err);
	return k > 0 ? error_text(err, -ENOENT, "the first part of audit log %s is missing", name) : k;
}

static void put_json(struct audit_out *o, const struct audit_record *rec)
{
	buf_add(&o->text, rec->line, rec->len);
	buf_adds(&o->text, "\n");
}

/* pairs: NULL when the end of what runs is not known yet. */
static void put(struct audit_out *o, const struct audit_filter *f, const struct audit_record *rec,
		const struct audit_pairs *pairs)
{
	int64_t owner = pairs ? audit_pairs_owner(pairs, rec->seq) : -1;

	if (!audit_filter_takes(f, rec, owner))
		return;
	if (o->query->json) {
		/* What is no JSON would break the reader; `verify` tells of it. */
		if (rec->json)
			put_json(o, rec);
		return;
	}
	if (!f->by_type && !rec->bad &&
	    (audit_table_dull(rec) || (pairs && rec->type != AUDIT_EXIT && audit_pairs_is_end(pairs, rec->seq))))
		return;
	audit_table_row(&o->text, rec, owner, pairs ? audit_pairs_end(pairs, rec->seq) : NULL);
}

int audit_query_log(const struct audit_query *q, const char *id, const struct audit_filter *f,
		    struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	_cleanup_audit_pairs_ struct audit_pairs *pairs = NULL;
	_cleanup_(audit_out_done) struct audit_out o = { .query = q };
	char name[AUDIT_NAME_SIZE];
	struct audit_record rec;
	int k;

	assert(q && id && f && err);
	k = open_log(q, id, false, name, &r, err);
	if (k == 0 && (!q->json || f->by_process))
		k = audit_pairs_read(q->dirfd, name, r.live, &pairs, err);
	if (k < 0)
		return k;
	if (!q->json)
		audit_table_head(&o.text);
	while ((k = audit_reader_next(&r, &rec, err)) == AUDIT_READ_RECORD) {
		put(&o, f, &rec, pairs);
		k = audit_out_flush(&o, false, err);
		if (k < 0)
			return k;
	}
	return k < 0 ? k : audit_out_flush(&o, true, err);
}

/* Waits until something in the folder changes, or a moment. */
static int wait_change(int inotify, struct error *err)
{
	char events[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
	struct pollfd p = { .fd = inotify, .events = POLLIN };
	int n = poll(&p, 1, LOOK_MS);

	if (n < 0 && errno != EINTR)
		return error_set(err, -errno, "wait for the audit log");
	if (n > 0 && read(inotify, events, sizeof(events)) < 0 && errno != EAGAIN && errno != EINTR)
		return error_set(err, -errno, "read what changed in the audit folder");
	return 0;
}

static int watch(int dirfd, int *ret, struct error *err)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dirfd);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY | IN_CREATE | IN_CLOSE_WRITE) < 0)
		return error_set(err, -errno, "watch the audit folder");
	*ret = take_fd(&fd);
	return 0;
}

/* Everything there is; *ret_closed: the closing record was among it. */
static int catch_up(struct audit_out *o, const struct audit_filter *f, struct audit_reader *r,
		    bool *ret_closed, struct error *err)
{
	struct audit_record rec;
	int k;

	while ((k = audit_reader_next(r, &rec, err)) == AUDIT_READ_RECORD) {
		*ret_closed = *ret_closed || rec.type == AUDIT_CLOSE;
		put(o, f, &rec, NULL);
		k = audit_out_flush(o, false, err);
		if (k < 0)
			return k;
	}
	return k < 0 ? k : audit_out_flush(o, true, err);
}

int audit_query_follow(const struct audit_query *q, const char *id, const struct audit_filter *f,
		       struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	_cleanup_(audit_out_done) struct audit_out o = { .query = q };
	_cleanup_close_ int inotify = -EBADF;
	char name[AUDIT_NAME_SIZE];
	bool closed = false, busy = true;
	int k;

	assert(q && id && f && err);
	/* Before the first look, so that nothing falls between the two. */
	k = watch(q->dirfd, &inotify, err);
	if (k == 0)
		k = open_log(q, id, true, name, &r, err);
	if (k < 0)
		return k;
	if (!q->json)
		audit_table_head(&o.text);
	for (;;) {
		k = catch_up(&o, f, &r, &closed, err);
		if (k < 0 || closed || !busy)
			return k;
		/* A writer that is gone may have written since: one more look after that is seen. */
		busy = audit_store_busy(q->dirfd, name);
		if (busy)
			k = wait_change(inotify, err);
		if (k < 0)
			return k;
	}
}
