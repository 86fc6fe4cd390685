/*
 * The sink: every kind of record, the chain over parts and processes, and what happens
 * when nothing can be written.
 */
#include "audit_world.h"

#include <signal.h>
#include <sys/resource.h>

#define RECORDS 4096

static struct error err;

static void test_types(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct audit_sink_options opt = { 0 };
	struct json *lines[RECORDS];
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_decision decision = { "memory", "clamped", "8GiB", "2GiB", NULL };
	const char *scrubbed[] = { "AWS_SECRET_ACCESS_KEY" };
	struct audit_event e = { .process = -1 };
	size_t n;
	int type;

	for (type = 0; type < AUDIT_TYPES; type++) {
		if (type == AUDIT_OUTPUT || type == AUDIT_OUTPUT_END || type >= AUDIT_OPEN)
			continue;
		memset(&e, 0, sizeof(e));
		e.type = type;
		e.process = -1;
		if (type == AUDIT_CREATE)
			e.create = (struct audit_create){ .bundle = "/b", .argv = { "sh\0-c\0true", 10 },
							  .decisions = &decision, .n_decisions = 1,
							  .scrubbed = scrubbed, .n_scrubbed = 1 };
		ok(audit_sink_emit(s, &e, &err) == 0, "%s",
		   enum_to_name(&audit_type_table, (uint64_t)type));
	}
	e = (struct audit_event){ .type = AUDIT_EXEC, .process = 3, .mono_ns = 12345 };
	e.exec = (struct audit_exec){ .file = AUDIT_BYTES("/bin/ls"), .argv = { "ls\0-l\0", 6 },
				      .cwd = AUDIT_BYTES("/"), .pid = 7, .host_pid = 4711,
				      .flags = AUDIT_EXEC_SCRIPT };
	audit_sink_emit(s, &e, &err);
	is_int(audit_sink_close(s, NULL, &err), 0, "closed");
	n = world_log(&a, name, lines, RECORDS);
	is_str(world_string(lines[0], "type"), "open", "first record");
	is_str(world_string(lines[0], "id"), "box", "...with the id");
	is_str(world_string(lines[n - 1], "type"), "close", "last record");
	is_str(world_string(json_member(lines[n - 1], "counts"), "exec"), "2", "...counts");
	is_str(world_string(lines[n - 2], "mono"), "12345", "the moment of the event");
	is_str(world_string(lines[n - 2], "process"), "3", "the number of the process");
	is_str(json_member(lines[n - 2], "argv")->kids.first->next->text, "-l", "argv");
	ok(json_member(lines[n - 2], "script") && !json_member(lines[n - 2], "unlinked"), "flags");
	is_str(json_member(lines[1], "argv")->kids.first->next->next->text, "true",
	       "an argument without its NUL");
	is_str(world_string(json_member(lines[1], "decisions")->kids.first, "given"), "2GiB",
	       "a decision");
}

static void test_parts(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct audit_sink_options opt = { .part_bytes = 4000 };
	struct json *lines[RECORDS];
	char name[AUDIT_NAME_SIZE], prev[SHA256_HEX_SIZE] = WORLD_GENESIS, file[300];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 };
	struct audit_head head;
	uint64_t seq = 0;
	uint32_t part = 1, i;
	size_t n = 0;
	bool good = true;
	int fd;

	for (i = 0; i < 200; i++) {
		audit_sink_emit(s, &e, &err);
		audit_sink_flush(s, false, &err);
		if (!audit_sink_wants_part(s))
			continue;
		good = good && audit_store_next(world_fd, name, ++part, &fd, &err) == 0 &&
		       audit_sink_part(s, fd, &err) == 0;
	}
	ok(good && part > 5, "%u parts", part);
	/* To another process and back. */
	is_int(audit_sink_detach(s, &fd, &head, &err), 0, "detached");
	opt.head = head;
	opt.fd = fd;
	is_int(audit_sink_open(&opt, &s, &err), 0, "gone on");
	is_int(audit_sink_close(s, &head, &err), 0, "closed");
	is_int(head.part, part, "the head names the part");
	good = true;
	for (i = 1; i <= part; i++) {
		snprintf(file, sizeof(file), i == 1 ? "%s.jsonl" : "%s.%u.jsonl", name, i);
		good = good && world_chain(&a, world_text(&a, file, NULL), prev, &seq, lines, &n, RECORDS);
		if (i < part)
			good = good && strcmp(world_string(lines[n - 1], "type"), "part-end") == 0;
	}
	ok(good, "the chain goes on over all parts");
	is_int((long long)n, (long long)head.records, "...and counts them");
	ok(strstr(world_string(json_member(lines[n - 1], "counts"), "exec"), "200"),
	   "the closing record counts over processes");
}

/* A limit on the size of files is what a full disk looks like to a writer. */
static void limit_files(rlim_t bytes)
{
	struct rlimit r = { bytes, RLIM_INFINITY };

	(void)signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &r);
}

static void test_stop(void)
{
	struct audit_sink_options opt = { .on_failure = AUDIT_STOP };
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 };
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	int i, r = 0;

	limit_files(2000);
	for (i = 0; i < 100 && r == 0; i++) {
		audit_sink_emit(s, &e, &err);
		r = audit_sink_flush(s, false, &err);
	}
	limit_files(RLIM_INFINITY);
	is_int(r, AUDIT_E_STOP, "a log that cannot be written stops");
	ok(i < 20, "...at the record that did not fit");
	ok(strstr(err.text, "file too large") && strstr(err.text, "audit.onFailure"), "...and says why: %s",
	   err.text);
	is_int(audit_sink_emit(s, &e, &err), AUDIT_E_STOP, "...and stays stopped");
	is_int(audit_sink_close(s, NULL, &err), AUDIT_E_STOP, "...to the end");
}

