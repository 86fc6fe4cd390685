/*
 * The walker and each handler: values into the struct, and the text of each
 * refusal, since that text is all that a user with a wrong file gets.
 */
#include <errno.h>

#include "tap.h"
#include "util/json_dispatch.h"
#include "util/str.h"

struct inner {
	char *name;
	uint32_t size;
};

struct outer {
	char *text;
	bool flag;
	struct opt_bool opt_flag;
	struct opt_i64 i64;
	struct opt_u64 u64;
	struct opt_u32 u32;
	struct opt_i32 i32;
	uint32_t plain_u32;
	uint64_t plain_u64;
	int64_t plain_i64;
	struct strv list;
	struct str_map map;
	uint64_t color, colors;
	struct inner inside;
	struct inner *pointer;
	struct json_list many;
};

static const struct enum_entry color_entries[] = { { "red", 1, NULL },
						   { "green", 2, NULL },
						   { "blue", 4, NULL } };
static const struct enum_table colors = ENUM_TABLE("color", color_entries);

static int check_inner(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct inner *in = target;

	if (in->size == 13)
		return error_text(err, -EINVAL, "%s: %s: 13 is not for us", ctx->name, ctx->path);
	return 0;
}

static const struct json_field inner_fields[] = {
	{ "name", json_get_string, offsetof(struct inner, name), JSON_REQUIRED | JSON_NOT_EMPTY,
	  NULL },
	{ "size", json_get_u32, offsetof(struct inner, size), 0, NULL },
	{ 0 },
};
static const struct json_object inner_type = {
	.size = sizeof(struct inner),
	.fields = inner_fields,
	.check = check_inner,
};

#define F(name_, fn_, flags_, arg_)                                      \
	{                                                                \
#name_, fn_, offsetof(struct outer, name_), flags_, arg_ \
	}

static const struct json_field outer_fields[] = {
	F(text, json_get_string, 0, NULL),
	F(flag, json_get_bool, 0, NULL),
	F(opt_flag, json_get_opt_bool, 0, NULL),
	F(i64, json_get_opt_i64, 0, NULL),
	F(u64, json_get_opt_u64, JSON_NULL_OK, NULL),
	F(u32, json_get_opt_u32, 0, NULL),
	F(i32, json_get_opt_i32, 0, NULL),
	F(plain_u32, json_get_u32, 0, NULL),
	F(plain_u64, json_get_u64, 0, NULL),
	F(plain_i64, json_get_i64, 0, NULL),
	F(list, json_get_strv, JSON_NOT_EMPTY, NULL),
	F(map, json_get_str_map, 0, NULL),
	F(color, json_get_enum, 0, &colors),
	F(colors, json_get_enum_mask, 0, &colors),
	F(inside, json_get_object, 0, &inner_type),
	F(pointer, json_get_object_ptr, 0, &inner_type),
	F(many, json_get_list, 0, &inner_type),
	{ "windows", json_ignore, 0, 0, NULL },
	{ 0 },
};
static const struct json_object outer_type = { .size = sizeof(struct outer),
					       .fields = outer_fields };

static struct error err;

static int read_outer(const char *text, bool strict, struct arena *a, struct outer *o)
{
	_cleanup_(arena_done) struct arena tree = ARENA_NULL;
	struct json_ctx ctx = { .name = "config.json", .arena = a, .strict = strict };
	struct json *root;
	int r;

	memset(o, 0, sizeof(*o));
	err = ERROR_NULL;
	r = json_parse("config.json", text, strlen(text), 0, &tree, &root, &err);
	/* The tree goes away here: nothing in *o may point into it. */
	return r < 0 ? r : json_dispatch(&ctx, &outer_type, root, o, &err);
}

