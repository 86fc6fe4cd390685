/*
 * Owns the way from JSON text to the tree: yajl finds the tokens, everything that
 * yajl lets through is judged here. yajl keeps duplicate members, cuts strings at
 * an escaped NUL, has no depth limit and accepts UTF-8 that others refuse; each of
 * these lets two readers of one document see different things.
 * Must not know any schema.
 */
#include "util/json_read.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "util/str.h"

struct level {
	struct json *node;
	struct json *last; /* last child so far */
};

struct reader {
	const char *name;
	const char *data;
	size_t len;
	struct arena *arena;
	struct error *err;
	yajl_handle yajl;
	bool at_end; /* yajl works on a blank of its own, its count is not ours any more */
	int failed;  /* what a callback refused with, 0 = nothing */
	size_t nodes;
	const char *key; /* waiting for its value */
	struct json *root;
	size_t depth;
	struct level levels[JSON_DEPTH_MAX];
};

_printf_(4, 5) static int fail(struct reader *rd, size_t offset, int code, const char *fmt, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rd->failed = error_text(rd->err, code, "%s: offset %zu: %s", rd->name, offset, text);
	return 0; /* yajl: stop */
}

/* Where the token ended that yajl is reporting. */
static size_t token_end(const struct reader *rd)
{
	return rd->at_end ? rd->len : yajl_get_bytes_consumed(rd->yajl);
}

static struct json *add_node(struct reader *rd, enum json_type type, size_t offset)
{
	struct level *parent = rd->depth > 0 ? &rd->levels[rd->depth - 1] : NULL;
	struct json *j;

	if (++rd->nodes > JSON_NODES_MAX) {
		(void)fail(rd, offset, -E2BIG, "more than %d values", JSON_NODES_MAX);
		return NULL;
	}
	j = arena_alloc(rd->arena, sizeof(*j));
	if (!j) {
		rd->failed = error_oom(rd->err);
		return NULL;
	}
	j->type = type;
	j->offset = offset;
	j->key = take_ptr(rd->key);
	if (!parent) {
		rd->root = j;
		return j;
	}
	if (parent->last)
		parent->last->next = j;
	else
		parent->node->kids.first = j;
	parent->last = j;
	parent->node->kids.count++;
	return j;
}

static int on_null(void *ctx)
{
	struct reader *rd = ctx;

	return add_node(rd, JSON_NULL, token_end(rd) - strlen("null")) != NULL;
}

static int on_bool(void *ctx, int value)
{
	struct reader *rd = ctx;
	struct json *j;

	j = add_node(rd, JSON_BOOL, token_end(rd) - strlen(value ? "true" : "false"));
	if (j)
		j->boolean = value;
	return j != NULL;
}

static int on_number(void *ctx, const char *text, size_t len)
{
	struct reader *rd = ctx;
	size_t offset = token_end(rd) - len;
	struct json *j = add_node(rd, JSON_NUMBER, offset);

	if (!j)
		return 0;
	j->text = arena_strndup(rd->arena, text, len);
	if (!j->text)
		rd->failed = error_oom(rd->err);
	return j->text != NULL;
}

/* The opening quote of the string whose closing quote is at end. */
static size_t string_start(const struct reader *rd, size_t end)
{
	size_t at = end, slashes;

	for (;;) {
		do
			at--;
		while (rd->data[at] != '"');
		for (slashes = 0; slashes < at && rd->data[at - 1 - slashes] == '\\'; slashes++)
			;
		if (slashes % 2 == 0)
			return at;
		at -= slashes;
	}
}

