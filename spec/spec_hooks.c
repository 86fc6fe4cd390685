/*
 * hooks of the specification: six lists of the same object.
 */
#include "spec/spec_internal.h"

static SPEC_HANDLER(get_timeout)
{
	struct opt_i64 *t = target;
	int r = json_get_opt_i64(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (t->set && t->value <= 0)
		return json_error(ctx, value, err, -EINVAL,
				  "a timeout must be greater than zero, is %lld",
				  (long long)t->value);
	return 0;
}

static const struct json_field hook_fields[] = {
	SPEC_FIELD_ARG("path", spec_get_abs_path, struct spec_hook, path,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD("args", json_get_strv, struct spec_hook, args),
	SPEC_FIELD("env", json_get_strv, struct spec_hook, env),
	SPEC_FIELD("timeout", get_timeout, struct spec_hook, timeout),
	SPEC_FIELD_END,
};

static const struct json_object hook_type = {
	.size = sizeof(struct spec_hook),
	.fields = hook_fields,
};

#define HOOK_LIST(name_, member_) \
	SPEC_FIELD_ARG(name_, json_get_list, struct spec_hooks, member_, 0, &hook_type)

static const struct json_field hooks_fields[] = {
	HOOK_LIST("prestart", prestart),
	HOOK_LIST("createRuntime", create_runtime),
	HOOK_LIST("createContainer", create_container),
	HOOK_LIST("startContainer", start_container),
	HOOK_LIST("poststart", poststart),
	HOOK_LIST("poststop", poststop),
	SPEC_FIELD_END,
};

const struct json_object spec_hooks_type = {
	.size = sizeof(struct spec_hooks),
	.fields = hooks_fields,
};
