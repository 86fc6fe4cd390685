/*
 * The linux object of the specification. Which combinations a container can have
 * is plan/'s matter; here only each value is judged.
 */
#include "spec/spec_internal.h"
#include "util/str.h"

#define NSEC_PER_SEC 1000000000u

static int entry_error(struct json_ctx *ctx, const struct json *at, struct error *err,
		       const char *entry, const char *text, const char *what)
{
	size_t len = ctx->path_len;
	int r;

	json_path_push(ctx, "%s", entry);
	r = json_error(ctx, at, err, -EINVAL, text, what);
	json_path_pop(ctx, len);
	return r;
}

static SPEC_HANDLER(get_namespaces)
{
	struct spec_namespaces *list = target;
	const struct json *j;
	uint64_t seen = 0;
	char entry[32];
	size_t i;
	int r;

	r = json_get_list(ctx, field, value, target, err);
	if (r < 0)
		return r;
	for (j = value->kids.first, i = 0; j && i < list->count; j = j->next, i++) {
		if (seen & list->items[i].type) {
			(void)snprintf(entry, sizeof(entry), "[%zu]", i);
			return entry_error(
				ctx, j, err, entry, "namespace \"%s\" is given twice",
				enum_to_name(&spec_namespace_table, list->items[i].type));
		}
		seen |= list->items[i].type;
	}
	return 0;
}

/* Writers of Go programs leave an empty path for "new". */
static SPEC_HANDLER(get_namespace_path)
{
	char **path = target;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (*path && **path == '\0')
		*path = NULL;
	if (*path && **path != '/')
		return json_error(ctx, value, err, -EINVAL, "\"%s\" is not an absolute path",
				  *path);
	return 0;
}

static SPEC_HANDLER(get_time_offsets)
{
	const struct json *j;
	int r = spec_get_keyed_list(ctx, field, value, target, err);

	if (r < 0)
		return r;
	for (j = value->kids.first; j; j = j->next)
		if (!str_eq(j->key, "boottime") && !str_eq(j->key, "monotonic"))
			return json_error(ctx, j, err, -EINVAL,
					  "unknown clock \"%s\" (known: boottime, monotonic)",
					  j->key);
	return 0;
}

