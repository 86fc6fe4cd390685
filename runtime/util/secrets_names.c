/*
 * What the name of a variable says: that it always stays, that it gives access or hooks
 * into programs, or that it sounds like a secret. Names are cut into words at separators
 * and at changes of case, so that TOKENIZERS_PARALLELISM has no TOKEN and dbPassword a
 * PASSWORD. The words themselves are data, in secrets_words.c.
 */
#include <string.h>

#include "util/secrets.h"
#include "util/secrets_words.h"
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
static bool case_breaks(struct secret_text name, size_t start, size_t place)
{
	if (place == start || !is_upper(name.s[place]))
		return false;
	if (!is_upper(name.s[place - 1]))
		return true;
	return place + 1 < name.len && is_lower(name.s[place + 1]);
}

void secret_index_names(struct secret_index *ix)
{
	size_t i, letter;

	for (letter = i = 0; letter < ELEMENTSOF(ix->words); letter++) {
		while (i < secret_words_count && secret_words[i].word[0] < (char)('A' + letter))
			i++;
		ix->words[letter] = (uint16_t)i;
	}
	for (letter = i = 0; letter < ELEMENTSOF(ix->names); letter++) {
		while (i < secret_names_count && secret_names[i].name[0] < (char)('A' + letter))
			i++;
		ix->names[letter] = (uint16_t)i;
	}
}

static bool equals(struct secret_text t, const char *word)
{
	size_t i;

	for (i = 0; i < t.len && t.s[i] == word[i]; i++)
		;
	return i == t.len && !word[i];
}

static const struct secret_word *word_find(const struct secret_index *ix, struct secret_text w)
{
	size_t i, letter = (size_t)(w.s[0] - 'A');

	if (!is_upper(w.s[0]))
		return NULL;
	for (i = ix->words[letter]; i < ix->words[letter + 1]; i++)
		if (equals(w, secret_words[i].word))
			return &secret_words[i];
	return NULL;
}

/* Numbers are no words (API_KEY_2), and a word loses its number (TOKEN2). */
static void word_add(const struct secret_index *ix, struct secret_name *n, size_t start, size_t end)
{
	const struct secret_word *known;

	while (end > start && secret_in_set(SECRET_DIGIT, n->upper[end - 1]))
		end--;
	if (end == start)
		return;
	/* What a name ends with says most: the last place takes the last word. */
	if (n->n_words == SECRET_WORDS_MAX)
		n->n_words--;
	n->words[n->n_words] = (struct secret_text){ n->upper + start, end - start };
	known = word_find(ix, n->words[n->n_words]);
	n->meaning[n->n_words] = known ? known->meaning : 0;
	n->known[n->n_words] = known ? known->word : NULL;
	n->n_words++;
}

void secret_name_init(const struct secret_index *ix, struct secret_name *ret, struct secret_text name)
{
	size_t i, start = 0;

	ret->cut = name.len > SECRET_NAME_MAX;
	if (ret->cut)
		name = secret_from(name, name.len - SECRET_NAME_MAX);
	ret->len = name.len;
	ret->n_words = 0;
	for (i = 0; i < name.len; i++)
		ret->upper[i] = secret_upper(name.s[i]);
	ret->upper[i] = '\0';
	for (i = 0; i <= name.len; i++) {
		bool separator = i == name.len || !secret_in_set(SECRET_ALNUM, name.s[i]);

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

static const char *word_contains(struct secret_text w)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(contained); i++)
		if (secret_find(w, contained[i]) < w.len)
			return contained[i];
	return NULL;
}

static const char *word_ends(struct secret_text w, const char *const *list, size_t count)
{
	size_t i, n;

	for (i = 0; i < count; i++) {
		n = strlen(list[i]);
		if (w.len >= n && memcmp(w.s + w.len - n, list[i], n) == 0)
			return list[i];
	}
	return NULL;
}

