/*
 * What may be done to a log, and whether verify sees it: every byte changed, every line
 * removed, doubled or moved, cut ends, parts and whole logs in the place of others, and a
 * chain that was computed anew.
 */
#include "audit_world.h"

#include <sys/stat.h>
#include <time.h>

#include "audit/audit_name.h"
#include "audit/audit_verify.h"

static struct error err;
static char name[AUDIT_NAME_SIZE];
static uint32_t parts;

struct copy {
	char *text;
	size_t len;
};

static struct copy keep(uint32_t part)
{
	char file[AUDIT_FILE_SIZE];
	struct copy c;

	audit_name_file(name, part, file);
	if (file_read_all(world_fd, file, 1 << 24, &c.text, &c.len, &err) < 0)
		abort();
	return c;
}

static void put(uint32_t part, const char *text, size_t len)
{
	char file[AUDIT_FILE_SIZE];
	int fd;

	audit_name_file(name, part, file);
	fd = openat(world_fd, file, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text, len) < 0)
		abort();
	close(fd);
}

static struct audit_verdict judge(void)
{
	struct audit_verdict v;

	if (audit_verify_log(world_fd, -EBADF, name, &v, &err) < 0) {
		printf("# %s\n", err.text);
		v.whole = false;
		v.line = 0;
	}
	return v;
}

static void make_log(uint64_t part_bytes, int records)
{
	struct audit_sink_options opt = { .part_bytes = part_bytes };
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 };
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_head head;
	int i, fd;

	parts = 1;
	e.exec.argv = (struct audit_bytes){ "ls\0-l", 6 };
	for (i = 0; i < records; i++) {
		e.exec.pid = i + 1;
		audit_sink_emit(s, &e, &err);
		audit_sink_flush(s, false, &err);
		if (audit_sink_wants_part(s) && audit_store_next(world_fd, name, ++parts, &fd, &err) == 0)
			audit_sink_part(s, fd, &err);
	}
	audit_sink_close(s, &head, &err);
	audit_index_write(world_fd, -EBADF, name, &head, true, &err);
}

/* Begin of line n (from 0), its length with the newline. */
static char *line_of(const struct copy *c, size_t n, size_t *ret_len)
{
	char *p = c->text, *end;

	while (n--)
		p = strchr(p, '\n') + 1;
	end = strchr(p, '\n');
	*ret_len = end ? (size_t)(end + 1 - p) : 0;
	return p;
}

static void test_bytes(void)
{
	struct copy c = keep(1);
	size_t i, missed = 0, wrong_line = 0, line = 1;
	struct audit_verdict v;

	for (i = 0; i < c.len; i++) {
		char was = c.text[i];

		c.text[i] = (char)(was ^ (i % 7 ? 1 : 0x80));
		put(1, c.text, c.len);
		v = judge();
		missed += v.whole;
		/* Joined with the next, or parted in two, it is still the place. */
		wrong_line += !v.whole && v.line != line;
		c.text[i] = was;
		line += was == '\n';
	}
	put(1, c.text, c.len);
	is_int((long long)missed, 0, "no changed byte of any is overlooked");
	is_int((long long)wrong_line, 0, "...and the line is named");
	free(c.text);
}

static void test_lines(void)
{
	struct copy c = keep(1);
	size_t n, count = 0, len, at, bad[4] = { 0 };
	_cleanup_free_ char *text = malloc(2 * c.len);
	struct audit_verdict v;
	char *p;

	for (p = c.text; *p; p++)
		count += *p == '\n';
	for (n = 0; n < count; n++) {
		p = line_of(&c, n, &len);
		at = (size_t)(p - c.text);
		/* removed */
		memcpy(text, c.text, at);
		memcpy(text + at, p + len, c.len - at - len);
		put(1, text, c.len - len);
		v = judge();
		bad[0] += v.whole || (n + 1 < count && v.line != n + 1);
		/* doubled */
		memcpy(text, c.text, at + len);
		memcpy(text + at + len, p, c.len - at);
		put(1, text, c.len + len);
		v = judge();
		bad[1] += v.whole || (v.line != n + 2 && n + 1 < count);
		/* the one behind it first */
		if (n + 1 < count) {
			size_t next;
			char *q = line_of(&c, n + 1, &next);

			memcpy(text, c.text, c.len);
			memcpy(text + at, q, next);
			memcpy(text + at + next, p, len);
			put(1, text, c.len);
			v = judge();
			bad[2] += v.whole || v.line != n + 1;
		}
		/* cut off there, and in the middle of it */
		put(1, c.text, at);
		bad[3] += judge().whole;
		put(1, c.text, at + len / 2);
		v = judge();
		bad[3] += v.whole;
	}
	put(1, c.text, c.len);
	is_int((long long)bad[0], 0, "no removed line is overlooked");
	is_int((long long)bad[1], 0, "no inserted line");
	is_int((long long)bad[2], 0, "no two that changed places");
	is_int((long long)bad[3], 0, "no cut end");
	ok(judge().whole, "and it is good when nothing was done");
	free(c.text);
}

