/*
 * Files of logs: names, locks, appending behind a writer that is gone, the total size, the
 * index.
 */
#include "audit_world.h"

#include <sys/file.h>

#include "audit/audit_find.h"
#include "audit/audit_name.h"
#include "audit/audit_verify.h"

static struct error err;

static void write_file(const char *file, const char *text, int flags)
{
	int fd = openat(world_fd, file, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("# cannot write %s\n", file);
	close(fd);
}

static void test_names(void)
{
	struct timespec t = { 1780000000, 123456789 };
	char name[AUDIT_NAME_SIZE], back[AUDIT_NAME_SIZE], file[AUDIT_FILE_SIZE], id[300];
	struct audit_name parsed;
	uint32_t part;
	static const char *const others[] = { "x", "x.jsonl", "a-20260101T000000.000000Z-0123456.jsonl",
					      "a-20260101T000000.000000Z-01234567.1.jsonl",
					      "a-20260101T000000.000000Z-01234567.02.jsonl",
					      "a-20260101T000000.000000Z-01234567.jsonl.tmp",
					      "-20260101T000000.000000Z-01234567.jsonl",
					      "a-20260101T000000.00000xZ-01234567.jsonl", "", ".", ".." };
	size_t i, wrong = 0;

	audit_name_make("a-b.c-20260101T000000.000000Z-01234567", "/run/agentrun", &t, name);
	ok(audit_name_parse(name, &parsed) && parsed.id_len == 38, "an id that looks like a name: %s", name);
	ok(strncmp(parsed.start, "20260528T202640.123456Z", AUDIT_START_LEN) == 0, "the start");
	for (part = 1; part < 200; part += 66) {
		uint32_t got = 0;

		audit_name_file(name, part, file);
		ok(audit_name_of_file(file, back, &got) && got == part && strcmp(back, name) == 0, "%s", file);
	}
	for (i = 0; i < ELEMENTSOF(others); i++)
		if (audit_name_of_file(others[i], back, &part)) {
			wrong++;
			printf("# %s is taken for a log\n", others[i]);
		}
	is_int((long long)wrong, 0, "other files are none of ours");
	memset(id, 'i', 255);
	id[255] = '\0';
	audit_name_make(id, "/r", &t, name);
	audit_name_file(name, AUDIT_PARTS_MAX, file);
	ok(strlen(file) <= 255 && audit_name_parse(name, &parsed) && parsed.id_len == AUDIT_ID_CUT,
	   "the longest id fits into a file name");
}

static void test_locks(void)
{
	struct audit_sink_options opt = { 0 };
	struct audit_event e = { .type = AUDIT_DELETE, .process = -1 };
	char name[AUDIT_NAME_SIZE], file[AUDIT_FILE_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_head head, again;
	struct audit_verdict v;
	struct stat st;
	int fd = -EBADF;

	ok(audit_store_busy(world_fd, name), "a log that is written is locked");
	is_int(audit_store_append(world_fd, name, 50, &fd, &again, &err), AUDIT_E_BUSY, "...for others to wait");
	audit_name_file(name, 1, file);
	fstatat(world_fd, file, &st, 0);
	is_int(st.st_mode & 07777, 0600, "root's alone");
	audit_sink_close(s, &head, &err);
	ok(!audit_store_busy(world_fd, name), "a closed one is not");
	audit_index_write(world_fd, -EBADF, name, &head, true, &err);
	is_int(audit_store_append(world_fd, name, 0, &fd, &again, &err), 0, "appending");
	ok(again.records == head.records && memcmp(again.hash, head.hash, sizeof(head.hash)) == 0 &&
		   again.part_bytes == head.part_bytes,
	   "...from where it stands");
	close(fd);
	is_int(audit_store_append_event(world_fd, -EBADF, name, 0, &e, &err), 0, "one more record");
	is_int(audit_verify_log(world_fd, -EBADF, name, &v, &err), 0, "verified");
	ok(v.whole && v.closed && v.indexed && v.records == head.records + 1, "it belongs to the log: %s", v.why);
	is_int(audit_store_append(world_fd, "none-20260101T000000.000000Z-01234567", 0, &fd, &again, &err),
	       AUDIT_E_NOT_FOUND, "no log");
}

/* The moment in which the next part is there and its writer has not come to it. */
static void test_change(void)
{
	struct audit_sink_options opt = { 0 };
	char name[AUDIT_NAME_SIZE], file[AUDIT_FILE_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_head head;
	size_t removed;
	int fd = -EBADF;

	audit_name_file(name, 2, file);
	write_file(file, "", 0);
	ok(audit_store_busy(world_fd, name), "a log that changes parts is locked");
	is_int(audit_store_append(world_fd, name, 0, &fd, &head, &err), AUDIT_E_BUSY, "...to others");
	audit_store_prune(world_fd, -EBADF, 0, NULL, &removed, &err);
	ok(audit_store_busy(world_fd, name), "...and stays when there is no room");
	is_int(audit_store_next(world_fd, name, 2, &fd, &err), 0, "its writer goes on there");
	is_int(audit_sink_part(s, fd, &err), 0, "...with the next part");
	audit_sink_close(s, NULL, &err);
	ok(!audit_store_busy(world_fd, name), "and is done");
}

/* A writer that died in the middle of a line, and before its first. */
static void test_torn(void)
{
	struct audit_sink_options opt = { 0 };
	struct audit_event e = { .type = AUDIT_MONITOR_LOST, .process = -1, .detail = "killed" };
	char name[AUDIT_NAME_SIZE], file[AUDIT_FILE_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_verdict v;
	struct audit_head head;
	int fd, next;

	audit_sink_detach(s, &fd, &head, &err);
	close(fd);
	audit_name_file(name, 1, file);
	write_file(file, "{\"seq\":2,\"time\":\"2026", O_APPEND);
	is_int(audit_store_append_event(world_fd, -EBADF, name, 0, &e, &err), 0, "behind half a line");
	audit_verify_log(world_fd, -EBADF, name, &v, &err);
	ok(!v.whole && v.line == 2 && strstr(v.why, "no record"), "the half line is named: line %llu, %s",
	   (unsigned long long)v.line, v.why);
	/* A part that was made and never written to. */
	s = world_sink(name, &opt);
	audit_sink_detach(s, &fd, &head, &err);
	is_int(audit_store_next(world_fd, name, 2, &next, &err), 0, "an empty part");
	close(fd);
	close(next);
	is_int(audit_store_next(world_fd, name, 2, &next, &err), 0, "...is used when asked for again");
	close(next);
	is_int(audit_store_append_event(world_fd, -EBADF, name, 0, &e, &err), 0, "behind an empty part");
	audit_verify_log(world_fd, -EBADF, name, &v, &err);
	ok(!v.whole && v.parts == 1, "what the writer did not say is missing: %s", v.why);
	/* Nothing that could be gone on from. */
	write_file("void-20260101T000000.000000Z-01234567.jsonl", "garbage\n", 0);
	is_int(audit_store_append_event(world_fd, -EBADF, "void-20260101T000000.000000Z-01234567", 0, &e, &err),
	       -EBADMSG, "a file that is no log");
}

static size_t count_logs(void)
{
	_cleanup_(audit_scan_done) struct audit_scan scan = AUDIT_SCAN_NULL;

	audit_scan_read(world_fd, &scan, &err);
	return scan.count;
}

static void test_prune_due(void)
{
	char name[AUDIT_NAME_SIZE];
	struct audit_sink_options opt = { 0 };
	struct audit_head head;

	audit_sink_close(world_sink(name, &opt), &head, &err);
	ok(audit_store_prune_due(world_fd, world_fd, name, head.part, UINT64_C(1) << 40), "the first since boot looks");
	ok(!audit_store_prune_due(world_fd, world_fd, name, head.part, UINT64_C(1) << 40), "a small log is only counted");
	ok(!audit_store_prune_due(world_fd, world_fd, name, head.part, 150000), "and another one");
	ok(audit_store_prune_due(world_fd, world_fd, name, head.part, 20000), "many small ones are many bytes");
	ok(!audit_store_prune_due(world_fd, world_fd, name, head.part, UINT64_C(1) << 40), "it counts anew");
	ok(audit_store_prune_due(world_fd, world_fd, name, 3, UINT64_C(1) << 30), "parts are large");
	ok(audit_store_prune_due(world_fd, -EBADF, name, head.part, UINT64_C(1) << 40), "what cannot be counted is looked at");
	(void)unlinkat(world_fd, ".ended", 0);
}

static void test_prune(void)
{
	char name[5][AUDIT_NAME_SIZE], file[AUDIT_FILE_SIZE];
	struct audit_sink_options opt = { 0 };
	struct audit_sink *live;
	struct audit_head head;
	size_t removed, before, i;
	int fd;

	audit_store_prune(world_fd, -EBADF, 0, NULL, &removed, &err);
	is_int((long long)count_logs(), 0, "without room all go");
	for (i = 0; i < 3; i++) {
		audit_sink_close(world_sink(name[i], &opt), &head, &err);
		audit_index_write(world_fd, -EBADF, name[i], &head, true, &err);
	}
	live = world_sink(name[3], &opt);
	before = count_logs();
	audit_store_prune(world_fd, -EBADF, 1 << 20, NULL, &removed, &err);
	ok(removed == 0 && count_logs() == before, "with room all stay");
	/* Who fills a log must not thereby have others' removed. */
	audit_sink_close(world_sink(name[4], &opt), &head, &err);
	audit_name_file(name[4], 1, file);
	fd = openat(world_fd, file, O_WRONLY | O_CLOEXEC);
	ok(fd >= 0 && ftruncate(fd, 100000) == 0, "a large log, the youngest");
	close(fd);
	audit_store_prune(world_fd, -EBADF, 65536, NULL, &removed, &err);
	ok(removed == 1 && faccessat(world_fd, file, F_OK, 0) < 0, "it goes before older small ones");
	audit_store_prune(world_fd, -EBADF, 1200, NULL, &removed, &err);
	audit_name_file(name[0], 1, file);
	ok(removed > 0 && faccessat(world_fd, file, F_OK, 0) < 0, "the oldest goes first (%zu)", removed);
	snprintf(file, sizeof(file), "%s" AUDIT_HEAD_SUFFIX, name[0]);
	ok(faccessat(world_fd, file, F_OK, 0) < 0, "...with its index");
	audit_store_prune(world_fd, -EBADF, 0, name[2], &removed, &err);
	audit_name_file(name[2], 1, file);
	ok(faccessat(world_fd, file, F_OK, 0) == 0, "the one to keep stays");
	audit_name_file(name[3], 1, file);
	ok(faccessat(world_fd, file, F_OK, 0) == 0, "the one that is written stays");
	is_int((long long)count_logs(), 2, "all others go");
	audit_sink_close(live, NULL, &err);
}

static void test_index(void)
{
	struct audit_head head = { .records = 7, .part = 2, .hash = { 0xab } };
	const char *name = "box-20260101T000000.000000Z-01234567";
	struct audit_index_entry entry;
	static const char *const bad[] = { "", "{}", "[1]", "{\"version\":1,\"records\":1,\"part\":1,\"hash\":\"ab\",\"closed\":true}",
					   "{\"version\":2,\"records\":1,\"part\":1,\"hash\":\"" WORLD_GENESIS "\",\"closed\":true}",
					   "{\"version\":1,\"records\":-1,\"part\":1,\"hash\":\"" WORLD_GENESIS "\",\"closed\":true}" };
	size_t i, taken = 0;

	is_int(audit_index_read(world_fd, name, &entry, &err), AUDIT_E_NOT_FOUND, "no index");
	is_int(audit_index_write(world_fd, world_fd, name, &head, true, &err), 0, "of a log that is not there");
	is_int(audit_index_read(world_fd, name, &entry, &err), AUDIT_E_NOT_FOUND, "none is left");
	write_file("box-20260101T000000.000000Z-01234567.2.jsonl", "", 0);
	is_int(audit_index_write(world_fd, world_fd, name, &head, true, &err), 0, "written");
	is_int(audit_index_read(world_fd, name, &entry, &err), 0, "read");
	ok(entry.records == 7 && entry.part == 2 && entry.closed && strncmp(entry.hash, "ab00", 4) == 0,
	   "as it was");
	for (i = 0; i < ELEMENTSOF(bad); i++) {
		write_file("box-20260101T000000.000000Z-01234567.head", bad[i], O_TRUNC);
		taken += audit_index_read(world_fd, name, &entry, &err) == 0;
	}
	is_int((long long)taken, 0, "a broken one is an error");
}

static void test_find(void)
{
	struct audit_sink_options opt = { 0 };
	static const struct { const char *id, *root; } logs[] = {
		{ "alpha", "/run/agentrun" }, { "alphabet", "/run/agentrun" }, { "beta", "/run/agentrun" },
		{ "beta", "/run/other" },     { "gamma-1", "/run/agentrun" },  { "gamma-1", "/run/agentrun" },
	};
	char name[AUDIT_NAME_SIZE], found[AUDIT_NAME_SIZE], last[AUDIT_NAME_SIZE], long_id[256];
	struct audit_sink *s;
	_cleanup_free_ char *id = NULL;
	size_t i;

	audit_store_prune(world_fd, -EBADF, 0, NULL, NULL, &err);
	for (i = 0; i < ELEMENTSOF(logs); i++) {
		audit_store_create(world_fd, logs[i].id, logs[i].root, last, &opt.fd, &err);
		opt.id = logs[i].id;
		opt.root = logs[i].root;
		audit_sink_open(&opt, &s, &err);
		audit_sink_close(s, NULL, &err);
	}
	is_int(audit_find(world_fd, "alpha", NULL, found, &err), 0, "an id that begins another one");
	ok(strncmp(found, "alpha-", 6) == 0, "...is meant itself");
	is_int(audit_find(world_fd, "alph", NULL, found, &err), -EINVAL, "a beginning of two");
	ok(strstr(err.text, "alpha-") && strstr(err.text, "alphabet-"), "...is refused with both: %s", err.text);
	is_int(audit_find(world_fd, "alphab", NULL, found, &err), 0, "a beginning of one");
	is_int(audit_find(world_fd, "beta", NULL, found, &err), -EINVAL, "one id below two folders");
	is_int(audit_find(world_fd, "beta", "/run/other", found, &err), 0, "...unless the folder is said");
	is_int(audit_find(world_fd, "gamma-1", NULL, found, &err), 0, "two logs of one container");
	is_str(found, last, "...the newest");
	is_int(audit_find(world_fd, last, NULL, found, &err), 0, "the name of a log");
	is_int(audit_find(world_fd, "delta", NULL, found, &err), -ENOENT, "none");
	is_int(audit_find(world_fd, "", NULL, found, &err), -EINVAL, "nothing");
	memset(long_id, 'l', 255);
	long_id[255] = '\0';
	audit_store_create(world_fd, long_id, "/run/agentrun", name, &opt.fd, &err);
	opt.id = long_id;
	opt.root = "/run/agentrun";
	audit_sink_open(&opt, &s, &err);
	audit_sink_close(s, NULL, &err);
	is_int(audit_find(world_fd, long_id, NULL, found, &err), 0, "an id longer than its name");
	audit_find_id(world_fd, name, &id, &err);
	is_str(id, long_id, "...is read from the log");
}

static void test_folder(void)
{
	char path[128];
	int fd = -EBADF;

	snprintf(path, sizeof(path), "%s/a", world_path);
	is_int(audit_store_open(path, false, false, &fd, &err), AUDIT_E_NOT_FOUND, "no folder");
	is_int(audit_store_open(path, false, true, &fd, &err), 0, "made");
	close(fd);
	chmod(path, 0770);
	is_int(audit_store_open(path, false, true, &fd, &err), -EPERM, "not one that others may change");
	rmdir(path);
}

int main(void)
{
	TAP_BEGIN();
	world_make();
	test_names();
	test_folder();
	test_locks();
	test_change();
	test_torn();
	test_prune();
	test_prune_due();
	test_index();
	test_find();
	world_remove();
	return TAP_END();
}
