/*
 * Owns the index: small files that say where a log stood, written whole.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit_name.h"
#include "util/arena.h"
#include "util/fd.h"
#include "util/json_dispatch.h"
#include "util/json_write.h"

#define HEAD_VERSION   1
#define HEAD_BYTES_MAX 4096

static void head_file(const char *name, char ret[AUDIT_FILE_SIZE])
{
	(void)snprintf(ret, AUDIT_FILE_SIZE, "%s" AUDIT_HEAD_SUFFIX, name);
}

static int format(const struct audit_head *head, bool closed, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	char hex[SHA256_HEX_SIZE];

	if (!w)
		return error_oom(err);
	sha256_to_hex(head->hash, hex);
	json_object_begin(w, NULL);
	json_u64(w, "version", HEAD_VERSION);
	json_u64(w, "records", head->records);
	json_u64(w, "part", head->part);
	json_string(w, "hash", hex);
	json_bool(w, "closed", closed);
	json_object_end(w);
	return json_take(w, ret, err);
}

int audit_index_write(int dirfd, int index_dirfd, const char *name, const struct audit_head *head,
		      bool closed, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char file[AUDIT_FILE_SIZE];
	int r;

	assert(dirfd >= 0 && name && head && err);
	r = format(head, closed, &text, err);
	if (r < 0)
		return r;
	head_file(name, file);
	if (index_dirfd >= 0)
		r = file_replace(index_dirfd, file, text, strlen(text), 0600, 0, err);
	if (r == 0)
		r = file_replace(dirfd, file, text, strlen(text), 0600, 1, err);
	if (r < 0)
		return error_prefix(err, "write the index of audit log %s", name);
	/* A log that was removed meanwhile to make room must not leave an index that nobody removes. */
	if (!audit_store_has_part(dirfd, name, 1) && !audit_store_has_part(dirfd, name, head->part)) {
		(void)unlinkat(dirfd, file, 0);
		if (index_dirfd >= 0)
			(void)unlinkat(index_dirfd, file, 0);
	}
	return 0;
}

struct head_text {
	uint64_t version, records;
	uint32_t part;
	char *hash;
	bool closed;
};

static const struct json_field head_fields[] = {
	{ "version", json_get_u64, offsetof(struct head_text, version), JSON_REQUIRED, NULL },
	{ "records", json_get_u64, offsetof(struct head_text, records), JSON_REQUIRED, NULL },
	{ "part", json_get_u32, offsetof(struct head_text, part), JSON_REQUIRED, NULL },
	{ "hash", json_get_string, offsetof(struct head_text, hash), JSON_REQUIRED, NULL },
	{ "closed", json_get_bool, offsetof(struct head_text, closed), JSON_REQUIRED, NULL },
	{ 0 },
};
static const struct json_object head_object = { sizeof(struct head_text), head_fields, NULL };

int audit_index_read(int fd, const char *name, struct audit_index_entry *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_free_ char *text = NULL;
	struct json_ctx ctx = { .arena = &arena };
	struct head_text head = { 0 };
	char file[AUDIT_FILE_SIZE];
	struct json *json;
	size_t len;
	int r;

	assert(fd >= 0 && name && ret && err);
	head_file(name, file);
	r = file_read_all(fd, file, HEAD_BYTES_MAX, &text, &len, err);
	if (r == -ENOENT)
		return AUDIT_E_NOT_FOUND;
	if (r < 0)
		return r;
	r = json_parse(file, text, len, 0, &arena, &json, err);
	if (r < 0)
		return r;
	ctx.name = file;
	r = json_dispatch(&ctx, &head_object, json, &head, err);
	if (r < 0)
		return r;
	if (head.version != HEAD_VERSION || strlen(head.hash) != SHA256_HEX_SIZE - 1)
		return error_text(err, -EBADMSG, "%s is no index of an audit log that this agentrun knows",
				  file);
	ret->records = head.records;
	ret->part = head.part;
	ret->closed = head.closed;
	memcpy(ret->hash, head.hash, SHA256_HEX_SIZE);
	return 0;
}
