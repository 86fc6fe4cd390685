/*
 * What the name of a variable says: that it always stays, that it gives access or hooks
 * into programs, or that it sounds like a secret. Names are cut into words at separators
 * and at changes of case, so that TOKENIZERS_PARALLELISM has no TOKEN and dbPassword a
 * PASSWORD. The words themselves are data, in policy_env_words.c.
 */
#include <string.h>

#include "policy/policy_env_internal.h"
#include "policy/policy_env_words.h"
#include "util/cleanup.h"

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Whether a new word begins at place: apiKey, JWTSecret. */
static bool case_breaks(struct env_text name, size_t start, size_t place)
{
	if (place == start || !is_upper(name.s[place]))
		return false;
	if (!is_upper(name.s[place - 1]))
		return true;
	return place + 1 < name.len && is_lower(name.s[place + 1]);
}

void env_index_names(struct env_index *ix)
{
	size_t i, letter;

	for (letter = i = 0; letter < ELEMENTSOF(ix->words); letter++) {
		while (i < env_words_count && env_words[i].word[0] < (char)('A' + letter))
			i++;
		ix->words[letter] = (uint16_t)i;
	}
	for (letter = i = 0; letter < ELEMENTSOF(ix->names); letter++) {
		while (i < env_names_count && env_names[i].name[0] < (char)('A' + letter))
			i++;
		ix->names[letter] = (uint16_t)i;
	}
}

static bool equals(struct env_text t, const char *word)
{
	size_t i;

	for (i = 0; i < t.len && t.s[i] == word[i]; i++)
		;
	return i == t.len && !word[i];
}

static const struct env_word *word_find(const struct env_index *ix, struct env_text w)
{
	size_t i, letter = (size_t)(w.s[0] - 'A');

	if (!is_upper(w.s[0]))
		return NULL;
	for (i = ix->words[letter]; i < ix->words[letter + 1]; i++)
		if (equals(w, env_words[i].word))
			return &env_words[i];
	return NULL;
}

/* Numbers are no words (API_KEY_2), and a word loses its number (TOKEN2). */
static void word_add(const struct env_index *ix, struct env_name *n, size_t start, size_t end)
{
	const struct env_word *known;

	while (end > start && env_in_set(ENV_DIGIT, n->upper[end - 1]))
		end--;
	if (end == start)
		return;
	/* What a name ends with says most: the last place takes the last word. */
	if (n->n_words == ENV_WORDS_MAX)
		n->n_words--;
	n->words[n->n_words] = (struct env_text){ n->upper + start, end - start };
	known = word_find(ix, n->words[n->n_words]);
	n->meaning[n->n_words] = known ? known->meaning : 0;
	n->known[n->n_words] = known ? known->word : NULL;
	n->n_words++;
}

void env_name_init(const struct env_index *ix, struct env_name *ret, struct env_text name)
{
	size_t i, start = 0;

	ret->cut = name.len > ENV_NAME_MAX;
	if (ret->cut)
		name = env_from(name, name.len - ENV_NAME_MAX);
	ret->len = name.len;
	ret->n_words = 0;
	for (i = 0; i < name.len; i++)
		ret->upper[i] = env_upper(name.s[i]);
	ret->upper[i] = '\0';
	for (i = 0; i <= name.len; i++) {
		bool separator = i == name.len || !env_in_set(ENV_ALNUM, name.s[i]);

		if (!separator && !case_breaks(name, start, i))
			continue;
		word_add(ix, ret, start, i);
		start = i + separator;
	}
}

/* Within a word: MYSQLPASSWORD. */
static const char *const contained[] = { "PASSWORD", "PASSWD", "PASSPHRASE" };
/* Also as the end of a word without separators: GHTOKEN, clientsecret. */
static const char *const endings[] = { "TOKEN",	    "SECRET",	 "APIKEY",	"PRIVATEKEY",
				       "SECRETKEY", "ACCESSKEY", "CREDENTIALS", "KUBECONFIG" };
/* As the end of the last word: SSHPASS, DBPWD; and what ends like that and is none. */
static const char *const last_endings[] = { "PASS", "PWD" };
static const char *const last_others[] = { "BYPASS", "COMPASS", "SURPASS", "TRESPASS" };

static const char *word_contains(struct env_text w)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(contained); i++)
		if (env_find(w, contained[i]) < w.len)
			return contained[i];
	return NULL;
}

static const char *word_ends(struct env_text w, const char *const *list, size_t count)
{
	size_t i, n;

	for (i = 0; i < count; i++) {
		n = strlen(list[i]);
		if (w.len >= n && memcmp(w.s + w.len - n, list[i], n) == 0)
			return list[i];
	}
	return NULL;
}

