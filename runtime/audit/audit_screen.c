/*
 * Owns the filter of terminal output. Allows what is known to draw and drops the rest: a
 * recording was written by the program that is under suspicion.
 */
#include "audit/audit_replay.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TEXT, ESCAPE, CSI, CSI_TOO_LONG, CHARSET, STRING, STRING_ESCAPE };

/* Final bytes that move, erase, scroll, colour, or set modes of the screen. */
static bool csi_draws(const struct audit_screen *s, char final)
{
	/* Private forms other than "?" are for the terminal's own business. */
	if (s->len > 2 && strchr("<=>", s->sequence[2]))
		return false;
	if (memchr(s->sequence, '$', s->len) || memchr(s->sequence, '!', s->len))
		return false;
	if (final == 'h' || final == 'l') {
		/* Of private modes: the cursor, the other screen, wrapping, pasting off. */
		static const char *const modes[] = { "?25", "?1049", "?1047", "?47", "?7", "?12", "?1", "4" };
		size_t i, n = s->len - 2;

		for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
			if (n == strlen(modes[i]) && memcmp(s->sequence + 2, modes[i], n) == 0)
				return true;
		return false;
	}
	return strchr("@ABCDEFGHIJKLMPSTXZ`abdefgmrsu", final) != NULL;
}

static void csi_byte(struct audit_screen *s, char c, struct buf *out)
{
	if (c >= 0x40 && c <= 0x7e) {
		if (csi_draws(s, c)) {
			buf_add(out, s->sequence, s->len);
			buf_add(out, &c, 1);
		}
		s->state = TEXT;
		return;
	}
	if (c < 0x20 || s->len == sizeof(s->sequence)) {
		s->state = c == 0x18 || c == 0x1a ? TEXT : CSI_TOO_LONG;
		return;
	}
	s->sequence[s->len++] = c;
}

static void escape_byte(struct audit_screen *s, char c, struct buf *out)
{
	char two[2] = { 0x1b, c };

	s->state = TEXT;
	if (c == '[') {
		s->state = CSI;
		memcpy(s->sequence, "\x1b[", 2);
		s->len = 2;
	} else if (c && strchr("]PX^_k", c)) {
		s->state = STRING;
	} else if (c && strchr("()*+", c)) {
		s->state = CHARSET;
		s->sequence[0] = c;
	} else if (c && strchr("78DEHM=>", c)) {
		buf_add(out, two, 2);
	}
}

static void text_byte(struct audit_screen *s, const char *p, size_t avail, size_t *ret_n, struct buf *out)
{
	size_t n = str_utf8_len(p, avail);

	*ret_n = 1;
	if (*p == 0x1b)
		s->state = ESCAPE;
	else if (n > 1 && !(n == 2 && (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0))
		buf_add(out, p, *ret_n = n);
	else if (n > 1)
		*ret_n = n; /* a C1 control */
	else if (n == 0)
		buf_adds(out, "?");
	else if ((*p >= ' ' && *p != 0x7f) || strchr("\n\r\t\b\a\x0e\x0f", *p))
		buf_add(out, p, *p ? 1 : 0);
}

void audit_screen_filter(struct audit_screen *s, const char *data, size_t len, struct buf *out)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = 1;
		switch (s->state) {
		case TEXT:
			text_byte(s, data + i, len - i, &n, out);
			break;
		case ESCAPE:
			escape_byte(s, data[i], out);
			break;
		case CSI:
			csi_byte(s, data[i], out);
			break;
		case CSI_TOO_LONG:
			if (data[i] >= 0x40 && data[i] <= 0x7e)
				s->state = TEXT;
			break;
		case CHARSET:
			if (data[i] == 'B' || data[i] == '0')
				buf_add(out, (char[]){ 0x1b, s->sequence[0], data[i] }, 3);
			s->state = TEXT;
			break;
		case STRING:
			if (data[i] == 0x1b)
				s->state = STRING_ESCAPE;
			else if (data[i] == 0x07 || data[i] == 0x18 || data[i] == 0x1a)
				s->state = TEXT;
			break;
		case STRING_ESCAPE:
			s->state = data[i] == '\\' ? TEXT : STRING;
			break;
		}
	}
}
