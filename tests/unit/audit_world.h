/*
 * For the tests of the audit log: a folder of their own, files read whole, and the chain
 * checked by other means than the reader's.
 */
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "audit/audit_store.h"
#include "tap.h"
#include "util/arena.h"
#include "util/fd.h"
#include "util/json_read.h"
#include "util/str.h"

static char world_path[64];
static int world_fd = -EBADF;

static inline void world_make(void)
{
	snprintf(world_path, sizeof(world_path), "/tmp/agentrun-audit-XXXXXX");
	if (!mkdtemp(world_path))
		abort();
	world_fd = open(world_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline void world_remove(void)
{
	struct dirent *e;
	DIR *d = fdopendir(world_fd);

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(world_path);
}

/* The text of a file in the folder; in the arena. */
static inline char *world_text(struct arena *a, const char *file, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_NULL;
	size_t len = 0;
	char *copy;

	if (file_read_all(world_fd, file, 64 << 20, &text, &len, &err) < 0) {
		printf("# %s\n", err.text);
		len = 0;
	}
	copy = arena_alloc(a, len + 1);
	memcpy(copy, text ? text : "", len);
	if (ret_len)
		*ret_len = len;
	return copy;
}

/*
 * Lines of a log as documents. false: a line is no JSON, or the chain, the numbers or the
 * names of the hashes are wrong.
 */
static inline bool world_chain(struct arena *a, char *text, char prev[SHA256_HEX_SIZE], uint64_t *seq,
			       struct json **ret, size_t *n, size_t max)
{
	struct error err = ERROR_NULL;
	char *line, *end, *seal;
	struct buf b = BUF_NULL;
	char hex[SHA256_HEX_SIZE];
	bool good = true;

	for (line = text; good && *line; line = end + 1) {
		uint64_t number = 0;

		end = strchr(line, '\n');
		if (!end || *n == max)
			return false;
		*end = '\0';
		seal = strstr(line, ",\"hash\":\"");
		while (seal && strstr(seal + 1, ",\"hash\":\""))
			seal = strstr(seal + 1, ",\"hash\":\"");
		if (!seal || json_parse("line", line, strlen(line), 0, a, &ret[*n], &err) < 0) {
			printf("# bad line: %s: %s\n", err.text, line);
			return false;
		}
		buf_adds(&b, prev);
		buf_add(&b, line, (size_t)(seal - line));
		sha256_hex_of(b.data, b.len, hex);
		buf_done(&b);
		good = strcmp(json_member(ret[*n], "hash")->text, hex) == 0 &&
		       json_to_u64(json_member(ret[*n], "seq"), &number) == 0 && number == ++*seq;
		memcpy(prev, hex, sizeof(hex));
		++*n;
	}
	return good;
}

#define WORLD_GENESIS "0000000000000000000000000000000000000000000000000000000000000000"

/* A whole log of one part. */
static inline size_t world_log(struct arena *a, const char *name, struct json **ret, size_t max)
{
	char prev[SHA256_HEX_SIZE] = WORLD_GENESIS, file[300];
	uint64_t seq = 0;
	size_t n = 0;

	snprintf(file, sizeof(file), "%s.jsonl", name);
	ok(world_chain(a, world_text(a, file, NULL), prev, &seq, ret, &n, max), "the chain holds");
	return n;
}

static inline const char *world_string(const struct json *j, const char *key)
{
	const struct json *m = j ? json_member(j, key) : NULL;

	return m && (m->type == JSON_STRING || m->type == JSON_NUMBER) ? m->text : NULL;
}

static inline struct audit_sink *world_sink(char name[AUDIT_NAME_SIZE], struct audit_sink_options *opt)
{
	struct error err = ERROR_NULL;
	struct audit_sink *s = NULL;

	if (audit_store_create(world_fd, "box", "/run/agentrun", name, &opt->fd, &err) < 0)
		printf("# %s\n", err.text);
	opt->id = "box";
	opt->root = "/run/agentrun";
	if (audit_sink_open(opt, &s, &err) < 0)
		printf("# %s\n", err.text);
	return s;
}
