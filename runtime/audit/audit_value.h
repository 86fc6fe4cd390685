/*
 * Members of records for people: text that no terminal obeys, commands as a shell would
 * take them, times and sizes.
 */
#pragma once

#include <stdint.h>

#include "util/json_read.h"
#include "util/str.h"

/* The bytes of a text as the sink wrote it: a string, or {"text"} or {"base64"}. False: it is none. */
bool audit_value_bytes(const struct json *v, struct buf *ret);
/* The member as a string, or NULL. */
const char *audit_value_string(const struct json *record, const char *key);
/* The member as a number; 0 and false when it is none. */
bool audit_value_u64(const struct json *record, const char *key, uint64_t *ret);
bool audit_value_true(const struct json *record, const char *key);

/* A text member, printable; nothing when absent. */
void audit_print_value(struct buf *out, const struct json *v);
/* A list of texts as words of a shell. */
void audit_print_argv(struct buf *out, const struct json *argv);
void audit_print_word(struct buf *out, const char *data, size_t len);
/* "1.204s", "2m05s", "350us" */
void audit_print_duration(struct buf *out, uint64_t ns);
/* "12.3 MiB" */
void audit_print_size(struct buf *out, uint64_t bytes);
/* "2026-11-30 23:45:39.123" of the record's time; printable whatever it holds. */
void audit_print_time(struct buf *out, const struct json *record);
