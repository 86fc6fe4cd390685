/*
 * linux.resources of the specification, in a configuration or alone as `update`
 * gets it. What a zero or a -1 means is cgroup/'s matter: presence and the exact
 * number are kept.
 */
#include "spec/spec_internal.h"
#include "util/log.h"
#include "util/str.h"

static SPEC_HANDLER(get_rule_type)
{
	char *s = NULL;
	int r = json_get_string(ctx, field, value, &s, err);

	if (r < 0)
		return r;
	/* BuildKit and podman leave the type out or empty for "all". */
	if (!s || !*s)
		*(char *)target = 'a';
	else if (strlen(s) == 1 && strchr("abcu", *s))
		*(char *)target = *s == 'u' ? 'c' : *s;
	else
		return json_error(ctx, value, err, -EINVAL,
				  "unknown device type \"%s\" (known: a, b, c)", s);
	return 0;
}

static SPEC_HANDLER(get_rule_number)
{
	struct opt_i64 *n = target;
	int r = json_get_opt_i64(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (n->set && (n->value < -1 || n->value > UINT32_MAX))
		return json_error(ctx, value, err, -ERANGE,
				  "%lld is neither a device number nor -1 for any",
				  (long long)n->value);
	return 0;
}

/* Letters that mean nothing are left out, as runc does; with none left it is a mistake. */
static SPEC_HANDLER(get_access)
{
	char **s = target;
	char *from, *to;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0 || !*s)
		return r;
	if (**s == '\0') {
		*s = NULL;
		return 0;
	}
	for (from = to = *s; *from; from++)
		if (strchr("rwm", *from))
			*to++ = *from;
	if (to == *s)
		return json_error(ctx, value, err, -EINVAL,
				  "unknown access \"%s\" (letters out of r, w, m)", value->text);
	if (to != from) {
		*to = '\0';
		log_warningf("%s: %s (offset %zu): access \"%s\" is taken as \"%s\"", ctx->name,
			     ctx->path, value->offset, value->text, *s);
	}
	return 0;
}

static SPEC_HANDLER(get_u16)
{
	struct opt_u32 *n = target;
	int r = json_get_opt_u32(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (n->set && n->value > UINT16_MAX)
		return json_error(ctx, value, err, -ERANGE, "must be at most %d, is %u", UINT16_MAX,
				  n->value);
	return 0;
}

/* The kernel's own form: 64KB, 2MB, 1GB. Part of a file name, so nothing else may pass. */
static SPEC_HANDLER(get_page_size)
{
	char **s = target;
	const char *rest;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0 || !*s)
		return r;
	rest = *s + strspn(*s, "0123456789");
	if (rest == *s || **s == '0' ||
	    !(str_eq(rest, "KB") || str_eq(rest, "MB") || str_eq(rest, "GB")))
		return json_error(ctx, value, err, -EINVAL,
				  "\"%s\" is not a page size (such as 64KB, 2MB or 1GB)", *s);
	return 0;
}

/* A key is a file name in the cgroup: it must not lead elsewhere. */
static SPEC_HANDLER(get_unified)
{
	const struct json *j;
	size_t len;
	int r = json_get_str_map(ctx, field, value, target, err);

	if (r < 0 || value->type != JSON_OBJECT)
		return r;
	for (j = value->kids.first; j; j = j->next) {
		if (*j->key && !strchr(j->key, '/') && j->key[0] != '.')
			continue;
		len = ctx->path_len;
		json_path_push(ctx, "[\"%s\"]", j->key);
		r = json_error(ctx, j, err, -EINVAL, "\"%s\" is not the name of a file in a cgroup",
			       j->key);
		json_path_pop(ctx, len);
		return r;
	}
	return 0;
}