static unsigned hex4(const char *p)
{
	unsigned v = 0;
	int i;

	for (i = 0; i < 4; i++) {
		unsigned c = (unsigned char)p[i];

		v = v << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return v;
}

/*
 * yajl turns a lone surrogate into "?" or into bytes that are no UTF-8, and the
 * NUL would end our string early: neither is what the document says. The escapes
 * are well-formed, yajl has seen them.
 */
static int check_escapes(struct reader *rd, size_t start, size_t end)
{
	const char *p = rd->data + start, *stop = rd->data + end;
	unsigned c;

	while (p < stop && (p = memchr(p, '\\', (size_t)(stop - p)))) {
		size_t offset = (size_t)(p - rd->data);

		if (p[1] != 'u') {
			p += 2;
			continue;
		}
		c = hex4(p + 2);
		p += 6;
		if (c == 0)
			return fail(rd, offset, -EINVAL, "NUL character in a string");
		if ((c & 0xf800) != 0xd800)
			continue;
		if (c >= 0xdc00 || stop - p < 6 || p[0] != '\\' || p[1] != 'u' ||
		    (hex4(p + 2) & 0xfc00) != 0xdc00)
			return fail(rd, offset, -EINVAL, "half a surrogate pair in a string");
		p += 6;
	}
	return 1;
}

/* A string token, checked and copied; NULL when refused. */
static char *take_string(struct reader *rd, const unsigned char *text, size_t len,
			 size_t *ret_start)
{
	size_t close_quote = token_end(rd) - 1;
	size_t start = string_start(rd, close_quote);
	char *s;

	/* Same length in the text and decoded: there are no escapes. */
	if (close_quote - start - 1 != len && !check_escapes(rd, start + 1, close_quote))
		return NULL;
	s = arena_strndup(rd->arena, (const char *)text, len);
	if (!s)
		rd->failed = error_oom(rd->err);
	*ret_start = start;
	return s;
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	struct reader *rd = ctx;
	size_t start;
	char *s = take_string(rd, text, len, &start);
	struct json *j = s ? add_node(rd, JSON_STRING, start) : NULL;

	if (j)
		j->text = s;
	return j != NULL;
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
	struct reader *rd = ctx;
	size_t start;

	rd->key = take_string(rd, text, len, &start);
	return rd->key != NULL;
}

static int begin(struct reader *rd, enum json_type type)
{
	size_t offset = token_end(rd) - 1;
	struct json *j;

	if (rd->depth == JSON_DEPTH_MAX)
		return fail(rd, offset, -E2BIG, "nested deeper than %d levels", JSON_DEPTH_MAX);
	j = add_node(rd, type, offset);
	if (!j)
		return 0;
	rd->levels[rd->depth++] = (struct level){ .node = j };
	return 1;
}

static int on_object_begin(void *ctx)
{
	return begin(ctx, JSON_OBJECT);
}

static int on_array_begin(void *ctx)
{
	return begin(ctx, JSON_ARRAY);
}

static int on_array_end(void *ctx)
{
	struct reader *rd = ctx;

	rd->depth--;
	return 1;
}

static int on_object_end(void *ctx)
{
	struct reader *rd = ctx;
	const struct json *twice;

	rd->depth--;
	if (json_duplicate_member(rd->levels[rd->depth].node, &twice) < 0) {
		rd->failed = error_oom(rd->err);
		return 0;
	}
	/* Readers differ in which of the two counts: what was checked may not be what is used. */
	if (twice)
		return fail(rd, twice->offset, -EINVAL, "member \"%s\" is there twice", twice->key);
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object_begin,
	.yajl_map_key = on_key,
	.yajl_end_map = on_object_end,
	.yajl_start_array = on_array_begin,
	.yajl_end_array = on_array_end,
};

/* yajl's text without its class ("lexical error: ") and its newline. */
static void report_yajl(struct reader *rd)
{
	unsigned char *raw = yajl_get_error(rd->yajl, 0, NULL, 0);
	const char *text = raw ? (const char *)raw : "not valid JSON", *rest;
	size_t offset = token_end(rd), len;

	rest = strstr(text, "error: ");
	if (rest)
		text = rest + strlen("error: ");
	len = strcspn(text, "\n");
	if (len > 0 && text[len - 1] == '.')
		len--;
	if (strncmp(text, "premature EOF", len) == 0)
		(void)fail(rd, rd->len, -EINVAL, "%s",
			   rd->len == 0 ? "the document is empty" : "the document ends too early");
	else if (strncmp(text, "trailing garbage", len) == 0)
		(void)fail(rd, offset, -EINVAL, "more text after the end of the document");
	else
		(void)fail(rd, offset, -EINVAL, "%.*s", (int)len, text);
	if (raw)
		yajl_free_error(rd->yajl, raw);
}

static int check_text(struct reader *rd)
{
	size_t at = 0, n;

	if (rd->len > JSON_BYTES_MAX)
		return error_text(rd->err, -E2BIG, "%s: larger than the limit of %zu bytes",
				  rd->name, JSON_BYTES_MAX);
	while (at < rd->len) {
		n = str_utf8_len(rd->data + at, rd->len - at);
		if (n == 0) {
			(void)fail(rd, at, -EINVAL, "invalid UTF-8");
			return rd->failed;
		}
		at += n;
	}
	return 0;
}

static void free_yajl(yajl_handle *h)
{
	if (*h)
		yajl_free(*h);
}

int json_parse(const char *name, const char *data, size_t len, unsigned flags, struct arena *arena,
	       struct json **ret, struct error *err)
{
	struct reader rd = { .name = name, .data = data, .len = len, .arena = arena, .err = err };
	_cleanup_(free_yajl) yajl_handle h = NULL;
	yajl_status status;
	int r;

	assert(name && data && arena && ret && err);

	r = check_text(&rd);
	if (r < 0)
		return r;
	h = yajl_alloc(&callbacks, NULL, &rd);
	if (!h)
		return error_oom(err);
	(void)yajl_config(h, yajl_allow_comments, !!(flags & JSON_COMMENTS));
	/* check_text() is stricter than yajl's own check. */
	(void)yajl_config(h, yajl_dont_validate_strings, 1);
	rd.yajl = h;

	status = yajl_parse(h, (const unsigned char *)data, len);
	if (status == yajl_status_ok) {
		rd.at_end = true;
		status = yajl_complete_parse(h);
	}
	if (status != yajl_status_ok && !rd.failed)
		report_yajl(&rd);
	if (rd.failed)
		return rd.failed;
	*ret = rd.root;
	return 0;
}
