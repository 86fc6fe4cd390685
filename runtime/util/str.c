/*
 * Owns growable text and the one judge of UTF-8 that reader and writer share.
 * Knows nothing of what the text means.
 */
#include "util/str.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>

#define BUF_MIN ((size_t)128)

char *str_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : s;
}

size_t str_utf8_len(const char *s, size_t avail)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i, len;
	uint32_t c;

	if (avail == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	/* C0, C1 (overlong) and F5… (beyond U+10FFFF) start nothing. */
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (len > avail)
		return 0;
	c = p[0] & (0x7fu >> len);
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (len == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff)))
		return 0;
	if (len == 4 && (c < 0x10000 || c > 0x10ffff))
		return 0;
	return len;
}

/* Room for len more bytes and the terminator. */
static bool buf_grow(struct buf *b, size_t len)
{
	size_t need, cap;
	char *p;

	if (b->failed)
		return false;
	if (__builtin_add_overflow(b->len + 1, len, &need) || need > SIZE_MAX / 2) {
		b->failed = true;
		return false;
	}
	if (need <= b->cap)
		return true;
	cap = MAX(MAX(b->cap * 2, need), BUF_MIN);
	p = realloc(b->data, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->data = p;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	assert(b);
	assert(data || len == 0);

	if (!buf_grow(b, len))
		return;
	if (len > 0)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if (!buf_grow(b, (size_t)n))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

char *buf_take(struct buf *b)
{
	char *s;

	buf_add(b, NULL, 0); /* an empty buffer gives an empty string */
	if (b->failed) {
		buf_done(b);
		return NULL;
	}
	s = take_ptr(b->data);
	*b = BUF_NULL;
	return s;
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = BUF_NULL;
}
