/*
 * Owns annotations org.systemd.property.NAME: which names may be set, and the part of
 * GVariant's text form that properties of a scope need. Pure.
 */
#include "cgroup/cgroup_scope.h"

#include <inttypes.h>

#include "util/parse.h"
#include "util/str.h"

#define PREFIX "org.systemd.property."
#define NAME_MIN 3

static const struct type {
	const char *word;
	char signature;
} types[] = {
	{ "boolean", 'b' }, { "byte", 'y' },   { "int16", 'n' }, { "uint16", 'q' }, { "int32", 'i' },
	{ "uint32", 'u' },  { "int64", 'x' }, { "uint64", 't' }, { "string", 's' }, { "objectpath", 'o' },
};

struct variant {
	const char *p;
	struct arena *arena;
	char signature; /* of the values; 0 = not known yet */
	const char *values[CGROUP_VALUES_MAX];
	size_t n;
};

static void skip_blanks(struct variant *v)
{
	v->p += strspn(v->p, " \t\n");
}

static bool type_set(struct variant *v, char signature)
{
	if (v->signature && v->signature != signature)
		return false;
	v->signature = signature;
	return true;
}

/* 'text' or "text"; a backslash takes the next character as it is. */
static int string_value(struct variant *v)
{
	char quote = *v->p++, *out = arena_alloc(v->arena, strlen(v->p) + 1);
	size_t n = 0;

	if (!out)
		return -ENOMEM;
	for (; *v->p != quote; v->p++) {
		if (*v->p == '\\')
			v->p++;
		if (!*v->p)
			return -EINVAL;
		out[n++] = *v->p;
	}
	v->p++;
	out[n] = '\0';
	v->values[v->n++] = out;
	return v->signature == 'o' || type_set(v, 's') ? 0 : -EINVAL;
}

static bool number_fits(char signature, const char *text)
{
	static const struct { char signature; int64_t min; uint64_t max; } ranges[] = {
		{ 'y', 0, UINT8_MAX },	       { 'n', INT16_MIN, INT16_MAX }, { 'q', 0, UINT16_MAX },
		{ 'i', INT32_MIN, INT32_MAX }, { 'u', 0, UINT32_MAX },	      { 'x', INT64_MIN, INT64_MAX },
		{ 't', 0, UINT64_MAX },
	};
	size_t i;
	uint64_t u;
	int64_t s;

	for (i = 0; i < ELEMENTSOF(ranges); i++) {
		if (ranges[i].signature != signature)
			continue;
		if (*text == '-')
			return parse_i64(text, &s) == 0 && s >= ranges[i].min;
		return parse_u64(text, &u) == 0 && u <= ranges[i].max;
	}
	return false;
}

static const struct type *type_find(const char *word)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(types); i++)
		if (str_eq(word, types[i].word))
			return &types[i];
	return NULL;
}

static int next_word(struct variant *v, char **ret)
{
	size_t len = strcspn(v->p, " \t\n,]'\"");

	*ret = arena_strndup(v->arena, v->p, len);
	v->p += len;
	return *ret ? 0 : -ENOMEM;
}

/* "5", "uint64 5", "true", "'text'" */
static int scalar_value(struct variant *v)
{
	const struct type *type;
	char *word;
	int r;

	if (*v->p == '\'' || *v->p == '"')
		return string_value(v);
	r = next_word(v, &word);
	if (r < 0)
		return r;
	type = type_find(word);
	if (type) {
		if (!type_set(v, type->signature))
			return -EINVAL;
		skip_blanks(v);
		if (*v->p == '\'' || *v->p == '"')
			return string_value(v);
		r = next_word(v, &word);
		if (r < 0)
			return r;
	}
	if (str_eq(word, "true") || str_eq(word, "false")) {
		v->values[v->n++] = word;
		return type_set(v, 'b') ? 0 : -EINVAL;
	}
	/* GVariant's type of a bare number. */
	if (!v->signature)
		v->signature = 'i';
	v->values[v->n++] = word;
	return number_fits(v->signature, word) ? 0 : -EINVAL;
}

static int array_value(struct variant *v)
{
	int r;

	v->p++;
	skip_blanks(v);
	while (*v->p != ']') {
		if (v->n == CGROUP_VALUES_MAX)
			return -E2BIG;
		r = scalar_value(v);
		if (r < 0)
			return r;
		skip_blanks(v);
		if (*v->p == ',' && v->p[1])
			v->p++;
		else if (*v->p != ']')
			return -EINVAL;
		skip_blanks(v);
	}
	v->p++;
	/* What an empty one holds must be said: "@as []". */
	return v->signature ? 0 : -EINVAL;
}

