/*
 * /sys/fs/cgroup of a container, by the host's layout. With a cgroup namespace each
 * hierarchy is mounted anew (its root is then the container's cgroup), without one on v1 the
 * container's own sub-tree is bound, on v2 the host's tree. Which cgroup that is comes from the caller.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "os/mount_impl.h"
#include "util/arena.h"
#include "util/str.h"

enum { LAYOUT_LEGACY = 1, LAYOUT_HYBRID = 2, LAYOUT_UNIFIED = 3 }; /* mount_ctx.cgroup_layout */

#define CGROUP_ATTRS (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* One entry of mount_ctx.cgroup_paths. */
struct hierarchy {
	const char *controllers; /* "cpu,cpuacct", "name=systemd", "" for the unified one */
	const char *path;	 /* the container's folder on the host */
	const char *name;	 /* its folder below the destination */
	bool named;
};

static int parse_hierarchy(struct arena *arena, const char *text, struct hierarchy *ret,
			   struct error *err)
{
	const char *colon = strstr(text, ":/"), *name;

	if (!colon)
		return error_text(err, -EINVAL, "cgroup path \"%s\" is not controllers:/folder",
				  text);
	ret->controllers = arena_strndup(arena, text, (size_t)(colon - text));
	if (!ret->controllers)
		return error_oom(err);
	ret->path = colon + 1;
	name = str_after(ret->controllers, "name=");
	ret->named = name != NULL;
	ret->name = name ? name : *ret->controllers ? ret->controllers : "unified";
	if (!*ret->name || strchr(ret->name, '/') || str_eq(ret->name, ".") ||
	    str_eq(ret->name, ".."))
		return error_text(err, -EINVAL, "cgroup hierarchy \"%s\" has no usable name",
				  ret->controllers);
	return 0;
}

static uint64_t child_attrs(const struct mount_op *op)
{
	return CGROUP_ATTRS | (op->attr_set & MOUNT_ATTR_RDONLY);
}

