/*
 * mounts[] and id mappings of the specification. Option words stay text here:
 * os/mount_options.c knows what they mean.
 */
#include "spec/spec_internal.h"

static const struct json_field id_map_fields[] = {
	SPEC_FIELD_REQ("containerID", json_get_u32, struct spec_id_map, container_id),
	SPEC_FIELD_REQ("hostID", json_get_u32, struct spec_id_map, host_id),
	SPEC_FIELD_REQ("size", json_get_u32, struct spec_id_map, size),
	SPEC_FIELD_END,
};

const struct json_object spec_id_map_type = {
	.size = sizeof(struct spec_id_map),
	.fields = id_map_fields,
};

static const struct json_field mount_fields[] = {
	SPEC_FIELD_ARG("destination", json_get_string, struct spec_mount, destination,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD("type", json_get_string, struct spec_mount, type),
	SPEC_FIELD("source", json_get_string, struct spec_mount, source),
	SPEC_FIELD("options", json_get_strv, struct spec_mount, options),
	SPEC_FIELD_ARG("uidMappings", json_get_list, struct spec_mount, uid_mappings, 0,
		       &spec_id_map_type),
	SPEC_FIELD_ARG("gidMappings", json_get_list, struct spec_mount, gid_mappings, 0,
		       &spec_id_map_type),
	SPEC_FIELD_END,
};

const struct json_object spec_mount_type = {
	.size = sizeof(struct spec_mount),
	.fields = mount_fields,
	.check = spec_check_mount,
};
