/*
 * The reader: the tree with its offsets, exact numbers, and every refusal with its
 * text. The refusals are what keeps two readers of one document in agreement.
 */
#include <errno.h>

#include "tap.h"
#include "util/json_read.h"
#include "util/str.h"

static struct error err;

static int parse(const char *text, size_t len, unsigned flags, struct arena *a, struct json **ret)
{
	_cleanup_free_ char *exact = malloc(len ? len : 1);

	/* Without the terminator, so that a sanitizer sees a read beyond the end. */
	memcpy(exact, text, len);
	err = ERROR_NULL;
	return json_parse("config.json", exact, len, flags, a, ret, &err);
}

static void is_refused(const char *text, size_t len, int code, const char *want)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct json *root = NULL;
	int r = parse(text, len, 0, &a, &root);

	is_int(r, code, want);
	is_str(err.text, want, "its text");
	ok(err.code == code && !root, "its code, and no tree");
}

static void test_tree(void)
{
	static const char text[] =
		" {\"a\": [1, -2.5e3 ,true,false,null, \"x\"],\n"
		"\"q\\\"\\u00e9\\\\\": \"\\\\\\\"\\uD83D\\uDE00\\/\", \"b\":{}}\n ";
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	const struct json *list, *j, *s;
	struct json *root = NULL;

	is_int(parse(text, strlen(text), 0, &a, &root), 0, "a document");
	if (!root)
		return;
	ok(root->type == JSON_OBJECT && root->kids.count == 3 && root->offset == 1 && !root->key,
	   "root");
	list = json_member(root, "a");
	ok(list && list->type == JSON_ARRAY && list->kids.count == 6 && list->offset == 7,
	   "a list");
	is_str(list->key, "a", "its name");
	j = list->kids.first;
	ok(j->type == JSON_NUMBER && j->offset == 8 && !j->key, "a number and its place");
	is_str(j->text, "1", "as written");
	j = j->next;
	ok(j->type == JSON_NUMBER && j->offset == 11, "another");
	is_str(j->text, "-2.5e3", "as written");
	j = j->next;
	ok(j->type == JSON_BOOL && j->boolean && j->offset == 19, "true");
	j = j->next;
	ok(j->type == JSON_BOOL && !j->boolean && j->offset == 24, "false");
	j = j->next;
	ok(j->type == JSON_NULL && j->offset == 30, "null");
	j = j->next;
	ok(j->type == JSON_STRING && j->offset == 36 && !j->next, "a string, the last");
	s = json_member(root, "q\"\xc3\xa9\\");
	ok(s && text + s->offset == strstr(text, "\"\\\\\\\""),
	   "a string with escapes and its place");
	is_str(s ? s->text : NULL, "\\\"\xf0\x9f\x98\x80/", "decoded");
	j = json_member(root, "b");
	ok(j && j->type == JSON_OBJECT && j->kids.count == 0 && !j->kids.first, "an empty object");
	ok(!json_member(root, "c"), "no such member");
	is_str(json_type_name(JSON_ARRAY), "array", "type name");
	is_str(json_type_phrase(JSON_ARRAY), "an array", "type phrase");
	is_str(json_type_phrase(JSON_NULL), "null", "null has no article");
}

static void test_top_values(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct json *j = NULL;

	ok(parse("12", 2, 0, &a, &j) == 0 && j->type == JSON_NUMBER && j->offset == 0,
	   "a bare number");
	is_str(j->text, "12", "its text");
	ok(parse("  null", 6, 0, &a, &j) == 0 && j->type == JSON_NULL && j->offset == 2,
	   "a bare null");
	ok(parse("\"\"", 2, 0, &a, &j) == 0 && j->type == JSON_STRING && !*j->text,
	   "an empty string");
	is_int(parse("/* c */ [1] // d\n", 17, JSON_COMMENTS, &a, &j), 0, "comments where allowed");
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		int u_code;
		uint64_t u;
		int i_code;
		int64_t i;
	} rows[] = {
		{ "0", 0, 0, 0, 0 },
		{ "-0", 0, 0, 0, 0 },
		{ "18446744073709551615", 0, UINT64_MAX, -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0, -ERANGE, 0 },
		{ "9223372036854775807", 0, INT64_MAX, 0, INT64_MAX },
		{ "-9223372036854775808", -ERANGE, 0, 0, INT64_MIN },
		{ "-9223372036854775809", -ERANGE, 0, -ERANGE, 0 },
		{ "-1", -ERANGE, 0, 0, -1 },
		{ "1.0", -EINVAL, 0, -EINVAL, 0 },
		{ "1e3", -EINVAL, 0, -EINVAL, 0 },
		{ "-1.5", -EINVAL, 0, -EINVAL, 0 },
		{ "9007199254740993", 0, 9007199254740993, 0, 9007199254740993 },
	};
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct json *j;
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		uint64_t u = 0;
		int64_t s = 0;

		is_int(parse(rows[i].text, strlen(rows[i].text), 0, &a, &j), 0, rows[i].text);
		ok(json_to_u64(j, &u) == rows[i].u_code && u == rows[i].u, "as unsigned");
		ok(json_to_i64(j, &s) == rows[i].i_code && s == rows[i].i, "as signed");
	}
}

