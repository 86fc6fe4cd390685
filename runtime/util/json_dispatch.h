/*
 * Tables that turn a JSON object into a C struct. The table is the documentation
 * of what is understood; one walker does the rest and every message carries file,
 * JSON path and byte offset.
 */
#pragma once

#include "util/enum_table.h"
#include "util/json_read.h"

/* Optional scalars: presence is explicit. */
struct opt_bool { bool set; bool value; };
struct opt_i64 { bool set; int64_t value; };
struct opt_u64 { bool set; uint64_t value; };
struct opt_u32 { bool set; uint32_t value; };
struct opt_i32 { bool set; int32_t value; };

/* A list of strings; items[count] is NULL, items may be NULL when count is 0. */
struct strv {
	char **items;
	size_t count;
	bool set; /* the member was there (possibly empty) */
};

/* A map of string to string, in document order. */
struct str_pair { char *key; char *value; };
struct str_map { struct str_pair *items; size_t count; };

/* Where a document is being read: passed down to every handler. */
struct json_ctx {
	const char *name; /* file name for messages */
	struct arena *arena;
	bool strict; /* unknown members are errors (policy files); else a debug log line (OCI) */
	size_t path_len;
	char path[512]; /* "linux.resources.memory", maintained by the walker */
};

struct json_field;
typedef int (*json_handler_fn)(struct json_ctx *ctx, const struct json_field *field,
			       const struct json *value, void *target, struct error *err);

enum json_field_flags {
	JSON_REQUIRED = 1u << 0, /* absence is an error */
	JSON_NULL_OK = 1u << 1, /* null counts as absent; it always does where not strict (OCI) */
	JSON_NOT_EMPTY = 1u << 2, /* strings and lists must not be empty */
};

struct json_field {
	const char *name;
	json_handler_fn fn;
	size_t offset; /* offset of the target in the struct */
	unsigned flags;
	const void *arg; /* struct enum_table, struct json_object, … as the handler wants */
};

/* A struct type: its size and its table (ended by a NULL name). */
struct json_object {
	size_t size;
	const struct json_field *fields;
	/* Cross-field check after all members are read; may be NULL. */
	int (*check)(struct json_ctx *ctx, void *target, struct error *err);
};

/*
 * Reads value (must be an object) into target, which the caller zeroed. Strings are
 * copied into ctx->arena. On failure ctx->path keeps the place of the error.
 */
int json_dispatch(struct json_ctx *ctx, const struct json_object *type, const struct json *value,
		  void *target, struct error *err);

#define JSON_HANDLER(name_)                                                                       \
	int name_(struct json_ctx *ctx, const struct json_field *field, const struct json *value, \
		  void *target, struct error *err)

/* Handlers. Target type in brackets; the opt_ ones have the struct opt_ of that name. */
JSON_HANDLER(json_get_string); /* [char *] */
JSON_HANDLER(json_get_bool); /* [bool] */
JSON_HANDLER(json_get_opt_bool);
JSON_HANDLER(json_get_opt_i64);
JSON_HANDLER(json_get_opt_u64);
JSON_HANDLER(json_get_opt_u32);
JSON_HANDLER(json_get_opt_i32);
JSON_HANDLER(json_get_u32); /* [uint32_t] */
JSON_HANDLER(json_get_u64); /* [uint64_t] */
JSON_HANDLER(json_get_i64); /* [int64_t] */
JSON_HANDLER(json_get_strv); /* [struct strv] */
JSON_HANDLER(json_get_str_map); /* [struct str_map] */
/* arg = struct enum_table *, target [uint64_t]. Unknown name: error that lists the known ones. */
JSON_HANDLER(json_get_enum);
/* arg = struct enum_table *, value is a list of names, target [uint64_t] gets the OR of them. */
JSON_HANDLER(json_get_enum_mask);
/* arg = struct json_object *, target [the struct, embedded]. */
JSON_HANDLER(json_get_object);
/* arg = struct json_object *, target [struct *], allocated in the arena, NULL when absent. */
JSON_HANDLER(json_get_object_ptr);
/* arg = struct json_object *, target [struct json_list]: an array of the struct in the arena. */
struct json_list { void *items; size_t count; };
JSON_HANDLER(json_get_list);
/* Recognised but without meaning here (other platforms' members): any value is accepted. */
JSON_HANDLER(json_ignore);

/* "config.json: linux.resources.memory.limit (offset 123): TEXT"; returns code. */
int json_error(const struct json_ctx *ctx, const struct json *at, struct error *err, int code,
	       const char *fmt, ...) _printf_(5, 6);
/*
 * For handlers that walk by hand: extend and cut the path. A dot is put before the
 * new piece unless it begins with '[' or the path is empty.
 */
void json_path_push(struct json_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
void json_path_pop(struct json_ctx *ctx, size_t to_len);
