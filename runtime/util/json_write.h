/*
 * JSON output: compact or indented, valid UTF-8 guaranteed (bad bytes become
 * U+FFFD), slashes not escaped. Built on yajl's generator.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct json_writer;

/* NULL when out of memory. indent: 0 = one line, else number of blanks (at most 8). */
struct json_writer *json_writer_new(int indent);
/* Returns NULL; takes NULL. */
struct json_writer *json_writer_free(struct json_writer *w);
static inline void json_writer_freep(struct json_writer **w)
{
	*w = json_writer_free(*w);
}
#define _cleanup_json_writer_ _cleanup_(json_writer_freep)

/*
 * key is NULL inside arrays and at the top; a NULL string value becomes null. Failures
 * are kept and reported by json_take().
 */
void json_object_begin(struct json_writer *w, const char *key);
void json_object_end(struct json_writer *w);
void json_array_begin(struct json_writer *w, const char *key);
void json_array_end(struct json_writer *w);
void json_string(struct json_writer *w, const char *key, const char *value);
void json_bool(struct json_writer *w, const char *key, bool value);
void json_i64(struct json_writer *w, const char *key, int64_t value);
void json_u64(struct json_writer *w, const char *key, uint64_t value);
void json_double(struct json_writer *w, const char *key, double value);
void json_null(struct json_writer *w, const char *key);
/* The text (malloc'ed, no trailing newline), or an error. Everything begun must have been ended. */
int json_take(struct json_writer *w, char **ret_text, struct error *err);