static void test_values(void)
{
	static const char text[] =
		"{\"text\":\"t\",\"flag\":true,\"opt_flag\":false,\"i64\":-9223372036854775808,"
		"\"u64\":18446744073709551615,\"u32\":4294967295,\"i32\":-2147483648,"
		"\"plain_u32\":7,\"plain_u64\":8,\"plain_i64\":-9,\"list\":[\"a\",\"b\"],"
		"\"map\":{\"k.1\":\"v1\",\"k2\":\"\"},\"color\":\"green\",\"colors\":[\"red\","
		"\"blue\"],"
		"\"inside\":{\"name\":\"in\",\"size\":1},\"pointer\":{\"name\":\"p\"},"
		"\"many\":[{\"name\":\"m0\",\"size\":5},{\"name\":\"m1\"}],\"windows\":[{}],"
		"\"unknown\":1}";
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	const struct inner *many;
	struct outer o;

	is_int(read_outer(text, false, &a, &o), 0, "a full document");
	is_str(o.text, "t", "string");
	ok(o.flag, "bool");
	ok(o.opt_flag.set && !o.opt_flag.value, "opt bool");
	ok(o.i64.set && o.i64.value == INT64_MIN, "opt i64");
	ok(o.u64.set && o.u64.value == UINT64_MAX, "opt u64");
	ok(o.u32.set && o.u32.value == UINT32_MAX, "opt u32");
	ok(o.i32.set && o.i32.value == INT32_MIN, "opt i32");
	ok(o.plain_u32 == 7 && o.plain_u64 == 8 && o.plain_i64 == -9, "plain numbers");
	ok(o.list.set && o.list.count == 2 && !o.list.items[2], "list of strings, ended by NULL");
	is_str(o.list.items[1], "b", "its second");
	ok(o.map.count == 2, "map");
	is_str(o.map.items[0].key, "k.1", "in order");
	is_str(o.map.items[1].value, "", "empty values are values");
	ok(o.color == 2 && o.colors == 5, "enum and mask");
	is_str(o.inside.name, "in", "embedded object");
	is_str(o.pointer ? o.pointer->name : NULL, "p", "object by pointer");
	many = o.many.items;
	ok(o.many.count == 2 && many[0].size == 5 && many[1].size == 0, "list of objects");
	is_str(many[1].name, "m1", "its second");
}

static void test_absent(void)
{
	static const char nulls[] =
		"{\"text\":null,\"i64\":null,\"u64\":null,\"list\":null,\"map\":null,"
		"\"pointer\":null,\"many\":null,\"inside\":null,\"color\":null}";
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct outer o;

	is_int(read_outer("{}", false, &a, &o), 0, "an empty object");
	ok(!o.text && !o.i64.set && !o.list.set && !o.pointer && !o.many.items, "sets nothing");
	is_int(read_outer(nulls, false, &a, &o), 0, "nulls");
	ok(!o.text && !o.i64.set && !o.u64.set && !o.list.set && !o.map.items && !o.pointer &&
		   !o.many.items && !o.inside.name,
	   "count as absent");
	is_int(read_outer("{\"map\":{},\"many\":[]}", false, &a, &o), 0, "empty lists");
	ok(o.map.count == 0 && o.many.count == 0, "are empty");
	is_int(read_outer("{\"u64\":null}", true, &a, &o), 0, "strict: null where it is allowed");
	is_int(read_outer("{\"windows\":[1,{}]}", true, &a, &o), 0,
	       "strict: ignored members are known");
}