static const struct json_field rule_fields[] = {
	SPEC_FIELD_REQ("allow", json_get_bool, struct spec_device_rule, allow),
	SPEC_FIELD("type", get_rule_type, struct spec_device_rule, type),
	SPEC_FIELD("major", get_rule_number, struct spec_device_rule, major),
	SPEC_FIELD("minor", get_rule_number, struct spec_device_rule, minor),
	SPEC_FIELD("access", get_access, struct spec_device_rule, access),
	SPEC_FIELD_END,
};

static int rule_defaults(struct json_ctx *ctx _unused_, void *target, struct error *err _unused_)
{
	struct spec_device_rule *rule = target;

	if (!rule->type)
		rule->type = 'a';
	return 0;
}

static const struct json_object rule_type = {
	.size = sizeof(struct spec_device_rule),
	.fields = rule_fields,
	.check = rule_defaults,
};

#define MEMORY(name_, fn_, member_) SPEC_FIELD(name_, fn_, struct spec_memory, member_)

static const struct json_field memory_fields[] = {
	MEMORY("limit", json_get_opt_i64, limit),
	MEMORY("reservation", json_get_opt_i64, reservation),
	MEMORY("swap", json_get_opt_i64, swap),
	MEMORY("kernel", json_get_opt_i64, kernel),
	MEMORY("kernelTCP", json_get_opt_i64, kernel_tcp),
	MEMORY("swappiness", json_get_opt_u64, swappiness),
	MEMORY("disableOOMKiller", json_get_opt_bool, disable_oom_killer),
	MEMORY("useHierarchy", json_get_opt_bool, use_hierarchy),
	MEMORY("checkBeforeUpdate", json_get_opt_bool, check_before_update),
	SPEC_FIELD_END,
};
static const struct json_object memory_type = {
	.size = sizeof(struct spec_memory),
	.fields = memory_fields,
};

#define CPU(name_, fn_, member_) SPEC_FIELD(name_, fn_, struct spec_cpu, member_)

static const struct json_field cpu_fields[] = {
	CPU("shares", json_get_opt_u64, shares),
	CPU("quota", json_get_opt_i64, quota),
	CPU("burst", json_get_opt_u64, burst),
	CPU("period", json_get_opt_u64, period),
	CPU("realtimeRuntime", json_get_opt_i64, realtime_runtime),
	CPU("realtimePeriod", json_get_opt_u64, realtime_period),
	CPU("cpus", json_get_string, cpus),
	CPU("mems", json_get_string, mems),
	CPU("idle", json_get_opt_i64, idle),
	SPEC_FIELD_END,
};
static const struct json_object cpu_type = {
	.size = sizeof(struct spec_cpu),
	.fields = cpu_fields,
};

static const struct json_field weight_device_fields[] = {
	SPEC_FIELD_REQ("major", spec_get_device_number, struct spec_weight_device, major),
	SPEC_FIELD_REQ("minor", spec_get_device_number, struct spec_weight_device, minor),
	SPEC_FIELD("weight", get_u16, struct spec_weight_device, weight),
	SPEC_FIELD("leafWeight", get_u16, struct spec_weight_device, leaf_weight),
	SPEC_FIELD_END,
};
static const struct json_object weight_device_type = {
	.size = sizeof(struct spec_weight_device),
	.fields = weight_device_fields,
};

static const struct json_field throttle_fields[] = {
	SPEC_FIELD_REQ("major", spec_get_device_number, struct spec_throttle_device, major),
	SPEC_FIELD_REQ("minor", spec_get_device_number, struct spec_throttle_device, minor),
	SPEC_FIELD_REQ("rate", json_get_u64, struct spec_throttle_device, rate),
	SPEC_FIELD_END,
};
static const struct json_object throttle_type = {
	.size = sizeof(struct spec_throttle_device),
	.fields = throttle_fields,
};

#define BLOCK_IO_LIST(name_, member_, type_) \
	SPEC_FIELD_ARG(name_, json_get_list, struct spec_block_io, member_, 0, type_)

