/*
 * Owns the reading of files of a log. A bad record does not end it: the chain is taken up
 * again with what the record says of itself, so that what follows can be read, and the
 * caller decides what a bad one means.
 */
#include "audit/audit_read.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_name.h"
#include "audit/audit_tail.h"

#define READ_SIZE   ((size_t)64 * 1024)
#define LINE_MAX_READ (2 * AUDIT_RECORD_MAX)
#define READ_ON	    2
#define SEAL_LENGTH (strlen(",\"hash\":\"") + SHA256_HEX_SIZE - 1 + strlen("\"}"))

static int open_part(struct audit_reader *r, uint32_t part, uint64_t *ret_size)
{
	char file[AUDIT_FILE_SIZE];
	struct stat st;
	int fd;

	audit_name_file(r->name, part, file);
	/* Not blocking: whatever lies there under that name may be a pipe. */
	fd = openat(r->dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -EBADF;
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

int audit_reader_open(struct audit_reader *r, int dirfd, const char *name, bool live, struct error *err)
{
	uint64_t size;
	int fd;

	assert(r && dirfd >= 0 && name && strlen(name) < AUDIT_NAME_SIZE && err);
	*r = AUDIT_READER_NULL;
	(void)snprintf(r->name, sizeof(r->name), "%s", name);
	r->dirfd = dirfd;
	r->live = live;
	fd = open_part(r, 1, &size);
	if (fd == -ENOENT)
		return AUDIT_E_NOT_FOUND;
	if (fd < 0)
		return error_set(err, fd, "open audit log %s", name);
	r->fd = fd;
	r->part = 1;
	return 0;
}

void audit_reader_open_fd(struct audit_reader *r, int fd)
{
	*r = AUDIT_READER_NULL;
	r->fd = fd;
	r->part = 1;
}

void audit_reader_done(struct audit_reader *r)
{
	if (r->fd >= 0)
		(void)close(r->fd);
	buf_done(&r->in);
	arena_done(&r->arena);
	r->fd = -EBADF;
}

/* More of the present file; 0 = there is no more for now. */
static ssize_t fill(struct audit_reader *r)
{
	ssize_t n;
	char *more;

	if (r->at) {
		memmove(r->in.data, r->in.data + r->at, r->in.len - r->at);
		r->in.len -= r->at;
		r->at = 0;
	}
	if (r->in.cap < r->in.len + READ_SIZE + 1) {
		more = realloc(r->in.data, r->in.len + READ_SIZE + 1);
		if (!more)
			return -ENOMEM;
		r->in.data = more;
		r->in.cap = r->in.len + READ_SIZE + 1;
	}
	do
		n = read(r->fd, r->in.data + r->in.len, READ_SIZE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->in.len += (size_t)n;
	return n;
}

/* The next part if it has content: then this one is complete. -EBADF: there is none such. */
static int open_behind(struct audit_reader *r)
{
	uint64_t size = 0;
	int fd = r->dirfd < 0 ? -ENOENT : open_part(r, r->part + 1, &size);

	if (fd >= 0 && size > 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return fd < 0 && fd != -ENOENT ? fd : -EBADF;
}

static void move_on(struct audit_reader *r, int fd)
{
	(void)close(r->fd);
	r->fd = fd;
	r->part++;
	r->number = 0;
	r->last = false;
}

_printf_(2, 3) static const char *bad(struct audit_reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
	return r->why;
}

static bool hash_fits(const struct audit_reader *r, const struct audit_record *rec)
{
	char hex[SHA256_HEX_SIZE];
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;

	sha256_to_hex(r->hash, hex);
	sha256_begin(&h);
	sha256_add(&h, hex, SHA256_HEX_SIZE - 1);
	sha256_add(&h, rec->line, rec->len - SEAL_LENGTH);
	sha256_end(&h, digest);
	return memcmp(digest, rec->hash, SHA256_BYTES) == 0;
}

/* The first record of a part says which one it is, and what came before. */
static const char *judge_first(struct audit_reader *r, const struct audit_record *rec)
{
	const struct json *part, *after;
	char hex[SHA256_HEX_SIZE];
	uint64_t n = 0;

	if (r->part == 1 && (r->dirfd >= 0 || rec->type == AUDIT_OPEN))
		return rec->type == AUDIT_OPEN ? NULL : bad(r, "the log does not begin with its first record");
	part = rec->json ? json_member(rec->json, "part") : NULL;
	after = rec->json ? json_member(rec->json, "after") : NULL;
	if (rec->type != AUDIT_PART || !part || !after || after->type != JSON_STRING ||
	    json_to_u64(part, &n) < 0)
		return bad(r, "part %u does not begin with its first record", r->part);
	if (r->dirfd < 0) {
		r->part = (uint32_t)n;
		return NULL;
	}
	sha256_to_hex(r->hash, hex);
	if (n != r->part)
		return bad(r, "this is part %" PRIu64 ", in the place of part %u", n, r->part);
	return str_eq(after->text, hex) ? NULL : bad(r, "part %u does not belong behind part %u", r->part, r->part - 1);
}

/* A file that begins in the middle: what came before is what it says. */
static void believe(struct audit_reader *r, const struct audit_record *rec)
{
	const struct json *after = rec->json ? json_member(rec->json, "after") : NULL;
	_cleanup_buf_ struct buf line = BUF_NULL;
	uint64_t seq;

	if (r->dirfd >= 0 || r->begun || rec->type != AUDIT_PART || !after || after->type != JSON_STRING)
		return;
	r->seq = rec->seq - 1;
	/* The hash of an imaginary record, to have its hexadecimal form read. */
	buf_addf(&line, "{\"seq\":1,\"hash\":\"%s\"}", after->text);
	if (buf_ok(&line) && !audit_tail_seal(line.data, line.len, &seq, r->hash))
		memset(r->hash, 0, sizeof(r->hash));
}

static const char *judge(struct audit_reader *r, const struct audit_record *rec)
{
	const char *why = NULL;

	if (!rec->seq)
		return bad(r, "it is no record: its number or its hash is missing");
	believe(r, rec);
	if (r->number == 1)
		why = judge_first(r, rec);
	if (why)
		return why;
	if (rec->seq > r->seq + 1)
		return bad(r, "it has number %" PRIu64 " and follows number %" PRIu64 ": records are missing",
			   rec->seq, r->seq);
	if (rec->seq <= r->seq)
		return bad(r,
			   "it has number %" PRIu64 " and follows number %" PRIu64 ": records were inserted or moved",
			   rec->seq, r->seq);
	if (!hash_fits(r, rec))
		return bad(r, "its hash does not fit its content and the record before it: one of them was changed");
	if (!rec->json)
		return bad(r, "it is not JSON");
	return NULL;
}

static void parse(struct audit_reader *r, struct audit_record *rec)
{
	struct error err = ERROR_NULL;
	const struct json *type;
	struct json *json;
	uint64_t value;

	arena_done(&r->arena);
	rec->type = AUDIT_TYPES;
	if (json_parse("record", rec->line, rec->len, 0, &r->arena, &json, &err) < 0 || json->type != JSON_OBJECT)
		return;
	rec->json = json;
	type = json_member(json, "type");
	if (type && type->type == JSON_STRING && enum_from_name(&audit_type_table, type->text, &value) == 0)
		rec->type = (enum audit_type)value;
}

static void take_line(struct audit_reader *r, size_t len, struct audit_record *ret)
{
	*ret = (struct audit_record){ .line = r->in.data + r->at, .len = len, .part = r->part };
	ret->number = ++r->number;
	if (!audit_tail_seal(ret->line, ret->len, &ret->seq, ret->hash))
		ret->seq = 0;
	parse(r, ret);
	ret->bad = judge(r, ret);
	ret->part = r->part;
	if (ret->seq) {
		r->seq = ret->seq;
		memcpy(r->hash, ret->hash, sizeof(r->hash));
	}
	r->begun = true;
}

/* At the end of the file: AUDIT_READ_RECORD, AUDIT_READ_END, negative, or READ_ON. */
static int at_end(struct audit_reader *r, struct audit_record *ret, struct error *err)
{
	_cleanup_close_ int behind = open_behind(r);
	size_t rest = r->in.len - r->at;

	if (behind < 0 && behind != -EBADF)
		return error_set(err, behind, "open part %u of the audit log", r->part + 1);
	if (behind >= 0 && !r->last) { /* what was written since the last read */
		r->last = true;
		return READ_ON;
	}
	if (rest && (r->last || !r->live)) {
		take_line(r, rest, ret);
		ret->bad = bad(r, "the line has no end: its writer was interrupted, or the rest was cut off");
		r->at = r->in.len;
		return AUDIT_READ_RECORD;
	}
	/* It was there before and is not now: the log is being removed. */
	if (!r->last || behind < 0)
		return AUDIT_READ_END;
	move_on(r, take_fd(&behind));
	return READ_ON;
}

int audit_reader_next(struct audit_reader *r, struct audit_record *ret, struct error *err)
{
	size_t scanned = 0, rest;
	char *end;
	ssize_t n;
	int k;

	assert(r && r->fd >= 0 && ret && err);
	for (;;) {
		rest = r->in.len - r->at;
		end = rest > scanned ? memchr(r->in.data + r->at + scanned, '\n', rest - scanned) : NULL;
		if (end || rest > LINE_MAX_READ) {
			take_line(r, end ? (size_t)(end - r->in.data) - r->at : rest, ret);
			if (!end)
				ret->bad = bad(r, "the line is longer than any record");
			r->at = end ? (size_t)(end - r->in.data) + 1 : r->in.len;
			return AUDIT_READ_RECORD;
		}
		scanned = rest;
		n = fill(r);
		if (n < 0)
			return error_set(err, (int)n, "read the audit log");
		if (n > 0)
			continue;
		k = at_end(r, ret, err);
		if (k != READ_ON)
			return k;
		scanned = MIN(scanned, r->in.len - r->at);
	}
}