static SPEC_HANDLER(get_nanosecs)
{
	uint32_t *n = target;
	int r = json_get_u32(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (*n >= NSEC_PER_SEC)
		return json_error(ctx, value, err, -ERANGE, "%u nanoseconds are a second or more",
				  *n);
	return 0;
}

static SPEC_HANDLER(get_device_type)
{
	char *s = NULL;
	int r = json_get_string(ctx, field, value, &s, err);

	if (r < 0)
		return r;
	if (strlen(s) != 1 || !strchr("cubp", *s))
		return json_error(ctx, value, err, -EINVAL,
				  "unknown device type \"%s\" (known: c, u, b, p)", s);
	*(char *)target = *s == 'u' ? 'c' : *s;
	return 0;
}

static SPEC_HANDLER(get_net_devices)
{
	const struct spec_net_devices *list = target;
	const struct json *j;
	size_t i;
	int r = spec_get_keyed_list(ctx, field, value, target, err);

	if (r < 0)
		return r;
	for (j = value->kids.first, i = 0; j && i < list->count; j = j->next, i++) {
		const char *name = list->items[i].name;

		if (!spec_net_name_valid(j->key))
			return json_error(ctx, j, err, -EINVAL,
					  "\"%s\" cannot be the name of a network device", j->key);
		if (name && !spec_net_name_valid(name))
			return json_error(ctx, j, err, -EINVAL,
					  "\"%s\" cannot be the name of a network device", name);
	}
	return 0;
}

static SPEC_HANDLER(get_net_device_name)
{
	char **name = target;
	int r = json_get_string(ctx, field, value, target, err);

	if (r == 0 && *name && **name == '\0')
		*name = NULL;
	return r;
}

static const struct json_field namespace_fields[] = {
	SPEC_FIELD_ARG("type", json_get_enum, struct spec_namespace, type, JSON_REQUIRED,
		       &spec_namespace_table),
	SPEC_FIELD("path", get_namespace_path, struct spec_namespace, path),
	SPEC_FIELD_END,
};
static const struct json_object namespace_type = {
	.size = sizeof(struct spec_namespace),
	.fields = namespace_fields,
};

static const struct json_field time_offset_fields[] = {
	SPEC_FIELD("secs", json_get_i64, struct spec_time_offset, secs),
	SPEC_FIELD("nanosecs", get_nanosecs, struct spec_time_offset, nanosecs),
	SPEC_FIELD_END,
};
static const struct json_object time_offset_type = {
	.size = sizeof(struct spec_time_offset),
	.fields = time_offset_fields,
};

static const struct json_field device_fields[] = {
	SPEC_FIELD_ARG("path", spec_get_abs_path, struct spec_device, path,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD_ARG("type", get_device_type, struct spec_device, type,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD("major", json_get_i64, struct spec_device, major),
	SPEC_FIELD("minor", json_get_i64, struct spec_device, minor),
	SPEC_FIELD("fileMode", json_get_opt_u32, struct spec_device, file_mode),
	SPEC_FIELD("uid", json_get_opt_u32, struct spec_device, uid),
	SPEC_FIELD("gid", json_get_opt_u32, struct spec_device, gid),
	SPEC_FIELD_END,
};
static const struct json_object device_type = {
	.size = sizeof(struct spec_device),
	.fields = device_fields,
	.check = spec_check_device,
};

static const struct json_field net_device_fields[] = {
	SPEC_FIELD("name", get_net_device_name, struct spec_net_device, name),
	SPEC_FIELD_END,
};
static const struct json_object net_device_type = {
	.size = sizeof(struct spec_net_device),
	.fields = net_device_fields,
};

static const struct json_field intel_rdt_fields[] = {
	SPEC_FIELD("closID", json_get_string, struct spec_intel_rdt, clos_id),
	SPEC_FIELD("l3CacheSchema", json_get_string, struct spec_intel_rdt, l3_cache_schema),
	SPEC_FIELD("memBwSchema", json_get_string, struct spec_intel_rdt, mem_bw_schema),
	SPEC_FIELD("schemata", json_get_strv, struct spec_intel_rdt, schemata),
	SPEC_FIELD("enableMonitoring", json_get_opt_bool, struct spec_intel_rdt, enable_monitoring),
	SPEC_FIELD_END,
};
static const struct json_object intel_rdt_type = {
	.size = sizeof(struct spec_intel_rdt),
	.fields = intel_rdt_fields,
	.check = spec_check_intel_rdt,
};

static const struct json_field memory_policy_fields[] = {
	SPEC_FIELD_ARG("mode", json_get_enum, struct spec_memory_policy, mode, JSON_REQUIRED,
		       &spec_memory_policy_mode_table),
	SPEC_FIELD("nodes", json_get_string, struct spec_memory_policy, nodes),
	SPEC_FIELD_ARG("flags", json_get_enum_mask, struct spec_memory_policy, flags, 0,
		       &spec_memory_policy_flag_table),
	SPEC_FIELD_END,
};
static const struct json_object memory_policy_type = {
	.size = sizeof(struct spec_memory_policy),
	.fields = memory_policy_fields,
	.check = spec_check_memory_policy,
};

static const struct json_field personality_fields[] = {
	SPEC_FIELD_ARG("domain", json_get_enum, struct spec_personality, domain, JSON_REQUIRED,
		       &spec_personality_table),
	SPEC_FIELD("flags", json_get_strv, struct spec_personality, flags),
	SPEC_FIELD_END,
};
static const struct json_object personality_type = {
	.size = sizeof(struct spec_personality),
	.fields = personality_fields,
};

#define LINUX(name_, fn_, member_, arg_) \
	SPEC_FIELD_ARG(name_, fn_, struct spec_linux, member_, 0, arg_)

static const struct json_field linux_fields[] = {
	LINUX("uidMappings", json_get_list, uid_mappings, &spec_id_map_type),
	LINUX("gidMappings", json_get_list, gid_mappings, &spec_id_map_type),
	LINUX("sysctl", json_get_str_map, sysctl, NULL),
	LINUX("resources", json_get_object_ptr, resources, &spec_resources_type),
	LINUX("cgroupsPath", json_get_string, cgroups_path, NULL),
	LINUX("namespaces", get_namespaces, namespaces, &namespace_type),
	LINUX("timeOffsets", get_time_offsets, time_offsets, &time_offset_type),
	LINUX("devices", json_get_list, devices, &device_type),
	LINUX("netDevices", get_net_devices, net_devices, &net_device_type),
	LINUX("seccomp", json_get_object_ptr, seccomp, &spec_seccomp_type),
	LINUX("rootfsPropagation", spec_get_name, rootfs_propagation, &spec_propagation_table),
	LINUX("maskedPaths", spec_get_abs_paths, masked_paths, NULL),
	LINUX("readonlyPaths", spec_get_abs_paths, readonly_paths, NULL),
	LINUX("mountLabel", json_get_string, mount_label, NULL),
	LINUX("intelRdt", json_get_object_ptr, intel_rdt, &intel_rdt_type),
	LINUX("memoryPolicy", json_get_object_ptr, memory_policy, &memory_policy_type),
	LINUX("personality", json_get_object_ptr, personality, &personality_type),
	SPEC_FIELD_END,
};

const struct json_object spec_linux_type = {
	.size = sizeof(struct spec_linux),
	.fields = linux_fields,
};