/* Over several parts; what comes last has room all the same. */
static void test_full(enum audit_on_failure on_failure)
{
	struct audit_sink_options opt = { .on_failure = on_failure, .log_bytes = 200000, .part_bytes = 50000 };
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 }, last = { .type = AUDIT_EXIT, .process = 0 };
	char name[AUDIT_NAME_SIZE], file[300];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_head head;
	uint64_t bytes = 0, missing;
	struct stat st;
	uint32_t part;
	int i, fd, r = 0;

	for (i = 0; i < 3000 && r == 0; i++) {
		r = audit_sink_emit(s, &e, &err);
		if (r == 0)
			r = audit_sink_flush(s, false, &err);
		audit_sink_head(s, &head);
		if (audit_sink_wants_part(s) && audit_store_next(world_fd, name, head.part + 1, &fd, &err) == 0)
			r = audit_sink_part(s, fd, &err);
	}
	is_int(r, on_failure == AUDIT_STOP ? AUDIT_E_STOP : 0, "a log that has its size");
	ok(on_failure != AUDIT_STOP || strstr(err.text, "audit.maxBytes"), "...says so: %s", err.text);
	missing = audit_sink_missing(s);
	ok(on_failure == AUDIT_STOP || missing > 100, "...or counts: %llu", (unsigned long long)missing);
	(void)audit_sink_emit(s, &last, &err);
	(void)audit_sink_close(s, &head, &err);
	for (part = 1; part <= head.part; part++) {
		(void)snprintf(file, sizeof(file), "%s.jsonl", name);
		if (part > 1)
			(void)snprintf(file, sizeof(file), "%s.%u.jsonl", name, part);
		bytes += fstatat(world_fd, file, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
	}
	ok(head.part == 4 && bytes > 180000 && bytes <= 200000, "%llu bytes in %u parts", (unsigned long long)bytes, head.part);
	is_int((long long)(head.counts[AUDIT_EXIT] + head.counts[AUDIT_CLOSE]), 2, "the end is in it");
}

static void test_continue(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct audit_sink_options opt = { .on_failure = AUDIT_CONTINUE };
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 };
	static struct json *lines[RECORDS];
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	size_t i, n, gaps = 0;
	uint64_t missing;
	int bad = 0;

	limit_files(2001);
	for (i = 0; i < 3000; i++) {
		bad |= audit_sink_emit(s, &e, &err);
		if (i % 7 == 0)
			bad |= audit_sink_flush(s, false, &err);
	}
	missing = audit_sink_missing(s);
	ok(bad == 0 && missing > 0, "goes on without %llu records", (unsigned long long)missing);
	ok(audit_sink_due(s) > 0, "wants to try again");
	limit_files(RLIM_INFINITY);
	bad = audit_sink_flush(s, true, &err);
	for (i = 0; i < 10; i++)
		bad |= audit_sink_emit(s, &e, &err);
	bad |= audit_sink_close(s, NULL, &err);
	is_int(bad, 0, "writes again");
	/* The line that was cut by the limit is whole. */
	n = world_log(&a, name, lines, RECORDS);
	for (i = 0; i < n; i++) {
		if (strcmp(world_string(lines[i], "type"), "gap") == 0) {
			gaps++;
			missing -= strtoull(world_string(lines[i], "records"), NULL, 10);
		}
	}
	ok(gaps > 0 && missing == 0, "%zu gap records tell of all that is missing", gaps);
	is_str(world_string(lines[n - 1], "type"), "close", "closed in order");
}

static void test_sizes(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	static struct json *lines[RECORDS];
	static char argv[300000], text[20000];
	struct audit_sink_options opt = { .on_failure = AUDIT_CONTINUE };
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 };
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	size_t n, i, len;
	const char *p;

	/* The worst for each encoding: empty arguments, control characters, no UTF-8, quotes. */
	e.exec.argv = (struct audit_bytes){ argv, sizeof(argv) };
	audit_sink_emit(s, &e, &err);
	memset(argv, 1, sizeof(argv));
	for (i = 1; i < sizeof(argv); i += 2)
		argv[i] = 0;
	audit_sink_emit(s, &e, &err);
	memset(argv, 0xff, sizeof(argv));
	audit_sink_emit(s, &e, &err);
	memset(argv, '"', sizeof(argv));
	memset(text, 0x1b, sizeof(text));
	e.exec.cwd = e.exec.file = e.exec.comm = (struct audit_bytes){ text, sizeof(text) };
	audit_sink_emit(s, &e, &err);
	is_int((long long)audit_sink_missing(s), 0, "all are kept");
	audit_sink_close(s, NULL, &err);
	{
		char file[300];

		snprintf(file, sizeof(file), "%s.jsonl", name);
		p = world_text(&a, file, &len);
	}
	for (i = n = 0; i < len; i++) {
		size_t line = strcspn(p + i, "\n");

		ok(line < AUDIT_RECORD_MAX, "a line of %zu bytes", line);
		i += line;
	}
	n = world_log(&a, name, lines, RECORDS);
	for (i = 1; i < n - 1; i++)
		ok(json_member(lines[i], "argvCut"), "says that argv is cut");
	is_str(world_string(json_member(lines[4], "cwd"), "length"), "20000", "the true length of a text");
}

int main(void)
{
	TAP_BEGIN();
	world_make();
	test_types();
	test_parts();
	test_stop();
	test_full(AUDIT_STOP);
	test_full(AUDIT_CONTINUE);
	test_continue();
	test_sizes();
	world_remove();
	return TAP_END();
}
