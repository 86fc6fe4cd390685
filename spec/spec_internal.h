/*
 * What the files of spec/ share: the object types they dispatch to each other and
 * the handlers for the shapes that util/json_dispatch.h does not have. Nobody
 * outside this folder includes it.
 */
#pragma once

#include "spec/spec.h"

#define SPEC_HANDLER(name)                                                                         \
	int name(struct json_ctx *ctx, const struct json_field *field, const struct json *value,   \
		 void *target, struct error *err)

/* Table rows. */
#define SPEC_FIELD(name_, fn_, type_, member_)                                                     \
	{ .name = (name_), .fn = (fn_), .offset = offsetof(type_, member_) }
#define SPEC_FIELD_REQ(name_, fn_, type_, member_)                                                 \
	{                                                                                          \
		.name = (name_), .fn = (fn_), .offset = offsetof(type_, member_),                  \
		.flags = JSON_REQUIRED                                                             \
	}
#define SPEC_FIELD_ARG(name_, fn_, type_, member_, flags_, arg_)                                   \
	{                                                                                          \
		.name = (name_), .fn = (fn_), .offset = offsetof(type_, member_),                  \
		.flags = (flags_), .arg = (arg_)                                                   \
	}
#define SPEC_FIELD_IGNORE(name_) { .name = (name_), .fn = json_ignore }
#define SPEC_FIELD_END { .name = NULL }

/* spec_values.c: handlers. Target types in brackets. */
SPEC_HANDLER(spec_get_abs_path); /* [char *] absolute path */
SPEC_HANDLER(spec_get_abs_paths); /* [struct strv] of absolute paths */
SPEC_HANDLER(spec_get_names); /* [struct strv] of names in the struct enum_table arg */
SPEC_HANDLER(spec_get_name); /* [char *] one name of the struct enum_table arg */
SPEC_HANDLER(spec_get_u32_list); /* [{ uint32_t *items; size_t count; }] */
/*
 * [struct json_list] A JSON object whose members are objects of the struct
 * json_object arg; the struct's first member is a char * that receives the key.
 */
SPEC_HANDLER(spec_get_keyed_list);
SPEC_HANDLER(spec_get_device_number); /* [int64_t] 0 … 4294967295 */
/* Whether a name may stand for a network device in the kernel. */
bool spec_net_name_valid(const char *name);

/* spec_mounts.c */
extern const struct json_object spec_id_map_type;
extern const struct json_object spec_mount_type;
/* spec_process.c */
extern const struct json_object spec_process_type;
/* spec_resources.c */
extern const struct json_object spec_resources_type;
/* spec_seccomp.c */
extern const struct json_object spec_seccomp_type;
/* spec_hooks.c */
extern const struct json_object spec_hooks_type;
/* spec_linux.c */
extern const struct json_object spec_linux_type;

/* spec_check.c: rules across members, called by the tables above. */
int spec_check_version(struct json_ctx *ctx, const struct json *at, const char *version,
		       struct error *err);
int spec_check_process(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_scheduler(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_mount(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_device(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_seccomp_rule(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_seccomp(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_intel_rdt(struct json_ctx *ctx, void *target, struct error *err);
int spec_check_memory_policy(struct json_ctx *ctx, void *target, struct error *err);
/* Reports a failed check of the object at the present path: "config.json: PATH: TEXT". */
int spec_check_error(const struct json_ctx *ctx, struct error *err, const char *fmt, ...)
	_printf_(3, 4);
