/*
 * Owns how values look. Everything that comes out of a log goes through here before a
 * terminal sees it.
 */
#include "audit/audit_value.h"

#include <inttypes.h>
#include <string.h>

#include "util/text.h"

#define TIME_LEN ((size_t)23)

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static void add_base64(struct buf *b, const char *s)
{
	uint32_t bits = 0;
	unsigned have = 0;
	char c;

	for (; base64_digit(*s) >= 0; s++) {
		bits = (bits << 6 | (uint32_t)base64_digit(*s)) & 0xffff;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		c = (char)(bits >> have & 0xff);
		buf_add(b, &c, 1);
	}
}

bool audit_value_bytes(const struct json *v, struct buf *ret)
{
	const struct json *text, *base64;

	if (!v)
		return false;
	if (v->type == JSON_STRING) {
		buf_adds(ret, v->text);
		return true;
	}
	if (v->type != JSON_OBJECT)
		return false;
	text = json_member(v, "text");
	base64 = json_member(v, "base64");
	if (text && text->type == JSON_STRING)
		buf_adds(ret, text->text);
	else if (base64 && base64->type == JSON_STRING)
		add_base64(ret, base64->text);
	else
		return false;
	return true;
}

const char *audit_value_string(const struct json *record, const char *key)
{
	const struct json *v = record ? json_member(record, key) : NULL;

	return v && v->type == JSON_STRING ? v->text : NULL;
}

bool audit_value_u64(const struct json *record, const char *key, uint64_t *ret)
{
	const struct json *v = record ? json_member(record, key) : NULL;

	*ret = 0;
	return v && v->type == JSON_NUMBER && json_to_u64(v, ret) == 0;
}

bool audit_value_true(const struct json *record, const char *key)
{
	const struct json *v = record ? json_member(record, key) : NULL;

	return v && v->type == JSON_BOOL && v->boolean;
}

void audit_print_value(struct buf *out, const struct json *v)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	if (v && (v->type == JSON_NUMBER))
		text_print(out, v->text, strlen(v->text), false);
	else if (audit_value_bytes(v, &b) && b.len)
		text_print(out, b.data, b.len, false);
	out->failed = out->failed || b.failed;
}

static bool is_plain(const char *data, size_t len)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-[]";
	size_t i;

	for (i = 0; i < len; i++)
		if (!data[i] || !strchr(plain, data[i]))
			return false;
	return len > 0;
}

void audit_print_word(struct buf *out, const char *data, size_t len)
{
	_cleanup_buf_ struct buf text = BUF_NULL;
	size_t i;

	if (is_plain(data, len)) {
		buf_add(out, data, len);
		return;
	}
	text_print(&text, data, len, false);
	if (!buf_ok(&text)) {
		out->failed = true;
		return;
	}
	/* Escapes were needed: the form in which a shell reads them. */
	if (text.len != len) {
		buf_adds(out, "$'");
		for (i = 0; i < len; i++) {
			if (data[i] == '\'' || data[i] == '\\')
				buf_add(out, "\\", 1);
			if (data[i] == '\'' || data[i] == '\\')
				buf_add(out, data + i, 1);
			else if (str_utf8_len(data + i, len - i) > 1) {
				size_t n = str_utf8_len(data + i, len - i);

				text_print(out, data + i, n, false);
				i += n - 1;
			} else
				text_print(out, data + i, 1, false);
		}
		buf_adds(out, "'");
		return;
	}
	buf_adds(out, "'");
	for (i = 0; i < len; i++)
		if (data[i] == '\'')
			buf_adds(out, "'\\''");
		else
			buf_add(out, data + i, 1);
	buf_adds(out, "'");
}

void audit_print_argv(struct buf *out, const struct json *argv)
{
	const struct json *v = argv && argv->type == JSON_ARRAY ? argv->kids.first : NULL;
	const char *between = "";

	for (; v; v = v->next) {
		_cleanup_buf_ struct buf word = BUF_NULL;

		if (!audit_value_bytes(v, &word))
			continue;
		buf_adds(out, between);
		audit_print_word(out, word.len ? word.data : "", word.len);
		out->failed = out->failed || word.failed;
		between = " ";
	}
}

void audit_print_duration(struct buf *out, uint64_t ns)
{
	uint64_t ms = ns / 1000000, s = ns / 1000000000;

	if (ns < 1000000)
		buf_addf(out, "%" PRIu64 "us", ns / 1000);
	else if (s < 60)
		buf_addf(out, "%" PRIu64 ".%03us", s, (unsigned)(ms % 1000));
	else if (s < 3600)
		buf_addf(out, "%" PRIu64 "m%02us", s / 60, (unsigned)(s % 60));
	else
		buf_addf(out, "%" PRIu64 "h%02um", s / 3600, (unsigned)(s / 60 % 60));
}

void audit_print_size(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint64_t tenths = bytes * 10 / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		buf_addf(out, "%" PRIu64 " B", bytes);
		return;
	}
	if (bytes > UINT64_MAX / 10)
		tenths = bytes / 1024 * 10;
	while (tenths >= 10240 && unit + 1 < ELEMENTSOF(units)) {
		tenths /= 1024;
		unit++;
	}
	buf_addf(out, "%" PRIu64 ".%u %s", tenths / 10, (unsigned)(tenths % 10), units[unit]);
}

void audit_print_time(struct buf *out, const struct json *record)
{
	const char *time = audit_value_string(record, "time");
	size_t n = time ? MIN(strlen(time), TIME_LEN) : 0, start = out->len;

	text_print(out, time, n, false);
	if (buf_ok(out) && out->len - start > 10 && out->data[start + 10] == 'T')
		out->data[start + 10] = ' ';
}
