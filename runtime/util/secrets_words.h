/*
 * The words and names by which the environment scrubber judges: upper case, sorted by
 * their bytes. A word may mean several things.
 */
#pragma once

#include <stddef.h>

#include "util/secrets.h"

enum secret_word_meaning {
	SECRET_WORD_SECRET = 1u << 0,   /* makes a secret of the name wherever it stands */
	SECRET_WORD_LAST = 1u << 1,     /* ...as the last word */
	SECRET_WORD_ABOUT = 1u << 2,    /* as the last word: about a secret, like PASSWORD_LENGTH */
	SECRET_WORD_POINTING = 1u << 3, /* as the last word: withheld also when the value is a path */
	SECRET_WORD_KEY = 1u << 4,
	SECRET_WORD_ID = 1u << 5,	       /* GPG_KEY_ID */
	SECRET_WORD_BEFORE_KEY = 1u << 6, /* API_KEY */
	SECRET_WORD_PUBLIC = 1u << 7,     /* GPG_KEY: no secret */
	SECRET_WORD_OTHER_KEY = 1u << 8,  /* CACHE_KEY: none of a vendor's */
	SECRET_WORD_VENDOR = 1u << 9,     /* ACME_..._KEY */
	SECRET_WORD_URL = 1u << 10,
	SECRET_WORD_BEFORE_URL = 1u << 11, /* DATABASE_URL */
	SECRET_WORD_SERVICE = 1u << 12,	/* with the next: what Kubernetes calls a service */
	SECRET_WORD_PORT = 1u << 13,
	SECRET_WORD_BEFORE_TOKENS = 1u << 14, /* MAX_TOKENS: how many */
};

struct secret_word {
	const char *word;
	unsigned meaning;
};
extern const struct secret_word secret_words[];
extern const size_t secret_words_count;

struct secret_name_entry {
	const char *name;
	enum secret_standing standing;
};
extern const struct secret_name_entry secret_names[];
extern const size_t secret_names_count;
/* With '*', not sorted: the first that matches counts. */
extern const struct secret_name_entry secret_name_patterns[];
extern const size_t secret_name_patterns_count;
