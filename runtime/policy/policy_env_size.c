/*
 * The kernel's limits for arguments and environment, checked before anything is started,
 * because execve says "argument list too long" and not which one. Numbers: fs/exec.c,
 * unchanged from 5.12 on.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "policy/policy_env.h"
#include "util/secrets.h"

#define STRING_MAX	((size_t)131072) /* MAX_ARG_STRLEN with pages of 4 KiB, the NUL included */
#define TOTAL_MIN	((uint64_t)131072) /* ARG_MAX: what a small stack limit cannot undercut */
#define TOTAL_MAX	((uint64_t)6 * 1024 * 1024) /* three quarters of _STK_LIM */
#define EXIT_CANNOT_RUN 126
#define NAME_MAX_SHOWN	64

struct largest {
	size_t size;
	size_t index;
	const char *entry; /* NULL = an argument */
};

/* Whether the name may be shown: a secret can stand in its place. */
static bool is_plain_name(struct secret_text name)
{
	struct secret_index ix;

	if (!name.len || name.len > NAME_MAX_SHOWN || secret_run(SECRET_ANY, name) < name.len)
		return false;
	secret_index_init(&ix);
	return !secret_value_rule(&ix, name);
}

/* "argument 3", "environment variable PROMPT": an argument may be a secret, so it is counted. */
static void describe(const struct largest *l, char *ret, size_t room)
{
	const char *equals = l->entry ? strchr(l->entry, '=') : NULL;
	size_t n = equals ? (size_t)(equals - l->entry) : 0;

	if (is_plain_name((struct secret_text){ l->entry, n }))
		snprintf(ret, room, "environment variable %.*s", (int)n, l->entry);
	else
		snprintf(ret, room, "%s %zu", l->entry ? "environment variable number" : "argument",
			 l->index);
}

static void add(char *const *list, bool env, struct largest *largest, uint64_t *bytes,
		uint64_t *count)
{
	size_t i, size;

	for (i = 0; list && list[i]; i++) {
		size = strlen(list[i]) + 1;
		*bytes += size;
		*count += 1;
		if (size > largest->size)
			*largest = (struct largest){ size, i, env ? list[i] : NULL };
	}
}

static int too_big(struct error *err)
{
	err->exit_status = EXIT_CANNOT_RUN;
	return -E2BIG;
}

int policy_env_size_check(const char *file, char *const *argv, char *const *envp,
			  uint64_t stack_limit, struct error *err)
{
	struct largest largest = { 0 };
	uint64_t bytes = 0, count = 0, limit;
	char what[128];

	assert(argv && err);
	add(argv, false, &largest, &bytes, &count);
	add(envp, true, &largest, &bytes, &count);
	if (largest.size > STRING_MAX) {
		describe(&largest, what, sizeof(what));
		error_set(err, -E2BIG,
			  "%s has %zu bytes and the kernel takes at most %zu in one string: "
			  "pass it in a file or on standard input",
			  what, largest.size - 1, STRING_MAX - 1);
		return too_big(err);
	}
	if (!file)
		file = argv[0] ? argv[0] : "";
	/* The strings, the path once more, and a pointer for each. */
	bytes += strlen(file) + 1 + (argv[0] ? count : count + 1) * sizeof(char *);
	limit = stack_limit / 4 < TOTAL_MAX ? stack_limit / 4 : TOTAL_MAX;
	limit = limit > TOTAL_MIN ? limit : TOTAL_MIN;
	if (bytes <= limit)
		return 0;
	describe(&largest, what, sizeof(what));
	error_set(err, -E2BIG,
		  "arguments and environment need %" PRIu64
		  " bytes and the kernel takes at most %" PRIu64
		  " (a quarter of the stack limit, 128 KiB to 6 MiB); the largest is %s with %zu: "
		  "pass it in a file, or raise RLIMIT_STACK",
		  bytes, limit, what, largest.size - 1);
	return too_big(err);
}
