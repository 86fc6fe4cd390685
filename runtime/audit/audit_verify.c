/*
 * Owns the verdict on a log. The first thing that is wrong decides; what comes behind it
 * is not judged, since it may follow from it.
 */
#include "audit/audit_verify.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "audit/audit_name.h"
#include "audit/audit_read.h"
#include "audit/audit_scan.h"
#include "audit/audit_value.h"

/* For the begin or the removal of a log that is under way. */
#define CHANGE_WAIT_MS 3000
#define CHANGE_STEP_MS 10

struct check {
	struct audit_verdict *v;
	struct audit_index_entry index[2]; /* beside the log, and root's own */
	bool has_index[2], met[2];
	const char *name; /* NULL = a file on its own */
};

_printf_(3, 4) static void against(struct check *c, const struct audit_record *rec, const char *fmt, ...)
{
	struct audit_verdict *v = c->v;
	va_list ap;

	if (!v->whole)
		return;
	v->whole = false;
	v->line = rec ? rec->number : 0;
	v->seq = rec ? rec->seq : 0;
	if (c->name && rec)
		audit_name_file(c->name, rec->part, v->file);
	va_start(ap, fmt);
	(void)vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
}

/* The first record names the container: a log in the place of another one's is found so. */
static void check_open(struct check *c, const struct audit_record *rec)
{
	const char *id = audit_value_string(rec->json, "id"), *root = audit_value_string(rec->json, "root");
	char digits[AUDIT_ROOT_DIGITS + 1];
	struct audit_name parsed;

	if (!c->name || !audit_name_parse(c->name, &parsed))
		return;
	if (!id || !root) {
		against(c, rec, "it does not name its container");
		return;
	}
	audit_name_root(root, digits);
	if (MIN(strlen(id), (size_t)AUDIT_ID_CUT) != parsed.id_len || memcmp(id, c->name, parsed.id_len) != 0 ||
	    !str_eq(parsed.root, digits))
		against(c, rec, "it is the log of another container (%.64s)", id);
}

static void check_index(struct check *c, const struct audit_record *rec)
{
	char hex[SHA256_HEX_SIZE];
	size_t i;

	for (i = 0; i < ELEMENTSOF(c->index); i++) {
		if (!c->has_index[i] || c->index[i].records != rec->seq)
			continue;
		c->met[i] = true;
		sha256_to_hex(rec->hash, hex);
		if (!str_eq(hex, c->index[i].hash))
			against(c, rec, "the index remembers another record %" PRIu64 ": the log was written anew, or is another one",
				rec->seq);
	}
}

static void check_record(struct check *c, const struct audit_record *rec)
{
	struct audit_verdict *v = c->v;
	uint64_t missing;

	if (rec->bad) {
		against(c, rec, "%s", rec->bad);
		return;
	}
	v->records++;
	v->parts = rec->part;
	(void)snprintf(v->time, sizeof(v->time), "%s", audit_value_string(rec->json, "time") ? audit_value_string(rec->json, "time") : "");
	if (rec->type == AUDIT_OPEN && rec->seq == 1)
		check_open(c, rec);
	/* What is written about a container behind the end of its log does not open it again. */
	if (rec->type == AUDIT_CLOSE)
		v->closed = true;
	if (rec->type == AUDIT_GAP && audit_value_u64(rec->json, "records", &missing))
		v->gaps += missing;
	check_index(c, rec);
}

static void check_end(struct check *c, uint64_t last_seq)
{
	static const char *const where[] = { "the index beside the log", "root's index" };
	struct audit_verdict *v = c->v;
	size_t i;

	for (i = 0; i < ELEMENTSOF(c->index); i++) {
		if (!c->has_index[i])
			continue;
		v->indexed = true;
		if (c->index[i].records > last_seq)
			against(c, NULL, "%s knows %" PRIu64 " records, and there are %" PRIu64 ": the end was cut off",
				where[i], c->index[i].records, last_seq);
		else if (c->index[i].closed && c->index[i].records < last_seq && !v->live)
			against(c, NULL, "%s knows %" PRIu64 " records, and there are %" PRIu64 ": some were added later",
				where[i], c->index[i].records, last_seq);
	}
	/* Its first record may be on its way. */
	if (v->records == 0 && !v->live)
		against(c, NULL, "it holds no record");
	if (!v->closed && !v->live)
		against(c, NULL, "it has no closing record and nobody writes it: its writer was killed, or the end was cut off");
}

static int run(struct check *c, struct audit_reader *r, struct error *err)
{
	struct audit_record rec;
	enum audit_type type = AUDIT_TYPES;
	uint64_t last = 0;
	int k;

	c->v->whole = true;
	while (c->v->whole && (k = audit_reader_next(r, &rec, err)) != AUDIT_READ_END) {
		if (k < 0)
			return k;
		check_record(c, &rec);
		last = rec.seq ? rec.seq : last;
		type = rec.type;
	}
	/* A part on its own is whole when it ends as a part does. */
	if (!c->name && type == AUDIT_PART_END)
		c->v->closed = true;
	if (c->v->whole)
		check_end(c, last);
	return 0;
}

