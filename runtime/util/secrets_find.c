/*
 * All secrets of a text, for who must take them out and keep the rest. Beside what makes a
 * secret of a value: NAME=value where the name of the variable sounds like one, as `env`
 * prints it, and base64 of a text with a secret in it.
 */
#include <assert.h>

#include "util/cleanup.h"
#include "util/secrets.h"

#define NAME_SHORTEST 5
#define VALUE_SHORTEST 4
#define ENCODED_SHORTEST 24

void secret_spans_add(struct secret_spans *l, const struct secret_span *s)
{
	size_t at, last;

	for (at = 0; at < l->count && l->items[at].end < s->start; at++)
		;
	for (last = at; last < l->count && l->items[last].start <= s->end; last++)
		;
	if (last > at) { /* one with those that it touches */
		struct secret_span *into = &l->items[at];

		into->until = s->end >= l->items[last - 1].end ? s->until : l->items[last - 1].until;
		into->start = MIN(into->start, s->start);
		into->end = MAX(l->items[last - 1].end, s->end);
		memmove(into + 1, &l->items[last], (l->count - last) * sizeof(*into));
		l->count -= last - at - 1;
		return;
	}
	if (l->count == l->max) {
		at = MIN(at, l->max - 1);
		l->items[at] = (struct secret_span){ MIN(s->start, l->items[at].start), l->text.len,
						     "many", s->until };
		l->count = at + 1;
		return;
	}
	memmove(&l->items[at + 1], &l->items[at], (l->count - at) * sizeof(*l->items));
	l->items[at] = *s;
	l->count++;
}

/* The name in front of the sign: as variables are called, in capitals. */
static struct secret_text name_before(struct secret_text t, size_t place)
{
	size_t start = place;
	bool letter = false;

	while (start && place - start < SECRET_NAME_MAX &&
	       (secret_in_set(SECRET_UPPER, t.s[start - 1]) || t.s[start - 1] == '_')) {
		start--;
		letter = letter || t.s[start] > '9';
	}
	if (!letter || (start && secret_in_set(SECRET_URL, t.s[start - 1])))
		start = place;
	return (struct secret_text){ t.s + start, place - start };
}

/* The value of NAME=value at place, with its quotes off; blanks end one without. */
static struct secret_text value_after(struct secret_text t, size_t place)
{
	struct secret_text v = secret_from(t, place + 1);
	char quote = v.len && (v.s[0] == '"' || v.s[0] == '\'') ? v.s[0] : 0;
	size_t n = 0;

	if (quote)
		v = secret_from(v, 1);
	while (n < v.len && (quote ? v.s[n] != quote && v.s[n] != '\n' :
				     secret_in_set(SECRET_ANY, v.s[n]) && v.s[n] != ';'))
		n++;
	v.len = n;
	return v;
}

static void find_named(const struct secret_index *ix, struct secret_spans *l)
{
	struct secret_text t = l->text, name, value;
	const char *list, *rule;
	struct secret_name known;
	size_t i, start;

	for (i = NAME_SHORTEST; i + VALUE_SHORTEST < t.len; i++) {
		if (t.s[i] != '=')
			continue;
		name = name_before(t, i);
		value = value_after(t, i);
		if (name.len < NAME_SHORTEST || value.len < VALUE_SHORTEST ||
		    secret_is_placeholder(value))
			continue;
		secret_name_init(ix, &known, name);
		rule = secret_name_standing(ix, &known, &list) == SECRET_UNKNOWN ?
			       secret_name_rule(&known, value) :
			       NULL;
		start = (size_t)(value.s - t.s);
		if (rule)
			secret_spans_add(l, &(struct secret_span){ start, start + value.len, rule, NULL });
	}
}

static void find_encoded(const struct secret_index *ix, struct secret_spans *l)
{
	struct secret_text t = l->text, run;
	const char *rule;
	size_t i;

	for (i = 0; i < t.len; i += run.len + 1) {
		run = secret_from(t, i);
		run.len = secret_run(SECRET_BEARER, run);
		rule = run.len >= ENCODED_SHORTEST ? secret_encoded_rule(ix, run) : NULL;
		if (rule)
			secret_spans_add(l, &(struct secret_span){ i, i + run.len, rule, NULL });
	}
}

enum family { TOKENS, SHAPES, URLS, ASSIGNMENTS, FAMILIES };

static bool find_next(enum family f, const struct secret_index *ix, struct secret_text t, size_t from,
		      struct secret_span *ret)
{
	switch (f) {
	case TOKENS:
		return secret_token_next(ix, t, from, ret);
	case SHAPES:
		return secret_shape_next(t, from, ret);
	case URLS:
		return secret_url_next(t, from, ret);
	default:
		return secret_assignment_next(t, from, ret);
	}
}

size_t secret_find_all(const struct secret_index *ix, struct secret_text t, struct secret_span *ret,
		       size_t max)
{
	struct secret_spans l = { ret, 0, max, t };
	struct secret_span s;
	size_t from;
	int f;

	assert(ix && ret && max > 0);
	for (f = 0; f < FAMILIES; f++)
		for (from = 0; from < t.len && find_next(f, ix, t, from, &s);
		     from = MAX(s.end, from + 1))
			if (s.end > s.start + 1)
				secret_spans_add(&l, &s);
	find_named(ix, &l);
	find_encoded(ix, &l);
	return l.count;
}
