/*
 * Owns the replacing of secrets. What a secret looks like is util/secrets.h's; here is
 * where to look: the patterns of the policy, options of commands, and texts that arrive
 * in pieces.
 */
#include "audit/audit_redact.h"

#include <assert.h>
#include <errno.h>

#include "util/secrets.h"

#define SPANS_MAX    64
#define PATTERNS_MAX 256
#define MARK_MAX     16 /* longer than any mark that ends a secret */
#define NOWHERE	     SIZE_MAX

struct audit_redactor {
	struct secret_index index;
	char **patterns;
	size_t n_patterns;
};

int audit_redactor_new(const char *const *patterns, size_t n, struct audit_redactor **ret,
		       struct error *err)
{
	struct audit_redactor *r;
	size_t i;

	if (n > PATTERNS_MAX)
		return error_text(err, -E2BIG, "audit.redact has more than %d patterns", PATTERNS_MAX);
	for (i = 0; i < n; i++)
		if (strlen(patterns[i]) > AUDIT_PATTERN_MAX)
			return error_text(err, -E2BIG,
					  "audit.redact: pattern %zu is longer than %d characters",
					  i + 1, AUDIT_PATTERN_MAX);
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_oom(err);
	secret_index_init(&r->index);
	r->patterns = n ? calloc(n, sizeof(*r->patterns)) : NULL;
	for (i = 0; r->patterns && i < n; i++) {
		r->patterns[i] = strdup(patterns[i]);
		if (!r->patterns[i])
			break;
		r->n_patterns++;
	}
	if (r->n_patterns < n) {
		audit_redactor_free(r);
		return error_oom(err);
	}
	*ret = r;
	return 0;
}

void audit_redactor_free(struct audit_redactor *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; r->patterns && i < r->n_patterns; i++)
		free(r->patterns[i]);
	free(r->patterns);
	free(r);
}

/*
 * All places in one pass, whatever the text: for each position in the pattern the earliest
 * begin from which the text so far leads there. '*' stands for any text within a word.
 */
static void find_pattern(const char *p, struct secret_spans *l)
{
	size_t at[AUDIT_PATTERN_MAX + 2], next[AUDIT_PATTERN_MAX + 2];
	struct secret_text t = l->text;
	size_t m = strlen(p), i, j;

	at[0] = NOWHERE;
	for (j = 1; j <= m; j++)
		at[j] = NOWHERE;
	for (i = 0; i < t.len; i++) {
		at[0] = MIN(at[0], i);
		for (j = 0; j <= m; j++)
			next[j] = NOWHERE;
		for (j = 0; j < m; j++) {
			if (at[j] == NOWHERE)
				continue;
			if (p[j] == '*') {
				at[j + 1] = MIN(at[j + 1], at[j]);
				if (secret_in_set(SECRET_ANY, t.s[i]))
					next[j] = MIN(next[j], at[j]);
			} else if (p[j] == t.s[i]) {
				next[j + 1] = MIN(next[j + 1], at[j]);
			}
		}
		memcpy(at, next, (m + 1) * sizeof(*at));
		/* Stars at the end may stand for nothing. */
		for (j = m; j > 0 && p[j - 1] == '*'; j--)
			at[m] = MIN(at[m], at[j - 1]);
		if (at[m] != NOWHERE)
			secret_spans_add(l, &(struct secret_span){ at[m], i + 1, "policy", NULL });
	}
}

static void find_all(const struct audit_redactor *r, struct secret_spans *l)
{
	size_t i;

	l->count = secret_find_all(&r->index, l->text, l->items, l->max);
	for (i = 0; i < r->n_patterns; i++)
		find_pattern(r->patterns[i], l);
}

static void put_mark(struct buf *out, const char *rule)
{
	buf_addf(out, "[redacted:%s]", rule);
}

/* The text up to end with a mark for each span; spans reach no further. */
static void put_clean(const struct secret_spans *l, size_t start, size_t end, struct buf *out)
{
	size_t i;

	for (i = 0; i < l->count && l->items[i].start < end; i++) {
		if (l->items[i].end <= start)
			continue;
		if (l->items[i].start > start)
			buf_add(out, l->text.s + start, l->items[i].start - start);
		put_mark(out, l->items[i].rule);
		start = l->items[i].end;
	}
	if (start < end)
		buf_add(out, l->text.s + start, end - start);
}

/* All marks begin with dashes and have them nowhere else: one dash too many moves it along. */
static size_t mark_overlap(const struct audit_redact_state *st)
{
	size_t dashes = strspn(st->until, "-");

	return st->matched == dashes ? dashes : 1;
}