static const struct json_field block_io_fields[] = {
	SPEC_FIELD("weight", get_u16, struct spec_block_io, weight),
	SPEC_FIELD("leafWeight", get_u16, struct spec_block_io, leaf_weight),
	BLOCK_IO_LIST("weightDevice", weight_device, &weight_device_type),
	BLOCK_IO_LIST("throttleReadBpsDevice", throttle_read_bps, &throttle_type),
	BLOCK_IO_LIST("throttleWriteBpsDevice", throttle_write_bps, &throttle_type),
	BLOCK_IO_LIST("throttleReadIOPSDevice", throttle_read_iops, &throttle_type),
	BLOCK_IO_LIST("throttleWriteIOPSDevice", throttle_write_iops, &throttle_type),
	SPEC_FIELD_END,
};
static const struct json_object block_io_type = {
	.size = sizeof(struct spec_block_io),
	.fields = block_io_fields,
};

static const struct json_field hugepage_fields[] = {
	SPEC_FIELD_ARG("pageSize", get_page_size, struct spec_hugepage_limit, page_size,
		       JSON_REQUIRED, NULL),
	SPEC_FIELD_REQ("limit", json_get_u64, struct spec_hugepage_limit, limit),
	SPEC_FIELD_END,
};
static const struct json_object hugepage_type = {
	.size = sizeof(struct spec_hugepage_limit),
	.fields = hugepage_fields,
};

static const struct json_field net_priority_fields[] = {
	SPEC_FIELD_ARG("name", json_get_string, struct spec_net_priority, name,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD_REQ("priority", json_get_u32, struct spec_net_priority, priority),
	SPEC_FIELD_END,
};
static const struct json_object net_priority_type = {
	.size = sizeof(struct spec_net_priority),
	.fields = net_priority_fields,
};

static const struct json_field network_fields[] = {
	SPEC_FIELD("classID", json_get_opt_u32, struct spec_network, class_id),
	SPEC_FIELD_ARG("priorities", json_get_list, struct spec_network, priorities, 0,
		       &net_priority_type),
	SPEC_FIELD_END,
};
static const struct json_object network_type = {
	.size = sizeof(struct spec_network),
	.fields = network_fields,
};

static const struct json_field rdma_fields[] = {
	SPEC_FIELD("hcaHandles", json_get_opt_u32, struct spec_rdma, hca_handles),
	SPEC_FIELD("hcaObjects", json_get_opt_u32, struct spec_rdma, hca_objects),
	SPEC_FIELD_END,
};
static const struct json_object rdma_type = {
	.size = sizeof(struct spec_rdma),
	.fields = rdma_fields,
};

/* An object of one member, kept flat: the target is resources.pids_limit itself. */
static const struct json_field pids_fields[] = {
	{ .name = "limit", .fn = json_get_opt_i64, .offset = 0 },
	SPEC_FIELD_END,
};
static const struct json_object pids_type = {
	.size = sizeof(struct opt_i64),
	.fields = pids_fields,
};

#define RESOURCES(name_, fn_, member_, arg_) \
	SPEC_FIELD_ARG(name_, fn_, struct spec_resources, member_, 0, arg_)

static const struct json_field resources_fields[] = {
	RESOURCES("devices", json_get_list, devices, &rule_type),
	RESOURCES("memory", json_get_object_ptr, memory, &memory_type),
	RESOURCES("cpu", json_get_object_ptr, cpu, &cpu_type),
	RESOURCES("pids", json_get_object, pids_limit, &pids_type),
	RESOURCES("blockIO", json_get_object_ptr, block_io, &block_io_type),
	RESOURCES("hugepageLimits", json_get_list, hugepage_limits, &hugepage_type),
	RESOURCES("network", json_get_object_ptr, network, &network_type),
	RESOURCES("rdma", spec_get_keyed_list, rdma, &rdma_type),
	RESOURCES("unified", get_unified, unified, NULL),
	SPEC_FIELD_END,
};

const struct json_object spec_resources_type = {
	.size = sizeof(struct spec_resources),
	.fields = resources_fields,
};
