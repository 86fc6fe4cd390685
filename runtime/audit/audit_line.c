/*
 * Owns the text form of a record. A text stands as it is when it is UTF-8 without NUL and
 * when escaping does not blow it up; else base64, so that no byte is lost and the length
 * of a line stays bounded whatever a process writes.
 */
#include "audit/audit_line.h"

#include <assert.h>

#include "util/time.h"

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/*
 * Code points that must not reach a terminal or turn lines around: C0 and C1 controls,
 * line separators, and the marks that change the direction of writing.
 */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static uint32_t decode(const char *s, size_t len)
{
	uint32_t c = (unsigned char)s[0];
	size_t i;

	if (len == 1)
		return c;
	c &= 0x7fu >> len;
	for (i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/* Bytes of the escaped form; 0 = it cannot be text. */
static size_t escaped_size(struct audit_bytes v)
{
	size_t i, n, size = 0;
	uint32_t c;

	for (i = 0; i < v.len; i += n) {
		n = str_utf8_len(v.data + i, v.len - i);
		if (n == 0 || v.data[i] == '\0')
			return 0;
		c = decode(v.data + i, n);
		if (c == '\n' || c == '\t' || c == '\r' || c == '"' || c == '\\')
			size += 2;
		else
			size += is_unsafe(c) ? 6 : n;
	}
	return size + 2;
}

static void put_char(struct buf *b, const char *s, size_t n)
{
	uint32_t c = decode(s, n);
	const char *two = c == '\n' ? "\\n" :
			  c == '\t' ? "\\t" :
			  c == '\r' ? "\\r" :
			  c == '"'  ? "\\\"" :
			  c == '\\' ? "\\\\" :
				      NULL;

	if (two)
		buf_add(b, two, 2);
	else if (is_unsafe(c))
		buf_addf(b, "\\u%04x", (unsigned)c);
	else
		buf_add(b, s, n);
}

static void put_text(struct buf *b, struct audit_bytes v)
{
	size_t i = 0, n, plain;

	buf_add(b, "\"", 1);
	while (i < v.len) {
		/* Most of a text is printable ASCII: added in one piece. */
		for (plain = i; plain < v.len && v.data[plain] >= ' ' && v.data[plain] < 0x7f &&
				v.data[plain] != '"' && v.data[plain] != '\\';
		     plain++)
			;
		buf_add(b, v.data + i, plain - i);
		if (plain == v.len)
			break;
		n = str_utf8_len(v.data + plain, v.len - plain);
		put_char(b, v.data + plain, n);
		i = plain + n;
	}
	buf_add(b, "\"", 1);
}

static void put_base64(struct buf *b, struct audit_bytes v)
{
	const unsigned char *p = (const unsigned char *)v.data;
	size_t i, n;
	uint32_t bits;
	char four[4];

	buf_add(b, "\"", 1);
	for (i = 0; i < v.len; i += 3) {
		n = MIN(v.len - i, (size_t)3);
		bits = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
		       (n > 2 ? p[i + 2] : 0u);
		four[0] = base64_digits[bits >> 18];
		four[1] = base64_digits[bits >> 12 & 63];
		four[2] = n > 1 ? base64_digits[bits >> 6 & 63] : '=';
		four[3] = n > 2 ? base64_digits[bits & 63] : '=';
		buf_add(b, four, 4);
	}
	buf_add(b, "\"", 1);
}

/* Where a text may be cut without parting a character of well-formed UTF-8. */
static size_t cut_at(struct audit_bytes v, size_t max)
{
	size_t at = max, back;

	for (back = 0; back < 4 && back < at; back++)
		if (((unsigned char)v.data[at - back] & 0xc0) != 0x80)
			return at - back;
	return max;
}

/*
 * With zeros in front up to the width. By hand, as all that every record has: printf would take
 * most of the time of an exec's record.
 */
static void put_number(struct buf *b, uint64_t v, size_t width)
{
	char digits[24];
	size_t n = sizeof(digits);

	while (v || sizeof(digits) - n < width) {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	}
	buf_add(b, digits + n, sizeof(digits) - n);
}

static void put_time(struct buf *b, const struct timespec *ts)
{
	struct time_utc t;

	time_to_utc(ts->tv_sec, &t);
	put_number(b, (uint64_t)t.year, 4);
	buf_add(b, "-", 1);
	put_number(b, (uint64_t)t.month, 2);
	buf_add(b, "-", 1);
	put_number(b, (uint64_t)t.day, 2);
	buf_add(b, "T", 1);
	put_number(b, (uint64_t)t.hour, 2);
	buf_add(b, ":", 1);
	put_number(b, (uint64_t)t.minute, 2);
	buf_add(b, ":", 1);
	put_number(b, (uint64_t)t.second, 2);
	buf_add(b, ".", 1);
	put_number(b, (uint64_t)ts->tv_nsec, 9);
	buf_add(b, "Z", 1);
}

static void put_value(struct buf *b, struct audit_bytes v, size_t max)
{
	uint64_t length = v.len;
	size_t escaped;
	bool text;

	if (v.len > max)
		v.len = cut_at(v, max);
	escaped = escaped_size(v);
	text = escaped > 0 && escaped <= 2 * v.len + 64;
	if (text && length == v.len) {
		put_text(b, v);
		return;
	}
	buf_adds(b, text ? "{\"text\":" : "{\"base64\":");
	if (text)
		put_text(b, v);
	else
		put_base64(b, v);
	if (length != v.len) {
		buf_adds(b, ",\"length\":");
		put_number(b, length, 1);
	}
	buf_add(b, "}", 1);
}

/* key NULL: within a list. */
static void put_key(struct buf *b, const char *key)
{
	char last = b->len ? b->data[b->len - 1] : '{';

	if (last != '{' && last != '[')
		buf_add(b, ",", 1);
	if (!key)
		return;
	buf_add(b, "\"", 1);
	buf_adds(b, key);
	buf_add(b, "\":", 2);
}

void audit_line_begin(struct buf *b, uint64_t seq, const struct timespec *wall, uint64_t mono_ns,
		      const char *type)
{
	buf_adds(b, "{\"seq\":");
	put_number(b, seq, 1);
	buf_adds(b, ",\"time\":\"");
	put_time(b, wall);
	buf_adds(b, "\",\"mono\":");
	put_number(b, mono_ns, 1);
	buf_adds(b, ",\"type\":\"");
	buf_adds(b, type);
	buf_add(b, "\"", 1);
}

void audit_line_bytes(struct buf *b, const char *key, struct audit_bytes v, size_t max)
{
	assert(v.data || v.len == 0);

	put_key(b, key);
	put_value(b, v, max);
}

void audit_line_string(struct buf *b, const char *key, const char *s)
{
	audit_line_bytes(b, key, AUDIT_BYTES(s), AUDIT_TEXT_MAX);
}

void audit_line_u64(struct buf *b, const char *key, uint64_t v)
{
	put_key(b, key);
	put_number(b, v, 1);
}

void audit_line_i64(struct buf *b, const char *key, int64_t v)
{
	put_key(b, key);
	if (v < 0)
		buf_add(b, "-", 1);
	put_number(b, v < 0 ? -(uint64_t)v : (uint64_t)v, 1);
}

void audit_line_true(struct buf *b, const char *key)
{
	put_key(b, key);
	buf_adds(b, "true");
}

bool audit_line_packed(struct buf *b, const char *key, struct audit_bytes v, size_t max)
{
	const char *p = v.data, *end = p + MIN(v.len, max), *nul;
	size_t start = b->len;

	audit_line_open(b, key, '[');
	while (p < end && b->len - start < 2 * max) {
		nul = memchr(p, '\0', (size_t)(end - p));
		audit_line_bytes(b, NULL, (struct audit_bytes){ p, (size_t)((nul ? nul : end) - p) }, max);
		p = nul ? nul + 1 : end;
	}
	audit_line_shut(b, ']');
	return p == v.data + v.len;
}

void audit_line_open(struct buf *b, const char *key, char bracket)
{
	put_key(b, key);
	buf_add(b, &bracket, 1);
}

void audit_line_shut(struct buf *b, char bracket)
{
	buf_add(b, &bracket, 1);
}