static int bind_hierarchy(const char *path, uint64_t attrs, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = mount_clone(AT_FDCWD, path, AT_RECURSIVE, &fd);
	if (r < 0)
		return error_set(err, r, "bind cgroup folder %s", path);
	r = mount_setattr_fd(fd, true, &(struct mount_attr){ .attr_set = attrs });
	if (r < 0)
		return error_set(err, r, "set the flags of cgroup folder %s", path);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int new_hierarchy(struct arena *arena, const struct hierarchy *h, uint64_t attrs,
			 int *ret_fd, struct error *err)
{
	struct mount_fs fs = { .fstype = "cgroup", .source = "cgroup", .attrs = attrs };

	if (!*h->controllers) {
		fs.fstype = fs.source = "cgroup2";
	} else if (h->named) {
		fs.source = h->name;
		fs.data = arena_printf(arena, "none,%s", h->controllers);
		if (!fs.data)
			return error_oom(err);
	} else {
		fs.data = h->controllers;
	}
	return mount_fs_create(&fs, ret_fd, err);
}

/* New where the namespaces allow it; EPERM or EBUSY in a user namespace: bound. */
static int open_hierarchy(struct arena *arena, const struct mount_ctx *ctx,
			  const struct hierarchy *h, uint64_t attrs, int *ret_fd, struct error *err)
{
	int r = -EPERM;

	if (ctx->cgroupns)
		r = new_hierarchy(arena, h, attrs, ret_fd, err);
	if (r == -EPERM || r == -EBUSY)
		r = bind_hierarchy(h->path, attrs, ret_fd, err);
	return r;
}

static int mount_hierarchy(struct arena *arena, const struct mount_op *op,
			   const struct mount_ctx *ctx, const struct hierarchy *h, int tmpfs_fd,
			   struct error *err)
{
	_cleanup_close_ int fd = -EBADF, dir_fd = -EBADF;
	int r;

	r = open_hierarchy(arena, ctx, h, child_attrs(op), &fd, err);
	if (r < 0)
		return r;
	if (mkdirat(tmpfs_fd, h->name, 0755) < 0)
		return error_set(err, -errno, "create folder %s", h->name);
	dir_fd = openat(tmpfs_fd, h->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd < 0)
		return error_set(err, -errno, "open folder %s", h->name);
	r = mount_attach(fd, dir_fd);
	if (r < 0)
		return error_set(err, r, "mount cgroup hierarchy %s", h->name);
	return 0;
}

/* cpu -> cpu,cpuacct */
static int link_controllers(struct arena *arena, const struct hierarchy *h, int tmpfs_fd,
			    struct error *err)
{
	char *list, *word;

	if (h->named || !strchr(h->controllers, ','))
		return 0;
	list = arena_strdup(arena, h->controllers);
	if (!list)
		return error_oom(err);
	while ((word = strsep(&list, ",")))
		if (symlinkat(h->name, tmpfs_fd, word) < 0 && errno != EEXIST)
			return error_set(err, -errno, "create link %s", word);
	return 0;
}

static int fill_v1(const struct mount_op *op, const struct mount_ctx *ctx, int tmpfs_fd,
		   struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	const char *const *p;
	int r;

	for (p = ctx->cgroup_paths; p && *p; p++) {
		struct hierarchy h;

		r = parse_hierarchy(&arena, *p, &h, err);
		if (r < 0)
			return r;
		if (!*h.controllers && ctx->cgroup_layout != LAYOUT_HYBRID)
			continue;
		r = mount_hierarchy(&arena, op, ctx, &h, tmpfs_fd, err);
		if (r < 0)
			return r;
		r = link_controllers(&arena, &h, tmpfs_fd, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_v1(struct mount_op *op, const struct mount_ctx *ctx, int target_fd,
		    struct error *err)
{
	const struct mount_fs fs = {
		.fstype = "tmpfs",
		.source = "cgroup",
		.data = "mode=755",
		.label = op->label,
		.attrs = CGROUP_ATTRS,
	};
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = mount_fs_create(&fs, &fd, err);
	if (r < 0)
		return r;
	/* Mounts can only be made below it once it is attached itself. */
	r = mount_attach(fd, target_fd);
	if (r < 0)
		return error_set(err, r, "mount the folder of the hierarchies");
	r = fill_v1(op, ctx, fd, err);
	if (r < 0)
		return r;
	if (op->attr_set & MOUNT_ATTR_RDONLY) {
		r = mount_setattr_fd(fd, false,
				     &(struct mount_attr){ .attr_set = MOUNT_ATTR_RDONLY });
		if (r < 0)
			return error_set(err, r, "make the folder of the hierarchies read-only");
	}
	r = mount_propagation_apply(op, fd, err);
	return r < 0 ? r : mount_id_note(op, fd, err);
}

static int apply_unified(struct mount_op *op, const struct mount_ctx *ctx, int target_fd,
			 struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct hierarchy h = { .controllers = "", .path = "/sys/fs/cgroup", .name = "unified" };
	_cleanup_close_ int fd = -EBADF;
	const char *const *p;
	int r;

	/* Without a cgroup namespace /proc/self/cgroup names a folder that is looked for below the whole tree. */
	for (p = ctx->cgroup_paths; ctx->cgroupns && p && *p; p++)
		if ((*p)[0] == ':') {
			r = parse_hierarchy(&arena, *p, &h, err);
			if (r < 0)
				return r;
		}
	r = open_hierarchy(&arena, ctx, &h, op->attr_set, &fd, err);
	if (r < 0)
		return r;
	r = mount_attach(fd, target_fd);
	if (r < 0)
		return error_set(err, r, "mount the cgroup hierarchy");
	r = mount_propagation_apply(op, fd, err);
	return r < 0 ? r : mount_id_note(op, fd, err);
}

int mount_cgroup_apply(struct mount_op *op, const struct mount_ctx *ctx, struct error *err)
{
	_cleanup_close_ int target_fd = -EBADF;
	int r;

	r = mount_target_open(op, ctx, -EBADF, &target_fd, NULL, err);
	if (r < 0)
		return r;
	switch (ctx->cgroup_layout) {
	case LAYOUT_UNIFIED:
		return apply_unified(op, ctx, target_fd, err);
	case LAYOUT_LEGACY:
	case LAYOUT_HYBRID:
		return apply_v1(op, ctx, target_fd, err);
	default:
		return error_text(err, -ENOENT, "this host has no cgroup hierarchy to mount");
	}
}
