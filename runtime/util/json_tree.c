/*
 * Owns the questions one may ask of a parsed tree: members, doubles, exact
 * numbers. Knows neither yajl nor any schema.
 */
#include "util/json_read.h"

#include <assert.h>
#include <string.h>

#include "util/parse.h"
#include "util/str.h"

/* Objects up to this many members are compared pairwise, larger ones are sorted. */
#define PAIRWISE_MAX 16

static int compare_members(const void *a, const void *b)
{
	const struct json *x = *(const struct json *const *)a;
	const struct json *y = *(const struct json *const *)b;
	int r = strcmp(x->key, y->key);

	return r != 0 ? r : x->offset < y->offset ? -1 : 1;
}

/* Sorting, because comparing a million members pairwise would keep us for hours. */
static int find_duplicate_sorted(const struct json *object, const struct json **ret)
{
	_cleanup_free_ const struct json **all = calloc(object->kids.count, sizeof(*all));
	const struct json *j;
	size_t i = 0;

	if (!all)
		return -ENOMEM;
	for (j = object->kids.first; j; j = j->next)
		all[i++] = j;
	qsort(all, i, sizeof(*all), compare_members);
	for (i = 1; i < object->kids.count; i++) {
		if (str_eq(all[i - 1]->key, all[i]->key)) {
			*ret = all[i];
			return 0;
		}
	}
	return 0;
}

int json_duplicate_member(const struct json *object, const struct json **ret)
{
	const struct json *j, *k;

	*ret = NULL;
	if (object->kids.count > PAIRWISE_MAX)
		return find_duplicate_sorted(object, ret);
	for (j = object->kids.first; j; j = j->next) {
		for (k = object->kids.first; k != j; k = k->next) {
			if (str_eq(j->key, k->key)) {
				*ret = j;
				return 0;
			}
		}
	}
	return 0;
}

const struct json *json_member(const struct json *object, const char *key)
{
	const struct json *j;

	assert(object->type == JSON_OBJECT);

	for (j = object->kids.first; j; j = j->next)
		if (str_eq(j->key, key))
			return j;
	return NULL;
}

const char *json_type_phrase(enum json_type t)
{
	static const char *const names[] = {
		/* clang-format off */
		[JSON_NULL] = "null",
		[JSON_BOOL] = "a boolean",
		[JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string",
		[JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
		/* clang-format on */
	};

	return names[t];
}

const char *json_type_name(enum json_type t)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",	  [JSON_BOOL] = "boolean", [JSON_NUMBER] = "number",
		[JSON_STRING] = "string", [JSON_ARRAY] = "array",  [JSON_OBJECT] = "object",
	};

	return names[t];
}

int json_to_i64(const struct json *j, int64_t *ret)
{
	assert(j->type == JSON_NUMBER);

	return parse_i64(j->text, ret);
}

int json_to_u64(const struct json *j, uint64_t *ret)
{
	int64_t v;
	int r;

	assert(j->type == JSON_NUMBER);

	if (j->text[0] != '-')
		return parse_u64(j->text, ret);
	r = parse_i64(j->text, &v);
	if (r == 0 && v != 0)
		return -ERANGE;
	if (r == 0)
		*ret = 0; /* "-0" */
	return r;
}