/* One more byte of a secret that goes up to a mark; the mark may be cut by the border of a piece. */
static void match_mark(struct audit_redact_state *st, char c)
{
	if (c == st->until[st->matched])
		st->matched++;
	else
		st->matched = c == st->until[0] ? mark_overlap(st) : 0;
	if (st->until[st->matched])
		return;
	st->until = NULL;
	st->matched = 0;
	st->line = true;
}

/* Bytes that still belong to the secret of the piece before. */
static size_t carried(struct audit_redact_state *st, struct secret_text t)
{
	size_t n = 0;

	while (st->until && n < t.len)
		match_mark(st, t.s[n++]);
	for (; st->line && n < t.len; n++)
		st->line = t.s[n] != '\n';
	if (n && !st->until && !st->line && t.s[n - 1] == '\n')
		return n - 1; /* the end of the line stays */
	if (st->word) {
		n = secret_run(SECRET_ANY, t);
		st->word = n == t.len;
	}
	return n;
}

size_t audit_redact_text(const struct audit_redactor *r, struct audit_redact_state *st,
			 struct audit_bytes text, size_t cut, struct buf *out)
{
	struct secret_span items[SPANS_MAX];
	struct secret_spans l = { items, 0, SPANS_MAX, { text.data, text.len } };
	const struct secret_span *s;
	size_t start, i, k;

	assert(r && st && text.len && cut > 0 && cut <= text.len);
	start = carried(st, l.text);
	if (start >= cut)
		return start;
	find_all(r, &l);
	for (i = 0; i < l.count; i++) {
		s = &l.items[i];
		if (s->end < cut || s->start >= cut || s->end <= start)
			continue;
		/* Across the cut: waits for the next piece, or goes with this one when it fills it. */
		if (s->end > cut || s->until)
			cut = s->start > start && !s->until ? s->start : s->end;
		if (cut == s->end && cut == text.len) {
			st->until = s->until;
			st->matched = 0;
			for (k = cut - MIN(cut, (size_t)MARK_MAX); st->until && k < cut; k++)
				match_mark(st, text.data[k]);
			st->word = !s->until && secret_in_set(SECRET_ANY, text.data[cut - 1]);
		}
		break;
	}
	put_clean(&l, start, cut, out);
	return cut;
}

/* What an option takes as its value, by the words of its name. */
static bool is_secret_option(const struct audit_redactor *r, struct secret_text name,
			     struct secret_text value)
{
	static const char *const harmless[] = { "STDIN", "FILE", "PATH",   "PROMPT", "COMMAND",
						"CMD",	 "ENV",	 "HELPER", "NAME",   "TYPE" };
	struct secret_name known;
	const char *list;
	size_t i;

	while (name.len && name.s[0] == '-')
		name = secret_from(name, 1);
	if (name.len < 3 || !value.len || secret_run(SECRET_DOTTED, name) < name.len)
		return false;
	secret_name_init(&r->index, &known, name);
	if (!known.n_words || secret_name_standing(&r->index, &known, &list) != SECRET_UNKNOWN)
		return false;
	for (i = 0; i < ELEMENTSOF(harmless); i++)
		if (secret_is(known.words[known.n_words - 1], harmless[i]))
			return false;
	return secret_name_rule(&known, value);
}

/*
 * Programs whose short options take a password, joined or in the next argument. "docker login -p
 * SECRET", but "docker run -p 80:80": there the subcommand counts.
 */
struct short_option {
	const char *program, *option;
	bool joined, after_colon; /* -pSECRET; -u USER:SECRET */
};
static const struct short_option short_options[] = {
	{ "mysql", "-p", true, false },	      { "mysqldump", "-p", true, false },
	{ "mysqladmin", "-p", true, false },  { "mysqlimport", "-p", true, false },
	{ "mariadb", "-p", true, false },     { "mariadb-dump", "-p", true, false },
	{ "sshpass", "-p", true, false },     { "sshpass", "-p", false, false },
	{ "redis-cli", "-a", false, false },  { "mongo", "-p", false, false },
	{ "mongosh", "-p", false, false },    { "login", "-p", false, false },
	{ "zip", "-P", false, false },
	{ "unzip", "-P", false, false },      { "7z", "-p", true, false },
	{ "curl", "-u", false, true },	      { "curl", "-u", true, true },
	{ "curl", "--user", false, true },    { "curl", "-U", false, true },
	{ "curl", "--proxy-user", false, true }, { "http", "-a", false, true },
	{ "https", "-a", false, true },	      { "ldapsearch", "-w", false, false },
	{ "smbclient", "-U", false, true },   { "snmpwalk", "-A", false, false },
};

