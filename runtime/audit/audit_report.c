/*
 * `verify`: the verdict in words.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_find.h"
#include "audit/audit_name.h"
#include "audit/audit_query.h"
#include "audit/audit_table.h"
#include "audit/audit_value.h"
#include "audit/audit_verify.h"
#include "util/json_write.h"
#include "util/text.h"

static void put_text(struct buf *b, const char *name, const struct audit_verdict *v)
{
	if (!v->whole) {
		text_print(b, v->file, strlen(v->file), false);
		if (v->line)
			buf_addf(b, ", line %" PRIu64, v->line);
		if (v->seq)
			buf_addf(b, ", record %" PRIu64, v->seq);
		buf_adds(b, ": NOT AS IT WAS WRITTEN: ");
		text_print(b, v->why, strlen(v->why), false);
		buf_addf(b, "\n%" PRIu64 " records before it are good", v->records);
		if (v->time[0]) {
			buf_adds(b, ", up to ");
			text_print(b, v->time, strlen(v->time), false);
		}
		buf_adds(b, "\n");
		return;
	}
	text_print(b, name, strlen(name), false);
	buf_addf(b, ": good: %" PRIu64 " records in %u %s", v->records, v->parts, v->parts == 1 ? "part" : "parts");
	buf_adds(b, v->live ? ", still being written" : v->closed ? ", closed" : "");
	if (v->gaps)
		buf_addf(b, "; it says itself that %" PRIu64 " records are missing", v->gaps);
	if (!v->indexed)
		buf_adds(b, "; no index knows it, so that a log written anew would not be noticed");
	buf_adds(b, "\n");
}

static int put_json(struct buf *b, const char *name, const struct audit_verdict *v, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "log", name);
	json_bool(w, "good", v->whole);
	json_u64(w, "records", v->records);
	json_bool(w, "closed", v->closed);
	json_bool(w, "open", v->live);
	json_bool(w, "indexed", v->indexed);
	json_u64(w, "missing", v->gaps);
	if (!v->whole) {
		json_object_begin(w, "bad");
		json_string(w, "file", v->file);
		json_u64(w, "line", v->line);
		json_u64(w, "record", v->seq);
		json_string(w, "after", v->time);
		json_string(w, "why", v->why);
		json_object_end(w);
	}
	json_object_end(w);
	r = json_take(w, &text, err);
	buf_addf(b, "%s\n", text ? text : "");
	return r;
}

/* A path: with others of its log when it lies beside them, else on its own. */
static int verify_path(const struct audit_query *q, const char *path, struct audit_verdict *v,
		       struct error *err)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	_cleanup_free_ char *folder = slash ? strndup(path, (size_t)MAX(slash - path, (ptrdiff_t)1)) : strdup(".");
	_cleanup_close_ int fd = -EBADF, dirfd = -EBADF;
	char name[AUDIT_NAME_SIZE], first[AUDIT_FILE_SIZE];
	struct stat st, ours;
	bool own;
	uint32_t part;

	if (!folder)
		return error_oom(err);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open audit log %s", path);
	if (!S_ISREG(st.st_mode))
		return error_text(err, -EINVAL, "%s is no file", path);
	dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Root's own index speaks for the logs of the folder that it was made for. */
	own = dirfd >= 0 && q->dirfd >= 0 && fstat(dirfd, &st) == 0 && fstat(q->dirfd, &ours) == 0 &&
	      st.st_dev == ours.st_dev && st.st_ino == ours.st_ino;
	if (dirfd >= 0 && audit_name_of_file(file, name, &part)) {
		audit_name_file(name, 1, first);
		if (part == 1 || faccessat(dirfd, first, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return audit_verify_log(dirfd, own ? q->index_dirfd : -EBADF, name, v, err);
	}
	return audit_verify_file(take_fd(&fd), path, v, err);
}

int audit_query_verify(const struct audit_query *q, const char *what, bool *ret_whole, struct error *err)
{
	_cleanup_(audit_out_done) struct audit_out o = { .query = q };
	char name[AUDIT_NAME_SIZE];
	struct audit_verdict v = { 0 };
	const char *shown = what;
	int r;

	assert(q && what && ret_whole && err);
	if (strchr(what, '/') || (strlen(what) > 6 && str_eq(what + strlen(what) - 6, ".jsonl"))) {
		r = verify_path(q, what, &v, err);
	} else {
		r = audit_find(q->dirfd, what, q->root, name, err);
		if (r == 0)
			r = audit_verify_log(q->dirfd, q->index_dirfd, name, &v, err);
		shown = name;
	}
	if (r < 0)
		return r;
	*ret_whole = v.whole;
	if (q->json)
		r = put_json(&o.text, shown, &v, err);
	else
		put_text(&o.text, shown, &v);
	return r < 0 ? r : audit_out_flush(&o, true, err);
}