bool env_match(const char *pattern, struct env_text name, bool fold)
{
	const char *star = NULL;
	size_t i = 0, mark = 0;

	while (i < name.len) {
		if (*pattern == '*') {
			star = ++pattern;
			mark = i;
			continue;
		}
		if (*pattern && (*pattern == name.s[i] ||
				 (fold && env_upper(*pattern) == env_upper(name.s[i])))) {
			pattern++;
			i++;
			continue;
		}
		if (!star)
			return false;
		pattern = star;
		i = ++mark;
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

enum env_standing env_name_standing(const struct env_index *ix, const struct env_name *name,
				    const char **ret_rule)
{
	struct env_text t = { name->upper, name->len };
	size_t i, letter = (size_t)(t.s[0] - 'A');

	if (name->cut || !name->len)
		return ENV_UNKNOWN;
	for (i = is_upper(t.s[0]) ? ix->names[letter] : 0;
	     is_upper(t.s[0]) && i < ix->names[letter + 1]; i++)
		if (equals(t, env_names[i].name)) {
			*ret_rule = env_names[i].name;
			return env_names[i].standing;
		}
	for (i = 0; i < env_name_patterns_count; i++) {
		*ret_rule = env_name_patterns[i].name;
		if (((*ret_rule)[0] == t.s[0] || (*ret_rule)[0] == '*') &&
		    env_match(*ret_rule, t, false))
			return env_name_patterns[i].standing;
	}
	return ENV_UNKNOWN;
}

bool env_name_proxy(const struct env_name *name)
{
	return name->len >= 5 && strcmp(name->upper + name->len - 5, "PROXY") == 0;
}

/* "52BB7E3D... 8A749566...": ids of public keys */
static bool is_fingerprints(struct env_text v)
{
	size_t n;

	while (v.len) {
		n = env_run(ENV_HEX, v);
		if (n != 40 || env_run(ENV_UPPER, v) < n)
			return false;
		v = env_from(v, n);
		while (v.len && v.s[0] == ' ')
			v = env_from(v, 1);
	}
	return true;
}

static bool means(const struct env_name *n, size_t i, unsigned meaning)
{
	return n->meaning[i] & meaning;
}

static bool is_pair(const struct env_name *n, size_t i, unsigned first, unsigned second)
{
	return i > 0 && means(n, i, second) && means(n, i - 1, first);
}

/* Names that say of the secret word in them that it is none. */
static bool is_harmless(const struct env_name *n)
{
	size_t i, last = n->n_words - 1;

	for (i = 1; i < n->n_words; i++)
		if (is_pair(n, i, ENV_WORD_SERVICE, ENV_WORD_PORT)) /* of Kubernetes */
			return true;
	if (is_pair(n, last, ENV_WORD_PUBLIC, ENV_WORD_KEY))
		return true;
	return last > 1 && means(n, last, ENV_WORD_ID) &&
	       is_pair(n, last - 1, ENV_WORD_PUBLIC, ENV_WORD_KEY);
}

/* How much, not which: MAX_TOKENS, and any number of tokens. */
static bool is_amount(const struct env_name *n, size_t i, struct env_text value)
{
	if (!env_is(n->words[i], "TOKENS"))
		return false;
	return env_run(ENV_DIGIT, value) == value.len ||
	       (i > 0 && means(n, i - 1, ENV_WORD_BEFORE_TOKENS));
}

/* A word that makes a secret of the name wherever it stands, or NULL. */
static const char *secret_word(const struct env_name *n, size_t i, bool pass, struct env_text value)
{
	const char *rule = means(n, i, ENV_WORD_SECRET) ? n->known[i] : NULL;

	if (!rule && pass)
		rule = word_contains(n->words[i]);
	if (!rule && n->words[i].len > 5)
		rule = word_ends(n->words[i], endings, ELEMENTSOF(endings));
	if (rule)
		return is_amount(n, i, value) ? NULL : rule;
	if (!is_pair(n, i, ENV_WORD_BEFORE_KEY, ENV_WORD_KEY))
		return NULL;
	return env_is(n->words[i - 1], "SIGNING") && is_fingerprints(value) ? NULL : "KEY";
}

/* What makes a secret of the name as its last word. */
static const char *last_word(const struct env_name *n, bool pass)
{
	size_t i, last = n->n_words - 1;
	struct env_text w = n->words[last];

	if (means(n, last, ENV_WORD_LAST))
		return n->known[last];
	if ((pass || w.s[w.len - 1] == 'D') && !word_ends(w, last_others, ELEMENTSOF(last_others)))
		return word_ends(w, last_endings, ELEMENTSOF(last_endings));
	if (last == 0 || !means(n, last, ENV_WORD_KEY) || means(n, last - 1, ENV_WORD_OTHER_KEY))
		return NULL;
	for (i = 0; i < last; i++)
		if (means(n, i, ENV_WORD_VENDOR))
			return "KEY";
	return NULL;
}

/* URLs that carry credentials as a rule, or are the access itself. */
static const char *url_words(const struct env_name *n)
{
	size_t i;

	for (i = 1; i < n->n_words; i++) {
		if (is_pair(n, i, ENV_WORD_BEFORE_URL, ENV_WORD_URL))
			return "URL";
		if (n->words[i].len == 6 && env_is(n->words[i], "STRING") &&
		    env_is(n->words[i - 1], "CONNECTION"))
			return "CONNECTION_STRING";
	}
	return NULL;
}

const char *env_name_rule(const struct env_name *n, struct env_text value)
{
	bool pass = memmem(n->upper, n->len, "PASS", 4);
	const char *rule = NULL;
	size_t i;

	if (!n->n_words)
		return NULL;
	for (i = 0; i < n->n_words && !rule; i++)
		rule = secret_word(n, i, pass, value);
	if (rule && means(n, n->n_words - 1, ENV_WORD_ABOUT))
		rule = NULL;
	if (!rule)
		rule = last_word(n, pass);
	if (!rule)
		rule = url_words(n);
	if (!rule || !value.len || env_is_truth_value(value) || is_harmless(n))
		return NULL;
	/* The mount rules guard what lies at a path; those of access count all the same. */
	return env_is_path(value) && !means(n, n->n_words - 1, ENV_WORD_POINTING) ? NULL : rule;
}
