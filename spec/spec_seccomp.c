/*
 * linux.seccomp of the specification. Call names stay text: what this machine's
 * libseccomp makes of them is filter/'s matter.
 */
#include "spec/spec_internal.h"

#define SECCOMP_ARGS_MAX 6 /* a system call has six arguments */

static SPEC_HANDLER(get_arg_index)
{
	uint32_t *index = target;
	int r = json_get_u32(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (*index >= SECCOMP_ARGS_MAX)
		return json_error(ctx, value, err, -ERANGE,
				  "a system call has the arguments 0 to %d, not %u",
				  SECCOMP_ARGS_MAX - 1, *index);
	return 0;
}

static const struct json_field arg_fields[] = {
	SPEC_FIELD_REQ("index", get_arg_index, struct spec_seccomp_arg, index),
	SPEC_FIELD_REQ("value", json_get_u64, struct spec_seccomp_arg, value),
	SPEC_FIELD("valueTwo", json_get_u64, struct spec_seccomp_arg, value_two),
	SPEC_FIELD_ARG("op", json_get_enum, struct spec_seccomp_arg, op, JSON_REQUIRED,
		       &spec_seccomp_op_table),
	SPEC_FIELD_END,
};

static const struct json_object arg_type = {
	.size = sizeof(struct spec_seccomp_arg),
	.fields = arg_fields,
};

static const struct json_field rule_fields[] = {
	SPEC_FIELD_ARG("names", json_get_strv, struct spec_seccomp_rule, names,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD_ARG("action", json_get_enum, struct spec_seccomp_rule, action, JSON_REQUIRED,
		       &spec_seccomp_action_table),
	SPEC_FIELD("errnoRet", json_get_opt_u32, struct spec_seccomp_rule, errno_ret),
	SPEC_FIELD_ARG("args", json_get_list, struct spec_seccomp_rule, args, 0, &arg_type),
	SPEC_FIELD_END,
};

static const struct json_object rule_type = {
	.size = sizeof(struct spec_seccomp_rule),
	.fields = rule_fields,
	.check = spec_check_seccomp_rule,
};

static const struct json_field seccomp_fields[] = {
	SPEC_FIELD_ARG("defaultAction", json_get_enum, struct spec_seccomp, default_action,
		       JSON_REQUIRED, &spec_seccomp_action_table),
	SPEC_FIELD("defaultErrnoRet", json_get_opt_u32, struct spec_seccomp, default_errno_ret),
	SPEC_FIELD_ARG("architectures", spec_get_names, struct spec_seccomp, architectures, 0,
		       &spec_seccomp_arch_table),
	SPEC_FIELD_ARG("flags", spec_get_names, struct spec_seccomp, flags, 0,
		       &spec_seccomp_flag_table),
	SPEC_FIELD("listenerPath", json_get_string, struct spec_seccomp, listener_path),
	SPEC_FIELD("listenerMetadata", json_get_string, struct spec_seccomp, listener_metadata),
	SPEC_FIELD_ARG("syscalls", json_get_list, struct spec_seccomp, syscalls, 0, &rule_type),
	SPEC_FIELD_END,
};

const struct json_object spec_seccomp_type = {
	.size = sizeof(struct spec_seccomp),
	.fields = seccomp_fields,
	.check = spec_check_seccomp,
};