static int parse(struct variant *v, bool *ret_array)
{
	int r;

	skip_blanks(v);
	*ret_array = *v->p == '[';
	if (*v->p == '@') {
		size_t len = strcspn(v->p, " \t\n");

		*ret_array = v->p[1] == 'a';
		if (len != (*ret_array ? 3 : 2) || !strchr("bynqiuxtso", v->p[len - 1]))
			return -EINVAL;
		v->signature = v->p[len - 1];
		v->p += len;
		skip_blanks(v);
		if ((*v->p == '[') != *ret_array)
			return -EINVAL;
	}
	r = *ret_array ? array_value(v) : scalar_value(v);
	if (r < 0)
		return r;
	skip_blanks(v);
	return *v->p ? -EINVAL : 0;
}

int cgroup_variant_parse(const char *text, struct arena *arena, const char **ret_signature,
			 const char ***ret_values, size_t *ret_count, struct error *err)
{
	struct variant v = { .p = text, .arena = arena };
	const char **values;
	char *signature;
	bool array;
	int r;

	r = parse(&v, &array);
	if (r == -ENOMEM)
		return error_oom(err);
	if (r < 0)
		return error_text(err, r,
				  "\"%s\" is no value in GVariant's text form (true, 5, uint64 5, "
				  "'text', ['a', 'b'])",
				  text);
	values = arena_calloc(arena, v.n + 1, sizeof(*values));
	signature = arena_printf(arena, "%s%c", array ? "a" : "", v.signature);
	if (!values || !signature)
		return error_oom(err);
	if (v.n)
		memcpy(values, v.values, v.n * sizeof(*values));
	*ret_values = values;
	*ret_signature = signature;
	*ret_count = v.n;
	return 0;
}

/* How the unit is ended, ordered and shown: nothing that starts a unit or changes a limit. */
static bool name_harmless(const char *name)
{
	static const char *const names[] = {
		"After", "Before", "CollectMode", "DefaultDependencies", "Description", "Documentation",
		"FinalKillSignal", "KillMode", "KillSignal", "RuntimeMaxUSec", "SendSIGHUP", "SendSIGKILL",
		"TimeoutStopUSec",
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

static bool name_wellformed(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return n >= NAME_MIN && name[n] == '\0';
}

/* Units of time are named …Sec in files and …USec on the bus. */
static int seconds_convert(struct arena *arena, const char **name, const char **signature,
			   const char **values, size_t n, struct error *err)
{
	size_t len = strlen(*name);
	uint64_t seconds;

	if (len < 5 || !str_eq(*name + len - 3, "Sec") || str_eq(*name + len - 4, "USec"))
		return 0;
	if (n != 1 || parse_u64(values[0], &seconds) < 0 || seconds > UINT64_MAX / 1000000)
		return error_text(err, -EINVAL, "\"%s\" is no number of seconds", n ? values[0] : "");
	*name = arena_printf(arena, "%.*sUSec", (int)(len - 3), *name);
	values[0] = arena_printf(arena, "%" PRIu64, seconds * 1000000);
	*signature = "t";
	return *name && values[0] ? 0 : error_oom(err);
}

int cgroup_props_annotations(struct cgroup_props *p, const struct str_map *annotations, bool any,
			     struct error *err)
{
	size_t i, n;
	int r;

	for (i = 0; annotations && i < annotations->count; i++) {
		const struct str_pair *a = &annotations->items[i];
		const char *name = str_after(a->key, PREFIX), *signature, **values;

		if (!name)
			continue;
		if (!name_wellformed(name))
			return error_text(err, -EINVAL, "annotation %s: no name of a property", a->key);
		r = cgroup_variant_parse(a->value, &p->arena, &signature, &values, &n, err);
		if (r == 0)
			r = seconds_convert(&p->arena, &name, &signature, values, n, err);
		if (r < 0)
			return error_prefix(err, "annotation %s", a->key);
		if (!any && !name_harmless(name))
			return error_text(err, -EPERM,
					  "annotation %s: only a container under the profile "
					  "\"passthrough\" may set this property of its unit",
					  a->key);
		cgroup_props_add(p, name, signature, 0, values, n);
	}
	return 0;
}
