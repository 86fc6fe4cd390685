/*
 * Owns the form of the messages between the runtime and its D-Bus helper, and the list of
 * properties that they carry: strings, each ended by NUL, in a fixed order. Pure.
 */
#include "cgroup/cgroup_scope.h"

#include <inttypes.h>

#include "util/parse.h"
#include "util/str.h"

bool cgroup_props_signature_ok(const char *s)
{
	if (str_eq(s, "a(ss)"))
		return true;
	if (*s == 'a')
		s++;
	return s[0] && strchr("bynqiuxtso", s[0]) && !s[1];
}

static struct cgroup_prop *slot(struct cgroup_props *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (str_eq(p->items[i].name, name))
			return &p->items[i];
	return p->n < CGROUP_PROPS_MAX ? &p->items[p->n++] : NULL;
}

void cgroup_props_add(struct cgroup_props *p, const char *name, const char *signature,
		      unsigned since, const char *const *values, size_t n)
{
	struct cgroup_prop *x = slot(p, name);
	size_t i;

	if (!x) {
		p->failed = true;
		return;
	}
	*x = (struct cgroup_prop){
		.name = arena_strdup(&p->arena, name),
		.signature = arena_strdup(&p->arena, signature),
		.since = since,
		.values = arena_calloc(&p->arena, n + 1, sizeof(char *)),
		.n = n,
	};
	if (!x->name || !x->signature || !x->values) {
		p->failed = true;
		p->n = 0;
		return;
	}
	for (i = 0; i < n; i++) {
		x->values[i] = arena_strdup(&p->arena, values[i]);
		if (!x->values[i])
			p->failed = true;
	}
}

void cgroup_props_u64(struct cgroup_props *p, const char *name, unsigned since, uint64_t value)
{
	char text[24];
	const char *const values[] = { text };

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	cgroup_props_add(p, name, "t", since, values, 1);
}

void cgroup_props_string(struct cgroup_props *p, const char *name, unsigned since, const char *value)
{
	cgroup_props_add(p, name, "s", since, &value, 1);
}

void cgroup_props_bool(struct cgroup_props *p, const char *name, bool value)
{
	const char *const text = value ? "true" : "false";

	cgroup_props_add(p, name, "b", 0, &text, 1);
}

void cgroup_props_done(struct cgroup_props *p)
{
	arena_done(&p->arena);
	*p = CGROUP_PROPS_NULL;
}

static void put(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static void put_number(struct buf *b, size_t n)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%zu", n);
	put(b, text);
}

int cgroup_scope_encode(enum cgroup_scope_verb verb, const char *unit, const char *slice,
			const struct cgroup_props *props, char **ret, size_t *ret_len,
			struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i, k;

	if (props && props->failed)
		return error_text(err, -E2BIG, "more than %d unit properties", CGROUP_PROPS_MAX);
	put_number(&b, verb);
	put(&b, unit ? unit : "");
	put(&b, slice ? slice : "");
	put_number(&b, props ? props->n : 0);
	for (i = 0; props && i < props->n; i++) {
		const struct cgroup_prop *x = &props->items[i];

		put(&b, x->name);
		put(&b, x->signature);
		put_number(&b, x->since);
		put_number(&b, x->n);
		for (k = 0; k < x->n; k++)
			put(&b, x->values[k]);
	}
	if (!buf_ok(&b))
		return error_oom(err);
	if (b.len > CGROUP_SCOPE_MSG_MAX)
		return error_text(err, -E2BIG, "unit properties of more than %zu bytes",
				  CGROUP_SCOPE_MSG_MAX);
	*ret_len = b.len;
	*ret = buf_take(&b);
	return 0;
}

struct reader {
	const char *p, *end;
};

static const char *next(struct reader *in)
{
	const char *s = in->p;
	const char *nul = s < in->end ? memchr(s, '\0', (size_t)(in->end - s)) : NULL;

	if (!nul)
		return NULL;
	in->p = nul + 1;
	return s;
}

static bool next_number(struct reader *in, size_t max, size_t *ret)
{
	const char *s = next(in);
	uint64_t v;

	if (!s || parse_u64(s, &v) < 0 || v > max)
		return false;
	*ret = (size_t)v;
	return true;
}

static bool prop_decode(struct reader *in, struct cgroup_props *props)
{
	const char *values[CGROUP_VALUES_MAX], *name = next(in), *signature = next(in);
	size_t since, n, i;

	if (!name || !signature || !*name || !cgroup_props_signature_ok(signature) ||
	    !next_number(in, 9999, &since) || !next_number(in, CGROUP_VALUES_MAX, &n))
		return false;
	if (*signature != 'a' && n != 1)
		return false;
	if (str_eq(signature, "a(ss)") && n % 2)
		return false;
	for (i = 0; i < n; i++) {
		values[i] = next(in);
		if (!values[i])
			return false;
	}
	cgroup_props_add(props, name, signature, (unsigned)since, values, n);
	return !props->failed;
}

int cgroup_scope_decode(const char *data, size_t len, struct cgroup_scope_request *ret,
			struct error *err)
{
	struct reader in = { data, data + len };
	size_t verb, n, i;
	bool ok;

	*ret = (struct cgroup_scope_request){ .props = CGROUP_PROPS_NULL };
	ok = next_number(&in, CGROUP_SCOPE_VERBS_COUNT - 1, &verb);
	ret->unit = ok ? next(&in) : NULL;
	ret->slice = ret->unit ? next(&in) : NULL;
	ok = ret->slice && next_number(&in, CGROUP_PROPS_MAX, &n);
	for (i = 0; ok && i < n; i++)
		ok = prop_decode(&in, &ret->props);
	if (!ok || in.p != in.end) {
		cgroup_props_done(&ret->props);
		return error_text(err, -EBADMSG, "malformed request of %zu bytes", len);
	}
	ret->verb = (enum cgroup_scope_verb)verb;
	return 0;
}
