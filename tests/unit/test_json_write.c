/*
 * The writer, byte for byte, and that what it writes is read back.
 */
#include <errno.h>
#include <math.h>

#include "tap.h"
#include "util/json_read.h"
#include "util/json_write.h"

static void document(struct json_writer *w)
{
	json_object_begin(w, NULL);
	json_string(w, "s", "a/b\"\\\n\t\x01\xc3\xa9");
	json_bool(w, "t", true);
	json_i64(w, "i", INT64_MIN);
	json_u64(w, "u", UINT64_MAX);
	json_double(w, "d", 0.1);
	json_null(w, "n");
	json_string(w, "none", NULL);
	json_object_begin(w, "eo");
	json_object_end(w);
	json_array_begin(w, "ea");
	json_array_end(w);
	json_array_begin(w, "l");
	json_i64(w, NULL, 1);
	json_array_begin(w, NULL);
	json_array_end(w);
	json_object_begin(w, NULL);
	json_bool(w, "x", false);
	json_object_end(w);
	json_array_end(w);
	json_object_end(w);
}

static char *taken(int indent, void (*fill)(struct json_writer *), int *ret_code, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(indent);
	char *text = NULL;

	fill(w);
	*ret_code = json_take(w, &text, err);
	return text;
}

static void bad_bytes(struct json_writer *w)
{
	json_array_begin(w, NULL);
	json_string(w, NULL,
		    "a\xff\xfe"
		    "b\xe2\x82");
	json_string(w, NULL, "\xed\xa0\x80");
	json_object_begin(w, NULL);
	json_string(w, "k\x80", "v");
	json_object_end(w);
	json_array_end(w);
}

static void numbers(struct json_writer *w)
{
	json_array_begin(w, NULL);
	json_double(w, NULL, 0);
	json_double(w, NULL, 1.5);
	json_double(w, NULL, 1e300);
	json_double(w, NULL, 1.0 / 3);
	json_double(w, NULL, -2);
	json_array_end(w);
}

static void not_a_number(struct json_writer *w)
{
	json_array_begin(w, NULL);
	json_double(w, NULL, NAN);
	json_i64(w, NULL, 1);
	json_array_end(w);
}

static void no_key(struct json_writer *w)
{
	json_object_begin(w, NULL);
	json_i64(w, NULL, 1);
	json_object_end(w);
}

static void too_deep(struct json_writer *w)
{
	int i;

	for (i = 0; i < 200; i++)
		json_array_begin(w, NULL);
	for (i = 0; i < 200; i++)
		json_array_end(w);
}

static void nothing(struct json_writer *w)
{
}

int main(void)
{
	_cleanup_free_ char *compact = NULL, *pretty = NULL, *clean = NULL, *num = NULL;
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct error err = ERROR_NULL;
	struct json *j = NULL;
	int r;

	TAP_BEGIN();
	compact = taken(0, document, &r, &err);
	is_int(r, 0, "a document");
	is_str(compact,
	       "{\"s\":\"a/b\\\"\\\\\\n\\t\\u0001\xc3\xa9\",\"t\":true,\"i\":-9223372036854775808,"
	       "\"u\":18446744073709551615,\"d\":0.1,\"n\":null,\"none\":null,\"eo\":{},\"ea\":[],"
	       "\"l\":[1,[],{\"x\":false}]}",
	       "on one line");
	ok(json_parse("x", compact, strlen(compact), 0, &a, &j, &err) == 0,
	   "which the reader takes");
	is_str(json_member(j, "s")->text, "a/b\"\\\n\t\x01\xc3\xa9", "with the same string");

	pretty = taken(2, document, &r, &err);
	is_str(pretty,
	       "{\n  \"s\": \"a/b\\\"\\\\\\n\\t\\u0001\xc3\xa9\",\n  \"t\": true,\n"
	       "  \"i\": -9223372036854775808,\n  \"u\": 18446744073709551615,\n  \"d\": 0.1,\n"
	       "  \"n\": null,\n  \"none\": null,\n  \"eo\": {},\n  \"ea\": [],\n"
	       "  \"l\": [\n    1,\n    [],\n    {\n      \"x\": false\n    }\n  ]\n}",
	       "indented, without a newline at the end");

	clean = taken(0, bad_bytes, &r, &err);
	is_str(clean,
	       "[\"a\xef\xbf\xbd\xef\xbf\xbd"
	       "b\xef\xbf\xbd\xef\xbf\xbd\","
	       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",{\"k\xef\xbf\xbd\":\"v\"}]",
	       "bad bytes become U+FFFD, one each");

	num = taken(0, numbers, &r, &err);
	is_str(num, "[0,1.5,1e+300,0.3333333333333333,-2]", "the shortest exact numbers");

	ok(!taken(0, not_a_number, &r, &err) && r == -EINVAL,
	   "NaN is an error, also when more follows");
	is_str(err.text, "write JSON: a value has no JSON form", "its text");
	ok(!taken(0, no_key, &r, &err) && r == -EINVAL, "a member without a name is an error");
	ok(!taken(0, too_deep, &r, &err) && r == -E2BIG, "too deep is an error");
	is_str(err.text, "write JSON: nested too deeply", "its text");
	ok(!taken(0, nothing, &r, &err) && r == -EINVAL, "no document is an error");
	return TAP_END();
}
