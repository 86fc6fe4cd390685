/*
 * Between the files of the environment scrubber; nobody else includes it. Texts are not
 * NUL-terminated: a value may be a part of a larger one, or decoded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct env_text {
	const char *s;
	size_t len;
};

/* policy_env_chars.c */
enum env_set {
	ENV_DIGIT,
	ENV_HEX,
	ENV_UPPER, /* A-Z 0-9 */
	ENV_ALNUM,
	ENV_WORD,   /* alnum _ */
	ENV_URL,    /* alnum _ - */
	ENV_DOTTED, /* alnum _ - . */
	ENV_BASE64, /* alnum + / = */
	ENV_BEARER, /* alnum _ - . ~ + / = */
	ENV_ANY,    /* not a blank, quote or control character */
};
extern const uint16_t env_classes[256]; /* bit n: in set n */
static inline bool env_in_set(enum env_set set, char c)
{
	return env_classes[(unsigned char)c] & 1u << set;
}
static inline char env_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}
/* The rest from offset on; empty behind the end. */
static inline struct env_text env_from(struct env_text t, size_t offset)
{
	offset = offset < t.len ? offset : t.len;
	return (struct env_text){ t.s + offset, t.len - offset };
}
static inline bool env_begins(struct env_text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.len >= n && memcmp(t.s, prefix, n) == 0;
}
/* Place of needle, t.len when it is not there. */
static inline size_t env_find(struct env_text t, const char *needle)
{
	const char *p = t.s ? memmem(t.s, t.len, needle, strlen(needle)) : NULL;

	return p ? (size_t)(p - t.s) : t.len;
}
/* How many bytes from the start are in the set. */
size_t env_run(enum env_set set, struct env_text t);
bool env_has_digit(struct env_text t);
/* Decodes either alphabet up to the first byte outside of it; the number of bytes. */
size_t env_base64(struct env_text t, char *ret, size_t room);
/* Case does not count; word is in upper case. */
bool env_is(struct env_text t, const char *word);
/* "yes", "0", "none", "required": too little for a secret. */
bool env_is_truth_value(struct env_text t);
/* An absolute path below a usual top folder or of a file, or a plainly relative one. */
bool env_is_path(struct env_text t);

/* policy_env_tokens.c: secrets that are known by how they begin. */
struct env_token {
	const char *prefix;
	enum env_set set;  /* of what follows */
	uint16_t min, max; /* length of the longest run of the set; max 0 = any */
	const char *rule;
	bool (*check)(struct env_text run); /* more to ask of the run; NULL = nothing */
};
extern const struct env_token env_tokens[];
extern const size_t env_tokens_count;

/*
 * Where to look in the tables, built once for each environment: the tokens by their first
 * characters, words and names by their first letter.
 */
#define ENV_TOKENS_MAX 255
struct env_index {
	uint8_t head[128];    /* 1 + number of the first token, 0 = none */
	uint64_t second[128]; /* bit c & 63: some token goes on with c */
	uint8_t next[ENV_TOKENS_MAX];
	uint16_t words[27], names[27]; /* first entry of each letter, and the end */
};
void env_index_init(struct env_index *ix);
void env_index_names(struct env_index *ix); /* its part for words and names */

/* All return the name of the rule that finds a secret in the text, or NULL. */
const char *env_value_rule(const struct env_index *ix, struct env_text t); /* the whole of it */
const char *env_shape_rule(struct env_text t);
const char *env_url_rule(struct env_text t);
const char *env_assignment_rule(struct env_text t);
/*
 * The value of a proxy variable without the user information in its URLs; room for
 * t.len + 1 bytes at ret. False: there was none, ret holds nothing of use.
 */
bool env_proxy_strip(struct env_text t, char *ret);

/*
 * policy_env_names.c. A name in upper case and cut into words; of a very long one the end,
 * which says most.
 */
#define ENV_NAME_MAX  255
#define ENV_WORDS_MAX 48
struct env_name {
	char upper[ENV_NAME_MAX + 1];
	size_t len;
	bool cut;
	struct env_text words[ENV_WORDS_MAX];
	unsigned meaning[ENV_WORDS_MAX];  /* enum env_word_meaning */
	const char *known[ENV_WORDS_MAX]; /* the table's text; NULL where it has no meaning */
	size_t n_words;
};
enum env_standing { ENV_UNKNOWN, ENV_BASIC, ENV_STAYS, ENV_POINTER };

void env_name_init(const struct env_index *ix, struct env_name *ret, struct env_text name);
/* What is known of it as a whole, and the list's text for it. */
enum env_standing env_name_standing(const struct env_index *ix, const struct env_name *name,
				    const char **ret_rule);
bool env_name_proxy(const struct env_name *name); /* holds URLs of proxies */
/* value only serves to see that it cannot be a secret. */
const char *env_name_rule(const struct env_name *name, struct env_text value);
/* pattern may hold '*'; fold: case does not count. */
bool env_match(const char *pattern, struct env_text name, bool fold);
