/*
 * Is there a secret in this value? Looks for what is known by how it begins, by its
 * structure, and for both once more behind one layer of base64. No measure of randomness:
 * checksums, UUIDs and key ids would not survive it.
 */
#include <string.h>

#include "policy/policy_env_internal.h"
#include "util/cleanup.h"

#define DECODED_MAX 3072

void env_index_init(struct env_index *ix)
{
	const char *prefix;
	unsigned char c;
	size_t i;

	memset(ix->head, 0, sizeof(ix->head));
	memset(ix->second, 0, sizeof(ix->second));
	/* Backwards, so that a chain keeps the order of the table: longer prefixes first. */
	for (i = env_tokens_count; i-- > 0;) {
		prefix = env_tokens[i].prefix;
		c = (unsigned char)prefix[0] & 0x7f;
		ix->next[i] = ix->head[c];
		ix->head[c] = (uint8_t)(i + 1);
		ix->second[c] |= prefix[1] ? UINT64_C(1) << (prefix[1] & 63) : UINT64_MAX;
	}
	env_index_names(ix);
}

static bool token_matches(const struct env_token *k, struct env_text t)
{
	struct env_text run;

	if (!env_begins(t, k->prefix))
		return false;
	run = env_from(t, strlen(k->prefix));
	run.len = env_run(k->set, run);
	if (run.len < k->min || (k->max && run.len > k->max))
		return false;
	return !k->check || k->check(run);
}

/* A word begins behind anything but a letter or digit, and behind a written-out "\n". */
static bool begins_word(struct env_text t, size_t i)
{
	if (i == 0 || !env_in_set(ENV_ALNUM, t.s[i - 1]))
		return true;
	return i >= 2 && t.s[i - 2] == '\\' && strchr("nrt", t.s[i - 1]);
}

static const char *token_rule(const struct env_index *ix, struct env_text t)
{
	unsigned char c;
	uint8_t k;
	size_t i;

	/* Every prefix is followed by more: the last byte begins none. */
	for (i = 0; i + 1 < t.len; i++) {
		c = (unsigned char)t.s[i];
		if (c >= sizeof(ix->head) || !ix->head[c] ||
		    !(ix->second[c] >> (t.s[i + 1] & 63) & 1) || !begins_word(t, i))
			continue;
		for (k = ix->head[c]; k; k = ix->next[k - 1])
			if (token_matches(&env_tokens[k - 1], env_from(t, i)))
				return env_tokens[k - 1].rule;
	}
	return NULL;
}

static const char *plain_rule(const struct env_index *ix, struct env_text t)
{
	const char *rule = token_rule(ix, t);

	if (!rule)
		rule = env_shape_rule(t);
	if (!rule)
		rule = env_url_rule(t);
	return rule ? rule : env_assignment_rule(t);
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
static const char *encoded_rule(const struct env_index *ix, struct env_text t)
{
	char text[DECODED_MAX];
	size_t n;

	if (t.len < 24 || env_run(ENV_BEARER, t) < MIN(t.len, (size_t)64))
		return NULL;
	/* Paths and names are base64 as well, but what they decode to is no text. */
	n = env_base64(t, text, 12);
	if (n < 12 || !is_text(text, n))
		return NULL;
	n = env_base64(t, text, sizeof(text));
	return is_text(text, n) ? plain_rule(ix, (struct env_text){ text, n }) : NULL;
}

const char *env_value_rule(const struct env_index *ix, struct env_text t)
{
	const char *rule;

	if (t.len < 6) /* the shortest: x://:y@ or pwd=x */
		return t.len > 4 ? env_assignment_rule(t) : NULL;
	rule = plain_rule(ix, t);
	return rule ? rule : encoded_rule(ix, t);
}