static void test_refusals(void)
{
	static const struct {
		const char *text;
		const char *want;
	} rows[] = {
		{ "", "config.json: offset 0: the document is empty" },
		{ " \n", "config.json: offset 2: the document ends too early" },
		{ "{\"a\":1", "config.json: offset 6: the document ends too early" },
		{ "\"abc", "config.json: offset 4: the document ends too early" },
		{ "{} x", "config.json: offset 4: more text after the end of the document" },
		{ "12 13", "config.json: offset 5: more text after the end of the document" },
		{ "{\"a\":1}}", "config.json: offset 8: more text after the end of the document" },
		{ "{\"a\":1,\"b\":{\"c\":1,\"c\":1}}",
		  "config.json: offset 22: member \"c\" is there twice" },
		{ "{\"a\":1,\"\\u0061\":2}",
		  "config.json: offset 16: member \"a\" is there twice" },
		{ "\"a\\u0000b\"", "config.json: offset 2: NUL character in a string" },
		{ "{\"a\\u0000\":1}", "config.json: offset 3: NUL character in a string" },
		{ "\"\\ud800\"", "config.json: offset 1: half a surrogate pair in a string" },
		{ "\"\\ud800\\ud800\"",
		  "config.json: offset 1: half a surrogate pair in a string" },
		{ "\"\\ud800\\n1234\"",
		  "config.json: offset 1: half a surrogate pair in a string" },
		{ "\"\\\\\\udc00\"", "config.json: offset 3: half a surrogate pair in a string" },
		{ "[\"\xff\"]", "config.json: offset 2: invalid UTF-8" },
		{ "[\"\xc0\x80\"]", "config.json: offset 2: invalid UTF-8" },
		{ "[\"\xed\xa0\x80\"]", "config.json: offset 2: invalid UTF-8" },
		{ "[\"\xe2\x82", "config.json: offset 2: invalid UTF-8" },
		{ "[1,]", "config.json: offset 4: unallowed token at this point in JSON text" },
		{ "{a:1}", "config.json: offset 2: invalid char in json text" },
		{ "[1 2]", "config.json: offset 4: after array element, I expect ',' or ']'" },
		{ "[1.]", "config.json: offset 3: malformed number, a digit is required after the "
			  "decimal point" },
		{ "\"a\x01\"", "config.json: offset 2: invalid character inside string" },
		{ "// c\n1", "config.json: offset 0: probable comment found in input text, "
			     "comments are not enabled" },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++)
		is_refused(rows[i].text, strlen(rows[i].text), -EINVAL, rows[i].want);
	is_refused("[\0]", 3, -EINVAL, "config.json: offset 2: invalid char in json text");
	is_refused("\"a\0b\"", 5, -EINVAL,
		   "config.json: offset 2: invalid character inside string");
}

static void test_depth(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	char text[2 * JSON_DEPTH_MAX + 2];
	struct json *j = NULL;

	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	is_int(parse(text, 2 * JSON_DEPTH_MAX, 0, &a, &j), 0, "the greatest depth");
	memset(text, '[', JSON_DEPTH_MAX + 1);
	is_refused(text, JSON_DEPTH_MAX + 1, -E2BIG,
		   "config.json: offset 64: nested deeper than 64 levels");
}

static void test_sizes(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	_cleanup_free_ char *text = malloc(JSON_BYTES_MAX + 1);
	struct json *j = NULL;
	size_t i, n;

	memset(text, ' ', JSON_BYTES_MAX + 1);
	text[0] = '1';
	is_int(parse(text, JSON_BYTES_MAX, 0, &a, &j), 0, "the largest document");
	is_refused(text, JSON_BYTES_MAX + 1, -E2BIG,
		   "config.json: larger than the limit of 16777216 bytes");

	/* [1,1,1,… is one list and a value for every two bytes. */
	for (i = 0; i < 2 * JSON_NODES_MAX; i += 2)
		memcpy(text + i, i == 0 ? "[1" : ",1", 2);
	is_refused(text, 2 * JSON_NODES_MAX, -E2BIG,
		   "config.json: offset 1999999: more than 1000000 values");

	/* Many members: found by sorting, and quickly. */
	for (i = n = 0; i < 500000; i++)
		n += (size_t)snprintf(text + n, 32, "%c\"%zu\":0", i ? ',' : '{', i);
	text[n++] = '}';
	is_int(parse(text, n, 0, &a, &j), 0, "half a million members");
	ok(j && j->kids.count == 500000, "are all there");
	n = (size_t)snprintf(text + n - 1, 32, ",\"17\":0}") + n - 1;
	is_int(parse(text, n, 0, &a, &j), -EINVAL, "one of them twice");
	ok(strstr(err.text, "member \"17\" is there twice") != NULL, "is found");

	/* A string of escapes alone: no more than linear work. */
	text[0] = '"';
	for (n = 1; n < JSON_BYTES_MAX - 2; n += 2)
		memcpy(text + n, n % 4 == 1 ? "\\\"" : "\\\\", 2);
	text[n++] = '"';
	is_int(parse(text, n, 0, &a, &j), 0, "sixteen megabytes of escapes");
	ok(j->offset == 0 && strlen(j->text) == (n - 2) / 2, "are one string");
}

int main(void)
{
	TAP_BEGIN();
	test_tree();
	test_top_values();
	test_numbers();
	test_refusals();
	test_depth();
	test_sizes();
	return TAP_END();
}
