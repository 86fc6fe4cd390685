/*
 * Text for people: whatever it quotes, a terminal obeys none of it.
 */
#pragma once

#include "util/str.h"

/* Controls, marks of direction, unseen characters and what is no UTF-8 as \n, \x1b. lines: newlines and tabs stay. */
void text_print(struct buf *out, const char *data, size_t len, bool lines);
