/*
 * JSON text into a small tree, with limits: bytes, depth, no duplicate keys, no
 * embedded NUL, numbers kept as text so that 64-bit values stay exact. Built on
 * yajl's callbacks; with json_write.c the only file that knows yajl.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/error.h"

#define JSON_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define JSON_DEPTH_MAX 64
#define JSON_NODES_MAX 1000000

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_type type;
	size_t offset; /* byte offset of the value in the text */
	const char *key; /* member name when the parent is an object, else NULL */
	struct json *next; /* next sibling */
	union {
		bool boolean;
		const char *text; /* JSON_STRING: UTF-8; JSON_NUMBER: the literal as written */
		struct {
			struct json *first;
			size_t count;
		} kids; /* JSON_ARRAY, JSON_OBJECT */
	};
};

enum json_flags {
	JSON_COMMENTS = 1u << 0, /* accept C comments */
};

/*
 * Parses one whole document. name is used in messages ("config.json: offset 12: …").
 * The tree lives in the arena and does not point into data. Conditions: none;
 * -EINVAL bad JSON, -E2BIG over a limit.
 */
int json_parse(const char *name, const char *data, size_t len, unsigned flags, struct arena *arena,
	       struct json **ret, struct error *err);
/* The member of a JSON_OBJECT, or NULL. */
const struct json *json_member(const struct json *object, const char *key);
/* The second of two members of the same name in *ret, else NULL there; or -ENOMEM. */
int json_duplicate_member(const struct json *object, const struct json **ret);
/* "string", "null". */
const char *json_type_name(enum json_type t);
/* "a string", "an array", "null". */
const char *json_type_phrase(enum json_type t);
/* Exact conversions of a JSON_NUMBER; -EINVAL for any fraction or exponent (1.0, 1e3), -ERANGE. */
int json_to_u64(const struct json *j, uint64_t *ret);
int json_to_i64(const struct json *j, int64_t *ret);
