/*
 * The process object of the specification, in a configuration or alone as `exec`
 * gets it.
 */
#include "spec/spec_internal.h"
#include "util/log.h"
#include "util/str.h"

#define OOM_SCORE_ADJ_LIMIT 1000

/*
 * A name that means nothing here grants nothing and must not keep a container from
 * starting: the specification asks for a warning.
 */
static int capability_add(struct json_ctx *ctx, const struct json *at, uint64_t *mask,
			  struct error *err)
{
	uint64_t bit;

	if (at->type != JSON_STRING)
		return json_error(ctx, at, err, -EINVAL, "must be a capability name, is %s",
				  json_type_phrase(at->type));
	if (enum_from_name(&spec_capability_table, at->text, &bit) < 0) {
		log_warningf("%s: %s (offset %zu): capability %s is not known here and is left out",
			     ctx->name, ctx->path, at->offset, at->text);
		return 0;
	}
	*mask |= UINT64_C(1) << bit;
	return 0;
}

static SPEC_HANDLER(get_capabilities)
{
	uint64_t *mask = target;
	const struct json *j;
	size_t i, len;
	int r;

	if (value->type != JSON_ARRAY)
		return json_error(ctx, value, err, -EINVAL, "must be an array, is %s",
				  json_type_phrase(value->type));
	*mask = 0;
	for (j = value->kids.first, i = 0; j; j = j->next, i++) {
		len = ctx->path_len;
		json_path_push(ctx, "[%zu]", i);
		r = capability_add(ctx, j, mask, err);
		json_path_pop(ctx, len);
		if (r < 0)
			return r;
	}
	return 0;
}

static SPEC_HANDLER(get_rlimits)
{
	struct spec_rlimits *list = target;
	uint64_t seen = 0;
	const struct json *j;
	size_t i, len;
	int r;

	r = json_get_list(ctx, field, value, target, err);
	if (r < 0)
		return r;
	for (j = value->kids.first, i = 0; j && i < list->count; j = j->next, i++) {
		uint64_t bit = UINT64_C(1) << list->items[i].type;

		if (!(seen & bit)) {
			seen |= bit;
			continue;
		}
		len = ctx->path_len;
		json_path_push(ctx, "[%zu]", i);
		r = json_error(ctx, j, err, -EINVAL, "%s is given twice",
			       enum_to_name(&spec_rlimit_table, list->items[i].type));
		json_path_pop(ctx, len);
		return r;
	}
	return 0;
}