static void test_refusals(void)
{
	static const struct {
		const char *text;
		bool strict;
		int code;
		const char *want;
	} rows[] = {
		{ "[]", 0, -EINVAL, "config.json: offset 0: must be an object, is an array" },
		{ "{\"text\":1}", 0, -EINVAL,
		  "config.json: text (offset 8): must be a string, is a number" },
		{ "{\"flag\":\"true\"}", 0, -EINVAL,
		  "config.json: flag (offset 8): must be a boolean, is a string" },
		{ "{\"i64\":\"1\"}", 0, -EINVAL,
		  "config.json: i64 (offset 7): must be an integer, is a string" },
		{ "{\"i64\":[1]}", 0, -EINVAL,
		  "config.json: i64 (offset 7): must be an integer, is an array" },
		{ "{\"i64\":1.0}", 0, -EINVAL,
		  "config.json: i64 (offset 7): must be an integer without fraction or exponent, "
		  "is 1.0" },
		{ "{\"u64\":1e3}", 0, -EINVAL,
		  "config.json: u64 (offset 7): must be an integer without fraction or exponent, "
		  "is 1e3" },
		{ "{\"u64\":-1}", 0, -ERANGE,
		  "config.json: u64 (offset 7): must not be negative, is -1" },
		{ "{\"u64\":18446744073709551616}", 0, -ERANGE,
		  "config.json: u64 (offset 7): must be at most 18446744073709551615, is "
		  "18446744073709551616" },
		{ "{\"u32\":4294967296}", 0, -ERANGE,
		  "config.json: u32 (offset 7): must be at most 4294967295, is 4294967296" },
		{ "{\"i32\":2147483648}", 0, -ERANGE,
		  "config.json: i32 (offset 7): must be between -2147483648 and 2147483647, is "
		  "2147483648" },
		{ "{\"list\":[\"a\",null]}", 0, -EINVAL,
		  "config.json: list[1] (offset 13): must be a string, is null" },
		{ "{\"list\":{}}", 0, -EINVAL,
		  "config.json: list (offset 8): must be an array, is an object" },
		{ "{\"list\":[]}", 0, -EINVAL, "config.json: list (offset 8): must not be empty" },
		{ "{\"map\":{\"a.b\":1}}", 0, -EINVAL,
		  "config.json: map[\"a.b\"] (offset 14): must be a string, is a number" },
		{ "{\"color\":\"pink\"}", 0, -EINVAL,
		  "config.json: color (offset 9): unknown color \"pink\" (known: red, green, "
		  "blue)" },
		{ "{\"colors\":[\"red\",\"Red\"]}", 0, -EINVAL,
		  "config.json: colors[1] (offset 17): unknown color \"Red\" (known: red, green, "
		  "blue)" },
		{ "{\"inside\":{\"size\":1}}", 0, -EINVAL,
		  "config.json: inside.name (offset 10): is required" },
		{ "{\"inside\":{\"name\":null}}", 0, -EINVAL,
		  "config.json: inside.name (offset 10): is required" },
		{ "{\"pointer\":{\"name\":\"\"}}", 0, -EINVAL,
		  "config.json: pointer.name (offset 19): must not be empty" },
		{ "{\"many\":[{\"name\":\"a\"},{\"name\":\"b\",\"size\":true}]}", 0, -EINVAL,
		  "config.json: many[1].size (offset 41): must be an integer, is a boolean" },
		{ "{\"many\":[null]}", 0, -EINVAL,
		  "config.json: many[0] (offset 9): must be an object, is null" },
		{ "{\"pointer\":{\"name\":\"a\",\"size\":13}}", 0, -EINVAL,
		  "config.json: pointer: 13 is not for us" },
		{ "{\"inside\":{\"name\":\"a\",\"sise\":1}}", 1, -EINVAL,
		  "config.json: inside.sise (offset 29): unknown member (did you mean \"size\"?)" },
		{ "{\"inside\":{\"name\":\"a\",\"somethingelse\":1}}", 1, -EINVAL,
		  "config.json: inside.somethingelse (offset 38): unknown member (known here: "
		  "name, size)" },
		{ "{\"text\":null}", 1, -EINVAL,
		  "config.json: text (offset 8): must be a string, is null" },
	};
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct outer o;
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		is_int(read_outer(rows[i].text, rows[i].strict, &a, &o), rows[i].code,
		       rows[i].text);
		is_str(err.text, rows[i].want, "its text");
	}
}

static void test_path(void)
{
	struct json_ctx ctx = { .name = "x" };
	struct json at = { .offset = 5 };
	struct error e = ERROR_NULL;
	size_t len;
	int i;

	json_path_push(&ctx, "a");
	len = ctx.path_len;
	json_path_push(&ctx, "[%d]", 3);
	json_path_push(&ctx, "b");
	is_str(ctx.path, "a[3].b", "dots and brackets");
	json_path_pop(&ctx, len);
	is_str(ctx.path, "a", "cut");
	for (i = 0; i < 1000; i++)
		json_path_push(&ctx, "member%d", i);
	ok(ctx.path_len == sizeof(ctx.path) - 1 && strlen(ctx.path) == ctx.path_len,
	   "a long path is cut");
	json_path_pop(&ctx, 0);
	is_int(json_error(&ctx, &at, &e, -ERANGE, "no %s", "good"), -ERANGE, "an error at the top");
	is_str(e.text, "x: offset 5: no good", "its text");
}

int main(void)
{
	TAP_BEGIN();
	test_values();
	test_absent();
	test_refusals();
	test_path();
	return TAP_END();
}