static int read_index(struct check *c, const int fds[2], const char *name, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < ELEMENTSOF(c->index); i++) {
		r = fds[i] < 0 ? AUDIT_E_NOT_FOUND : audit_index_read(fds[i], name, &c->index[i], err);
		if (r == -ENOMEM)
			return r;
		c->has_index[i] = r == 0;
		if (r < 0)
			against(c, NULL, "its index cannot be read: %s", err->text);
	}
	return 0;
}

static bool is_gone(const struct check *c, const int fds[2])
{
	struct audit_index_entry entry;
	struct error ignored;

	return !audit_store_has_part(fds[0], c->name, 1) && audit_index_read(fds[0], c->name, &entry, &ignored) == AUDIT_E_NOT_FOUND &&
	       (fds[1] < 0 || audit_index_read(fds[1], c->name, &entry, &ignored) == AUDIT_E_NOT_FOUND);
}

enum change { SAME, GONE, BEGUN };

/* Nothing was made or removed in the folder for so long that nobody can be in the middle of it. */
static bool is_quiet(int dirfd)
{
	struct timespec now;
	struct stat st;
	int64_t ms;

	if (fstat(dirfd, &st) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return false;
	ms = ((int64_t)now.tv_sec - st.st_mtim.tv_sec) * 1000 + (now.tv_nsec - st.st_mtim.tv_nsec) / 1000000;
	return ms > CHANGE_WAIT_MS;
}

/*
 * Old logs are removed to keep the total size, parts first and from the last one, the index after them: a log of which
 * only the index speaks of its last part may be such a one, and then is soon gone whole; one that was cut stays. And
 * the file of a new one is there a moment before its writer has its lock.
 */
static enum change await_change(const struct check *c, const int fds[2])
{
	const struct timespec step = { .tv_nsec = CHANGE_STEP_MS * 1000000L };
	unsigned ms;

	for (ms = 0; ms < CHANGE_WAIT_MS; ms += CHANGE_STEP_MS) {
		if (is_gone(c, fds))
			return GONE;
		if (!c->v->live && audit_store_busy(fds[0], c->name))
			return BEGUN;
		if (is_quiet(fds[0]) || (c->v->records > 0 && audit_store_has_part(fds[0], c->name, MAX(c->index[0].part, 1U))))
			return SAME;
		(void)nanosleep(&step, NULL);
	}
	return SAME;
}

static int verify_once(int dirfd, const int fds[2], const char *name, struct check *c, struct error *err)
{
	_cleanup_(audit_scan_done) struct audit_scan scan = AUDIT_SCAN_NULL;
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	struct audit_verdict *v = c->v;
	uint32_t part;
	size_t i;
	int k;

	*v = (struct audit_verdict){ .whole = true };
	audit_name_file(name, 1, v->file);
	v->live = audit_store_busy(dirfd, name);
	/* The index first: a log that goes on is ahead of it then, never behind. */
	k = read_index(c, fds, name, err);
	if (k < 0 || !v->whole)
		return k;
	k = audit_reader_open(&r, dirfd, name, v->live, err);
	if (k == AUDIT_E_NOT_FOUND) {
		against(c, NULL, "its first part is missing");
		return 0;
	}
	if (k == 0)
		k = run(c, &r, err);
	part = r.part;
	if (k == 0)
		k = audit_scan_read(dirfd, &scan, err);
	for (i = 0; k == 0 && i < scan.count; i++)
		/* One that goes on may have got more of them since. */
		if (str_eq(scan.logs[i].name, name) && scan.logs[i].parts > part + 1 &&
		    !(v->live && audit_store_has_part(dirfd, name, part + 1)))
			against(c, NULL, "part %u is missing, and there is a part %u", part + 1, scan.logs[i].parts);
	return k;
}

int audit_verify_log(int dirfd, int index_dirfd, const char *name, struct audit_verdict *ret,
		     struct error *err)
{
	struct check c = { .v = ret, .name = name };
	const int fds[2] = { dirfd, index_dirfd };
	int k;

	assert(dirfd >= 0 && name && ret && err);
	k = verify_once(dirfd, fds, name, &c, err);
	if (k < 0 || ret->whole)
		return k;
	switch (await_change(&c, fds)) {
	case GONE:
		return error_text(err, -ENOENT, "audit log %s was removed while it was read, to make room for newer ones", name);
	case BEGUN:
		c = (struct check){ .v = ret, .name = name };
		return verify_once(dirfd, fds, name, &c, err);
	default:
		return 0;
	}
}

int audit_verify_file(int fd, const char *file, struct audit_verdict *ret, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	struct check c = { .v = ret };

	assert(fd >= 0 && file && ret && err);
	*ret = (struct audit_verdict){ .whole = true };
	(void)snprintf(ret->file, sizeof(ret->file), "%s", file);
	audit_reader_open_fd(&r, fd);
	return run(&c, &r, err);
}
