/*
 * Where agent profiles come from: built into the program, or an operator's file, whose
 * compiled program is kept. Knows nothing of what a profile says.
 */
#include "filter/filter_agent_private.h"
#include "filter/filter_private.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fd.h"
#include "util/sha256.h"
#include "util/str.h"

/* Raise it with every change of what the compiler makes of a profile. */
#define AGENT_FORMAT 3u

static const struct filter_agent_shipped *shipped(const char *name)
{
	const struct filter_agent_shipped *s;

	for (s = filter_agent_shipped; s->name; s++)
		if (str_eq(s->name, name))
			return s;
	return NULL;
}

static int shipped_source(const char *name, struct agent_source *ret)
{
	const struct filter_agent_shipped *s = shipped(name);

	if (!s)
		return -ENOENT;
	*ret = (struct agent_source){ .name = s->name, .text = s->text, .len = s->len };
	return 0;
}

static int compile(const char *name, const char *json, size_t len, uint32_t arch, enum agent_variant v,
		   struct filter *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct agent_source src = { .name = name, .text = json, .len = len };
	struct agent_profile *profile;
	int r;

	assert(name && json && ret && err);

	r = agent_profile_read(&src, shipped_source, arch, &arena, &profile, err);
	if (r == 0)
		r = agent_profile_vary(profile, v, &arena, err);
	if (r == 0)
		r = agent_profile_compile(profile, name, ret, err);
	if (r < 0)
		return error_prefix(err, "seccomp profile");
	filter_agent_listen(ret);
	return 0;
}

int filter_agent_compile(const char *name, const char *json, size_t len, uint32_t arch,
			 struct filter *ret, struct error *err)
{
	return compile(name, json, len, arch, AGENT_PLAIN, ret, err);
}

static int builtin(const char *profile_name, enum agent_variant v, struct filter *ret, struct error *err)
{
	const struct filter_agent_shipped *s = shipped(profile_name);
	_cleanup_buf_ struct buf known = BUF_NULL;
	const struct sock_filter *from;
	struct sock_filter *insns;
	size_t count;

	if (!s) {
		for (s = filter_agent_shipped; s->name; s++)
			buf_addf(&known, "%s%s", known.len ? ", " : "", s->name);
		return error_text(err, -ENOENT,
				  "there is no seccomp profile \"%s\": shipped are %s; a file is "
				  "named by its absolute path",
				  profile_name, buf_ok(&known) ? known.data : "some");
	}
	from = v == AGENT_PLAIN ? s->insns : v == AGENT_REPORT ? s->report_insns : s->yield_insns;
	count = v == AGENT_PLAIN ? s->count : v == AGENT_REPORT ? s->report_count : s->yield_count;
	insns = malloc(count * sizeof(*insns));
	if (!insns)
		return error_oom(err);
	memcpy(insns, from, count * sizeof(*insns));
	*ret = (struct filter){ .insns = insns, .count = count, .flags = s->flags };
	filter_agent_listen(ret);
	return 0;
}

int filter_agent_builtin(const char *profile_name, struct filter *ret, struct error *err)
{
	return builtin(profile_name, AGENT_PLAIN, ret, err);
}

/* Who can write the profile can open the container. */
static int file_read(const char *path, char **ret, size_t *ret_len, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	/* O_NONBLOCK: a FIFO there must not hold us up. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set(err, -errno, "open the seccomp profile %s", path);
	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "stat the seccomp profile %s", path);
	if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_text(err, -EPERM,
				  "the seccomp profile %s must be a regular file that belongs to "
				  "root and that nobody else may write (chown root, chmod go-w)",
				  path);
	r = fd_read_all(fd, FILTER_AGENT_BYTES_MAX, ret, ret_len);
	return r < 0 ? error_set(err, r, "read the seccomp profile %s", path) : 0;
}

/*
 * What the program depends on. A profile may extend a shipped one, so those belong to it;
 * their programs stand for their texts.
 */
static int cache_key(const char *json, size_t len, enum agent_variant v, struct filter_key *ret)
{
	const struct filter_agent_shipped *s;
	_cleanup_buf_ struct buf b = BUF_NULL;

	buf_addf(&b, "agent profile %u %u %u %zu ", AGENT_FORMAT, FILTER_AGENT_NATIVE, (unsigned)v, len);
	buf_add(&b, json, len);
	for (s = filter_agent_shipped; s->name; s++) {
		buf_addf(&b, "%s %zu ", s->name, s->count);
		buf_add(&b, s->insns, s->count * sizeof(*s->insns));
	}
	if (!buf_ok(&b))
		return -ENOMEM;
	sha256_hex_of(b.data, b.len, ret->name);
	return 0;
}

/* The flags are not part of a kept program, so a profile that sets its own is not kept; a listener's come anew. */
static bool cacheable(const struct filter *f)
{
	return (f->flags & ~(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)) ==
	       SECCOMP_FILTER_FLAG_SPEC_ALLOW;
}

static int variant_open(const char *profile, enum agent_variant v, int cache_dir_fd, struct filter *ret,
			struct error *err)
{
	_cleanup_free_ char *json = NULL;
	struct filter f = FILTER_NULL;
	struct filter_key key;
	bool keyed = false;
	size_t len;
	int r;

	assert(profile && ret && err);

	if (profile[0] != '/')
		return builtin(profile, v, ret, err);
	r = file_read(profile, &json, &len, err);
	if (r < 0)
		return r;
	if (cache_dir_fd >= 0 && cache_key(json, len, v, &key) == 0) {
		keyed = true;
		if (filter_cache_get(cache_dir_fd, &key, &f.insns, &f.count) == 0) {
			f.flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
			filter_agent_listen(&f);
			*ret = f;
			return 0;
		}
	}
	r = compile(profile, json, len, FILTER_AGENT_NATIVE, v, &f, err);
	if (r < 0)
		return r;
	if (keyed && cacheable(&f))
		filter_cache_put(cache_dir_fd, &key, f.insns, f.count);
	*ret = f;
	return 0;
}

int filter_agent_open(const char *profile, int cache_dir_fd, struct filter *ret, struct error *err)
{
	return variant_open(profile, AGENT_PLAIN, cache_dir_fd, ret, err);
}

int filter_agent_open_reporting(const char *profile, int cache_dir_fd, struct filter *ret, struct error *err)
{
	return variant_open(profile, AGENT_REPORT, cache_dir_fd, ret, err);
}

int filter_agent_yield(const char *profile, int cache_dir_fd, struct filter *spec, struct error *err)
{
	struct filter yield = FILTER_NULL;
	int r;

	if (spec->count == 0)
		return 0;
	r = variant_open(profile, AGENT_YIELD, cache_dir_fd, &yield, err);
	if (r == 0)
		r = agent_yield_append(spec, &yield, err);
	filter_done(&yield);
	return r;
}

int filter_agent_text(const char *profile, char **ret, size_t *ret_len, struct error *err)
{
	*ret = NULL;
	*ret_len = 0;
	return profile[0] == '/' ? file_read(profile, ret, ret_len, err) : 0;
}
