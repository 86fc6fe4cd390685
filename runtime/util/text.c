/*
 * Owns what a terminal may be sent of text that others wrote: images, configurations, processes.
 */
#include "util/text.h"

#include <stdint.h>

static uint32_t decode(const char *s, size_t n)
{
	uint32_t c = (unsigned char)s[0];
	size_t i;

	if (n > 1)
		c &= 0x7fu >> n;
	for (i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/* Controls, marks of direction, line separators, and what is not seen at all. */
static bool is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

static void print_hidden(struct buf *out, const char *s, size_t n)
{
	size_t i;

	if (*s == '\n')
		buf_adds(out, "\\n");
	else if (*s == '\t')
		buf_adds(out, "\\t");
	else if (*s == '\r')
		buf_adds(out, "\\r");
	else
		for (i = 0; i < n; i++)
			buf_addf(out, "\\x%02x", (unsigned)(unsigned char)s[i]);
}

void text_print(struct buf *out, const char *data, size_t len, bool lines)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = str_utf8_len(data + i, len - i);
		if (lines && (data[i] == '\n' || data[i] == '\t'))
			buf_add(out, data + i, 1);
		/* A carriage return before a newline says nothing. */
		else if (lines && data[i] == '\r' && i + 1 < len && data[i + 1] == '\n')
			;
		else if (n == 0 || is_hidden(decode(data + i, n)))
			print_hidden(out, data + i, n ? n : 1);
		else
			buf_add(out, data + i, n);
		n = n ? n : 1;
	}
}
