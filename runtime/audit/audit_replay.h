/*
 * What of a terminal's output may reach another terminal.
 */
#pragma once

#include "util/str.h"

struct audit_screen {
	int state;
	char sequence[64]; /* a control sequence so far */
	size_t len;
};

/*
 * Adds to out what draws: text, cursor movement, colours. What talks to the terminal itself goes:
 * titles, clipboard, queries (their answers would be typed), strings of any kind, C1 controls.
 */
void audit_screen_filter(struct audit_screen *s, const char *data, size_t len, struct buf *out);
