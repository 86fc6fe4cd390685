/*
 * Documents into structs: a whole configuration, a process or resources alone.
 * Owns struct spec's life.
 */
#include "spec/spec_internal.h"
#include "util/fd.h"
#include "util/str.h"

static SPEC_HANDLER(get_version)
{
	char **version = target;
	int r = json_get_string(ctx, field, value, target, err);

	return r < 0 ? r : spec_check_version(ctx, value, *version, err);
}

static const struct json_field root_fields[] = {
	SPEC_FIELD_ARG("path", json_get_string, struct spec_root, path,
		       JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	SPEC_FIELD("readonly", json_get_bool, struct spec_root, readonly),
	SPEC_FIELD_END,
};
static const struct json_object root_type = {
	.size = sizeof(struct spec_root),
	.fields = root_fields,
};

#define SPEC(name_, fn_, member_, flags_, arg_) \
	SPEC_FIELD_ARG(name_, fn_, struct spec, member_, flags_, arg_)

static const struct json_field spec_fields[] = {
	SPEC("ociVersion", get_version, oci_version, JSON_REQUIRED, NULL),
	SPEC("root", json_get_object_ptr, root, JSON_REQUIRED, &root_type),
	SPEC("process", json_get_object_ptr, process, 0, &spec_process_type),
	SPEC("hostname", json_get_string, hostname, 0, NULL),
	SPEC("domainname", json_get_string, domainname, 0, NULL),
	SPEC("mounts", json_get_list, mounts, 0, &spec_mount_type),
	SPEC("hooks", json_get_object_ptr, hooks, 0, &spec_hooks_type),
	SPEC("annotations", json_get_str_map, annotations, 0, NULL),
	SPEC("linux", json_get_object_ptr, linux_cfg, 0, &spec_linux_type),
	/* Other platforms' members. */
	SPEC_FIELD_IGNORE("freebsd"),
	SPEC_FIELD_IGNORE("solaris"),
	SPEC_FIELD_IGNORE("vm"),
	SPEC_FIELD_IGNORE("windows"),
	SPEC_FIELD_IGNORE("zos"),
	SPEC_FIELD_END,
};
static const struct json_object spec_type = {
	.size = sizeof(struct spec),
	.fields = spec_fields,
};

static int document_read(const char *name, const char *data, size_t len, struct arena *arena,
			 const struct json_object *type, void *target, struct error *err)
{
	struct json_ctx ctx = { .name = name, .arena = arena };
	struct json *tree;
	int r;

	r = json_parse(name, data, len, 0, arena, &tree, err);
	if (r < 0)
		return r;
	return json_dispatch(&ctx, type, tree, target, err);
}

int spec_parse(const char *name, const char *data, size_t len, struct spec **ret, struct error *err)
{
	_cleanup_spec_ struct spec *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_oom(err);
	r = document_read(name, data, len, &s->arena, &spec_type, s, err);
	if (r < 0)
		return r;
	if (!s->linux_cfg) {
		s->linux_cfg = arena_alloc(&s->arena, sizeof(*s->linux_cfg));
		if (!s->linux_cfg)
			return error_oom(err);
	}
	*ret = take_ptr(s);
	return 0;
}

int spec_load(int dirfd, const char *path, struct spec **ret, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r;

	r = file_read_all(dirfd, path, JSON_BYTES_MAX, &data, &len, err);
	if (r < 0)
		return r;
	return spec_parse(path, data, len, ret, err);
}

int spec_parse_process(const char *name, const char *data, size_t len, struct arena *arena,
		       struct spec_process **ret, struct error *err)
{
	struct spec_process *p = arena_alloc(arena, sizeof(*p));
	int r;

	if (!p)
		return error_oom(err);
	r = document_read(name, data, len, arena, &spec_process_type, p, err);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}

int spec_parse_resources(const char *name, const char *data, size_t len, struct arena *arena,
			 struct spec_resources **ret, struct error *err)
{
	struct spec_resources *res = arena_alloc(arena, sizeof(*res));
	int r;

	if (!res)
		return error_oom(err);
	r = document_read(name, data, len, arena, &spec_resources_type, res, err);
	if (r < 0)
		return r;
	*ret = res;
	return 0;
}

struct spec *spec_free(struct spec *s)
{
	if (s) {
		arena_done(&s->arena);
		free(s);
	}
	return NULL;
}

const struct spec_namespace *spec_namespace_find(const struct spec *s, uint64_t type)
{
	const struct spec_namespaces *list = &s->linux_cfg->namespaces;
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i].type == type)
			return &list->items[i];
	return NULL;
}

const char *spec_annotation(const struct spec *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->annotations.count; i++)
		if (str_eq(s->annotations.items[i].key, key))
			return s->annotations.items[i].value;
	return NULL;
}
