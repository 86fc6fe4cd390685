/*
 * The environment of a container's processes: which variables reach them. Pure: it knows
 * names and values, not where they come from, and what it reports are names and rules,
 * never a value or a part of one.
 *
 * Judged in this order, the first that speaks decides:
 *   1. env.deny of the policy           (an exact env.allow beats a deny with '*')
 *   2. env.allow with the exact name    passes whatever the value is
 *   3. in allow-list mode: a name that is neither listed nor basic is withheld
 *   4. values in the shape of a secret; of proxy variables only the credentials go
 *   5. names of capability pointers and loader hooks (SSH_AUTH_SOCK, LD_PRELOAD)
 *   6. names that always stay, and env.allow with '*'
 *   7. names that sound like a secret, unless the value cannot be one (empty, a truth
 *      value, a path)
 * So a wide env.allow ("ACME_*") does not let a token pass that sits in one of its values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/enum_table.h"
#include "util/error.h"
#include "util/json_dispatch.h"

struct policy_env_rules {
	bool only_listed;  /* allow-list mode: an empty list means the basics and nothing else */
	struct strv allow; /* names, case counts; '*' stands for any text */
	struct strv deny;  /* as allow, but case does not count */
};

enum policy_env_verdict {
	POLICY_ENV_KEEP,
	POLICY_ENV_DROP,
	POLICY_ENV_REWRITE, /* the variable stays, the credentials in its URL went */
};

/* Why a variable did not pass as it was. */
enum policy_env_reason {
	POLICY_ENV_BY_VALUE,   /* the value has the shape of a secret */
	POLICY_ENV_BY_POINTER, /* the name stands for access or for a hook */
	POLICY_ENV_BY_NAME,    /* the name sounds like a secret */
	POLICY_ENV_BY_DENY,    /* env.deny */
	POLICY_ENV_BY_LIST,    /* not in env.allow, in allow-list mode */
};
/* "value", "pointer", "name", "deny", "unlisted"; the help is a sentence for people. */
extern const struct enum_table policy_env_reasons;

struct policy_env_change {
	/*
	 * As it may be shown: cut, without control characters, and "variable 7" where the
	 * name itself has the shape of a secret.
	 */
	const char *name;
	size_t index;			 /* in the environment that was asked for */
	enum policy_env_verdict verdict; /* never POLICY_ENV_KEEP */
	enum policy_env_reason reason;
	const char *rule; /* "github-token", "PASSWORD", "ACME_*", ""; never NULL */
};

struct policy_env_report {
	struct policy_env_change *items; /* in the order of the environment */
	size_t count;
};

/*
 * Writes the environment that passes (NULL behind the last) and the report. Kept strings
 * are those of env; rewritten ones, the array and the report live in the arena, the
 * rules' texts where they were. Fails only when out of memory.
 */
int policy_env_apply(const struct policy_env_rules *rules, char *const *env, size_t n,
		     struct arena *arena, char ***ret_env, size_t *ret_n,
		     struct policy_env_report *ret, struct error *err);

/* A sentence with the remedy, without a full stop; NULL when out of memory. */
const char *policy_env_sentence(const struct policy_env_change *change, struct arena *arena);

/*
 * Whether execve would take these lists: -E2BIG with an error that names the argument (by
 * number) or the variable and its size, and exit status 126. file: the path that will be
 * executed, NULL = argv[0]. stack_limit: soft RLIMIT_STACK of the process, UINT64_MAX for
 * none. argv and envp end in NULL; envp may be NULL.
 */
int policy_env_size_check(const char *file, char *const *argv, char *const *envp,
			  uint64_t stack_limit, struct error *err);