struct words {
	struct secret_text program; /* one of those with short options, else empty */
	struct secret_text before;  /* the word before */
};

static bool is_program(const struct short_option *o, struct secret_text program)
{
	return program.len == strlen(o->program) && secret_begins(program, o->program);
}

/* Where the secret of this word begins; word.len when it has none. */
static size_t option_secret(const struct words *w, struct secret_text word)
{
	const struct short_option *o;
	const char *colon;
	size_t i, start, n;

	for (i = 0; w->program.len && i < ELEMENTSOF(short_options); i++) {
		o = &short_options[i];
		n = strlen(o->option);
		if (!is_program(o, w->program))
			continue;
		if (o->joined ? !secret_begins(word, o->option) || word.len == n :
				w->before.len != n || !secret_begins(w->before, o->option))
			continue;
		if (secret_begins(word, "-") && !o->joined)
			continue;
		start = o->joined ? n : 0;
		colon = o->after_colon ? memchr(word.s + start, ':', word.len - start) : NULL;
		if (o->after_colon)
			start = colon ? (size_t)(colon + 1 - word.s) : word.len;
		return start;
	}
	return word.len;
}

/* One word of a command: NAME=value and --name=value, the value of the option before. */
static void find_in_word(const struct audit_redactor *r, const struct words *w,
			 struct secret_text word, struct secret_spans *l)
{
	const char *equals = word.len ? memchr(word.s, '=', word.len) : NULL;
	size_t at = (size_t)(word.s - l->text.s), start = word.len;
	struct secret_text value;

	if (equals) {
		value = secret_from(word, (size_t)(equals + 1 - word.s));
		if (is_secret_option(r, (struct secret_text){ word.s, (size_t)(equals - word.s) }, value))
			start = (size_t)(value.s - word.s);
	} else if (secret_begins(w->before, "-") && !secret_begins(word, "-") &&
		   !memchr(w->before.s, '=', w->before.len) && is_secret_option(r, w->before, word)) {
		start = 0;
	}
	if (start == word.len)
		start = option_secret(w, word);
	if (start < word.len && !secret_is_placeholder(secret_from(word, start)))
		secret_spans_add(l, &(struct secret_span){ at + start, at + word.len, "option", NULL });
}

/* Wrappers stand in front of programs ("sudo mysql"): the last word that names one counts. */
static void words_add(struct words *w, struct secret_text word)
{
	const char *slash = word.len ? memrchr(word.s, '/', word.len) : NULL;
	struct secret_text base = slash ? secret_from(word, (size_t)(slash + 1 - word.s)) : word;
	size_t i;

	w->before = word;
	for (i = 0; base.len && i < ELEMENTSOF(short_options); i++)
		if (short_options[i].program[0] == base.s[0] && is_program(&short_options[i], base)) {
			w->program = base;
			return;
		}
}

/* An argument that is itself a command, as the one behind "sh -c". */
static void find_in_command(const struct audit_redactor *r, struct secret_spans *l)
{
	static const char ends[] = { ';', '|', '&', '(' };
	struct secret_text t = l->text, word;
	struct words w = { { "", 0 }, { "", 0 } };
	size_t i = 0;

	while (i < t.len) {
		word = secret_from(t, i);
		word.len = secret_run(SECRET_ANY, word);
		i += word.len + 1;
		if (!word.len)
			continue;
		find_in_word(r, &w, word, l);
		if (memchr(ends, word.s[word.len - 1], sizeof(ends))) /* the next word is a program */
			w = (struct words){ { "", 0 }, { "", 0 } };
		else
			words_add(&w, word);
	}
}

bool audit_redact_argv(const struct audit_redactor *r, struct audit_bytes argv, struct buf *out)
{
	const char *p = argv.data, *end = p + argv.len, *nul;
	struct words w = { { "", 0 }, { "", 0 } };
	struct secret_span items[SPANS_MAX];
	bool found = false;

	while (p < end) {
		struct secret_spans l = { items, 0, SPANS_MAX, { p, (size_t)(end - p) } };

		nul = memchr(p, '\0', (size_t)(end - p));
		if (nul)
			l.text.len = (size_t)(nul - p);
		find_all(r, &l);
		find_in_word(r, &w, l.text, &l);
		if (memchr(p, ' ', l.text.len))
			find_in_command(r, &l);
		found = found || l.count;
		put_clean(&l, 0, l.text.len, out);
		buf_add(out, "", 1);
		words_add(&w, l.text);
		p += l.text.len + 1;
	}
	if (!found)
		buf_done(out);
	return found;
}
