/*
 * One record as a line of JSON, put together piece by piece at the end of a buffer.
 * Hostile bytes become harmless here: what is no clean text is base64, and nothing that
 * a terminal obeys stands in a line as it is.
 */
#pragma once

#include <stdint.h>

#include "audit/audit.h"
#include "util/str.h"

/* They add "KEY":VALUE with the comma before it; the opening brace counts as none before. */
void audit_line_begin(struct buf *b, uint64_t seq, const struct timespec *wall, uint64_t mono_ns,
		      const char *type);
/* At most max bytes are kept; {"text": ..., "length": N} tells of more. */
void audit_line_bytes(struct buf *b, const char *key, struct audit_bytes v, size_t max);
void audit_line_string(struct buf *b, const char *key, const char *s);
void audit_line_u64(struct buf *b, const char *key, uint64_t v);
void audit_line_i64(struct buf *b, const char *key, int64_t v);
void audit_line_true(struct buf *b, const char *key);
/*
 * A list of the texts that end in NUL; a last one without counts as well. False: only part of
 * it fits into max bytes, or into twice as many once escaped.
 */
bool audit_line_packed(struct buf *b, const char *key, struct audit_bytes v, size_t max);
void audit_line_open(struct buf *b, const char *key, char bracket);
void audit_line_shut(struct buf *b, char bracket);
