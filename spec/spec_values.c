/*
 * Handlers for value shapes that several parts of the specification share: absolute
 * paths, names out of a table, objects used as maps. Knows no particular object.
 */
#include <net/if.h>

#include "spec/spec_internal.h"
#include "util/str.h"

SPEC_HANDLER(spec_get_abs_path)
{
	char **path = target;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (*path && **path != '/')
		return json_error(ctx, value, err, -EINVAL, "\"%s\" is not an absolute path",
				  *path);
	return 0;
}

SPEC_HANDLER(spec_get_abs_paths)
{
	struct strv *list = target;
	const struct json *j;
	size_t i, len;
	int r;

	r = json_get_strv(ctx, field, value, target, err);
	if (r < 0)
		return r;
	for (j = value->kids.first, i = 0; j && i < list->count; j = j->next, i++) {
		if (list->items[i][0] == '/')
			continue;
		len = ctx->path_len;
		json_path_push(ctx, "[%zu]", i);
		r = json_error(ctx, j, err, -EINVAL, "\"%s\" is not an absolute path",
			       list->items[i]);
		json_path_pop(ctx, len);
		return r;
	}
	return 0;
}

SPEC_HANDLER(spec_get_names)
{
	struct strv *list = target;
	const struct json *j;
	uint64_t known;
	size_t i, len;
	int r;

	r = json_get_strv(ctx, field, value, target, err);
	if (r < 0)
		return r;
	for (j = value->kids.first, i = 0; j && i < list->count; j = j->next, i++) {
		len = ctx->path_len;
		json_path_push(ctx, "[%zu]", i);
		r = json_get_enum(ctx, field, j, &known, err);
		json_path_pop(ctx, len);
		if (r < 0)
			return r;
	}
	return 0;
}

SPEC_HANDLER(spec_get_name)
{
	char **name = target;
	uint64_t known;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0 || !*name)
		return r;
	/* Engines write the empty word for "not set". */
	if (**name == '\0') {
		*name = NULL;
		return 0;
	}
	return json_get_enum(ctx, field, value, &known, err);
}

SPEC_HANDLER(spec_get_u32_list)
{
	struct {
		uint32_t *items;
		size_t count;
	} *list = target;
	const struct json *j;
	size_t i, len;
	int r;

	if (value->type != JSON_ARRAY)
		return json_error(ctx, value, err, -EINVAL, "must be an array, is %s",
				  json_type_phrase(value->type));
	list->items = arena_calloc(ctx->arena, value->kids.count, sizeof(*list->items));
	if (!list->items)
		return error_oom(err);
	for (j = value->kids.first, i = 0; j; j = j->next, i++) {
		len = ctx->path_len;
		json_path_push(ctx, "[%zu]", i);
		r = json_get_u32(ctx, field, j, &list->items[i], err);
		json_path_pop(ctx, len);
		if (r < 0)
			return r;
	}
	list->count = i;
	return 0;
}

SPEC_HANDLER(spec_get_keyed_list)
{
	const struct json_object *type = field->arg;
	struct json_list *list = target;
	const struct json *j;
	size_t len, i = 0;
	int r;

	if (value->type != JSON_OBJECT)
		return json_error(ctx, value, err, -EINVAL, "must be an object, is %s",
				  json_type_phrase(value->type));
	list->items = arena_calloc(ctx->arena, value->kids.count, type->size);
	if (!list->items)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next) {
		void *item = (char *)list->items + i++ * type->size;

		/* The first member by the contract of this handler. */
		*(char **)item = arena_strdup(ctx->arena, j->key);
		if (!*(char **)item)
			return error_oom(err);
		if (j->type == JSON_NULL)
			continue;
		len = ctx->path_len;
		json_path_push(ctx, "%s", j->key);
		r = json_dispatch(ctx, type, j, item, err);
		json_path_pop(ctx, len);
		if (r < 0)
			return r;
	}
	list->count = i;
	return 0;
}

SPEC_HANDLER(spec_get_device_number)
{
	int64_t *n = target;
	int r = json_get_i64(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (*n < 0 || *n > UINT32_MAX)
		return json_error(ctx, value, err, -ERANGE, "%lld is not a device number",
				  (long long)*n);
	return 0;
}

/* The rules of the kernel's dev_valid_name(). */
bool spec_net_name_valid(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < IFNAMSIZ && !str_eq(name, ".") && !str_eq(name, "..") &&
	       name[strcspn(name, "/: \t\n\v\f\r")] == '\0';
}
