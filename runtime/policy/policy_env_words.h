/*
 * The words and names by which the environment scrubber judges: upper case, sorted by
 * their bytes. A word may mean several things.
 */
#pragma once

#include <stddef.h>

#include "policy/policy_env_internal.h"

enum env_word_meaning {
	ENV_WORD_SECRET = 1u << 0,   /* makes a secret of the name wherever it stands */
	ENV_WORD_LAST = 1u << 1,     /* ...as the last word */
	ENV_WORD_ABOUT = 1u << 2,    /* as the last word: about a secret, like PASSWORD_LENGTH */
	ENV_WORD_POINTING = 1u << 3, /* as the last word: withheld also when the value is a path */
	ENV_WORD_KEY = 1u << 4,
	ENV_WORD_ID = 1u << 5,	       /* GPG_KEY_ID */
	ENV_WORD_BEFORE_KEY = 1u << 6, /* API_KEY */
	ENV_WORD_PUBLIC = 1u << 7,     /* GPG_KEY: no secret */
	ENV_WORD_OTHER_KEY = 1u << 8,  /* CACHE_KEY: none of a vendor's */
	ENV_WORD_VENDOR = 1u << 9,     /* ACME_..._KEY */
	ENV_WORD_URL = 1u << 10,
	ENV_WORD_BEFORE_URL = 1u << 11, /* DATABASE_URL */
	ENV_WORD_SERVICE = 1u << 12,	/* with the next: what Kubernetes calls a service */
	ENV_WORD_PORT = 1u << 13,
	ENV_WORD_BEFORE_TOKENS = 1u << 14, /* MAX_TOKENS: how many */
};

struct env_word {
	const char *word;
	unsigned meaning;
};
extern const struct env_word env_words[];
extern const size_t env_words_count;

struct env_name_entry {
	const char *name;
	enum env_standing standing;
};
extern const struct env_name_entry env_names[];
extern const size_t env_names_count;
/* With '*', not sorted: the first that matches counts. */
extern const struct env_name_entry env_name_patterns[];
extern const size_t env_name_patterns_count;