static SPEC_HANDLER(get_umask)
{
	struct opt_u32 *mask = target;
	int r = json_get_opt_u32(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (mask->set && mask->value > 0777)
		return json_error(ctx, value, err, -ERANGE,
				  "a umask is at most 511 (octal 0777), not %u", mask->value);
	return 0;
}

static SPEC_HANDLER(get_oom_score_adj)
{
	struct opt_i64 *score = target;
	int r = json_get_opt_i64(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (score->set &&
	    (score->value < -OOM_SCORE_ADJ_LIMIT || score->value > OOM_SCORE_ADJ_LIMIT))
		return json_error(ctx, value, err, -ERANGE, "must be between -%d and %d, is %lld",
				  OOM_SCORE_ADJ_LIMIT, OOM_SCORE_ADJ_LIMIT,
				  (long long)score->value);
	return 0;
}

static SPEC_HANDLER(get_ioprio)
{
	int64_t *prio = target;
	int r = json_get_i64(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (*prio < 0 || *prio > 7)
		return json_error(ctx, value, err, -ERANGE, "must be between 0 and 7, is %lld",
				  (long long)*prio);
	return 0;
}

static SPEC_HANDLER(get_i32)
{
	struct opt_i32 v = { 0 };
	int r = json_get_opt_i32(ctx, field, value, &v, err);

	if (r == 0)
		*(int32_t *)target = v.value;
	return r;
}

static const struct json_field user_fields[] = {
	SPEC_FIELD("uid", json_get_u32, struct spec_user, uid),
	SPEC_FIELD("gid", json_get_u32, struct spec_user, gid),
	SPEC_FIELD("umask", get_umask, struct spec_user, umask),
	SPEC_FIELD("additionalGids", spec_get_u32_list, struct spec_user, additional_gids),
	SPEC_FIELD_IGNORE("username"),
	SPEC_FIELD_END,
};
static const struct json_object user_type = {
	.size = sizeof(struct spec_user),
	.fields = user_fields,
};

static const struct json_field rlimit_fields[] = {
	SPEC_FIELD_ARG("type", json_get_enum, struct spec_rlimit, type, JSON_REQUIRED,
		       &spec_rlimit_table),
	SPEC_FIELD_REQ("soft", json_get_u64, struct spec_rlimit, soft),
	SPEC_FIELD_REQ("hard", json_get_u64, struct spec_rlimit, hard),
	SPEC_FIELD_END,
};
static const struct json_object rlimit_type = {
	.size = sizeof(struct spec_rlimit),
	.fields = rlimit_fields,
};

static const struct json_field capabilities_fields[] = {
	SPEC_FIELD("bounding", get_capabilities, struct spec_capabilities, bounding),
	SPEC_FIELD("effective", get_capabilities, struct spec_capabilities, effective),
	SPEC_FIELD("inheritable", get_capabilities, struct spec_capabilities, inheritable),
	SPEC_FIELD("permitted", get_capabilities, struct spec_capabilities, permitted),
	SPEC_FIELD("ambient", get_capabilities, struct spec_capabilities, ambient),
	SPEC_FIELD_END,
};
static const struct json_object capabilities_type = {
	.size = sizeof(struct spec_capabilities),
	.fields = capabilities_fields,
};

static const struct json_field console_size_fields[] = {
	SPEC_FIELD("height", json_get_u32, struct spec_console_size, height),
	SPEC_FIELD("width", json_get_u32, struct spec_console_size, width),
	SPEC_FIELD_END,
};
static const struct json_object console_size_type = {
	.size = sizeof(struct spec_console_size),
	.fields = console_size_fields,
};

static const struct json_field scheduler_fields[] = {
	SPEC_FIELD_ARG("policy", json_get_enum, struct spec_scheduler, policy, JSON_REQUIRED,
		       &spec_scheduler_policy_table),
	SPEC_FIELD("nice", get_i32, struct spec_scheduler, nice),
	SPEC_FIELD("priority", get_i32, struct spec_scheduler, priority),
	SPEC_FIELD_ARG("flags", json_get_enum_mask, struct spec_scheduler, flags, 0,
		       &spec_scheduler_flag_table),
	SPEC_FIELD("runtime", json_get_u64, struct spec_scheduler, runtime),
	SPEC_FIELD("deadline", json_get_u64, struct spec_scheduler, deadline),
	SPEC_FIELD("period", json_get_u64, struct spec_scheduler, period),
	SPEC_FIELD_END,
};
static const struct json_object scheduler_type = {
	.size = sizeof(struct spec_scheduler),
	.fields = scheduler_fields,
	.check = spec_check_scheduler,
};

static const struct json_field ioprio_fields[] = {
	SPEC_FIELD_ARG("class", json_get_enum, struct spec_io_priority, class_, JSON_REQUIRED,
		       &spec_ioprio_class_table),
	/* Required by the specification, but callers leave it out where the class has no levels. */
	SPEC_FIELD("priority", get_ioprio, struct spec_io_priority, priority),
	SPEC_FIELD_END,
};
static const struct json_object ioprio_type = {
	.size = sizeof(struct spec_io_priority),
	.fields = ioprio_fields,
};

static const struct json_field affinity_fields[] = {
	SPEC_FIELD("initial", json_get_string, struct spec_cpu_affinity, initial),
	SPEC_FIELD("final", json_get_string, struct spec_cpu_affinity, final),
	SPEC_FIELD_END,
};
static const struct json_object affinity_type = {
	.size = sizeof(struct spec_cpu_affinity),
	.fields = affinity_fields,
};

#define PROCESS(name_, fn_, member_) SPEC_FIELD(name_, fn_, struct spec_process, member_)
#define PROCESS_ARG(name_, fn_, member_, arg_) \
	SPEC_FIELD_ARG(name_, fn_, struct spec_process, member_, 0, arg_)

static const struct json_field process_fields[] = {
	PROCESS("terminal", json_get_bool, terminal),
	PROCESS_ARG("consoleSize", json_get_object, console_size, &console_size_type),
	PROCESS_ARG("user", json_get_object, user, &user_type),
	PROCESS("args", json_get_strv, args),
	PROCESS("commandLine", json_get_string, command_line),
	PROCESS("env", json_get_strv, env),
	SPEC_FIELD_ARG("cwd", spec_get_abs_path, struct spec_process, cwd,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	PROCESS_ARG("capabilities", json_get_object_ptr, capabilities, &capabilities_type),
	PROCESS_ARG("rlimits", get_rlimits, rlimits, &rlimit_type),
	PROCESS("noNewPrivileges", json_get_bool, no_new_privileges),
	PROCESS("apparmorProfile", json_get_string, apparmor_profile),
	PROCESS("oomScoreAdj", get_oom_score_adj, oom_score_adj),
	PROCESS_ARG("scheduler", json_get_object_ptr, scheduler, &scheduler_type),
	PROCESS("selinuxLabel", json_get_string, selinux_label),
	PROCESS_ARG("ioPriority", json_get_object_ptr, io_priority, &ioprio_type),
	PROCESS_ARG("execCPUAffinity", json_get_object_ptr, exec_cpu_affinity, &affinity_type),
	SPEC_FIELD_END,
};

const struct json_object spec_process_type = {
	.size = sizeof(struct spec_process),
	.fields = process_fields,
	.check = spec_check_process,
};