bool secret_match(const char *pattern, struct secret_text name, bool fold)
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
				 (fold && secret_upper(*pattern) == secret_upper(name.s[i])))) {
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

enum secret_standing secret_name_standing(const struct secret_index *ix, const struct secret_name *name,
				    const char **ret_rule)
{
	struct secret_text t = { name->upper, name->len };
	size_t i, letter = (size_t)(t.s[0] - 'A');

	if (name->cut || !name->len)
		return SECRET_UNKNOWN;
	for (i = is_upper(t.s[0]) ? ix->names[letter] : 0;
	     is_upper(t.s[0]) && i < ix->names[letter + 1]; i++)
		if (equals(t, secret_names[i].name)) {
			*ret_rule = secret_names[i].name;
			return secret_names[i].standing;
		}
	for (i = 0; i < secret_name_patterns_count; i++) {
		*ret_rule = secret_name_patterns[i].name;
		if (((*ret_rule)[0] == t.s[0] || (*ret_rule)[0] == '*') &&
		    secret_match(*ret_rule, t, false))
			return secret_name_patterns[i].standing;
	}
	return SECRET_UNKNOWN;
}

bool secret_name_proxy(const struct secret_name *name)
{
	return name->len >= 5 && strcmp(name->upper + name->len - 5, "PROXY") == 0;
}

/* "52BB7E3D... 8A749566...": ids of public keys */
static bool is_fingerprints(struct secret_text v)
{
	size_t n;

	while (v.len) {
		n = secret_run(SECRET_HEX, v);
		if (n != 40 || secret_run(SECRET_UPPER, v) < n)
			return false;
		v = secret_from(v, n);
		while (v.len && v.s[0] == ' ')
			v = secret_from(v, 1);
	}
	return true;
}

static bool means(const struct secret_name *n, size_t i, unsigned meaning)
{
	return n->meaning[i] & meaning;
}

static bool is_pair(const struct secret_name *n, size_t i, unsigned first, unsigned second)
{
	return i > 0 && means(n, i, second) && means(n, i - 1, first);
}

/* Names that say of the secret word in them that it is none. */
static bool is_harmless(const struct secret_name *n)
{
	size_t i, last = n->n_words - 1;

	for (i = 1; i < n->n_words; i++)
		if (is_pair(n, i, SECRET_WORD_SERVICE, SECRET_WORD_PORT)) /* of Kubernetes */
			return true;
	if (is_pair(n, last, SECRET_WORD_PUBLIC, SECRET_WORD_KEY))
		return true;
	return last > 1 && means(n, last, SECRET_WORD_ID) &&
	       is_pair(n, last - 1, SECRET_WORD_PUBLIC, SECRET_WORD_KEY);
}

/* How much, not which: MAX_TOKENS, and any number of tokens. */
static bool is_amount(const struct secret_name *n, size_t i, struct secret_text value)
{
	if (!secret_is(n->words[i], "TOKENS"))
		return false;
	return secret_run(SECRET_DIGIT, value) == value.len ||
	       (i > 0 && means(n, i - 1, SECRET_WORD_BEFORE_TOKENS));
}

/* A word that makes a secret of the name wherever it stands, or NULL. */
static const char *secret_word(const struct secret_name *n, size_t i, bool pass, struct secret_text value)
{
	const char *rule = means(n, i, SECRET_WORD_SECRET) ? n->known[i] : NULL;

	if (!rule && pass)
		rule = word_contains(n->words[i]);
	if (!rule && n->words[i].len > 5)
		rule = word_ends(n->words[i], endings, ELEMENTSOF(endings));
	if (rule)
		return is_amount(n, i, value) ? NULL : rule;
	if (!is_pair(n, i, SECRET_WORD_BEFORE_KEY, SECRET_WORD_KEY))
		return NULL;
	return secret_is(n->words[i - 1], "SIGNING") && is_fingerprints(value) ? NULL : "KEY";
}

/* What makes a secret of the name as its last word. */
static const char *last_word(const struct secret_name *n, bool pass)
{
	size_t i, last = n->n_words - 1;
	struct secret_text w = n->words[last];

	if (means(n, last, SECRET_WORD_LAST))
		return n->known[last];
	if ((pass || w.s[w.len - 1] == 'D') && !word_ends(w, last_others, ELEMENTSOF(last_others)))
		return word_ends(w, last_endings, ELEMENTSOF(last_endings));
	if (last == 0 || !means(n, last, SECRET_WORD_KEY) || means(n, last - 1, SECRET_WORD_OTHER_KEY))
		return NULL;
	for (i = 0; i < last; i++)
		if (means(n, i, SECRET_WORD_VENDOR))
			return "KEY";
	return NULL;
}

/* URLs that carry credentials as a rule, or are the access itself. */
static const char *url_words(const struct secret_name *n)
{
	size_t i;

	for (i = 1; i < n->n_words; i++) {
		if (is_pair(n, i, SECRET_WORD_BEFORE_URL, SECRET_WORD_URL))
			return "URL";
		if (n->words[i].len == 6 && secret_is(n->words[i], "STRING") &&
		    secret_is(n->words[i - 1], "CONNECTION"))
			return "CONNECTION_STRING";
	}
	return NULL;
}

const char *secret_name_rule(const struct secret_name *n, struct secret_text value)
{
	bool pass = memmem(n->upper, n->len, "PASS", 4);
	const char *rule = NULL;
	size_t i;

	if (!n->n_words)
		return NULL;
	for (i = 0; i < n->n_words && !rule; i++)
		rule = secret_word(n, i, pass, value);
	if (rule && means(n, n->n_words - 1, SECRET_WORD_ABOUT))
		rule = NULL;
	if (!rule)
		rule = last_word(n, pass);
	if (!rule)
		rule = url_words(n);
	if (!rule || !value.len || secret_is_truth_value(value) || is_harmless(n))
		return NULL;
	/* The mount rules guard what lies at a path; those of access count all the same. */
	return secret_is_path(value) && !means(n, n->n_words - 1, SECRET_WORD_POINTING) ? NULL : rule;
}
