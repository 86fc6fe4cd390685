/*
 * Small string helpers and a growable buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/cleanup.h"

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The rest of s after prefix, or NULL. */
static inline const char *str_after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

/* malloc'ed, NULL when out of memory. */
char *str_printf(const char *fmt, ...) _printf_(1, 2);

/*
 * Length of the UTF-8 sequence at s (avail bytes may be read), 0 when it is not
 * well-formed: overlong forms, surrogates and values beyond U+10FFFF are not.
 */
size_t str_utf8_len(const char *s, size_t avail);

/* A growable byte string; data is always NUL-terminated once anything was added. */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool failed; /* out of memory happened: the content is incomplete */
};

#define BUF_NULL ((struct buf){ 0 })

/* They never fail visibly: check buf_ok() once at the end. */
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...) _printf_(2, 3);
static inline bool buf_ok(const struct buf *b)
{
	return !b->failed;
}
/* Takes the string out (caller frees; NULL only when failed) and empties the buffer. */
char *buf_take(struct buf *b);
void buf_done(struct buf *b);
#define _cleanup_buf_ _cleanup_(buf_done)