/* What somebody does who can compute hashes: the log without one record, all of it consistent. */
static void test_rewritten(void)
{
	struct copy c = keep(1);
	_cleanup_buf_ struct buf out = BUF_NULL;
	char prev[SHA256_HEX_SIZE] = WORLD_GENESIS;
	struct audit_verdict v;
	uint64_t seq = 0;
	char *line, *end, *seal, *rest;
	size_t n = 0;

	for (line = c.text; *line; line = end + 1, n++) {
		_cleanup_buf_ struct buf body = BUF_NULL, hashed = BUF_NULL;

		end = strchr(line, '\n');
		if (n == 3)
			continue;
		*end = '\0';
		seal = strstr(line, ",\"hash\":\"");
		*seal = '\0';
		rest = strchr(line, ',');
		buf_addf(&body, "{\"seq\":%llu%s", (unsigned long long)++seq, rest);
		buf_addf(&hashed, "%s%s", prev, body.data);
		sha256_hex_of(hashed.data, hashed.len, prev);
		buf_addf(&out, "%s,\"hash\":\"%s\"}\n", body.data, prev);
	}
	put(1, out.data, out.len);
	free(c.text);
	v = judge();
	ok(!v.whole && strstr(v.why, "the end was cut off"), "a chain computed anew with fewer records: %s", v.why);
	/* With as many as before: only the hash in the index tells. */
	make_log(1 << 20, 4);
	{
		char old[AUDIT_NAME_SIZE], from[AUDIT_FILE_SIZE], to[AUDIT_FILE_SIZE];

		memcpy(old, name, sizeof(old));
		make_log(1 << 20, 4);
		audit_name_file(name, 1, from);
		audit_name_file(old, 1, to);
		renameat(world_fd, from, world_fd, to);
		memcpy(name, old, sizeof(old));
		v = judge();
		ok(!v.whole && strstr(v.why, "the index remembers another record"),
		   "another log of the same container in its place: %s", v.why);
	}
}

static void test_swapped(void)
{
	struct audit_sink_options opt = { .id = "other", .root = "/run/agentrun" };
	char other[AUDIT_NAME_SIZE], from[AUDIT_FILE_SIZE], to[AUDIT_FILE_SIZE];
	struct audit_verdict v;
	struct audit_sink *s;

	make_log(1 << 20, 3);
	audit_store_create(world_fd, "other", "/run/agentrun", other, &opt.fd, &err);
	audit_sink_open(&opt, &s, &err);
	audit_sink_close(s, NULL, &err);
	audit_name_file(other, 1, from);
	audit_name_file(name, 1, to);
	renameat(world_fd, from, world_fd, to);
	v = judge();
	ok(!v.whole && strstr(v.why, "another container (other)"), "the log of another container: %s", v.why);
}

/* Nobody is in the middle of what was changed an hour ago: the verdict is not waited for. */
static void test_old(void)
{
	struct timespec begin, end, times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct audit_verdict v;

	(void)clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 3600;
	is_int(futimens(world_fd, times), 0, "an old folder");
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	v = judge();
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	ok(!v.whole && end.tv_sec - begin.tv_sec < 2, "where nothing changes a bad log is not waited for");
}

static void test_parts(void)
{
	struct copy a, b;
	struct audit_verdict v;
	char file[AUDIT_FILE_SIZE], moved[AUDIT_FILE_SIZE + 8];
	uint32_t i, wrong = 0;

	make_log(2000, 40);
	ok(parts > 4 && judge().whole, "a log of %u parts", parts);
	for (i = 1; i < parts; i++) {
		a = keep(i);
		b = keep(i + 1);
		put(i, b.text, b.len);
		put(i + 1, a.text, a.len);
		v = judge();
		wrong += v.whole || v.line != 1;
		put(i, a.text, a.len);
		put(i + 1, b.text, b.len);
		free(a.text);
		free(b.text);
		audit_name_file(name, i, file);
		snprintf(moved, sizeof(moved), "%s.gone", file);
		renameat(world_fd, file, world_fd, moved);
		v = judge();
		wrong += v.whole;
		if (v.whole)
			printf("# part %u is gone: not seen\n", i);
		renameat(world_fd, moved, world_fd, file);
	}
	is_int((long long)wrong, 0, "no part that is missing or in another's place is overlooked");
	/* A part from another log of the same shape. */
	a = keep(2);
	make_log(2000, 40);
	b = keep(2);
	put(2, a.text, a.len);
	v = judge();
	ok(!v.whole && v.line == 1, "a part of another log: %s", v.why);
	put(2, b.text, b.len);
	ok(judge().whole, "and it is good when nothing was done");
	/* The last part gone: the index knows. */
	audit_name_file(name, parts, file);
	unlinkat(world_fd, file, 0);
	v = judge();
	ok(!v.whole && strstr(v.why, "the end was cut off"), "the last part gone: %s", v.why);
	test_old();
	free(a.text);
	free(b.text);
}

int main(void)
{
	TAP_BEGIN();
	world_make();
	make_log(1 << 20, 4);
	ok(judge().whole, "a good log");
	test_bytes();
	test_lines();
	test_rewritten();
	test_swapped();
	test_parts();
	world_remove();
	return TAP_END();
}
