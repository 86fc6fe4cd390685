/*
 * What a secret looks like: by how it begins, by its structure, by the name it is assigned
 * to, and what the name of a variable says. Pure; for the environment scrubber and for the
 * audit log. Texts are not NUL-terminated: a value may be a part of a larger one, or decoded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct secret_text {
	const char *s;
	size_t len;
};

/* secrets_chars.c */
enum secret_set {
	SECRET_DIGIT,
	SECRET_HEX,
	SECRET_UPPER, /* A-Z 0-9 */
	SECRET_ALNUM,
	SECRET_WORD,   /* alnum _ */
	SECRET_URL,    /* alnum _ - */
	SECRET_DOTTED, /* alnum _ - . */
	SECRET_BASE64, /* alnum + / = */
	SECRET_BEARER, /* alnum _ - . ~ + / = */
	SECRET_ANY,    /* not a blank, quote or control character */
};
extern const uint16_t secret_classes[256]; /* bit n: in set n */
static inline bool secret_in_set(enum secret_set set, char c)
{
	return secret_classes[(unsigned char)c] & 1u << set;
}
static inline char secret_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}
/* The rest from offset on; empty behind the end. */
static inline struct secret_text secret_from(struct secret_text t, size_t offset)
{
	offset = offset < t.len ? offset : t.len;
	return (struct secret_text){ t.s + offset, t.len - offset };
}
static inline bool secret_begins(struct secret_text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.len >= n && memcmp(t.s, prefix, n) == 0;
}
/* Place of needle, t.len when it is not there. */
static inline size_t secret_find(struct secret_text t, const char *needle)
{
	const char *p = t.s ? memmem(t.s, t.len, needle, strlen(needle)) : NULL;

	return p ? (size_t)(p - t.s) : t.len;
}
/* How many bytes from the start are in the set. */
size_t secret_run(enum secret_set set, struct secret_text t);
bool secret_has_digit(struct secret_text t);
/* Decodes either alphabet up to the first byte outside of it; the number of bytes. */
size_t secret_base64(struct secret_text t, char *ret, size_t room);
/* Case does not count; word is in upper case. */
bool secret_is(struct secret_text t, const char *word);
/* "yes", "0", "none", "required": too little for a secret. */
bool secret_is_truth_value(struct secret_text t);
/* An absolute path below a usual top folder or of a file, or a plainly relative one. */
bool secret_is_path(struct secret_text t);
/* "${DB_PASSWORD}", "<password>": the place of a secret, not the secret */
bool secret_is_placeholder(struct secret_text v);

/* secrets_tokens.c: what is known by how it begins. */
struct secret_token {
	const char *prefix;
	enum secret_set set;  /* of what follows */
	uint16_t min, max; /* length of the longest run of the set; max 0 = any */
	const char *rule;
	bool (*check)(struct secret_text run); /* more to ask of the run; NULL = nothing */
};
extern const struct secret_token secret_tokens[];
extern const size_t secret_tokens_count;

/*
 * Where to look in the tables, built once for each environment: the tokens by their first
 * characters, words and names by their first letter.
 */
#define SECRET_TOKENS_MAX 255
struct secret_index {
	uint8_t head[128];    /* 1 + number of the first token, 0 = none */
	uint64_t second[128]; /* bit c & 63: some token goes on with c */
	uint8_t next[SECRET_TOKENS_MAX];
	uint16_t words[27], names[27]; /* first entry of each letter, and the end */
};
void secret_index_init(struct secret_index *ix);
void secret_index_names(struct secret_index *ix); /* its part for words and names */

/* The name of the rule that finds a secret anywhere in the text, or NULL. */
const char *secret_value_rule(const struct secret_index *ix, struct secret_text t);

/* Where a secret is. */
struct secret_span {
	size_t start, end;
	const char *rule;
	const char *until; /* it goes on behind the text up to this mark, which is part of it; else NULL */
};
/*
 * All secrets in the text, in order and apart from each other; also what is assigned to a
 * variable whose name sounds like a secret, and the base64 of one. At most max; when there
 * are more, the last span takes the rest of the text.
 */
size_t secret_find_all(const struct secret_index *ix, struct secret_text t, struct secret_span *ret,
		       size_t max);

/* A list of spans, in order and apart; room for max of the text's. */
struct secret_spans {
	struct secret_span *items;
	size_t count, max;
	struct secret_text text;
};
/* What touches is joined. */
void secret_spans_add(struct secret_spans *l, const struct secret_span *s);

/*
 * Parts of the above. Each finds the first secret of its kind that begins at from or later,
 * or, when it only shows further on, that ends behind from.
 */
bool secret_token_next(const struct secret_index *ix, struct secret_text t, size_t from,
		       struct secret_span *ret);
bool secret_shape_next(struct secret_text t, size_t from, struct secret_span *ret);
bool secret_url_next(struct secret_text t, size_t from, struct secret_span *ret);
bool secret_assignment_next(struct secret_text t, size_t from, struct secret_span *ret);
/* A text that is base64 of one with a secret; the rule, or NULL. */
const char *secret_encoded_rule(const struct secret_index *ix, struct secret_text t);
/*
 * The value of a proxy variable without the user information in its URLs; room for
 * t.len + 1 bytes at ret. False: there was none, ret holds nothing of use.
 */
bool secret_proxy_strip(struct secret_text t, char *ret);

/*
 * secrets_names.c. A name in upper case and cut into words; of a very long one the end,
 * which says most.
 */
#define SECRET_NAME_MAX  255
#define SECRET_WORDS_MAX 48
struct secret_name {
	char upper[SECRET_NAME_MAX + 1];
	size_t len;
	bool cut;
	struct secret_text words[SECRET_WORDS_MAX];
	unsigned meaning[SECRET_WORDS_MAX];  /* enum secret_word_meaning */
	const char *known[SECRET_WORDS_MAX]; /* the table's text; NULL where it has no meaning */
	size_t n_words;
};
enum secret_standing { SECRET_UNKNOWN, SECRET_BASIC, SECRET_STAYS, SECRET_POINTER };

void secret_name_init(const struct secret_index *ix, struct secret_name *ret, struct secret_text name);
/* What is known of it as a whole, and the list's text for it. */
enum secret_standing secret_name_standing(const struct secret_index *ix, const struct secret_name *name,
				    const char **ret_rule);
bool secret_name_proxy(const struct secret_name *name); /* holds URLs of proxies */
/* value only serves to see that it cannot be a secret. */
const char *secret_name_rule(const struct secret_name *name, struct secret_text value);
/* pattern may hold '*'; fold: case does not count. */
bool secret_match(const char *pattern, struct secret_text name, bool fold);
