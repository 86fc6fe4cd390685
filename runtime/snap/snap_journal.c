/*
 * What a command that changes something is about to do, written before it does: whoever
 * finds it there later knows that it did not get to its end, and finishes.
 */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "snap/snap_journal.h"
#include "snap/snap_private.h"
#include "util/enum_table.h"
#include "util/fd.h"
#include "util/json_dispatch.h"
#include "util/json_write.h"

#define JOURNAL_FILE "journal.json"

static const struct enum_entry operations[] = {
	{ "commit", SNAP_OP_COMMIT, NULL },
	{ "undo", SNAP_OP_UNDO, NULL },
	{ "rollback", SNAP_OP_ROLLBACK, NULL },
};
static const struct enum_table operation_table = ENUM_TABLE("operation", operations);

static const struct json_field fields[] = {
	{ "operation", json_get_enum, offsetof(struct snap_journal, operation), JSON_REQUIRED, &operation_table },
	{ "number", json_get_u64, offsetof(struct snap_journal, number), 0, NULL },
	{ "snapshot", json_get_string, offsetof(struct snap_journal, name), 0, NULL },
	{ "path", json_get_string, offsetof(struct snap_journal, path), 0, NULL },
	{ "temporary", json_get_string, offsetof(struct snap_journal, temp), JSON_REQUIRED | JSON_NOT_EMPTY, NULL },
	{ 0 },
};
static const struct json_object type = { .size = sizeof(struct snap_journal), .fields = fields };

int snap_journal_temp(char temp[SNAP_TEMP_SIZE], struct error *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_set(err, -errno, "read random bytes");
	(void)snprintf(temp, SNAP_TEMP_SIZE, ".agentrun-%016llx", (unsigned long long)random);
	return 0;
}

int snap_journal_write(int dir_fd, const struct snap_journal *j, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "operation", enum_to_name(&operation_table, j->operation));
	json_u64(w, "number", j->number);
	if (j->name)
		json_string(w, "snapshot", j->name);
	if (j->path)
		json_string(w, "path", j->path);
	json_string(w, "temporary", j->temp);
	json_object_end(w);
	r = json_take(w, &text, err);
	return r < 0 ? r : file_replace(dir_fd, JOURNAL_FILE, text, strlen(text), 0600, 1, err);
}

int snap_journal_read(int dir_fd, struct snap_journal *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena scratch = ARENA_NULL;
	struct json_ctx ctx = { .name = JOURNAL_FILE, .arena = &ret->arena };
	_cleanup_free_ char *text = NULL;
	struct json *root = NULL;
	size_t len;
	int r;

	if (faccessat(dir_fd, JOURNAL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? SNAP_E_NOT_FOUND : error_set(err, -errno, "look for the journal of the session");
	r = file_read_all(dir_fd, JOURNAL_FILE, JSON_BYTES_MAX, &text, &len, err);
	if (r == 0)
		r = json_parse(JOURNAL_FILE, text, len, 0, &scratch, &root, err);
	return r < 0 ? r : json_dispatch(&ctx, &type, root, ret, err);
}

int snap_journal_remove(int dir_fd, struct error *err)
{
	if (unlinkat(dir_fd, JOURNAL_FILE, 0) < 0 && errno != ENOENT)
		return error_set(err, -errno, "remove the journal of the session");
	return 0;
}
