/*
 * Any bytes as an environment (entries end in NUL): nothing is read outside of it, what was
 * withheld is gone, and a second pass over the result finds nothing more to do.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/policy_env.h"

#define ENTRIES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	char *allow[] = { "*KEEP*", "EXACT" }, *deny[] = { "*DENY*", "EXACT_TOO" };
	struct policy_env_rules rules = { .allow = { allow, 2, true }, .deny = { deny, 2, true } };
	struct policy_env_report report, again;
	char *env[ENTRIES_MAX], **out, **twice;
	struct error err = ERROR_NULL;
	size_t i, n = 0, kept, rest, from = 1;

	if (size < 2)
		return 0;
	rules.only_listed = data[0] & 1;
	while (n < ENTRIES_MAX && from < size) {
		/* A copy of its own for each, so that a read behind its end is seen. */
		env[n] = strndup((const char *)data + from, size - from);
		if (!env[n])
			abort();
		from += strlen(env[n++]) + 1;
	}
	if (policy_env_apply(&rules, env, n, &a, &out, &kept, &report, &err) < 0)
		abort();
	if (kept > n || out[kept] || report.count > n)
		abort();
	for (i = 0; i < report.count; i++)
		if (!report.items[i].name[0] || !policy_env_sentence(&report.items[i], &a))
			abort();
	if (policy_env_apply(&rules, out, kept, &a, &twice, &rest, &again, &err) < 0)
		abort();
	if (rest != kept || again.count)
		abort();
	policy_env_size_check(NULL, out, twice, data[0] * 4096ull, &err);
	while (n)
		free(env[--n]);
	return 0;
}
