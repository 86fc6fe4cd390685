/*
 * Owns JSON output. yajl's generator does the quoting and the layout; this file
 * guarantees valid UTF-8, keeps the first failure for the end, and writes empty
 * lists as [] (yajl would put an empty line inside).
 */
#include "util/json_write.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "util/str.h"

#define INDENT_MAX  8
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

struct json_writer {
	yajl_gen gen;
	char indent[INDENT_MAX + 1];
	char pending; /* '{' or '[' not written yet, because it may stay empty */
	int depth;    /* open objects and arrays */
	int failed;   /* first failure, negative errno */
};

static void check(struct json_writer *w, yajl_gen_status status)
{
	if (status == yajl_gen_status_ok || w->failed)
		return;
	w->failed = status == yajl_max_depth_exceeded ? -E2BIG : -EINVAL;
}

static void flush_pending(struct json_writer *w)
{
	char c = w->pending;

	w->pending = 0;
	if (c == '{')
		check(w, yajl_gen_map_open(w->gen));
	else if (c == '[')
		check(w, yajl_gen_array_open(w->gen));
}

static void put_string(struct json_writer *w, const char *s)
{
	_cleanup_buf_ struct buf clean = BUF_NULL;
	size_t len = strlen(s), at = 0, n;

	while (at < len && (n = str_utf8_len(s + at, len - at)) > 0)
		at += n;
	if (at < len) {
		buf_add(&clean, s, at);
		while (at < len) {
			n = str_utf8_len(s + at, len - at);
			buf_add(&clean, n > 0 ? s + at : REPLACEMENT,
				n > 0 ? n : strlen(REPLACEMENT));
			at += n > 0 ? n : 1;
		}
		if (!buf_ok(&clean)) {
			w->failed = w->failed ? w->failed : -ENOMEM;
			return;
		}
		s = clean.data;
		len = clean.len;
	}
	check(w, yajl_gen_string(w->gen, (const unsigned char *)s, len));
}

/* Before every value. */
static void put_key(struct json_writer *w, const char *key)
{
	flush_pending(w);
	if (key)
		put_string(w, key);
}

static void put_literal(struct json_writer *w, const char *text)
{
	check(w, yajl_gen_number(w->gen, text, strlen(text)));
}

static void begin(struct json_writer *w, const char *key, char kind)
{
	put_key(w, key);
	w->pending = kind;
	w->depth++;
}

static void end(struct json_writer *w, const char *empty)
{
	assert(w->depth > 0);

	w->depth--;
	if (w->pending) {
		w->pending = 0;
		put_literal(w, empty);
		return;
	}
	check(w, empty[0] == '{' ? yajl_gen_map_close(w->gen) : yajl_gen_array_close(w->gen));
}

struct json_writer *json_writer_new(int indent)
{
	struct json_writer *w;

	assert(indent >= 0 && indent <= INDENT_MAX);

	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->gen = yajl_gen_alloc(NULL);
	if (!w->gen)
		return json_writer_free(w);
	memset(w->indent, ' ', (size_t)indent);
	(void)yajl_gen_config(w->gen, yajl_gen_beautify, indent > 0);
	(void)yajl_gen_config(w->gen, yajl_gen_indent_string, w->indent);
	return w;
}

struct json_writer *json_writer_free(struct json_writer *w)
{
	if (!w)
		return NULL;
	if (w->gen)
		yajl_gen_free(w->gen);
	free(w);
	return NULL;
}

void json_object_begin(struct json_writer *w, const char *key)
{
	begin(w, key, '{');
}

void json_object_end(struct json_writer *w)
{
	end(w, "{}");
}

void json_array_begin(struct json_writer *w, const char *key)
{
	begin(w, key, '[');
}

void json_array_end(struct json_writer *w)
{
	end(w, "[]");
}

void json_string(struct json_writer *w, const char *key, const char *value)
{
	put_key(w, key);
	if (value)
		put_string(w, value);
	else
		check(w, yajl_gen_null(w->gen));
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
	put_key(w, key);
	check(w, yajl_gen_bool(w->gen, value));
}

void json_i64(struct json_writer *w, const char *key, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	put_key(w, key);
	put_literal(w, text);
}

void json_u64(struct json_writer *w, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	put_key(w, key);
	put_literal(w, text);
}

void json_double(struct json_writer *w, const char *key, double value)
{
	char text[40];
	int digits;

	if (!isfinite(value)) { /* JSON has no word for it */
		w->failed = w->failed ? w->failed : -EINVAL;
		return;
	}
	/* The shortest form that reads back as the same number: 0.1, not 0.10000000000000001. */
	for (digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	put_key(w, key);
	put_literal(w, text);
}

void json_null(struct json_writer *w, const char *key)
{
	put_key(w, key);
	check(w, yajl_gen_null(w->gen));
}

int json_take(struct json_writer *w, char **ret_text, struct error *err)
{
	const unsigned char *text;
	size_t len;
	char *s;

	assert(w && w->depth == 0);

	if (w->failed == -ENOMEM)
		return error_oom(err);
	if (w->failed)
		return error_text(err, w->failed, "write JSON: %s",
				  w->failed == -E2BIG ? "nested too deeply"
						      : "a value has no JSON form");
	if (yajl_gen_get_buf(w->gen, &text, &len) != yajl_gen_status_ok || len == 0)
		return error_text(err, -EINVAL, "write JSON: there is no document");
	while (len > 0 && text[len - 1] == '\n')
		len--;
	s = strndup((const char *)text, len);
	if (!s)
		return error_oom(err);
	*ret_text = s;
	return 0;
}
