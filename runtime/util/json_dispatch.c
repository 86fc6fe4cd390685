/*
 * Owns the walk over an object by its table, the JSON path and the handlers of
 * the plain types. Every refusal names file, path and offset. Must not know any
 * particular schema.
 */
#include "util/json_dispatch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "util/log.h"
#include "util/str.h"

/* Names longer than this are not compared for "did you mean". */
#define NAME_MAX_COMPARED 48

int json_error(const struct json_ctx *ctx, const struct json *at, struct error *err, int code,
	       const char *fmt, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (ctx->path_len == 0)
		return error_text(err, code, "%s: offset %zu: %s", ctx->name, at->offset, text);
	return error_text(err, code, "%s: %s (offset %zu): %s", ctx->name, ctx->path, at->offset,
			  text);
}

void json_path_push(struct json_ctx *ctx, const char *fmt, ...)
{
	char piece[sizeof(ctx->path)];
	const char *dot = "";
	va_list ap;
	size_t room;
	int n;

	va_start(ap, fmt);
	(void)vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	if (ctx->path_len > 0 && piece[0] != '[')
		dot = ".";
	room = sizeof(ctx->path) - ctx->path_len;
	n = snprintf(ctx->path + ctx->path_len, room, "%s%s", dot, piece);
	ctx->path_len += n < 0 ? 0 : MIN((size_t)n, room - 1);
}

void json_path_pop(struct json_ctx *ctx, size_t to_len)
{
	assert(to_len <= ctx->path_len);

	ctx->path_len = to_len;
	ctx->path[to_len] = '\0';
}

static int need_type(const struct json_ctx *ctx, const struct json *value, enum json_type type,
		     struct error *err)
{
	if (value->type == type)
		return 0;
	return json_error(ctx, value, err, -EINVAL, "must be %s, is %s", json_type_phrase(type),
			  json_type_phrase(value->type));
}

/* An array or object, not empty where the table forbids it. */
static int need_kids(const struct json_ctx *ctx, const struct json_field *field,
		     const struct json *value, enum json_type type, struct error *err)
{
	int r = need_type(ctx, value, type, err);

	if (r == 0 && (field->flags & JSON_NOT_EMPTY) && value->kids.count == 0)
		return json_error(ctx, value, err, -EINVAL, "must not be empty");
	return r;
}

/* Changes (insert, delete, replace) that turn a into b. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_COMPARED + 1];
	size_t la = strlen(a), lb = strlen(b), i, j, diagonal, above;

	if (la > NAME_MAX_COMPARED || lb > NAME_MAX_COMPARED)
		return SIZE_MAX;
	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= lb; j++) {
			above = row[j];
			row[j] = MIN(MIN(row[j] + 1, row[j - 1] + 1),
				     diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

static int unknown_member(const struct json_ctx *ctx, const struct json_object *type,
			  const struct json *member, struct error *err)
{
	_cleanup_buf_ struct buf known = BUF_NULL;
	const struct json_field *f, *nearest = NULL;
	size_t best = SIZE_MAX, d;

	for (f = type->fields; f->name; f++) {
		d = edit_distance(member->key, f->name);
		if (d < best) {
			best = d;
			nearest = f;
		}
		buf_addf(&known, "%s%s", f == type->fields ? "" : ", ", f->name);
	}
	if (nearest && best <= strlen(nearest->name) / 3 + 1)
		return json_error(ctx, member, err, -EINVAL,
				  "unknown member (did you mean \"%s\"?)", nearest->name);
	return json_error(ctx, member, err, -EINVAL, "unknown member (known here: %s)",
			  buf_ok(&known) && known.data ? known.data : "none");
}

static int dispatch_member(struct json_ctx *ctx, const struct json_object *type,
			   const struct json *member, void *target, struct error *err)
{
	const struct json_field *f;

	for (f = type->fields; f->name; f++)
		if (str_eq(f->name, member->key))
			break;
	if (!f->name) {
		if (ctx->strict)
			return unknown_member(ctx, type, member, err);
		log_debugf("%s: %s (offset %zu): unknown member, ignored", ctx->name, ctx->path,
			   member->offset);
		return 0;
	}
	if (member->type == JSON_NULL && (!ctx->strict || (f->flags & JSON_NULL_OK)))
		return 0;
	return f->fn(ctx, f, member, (char *)target + f->offset, err);
}

int json_dispatch(struct json_ctx *ctx, const struct json_object *type, const struct json *value,
		  void *target, struct error *err)
{
	const struct json_field *f;
	const struct json *j;
	size_t len = ctx->path_len;
	int r;

	assert(ctx && type && value && target && err);

	r = need_type(ctx, value, JSON_OBJECT, err);
	if (r < 0)
		return r;
	for (j = value->kids.first; j; j = j->next) {
		json_path_push(ctx, "%s", j->key);
		r = dispatch_member(ctx, type, j, target, err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
	}
	for (f = type->fields; f->name; f++) {
		if (!(f->flags & JSON_REQUIRED))
			continue;
		j = json_member(value, f->name);
		if (!j || j->type == JSON_NULL) {
			json_path_push(ctx, "%s", f->name);
			return json_error(ctx, value, err, -EINVAL, "is required");
		}
	}
	return type->check ? type->check(ctx, target, err) : 0;
}

static int copy_string(const struct json_ctx *ctx, const struct json *value, char **ret,
		       struct error *err)
{
	int r = need_type(ctx, value, JSON_STRING, err);

	if (r < 0)
		return r;
	*ret = arena_strdup(ctx->arena, value->text);
	return *ret ? 0 : error_oom(err);
}

int json_get_string(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		    void *target, struct error *err)
{
	int r = need_type(ctx, value, JSON_STRING, err);

	if (r < 0)
		return r;
	if ((field->flags & JSON_NOT_EMPTY) && !value->text[0])
		return json_error(ctx, value, err, -EINVAL, "must not be empty");
	return copy_string(ctx, value, target, err);
}

int json_get_bool(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		  void *target, struct error *err)
{
	int r = need_type(ctx, value, JSON_BOOL, err);

	if (r == 0)
		*(bool *)target = value->boolean;
	return r;
}

int json_get_opt_bool(struct json_ctx *ctx, const struct json_field *field,
		      const struct json *value, void *target, struct error *err)
{
	struct opt_bool *o = target;
	int r = json_get_bool(ctx, field, value, &o->value, err);

	o->set = r == 0;
	return r;
}

int json_get_strv(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		  void *target, struct error *err)
{
	struct strv *v = target;
	const struct json *j;
	size_t len = ctx->path_len, i = 0;
	int r;

	r = need_kids(ctx, field, value, JSON_ARRAY, err);
	if (r < 0)
		return r;
	v->items = arena_calloc(ctx->arena, value->kids.count + 1, sizeof(*v->items));
	if (!v->items)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next, i++) {
		json_path_push(ctx, "[%zu]", i);
		r = copy_string(ctx, j, &v->items[i], err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
	}
	v->count = i;
	v->set = true;
	return 0;
}

int json_get_str_map(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		     void *target, struct error *err)
{
	struct str_map *m = target;
	const struct json *j;
	size_t len = ctx->path_len, i = 0;
	int r;

	r = need_kids(ctx, field, value, JSON_OBJECT, err);
	if (r < 0)
		return r;
	m->items = arena_calloc(ctx->arena, value->kids.count, sizeof(*m->items));
	if (!m->items)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next, i++) {
		/* Keys hold dots of their own: annotations["io.x.y"]. */
		json_path_push(ctx, "[\"%s\"]", j->key);
		r = copy_string(ctx, j, &m->items[i].value, err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
		m->items[i].key = arena_strdup(ctx->arena, j->key);
		if (!m->items[i].key)
			return error_oom(err);
	}
	m->count = i;
	return 0;
}

