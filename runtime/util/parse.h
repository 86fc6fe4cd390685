/*
 * Numbers from text: whole string, no sign or blank tolerance beyond what is
 * said, no locale. All return 0, -EINVAL (not a number) or -ERANGE, and write
 * their result only on success.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

int parse_u64(const char *s, uint64_t *ret); /* decimal digits only */
int parse_u32(const char *s, uint32_t *ret);
int parse_i64(const char *s, int64_t *ret); /* optional leading '-' */
int parse_i32(const char *s, int32_t *ret);
int parse_octal(const char *s, uint32_t *ret); /* octal digits, at most 07777 */
int parse_bool(const char *s, bool *ret); /* true false 1 0 t f T F TRUE FALSE True False */
/*
 * Decimal, also with a fraction, and an optional binary suffix b k m g t (any case,
 * optional trailing "b" or "ib"): bytes, rounded down. "-1" gives -1.
 */
int parse_bytes(const char *s, int64_t *ret);
/* Go's duration without a sign: 5s, 1m30s, 1.5h, 100ms, 0; nanoseconds. */
int parse_duration(const char *s, uint64_t *ret_ns);
/* Name with or without SIG, any case, SIGRTMIN+n, SIGRTMAX-n, or a number 1..64. */
int parse_signal(const char *s, int *ret);
