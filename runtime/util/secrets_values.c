/*
 * Is there a secret in this value? Looks for what is known by how it begins, by its
 * structure, and for both once more behind one layer of base64. No measure of randomness:
 * checksums, UUIDs and key ids would not survive it.
 */
#include <string.h>

#include "util/secrets.h"
#include "util/cleanup.h"

#define DECODED_MAX 3072

void secret_index_init(struct secret_index *ix)
{
	const char *prefix;
	unsigned char c;
	size_t i;

	memset(ix->head, 0, sizeof(ix->head));
	memset(ix->second, 0, sizeof(ix->second));
	/* Backwards, so that a chain keeps the order of the table: longer prefixes first. */
	for (i = secret_tokens_count; i-- > 0;) {
		prefix = secret_tokens[i].prefix;
		c = (unsigned char)prefix[0] & 0x7f;
		ix->next[i] = ix->head[c];
		ix->head[c] = (uint8_t)(i + 1);
		ix->second[c] |= prefix[1] ? UINT64_C(1) << (prefix[1] & 63) : UINT64_MAX;
	}
	secret_index_names(ix);
}

static bool token_matches(const struct secret_token *k, struct secret_text t)
{
	struct secret_text run;

	if (!secret_begins(t, k->prefix))
		return false;
	run = secret_from(t, strlen(k->prefix));
	run.len = secret_run(k->set, run);
	if (run.len < k->min || (k->max && run.len > k->max))
		return false;
	return !k->check || k->check(run);
}

/* A word begins behind anything but a letter or digit, and behind a written-out "\n". */
static bool begins_word(struct secret_text t, size_t i)
{
	if (i == 0 || !secret_in_set(SECRET_ALNUM, t.s[i - 1]))
		return true;
	return i >= 2 && t.s[i - 2] == '\\' && strchr("nrt", t.s[i - 1]);
}

bool secret_token_next(const struct secret_index *ix, struct secret_text t, size_t from,
		       struct secret_span *ret)
{
	const struct secret_token *k;
	struct secret_text rest;
	unsigned char c;
	uint8_t n;
	size_t i;

	/* Every prefix is followed by more: the last byte begins none. */
	for (i = from; i + 1 < t.len; i++) {
		c = (unsigned char)t.s[i];
		if (c >= sizeof(ix->head) || !ix->head[c] ||
		    !(ix->second[c] >> (t.s[i + 1] & 63) & 1) || !begins_word(t, i))
			continue;
		rest = secret_from(t, i);
		for (n = ix->head[c]; n; n = ix->next[n - 1]) {
			k = &secret_tokens[n - 1];
			if (!token_matches(k, rest))
				continue;
			rest = secret_from(rest, strlen(k->prefix));
			*ret = (struct secret_span){ i, t.len - rest.len + secret_run(k->set, rest),
						     k->rule, NULL };
			return true;
		}
	}
	return false;
}

static const char *plain_rule(const struct secret_index *ix, struct secret_text t)
{
	struct secret_span span;

	if (secret_token_next(ix, t, 0, &span) || secret_shape_next(t, 0, &span) ||
	    secret_url_next(t, 0, &span) || secret_assignment_next(t, 0, &span))
		return span.rule;
	return NULL;
}

static bool is_text(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((s[i] < ' ' && s[i] != '\n' && s[i] != '\r' && s[i] != '\t') || s[i] == 0x7f)
			return false;
	return n > 0;
}

/* A value that is base64 from begin to end; line breaks end what is looked at. */
const char *secret_encoded_rule(const struct secret_index *ix, struct secret_text t)
{
	char text[DECODED_MAX];
	size_t n;

	if (t.len < 24 || secret_run(SECRET_BEARER, t) < MIN(t.len, (size_t)64))
		return NULL;
	/* Paths and names are base64 as well, but what they decode to is no text. */
	n = secret_base64(t, text, 12);
	if (n < 12 || !is_text(text, n))
		return NULL;
	n = secret_base64(t, text, sizeof(text));
	return is_text(text, n) ? plain_rule(ix, (struct secret_text){ text, n }) : NULL;
}

const char *secret_value_rule(const struct secret_index *ix, struct secret_text t)
{
	struct secret_span span;
	const char *rule;

	if (t.len < 6) /* the shortest: x://:y@ or pwd=x */
		return t.len > 4 && secret_assignment_next(t, 0, &span) ? span.rule : NULL;
	rule = plain_rule(ix, t);
	return rule ? rule : secret_encoded_rule(ix, t);
}