static int name_to_value(const struct json_ctx *ctx, const struct enum_table *table,
			 const struct json *value, uint64_t *ret, struct error *err)
{
	_cleanup_buf_ struct buf known = BUF_NULL;
	size_t i;
	int r;

	r = need_type(ctx, value, JSON_STRING, err);
	if (r < 0)
		return r;
	if (enum_from_name(table, value->text, ret) == 0)
		return 0;
	for (i = 0; i < table->count; i++)
		buf_addf(&known, "%s%s", i ? ", " : "", table->entries[i].name);
	return json_error(ctx, value, err, -EINVAL, "unknown %s \"%.100s\" (known: %s)",
			  table->what, value->text,
			  buf_ok(&known) && known.data ? known.data : "none");
}

int json_get_enum(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		  void *target, struct error *err)
{
	return name_to_value(ctx, field->arg, value, target, err);
}

int json_get_enum_mask(struct json_ctx *ctx, const struct json_field *field,
		       const struct json *value, void *target, struct error *err)
{
	const struct json *j;
	size_t len = ctx->path_len, i = 0;
	uint64_t mask = 0, one;
	int r;

	r = need_kids(ctx, field, value, JSON_ARRAY, err);
	if (r < 0)
		return r;
	for (j = value->kids.first; j; j = j->next, i++) {
		json_path_push(ctx, "[%zu]", i);
		r = name_to_value(ctx, field->arg, j, &one, err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
		mask |= one;
	}
	*(uint64_t *)target = mask;
	return 0;
}

int json_get_object(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		    void *target, struct error *err)
{
	return json_dispatch(ctx, field->arg, value, target, err);
}

int json_get_object_ptr(struct json_ctx *ctx, const struct json_field *field,
			const struct json *value, void *target, struct error *err)
{
	const struct json_object *type = field->arg;
	void *object = arena_alloc(ctx->arena, type->size);
	int r;

	if (!object)
		return error_oom(err);
	r = json_dispatch(ctx, type, value, object, err);
	if (r == 0)
		*(void **)target = object;
	return r;
}

int json_get_list(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		  void *target, struct error *err)
{
	const struct json_object *type = field->arg;
	struct json_list *list = target;
	const struct json *j;
	size_t len = ctx->path_len, i = 0;
	char *items;
	int r;

	r = need_kids(ctx, field, value, JSON_ARRAY, err);
	if (r < 0)
		return r;
	items = arena_calloc(ctx->arena, value->kids.count, type->size);
	if (!items)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next, i++) {
		json_path_push(ctx, "[%zu]", i);
		r = json_dispatch(ctx, type, j, items + i * type->size, err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
	}
	list->items = items;
	list->count = i;
	return 0;
}

int json_ignore(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		void *target, struct error *err)
{
	return 0;
}
