/*
 * Owns the handlers of integer members: exact 64-bit values, and a refusal that
 * says what is wrong with the number. Split from json_dispatch.c for size alone.
 */
#include <inttypes.h>

#include "util/json_dispatch.h"

/* The text of a long number is the document's, not ours to repeat in full. */
#define SHOWN "%.40s"

static int need_integer(const struct json_ctx *ctx, const struct json *value, struct error *err)
{
	if (value->type == JSON_NUMBER)
		return 0;
	return json_error(ctx, value, err, -EINVAL, "must be an integer, is %s",
			  json_type_phrase(value->type));
}

static int not_integer(const struct json_ctx *ctx, const struct json *value, struct error *err)
{
	return json_error(ctx, value, err, -EINVAL,
			  "must be an integer without fraction or exponent, is " SHOWN,
			  value->text);
}

static int get_unsigned(const struct json_ctx *ctx, const struct json *value, uint64_t max,
			uint64_t *ret, struct error *err)
{
	uint64_t v;
	int r = need_integer(ctx, value, err);

	if (r < 0)
		return r;
	r = json_to_u64(value, &v);
	if (r == -EINVAL)
		return not_integer(ctx, value, err);
	if (r < 0 && value->text[0] == '-')
		return json_error(ctx, value, err, r, "must not be negative, is " SHOWN,
				  value->text);
	if (r < 0 || v > max)
		return json_error(ctx, value, err, -ERANGE,
				  "must be at most %" PRIu64 ", is " SHOWN, max, value->text);
	*ret = v;
	return 0;
}

static int get_signed(const struct json_ctx *ctx, const struct json *value, int64_t min,
		      int64_t max, int64_t *ret, struct error *err)
{
	int64_t v;
	int r = need_integer(ctx, value, err);

	if (r < 0)
		return r;
	r = json_to_i64(value, &v);
	if (r == -EINVAL)
		return not_integer(ctx, value, err);
	if (r < 0 || v < min || v > max)
		return json_error(ctx, value, err, -ERANGE,
				  "must be between %" PRId64 " and %" PRId64 ", is " SHOWN, min,
				  max, value->text);
	*ret = v;
	return 0;
}

int json_get_u64(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		 void *target, struct error *err)
{
	return get_unsigned(ctx, value, UINT64_MAX, target, err);
}

int json_get_u32(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		 void *target, struct error *err)
{
	uint64_t v = 0;
	int r = get_unsigned(ctx, value, UINT32_MAX, &v, err);

	if (r == 0)
		*(uint32_t *)target = (uint32_t)v;
	return r;
}

int json_get_i64(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		 void *target, struct error *err)
{
	return get_signed(ctx, value, INT64_MIN, INT64_MAX, target, err);
}

int json_get_opt_u64(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		     void *target, struct error *err)
{
	struct opt_u64 *o = target;
	int r = json_get_u64(ctx, field, value, &o->value, err);

	o->set = r == 0;
	return r;
}

int json_get_opt_u32(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		     void *target, struct error *err)
{
	struct opt_u32 *o = target;
	int r = json_get_u32(ctx, field, value, &o->value, err);

	o->set = r == 0;
	return r;
}

int json_get_opt_i64(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		     void *target, struct error *err)
{
	struct opt_i64 *o = target;
	int r = json_get_i64(ctx, field, value, &o->value, err);

	o->set = r == 0;
	return r;
}

int json_get_opt_i32(struct json_ctx *ctx, const struct json_field *field, const struct json *value,
		     void *target, struct error *err)
{
	struct opt_i32 *o = target;
	int64_t v = 0;
	int r = get_signed(ctx, value, INT32_MIN, INT32_MAX, &v, err);

	if (r < 0)
		return r;
	*o = (struct opt_i32){ .set = true, .value = (int32_t)v };
	return 0;
}
