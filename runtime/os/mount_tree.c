/*
 * Bind sources as detached mount trees: opened and cloned, given an id mapping, given
 * flags. On the parent's side for sources the container cannot reach, else in the child.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "os/mount_impl.h"
#include "os/ns.h"
#include "os/rootfs.h"
#include "util/str.h"

#ifndef ST_NOSYMFOLLOW
#define ST_NOSYMFOLLOW 0x2000 /* linux/statfs.h, 5.10 */
#endif
#ifndef ST_RELATIME
#define ST_RELATIME 4096
#endif

static const char *source_name(const struct mount_op *op)
{
	return op->source ? op->source : "";
}

static int source_error(const struct mount_op *op, int code, struct error *err)
{
	return error_set(err, code, "stat %s", source_name(op));
}

bool mount_wants_idmap(const struct mount_op *op)
{
	return op->idmap || op->idmap_recursive || op->uid_maps.count || op->gid_maps.count;
}

void mount_op_done(struct mount_op *op)
{
	cleanup_closep(&op->source_fd);
	cleanup_closep(&op->tree_fd);
	op->source_fd = op->tree_fd = -EBADF;
}

bool mount_source_in_rootfs(const struct mount_op *op, const char *rootfs)
{
	const char *rest;

	if (!rootfs || !op->source || str_eq(rootfs, "/"))
		return false;
	rest = str_after(op->source, rootfs);
	return rest && (*rest == '\0' || *rest == '/');
}

int mount_source_open(struct mount_op *op, int bundle_fd, struct error *err)
{
	bool nofollow = op->src_nofollow || op->copy_symlink;
	int fd;

	fd = openat(bundle_fd >= 0 ? bundle_fd : AT_FDCWD, source_name(op),
		    O_PATH | O_CLOEXEC | (nofollow ? O_NOFOLLOW : 0));
	if (fd < 0) {
		int r = source_error(op, -errno, err);

		(void)error_prefix(err, "error mounting \"%s\" to rootfs at \"%s\"",
				   source_name(op), op->destination);
		return r;
	}
	cleanup_closep(&op->source_fd);
	op->source_fd = fd;
	return 0;
}

static int tree_idmap(const struct mount_op *op, int tree_fd, int proc_fd, int userns_fd,
		      struct error *err)
{
	_cleanup_close_ int own_fd = -EBADF;
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP };
	int r;

	if (op->uid_maps.count || op->gid_maps.count) {
		if (!op->uid_maps.count || !op->gid_maps.count)
			return error_text(err, -EINVAL,
					  "idmap needs both uidMappings and gidMappings");
		r = ns_userns_for_maps(proc_fd, &op->uid_maps, &op->gid_maps, &own_fd, err);
		if (r < 0)
			return r;
		userns_fd = own_fd;
	}
	if (userns_fd < 0)
		return error_text(err, -EINVAL,
				  "an idmapped mount needs mappings or a user namespace");
	attr.userns_fd = (uint64_t)userns_fd;
	r = mount_setattr_fd(tree_fd, op->idmap_recursive, &attr);
	if (r == -EINVAL || r == -EPERM)
		return error_set(
			err, r,
			"map the ids of %s (its filesystem may not support idmapped mounts)",
			source_name(op));
	if (r < 0)
		return error_set(err, r, "map the ids of %s", source_name(op));
	return 0;
}

int mount_tree_clone(int dir_fd, int *ret_fd, struct error *err)
{
	int r = mount_clone(dir_fd, "", 0, ret_fd);

	return r < 0 ? error_set(err, r, "clone the mount of a folder") : 0;
}

int mount_tree_map(int tree_fd, int userns_fd)
{
	return mount_setattr_fd(tree_fd, false, &(struct mount_attr){ .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)userns_fd });
}

static bool wants_shared(const struct mount_op *op)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(op->propagation) && op->propagation[i]; i++)
		if (op->propagation[i] & MS_SHARED)
			return true;
	return false;
}

static int tree_prepare(struct mount_op *op, int proc_fd, int userns_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (op->copy_symlink) {
		struct stat st;

		if (fstat(op->source_fd, &st) < 0)
			return source_error(op, -errno, err);
		if (S_ISLNK(st.st_mode))
			return 0;
	}
	r = mount_clone(op->source_fd, "", op->recursive ? AT_RECURSIVE : 0, &fd);
	if (r < 0)
		return error_set(err, r, "clone the mount of %s", source_name(op));
	/*
	 * A clone made in the container's own namespace would be a slave, as everything there
	 * is; this one is made among the host's mounts and would be their peer.
	 */
	if (!wants_shared(op)) {
		r = mount_propagation_fd(fd, MS_SLAVE | MS_REC);
		if (r < 0)
			return error_set(err, r, "make the clone of %s a slave", source_name(op));
	}
	if (mount_wants_idmap(op)) {
		r = tree_idmap(op, fd, proc_fd, userns_fd, err);
		if (r < 0)
			return r;
	}
	cleanup_closep(&op->tree_fd);
	op->tree_fd = take_fd(&fd);
	cleanup_closep(&op->source_fd);
	op->source_fd = -EBADF;
	return 0;
}

int mount_tree_prepare(struct mount_op *op, int proc_fd, int userns_fd, struct error *err)
{
	int r;

	assert(op && op->source_fd >= 0);

	r = tree_prepare(op, proc_fd, userns_fd, err);
	if (r < 0)
		(void)error_prefix(err, "error mounting \"%s\" to rootfs at \"%s\"",
				   source_name(op), op->destination);
	return r;
}

/* The plan judged the source by source_fd: what is mounted must be that inode. */
static int check_source(const struct mount_op *op, int tree_fd, struct error *err)
{
	struct stat want, got;

	if (op->source_fd < 0)
		return 0;
	if (fstat(op->source_fd, &want) < 0 || fstat(tree_fd, &got) < 0)
		return source_error(op, -errno, err);
	if (want.st_dev != got.st_dev || want.st_ino != got.st_ino)
		return error_text(err, -ESTALE, "%s was replaced while the container was made",
				  source_name(op));
	return 0;
}

static int open_in_rootfs(const struct mount_op *op, const struct mount_ctx *ctx, unsigned flags,
			  int *ret_fd)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = rootfs_openat(ctx->rootfs_fd, op->source + strlen(ctx->rootfs_path),
			  O_PATH | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0, &fd);
	if (r < 0)
		return r;
	return mount_clone(fd, "", flags & AT_RECURSIVE, ret_fd);
}

/* The folder of a relative source: *ret_fd stays -EBADF when it is the working directory. */
static int bundle_open(const struct mount_op *op, const struct mount_ctx *ctx, int *ret_fd)
{
	if (source_name(op)[0] == '/' || !ctx->bundle)
		return 0;
	*ret_fd = open(ctx->bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int open_on_host(const struct mount_op *op, const struct mount_ctx *ctx, unsigned flags,
			int *ret_fd)
{
	_cleanup_close_ int dir_fd = -EBADF;
	int r;

	if (!*source_name(op))
		return -ENOENT;
	r = bundle_open(op, ctx, &dir_fd);
	if (r < 0)
		return r;
	return mount_clone(dir_fd >= 0 ? dir_fd : AT_FDCWD, source_name(op), flags, ret_fd);
}

int mount_tree_open(const struct mount_op *op, const struct mount_ctx *ctx, int *ret_fd,
		    struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	unsigned flags =
		(op->recursive ? AT_RECURSIVE : 0) | (op->src_nofollow ? AT_SYMLINK_NOFOLLOW : 0);
	bool inside = mount_source_in_rootfs(op, ctx->rootfs_path);
	int r;

	r = inside ? open_in_rootfs(op, ctx, flags, &fd) : open_on_host(op, ctx, flags, &fd);
	if (r == -EINVAL)
		return error_set(err, r, "clone the mount of %s (unbindable, or it needs rbind)",
				 source_name(op));
	if (r < 0)
		return source_error(op, r, err);
	if (!inside) {
		r = check_source(op, fd, err);
		if (r < 0)
			return r;
	}
	if (mount_wants_idmap(op)) {
		r = tree_idmap(op, fd, ctx->proc_fd, -EBADF, err);
		if (r < 0)
			return r;
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

/* The mount flags of what fd is on, as attributes. */
static int attrs_of(int fd, uint64_t *ret, struct error *err)
{
	static const struct {
		unsigned long st;
		uint64_t attr;
	} map[] = {
		{ ST_RDONLY, MOUNT_ATTR_RDONLY },
		{ ST_NOSUID, MOUNT_ATTR_NOSUID },
		{ ST_NODEV, MOUNT_ATTR_NODEV },
		{ ST_NOEXEC, MOUNT_ATTR_NOEXEC },
		{ ST_NOATIME, MOUNT_ATTR_NOATIME },
		{ ST_NODIRATIME, MOUNT_ATTR_NODIRATIME },
		{ ST_NOSYMFOLLOW, MOUNT_ATTR_NOSYMFOLLOW },
	};
	struct statvfs st;
	uint64_t attrs = 0;
	size_t i;

	if (fstatvfs(fd, &st) < 0)
		return error_set(err, -errno, "read the mount flags of the source");
	for (i = 0; i < ELEMENTSOF(map); i++)
		if (st.f_flag & map[i].st)
			attrs |= map[i].attr;
	if (!(st.f_flag & (ST_NOATIME | ST_RELATIME)))
		attrs |= MOUNT_ATTR_STRICTATIME;
	*ret = attrs;
	return 0;
}

/*
 * In a user namespace the source's flags belong to the host. The kernel locks them in a
 * copied mount namespace, but not in a clone that the parent made, so the rule is kept
 * here for both.
 */
static int check_locked(const struct mount_op *op, int tree_fd, bool asks_atime, struct error *err)
{
	const uint64_t all_atime = MOUNT_ATIME | MOUNT_ATTR_NODIRATIME;
	uint64_t clear = (op->attr_clr | op->rec_clr) & MOUNT_LOCKABLE, have = 0;
	int r;

	if (!clear && !asks_atime)
		return 0;
	r = attrs_of(tree_fd, &have, err);
	if (r < 0)
		return r;
	if (have & clear)
		return error_set(err, -EPERM, "clear a locked flag of the source");
	if (asks_atime && (have & all_atime) != (op->attr_set & all_atime))
		return error_set(err, -EPERM, "change the locked atime mode of the source");
	return 0;
}

int mount_tree_flags(const struct mount_op *op, bool locked, int tree_fd, struct error *err)
{
	bool asked = (op->attr_set | op->attr_clr | op->sb_flags) != 0;
	bool asks_atime = (op->attr_clr & MOUNT_ATIME) || (op->attr_set & MOUNT_ATTR_NODIRATIME);
	struct mount_attr attr = { .attr_set = op->attr_set };
	int r;

	if (locked) {
		r = check_locked(op, tree_fd, asks_atime, err);
		if (r < 0)
			return r;
	}
	if (asked) {
		attr.attr_clr = MOUNT_ATTR_NOSYMFOLLOW;
		if (!locked)
			attr.attr_clr |= MOUNT_LOCKABLE | (op->attr_clr & MOUNT_ATTR_NODIRATIME);
		if (asks_atime)
			attr.attr_clr |= MOUNT_ATIME | MOUNT_ATTR_NODIRATIME;
		attr.attr_clr &= ~(attr.attr_set & ~MOUNT_ATIME);
		r = mount_setattr_fd(tree_fd, false, &attr);
		if (r == -EINVAL && (attr.attr_clr & MOUNT_ATTR_NOSYMFOLLOW)) {
			/* Unknown before Linux 5.14. */
			attr.attr_clr &= ~(uint64_t)MOUNT_ATTR_NOSYMFOLLOW;
			r = mount_setattr_fd(tree_fd, false, &attr);
		}
		if (r < 0)
			return error_set(err, r, "set the flags of the mount");
	}
	if (op->rec_set | op->rec_clr) {
		attr = (struct mount_attr){ .attr_set = op->rec_set, .attr_clr = op->rec_clr };
		r = mount_setattr_fd(tree_fd, true, &attr);
		if (r < 0)
			return error_set(err, r, "set the flags of the mount recursively");
	}
	return 0;
}

int mount_copy_symlink(const struct mount_op *op, const struct mount_ctx *ctx, const char *dest,
		       struct error *err)
{
	_cleanup_close_ int own_fd = -EBADF, dir_fd = -EBADF, bundle_fd = -EBADF;
	char target[PATH_MAX], present[PATH_MAX];
	int fd = op->source_fd, r;
	const char *name;
	struct stat st;
	ssize_t n, m;

	if (fd < 0) {
		r = bundle_open(op, ctx, &bundle_fd);
		if (r < 0)
			return error_set(err, r, "open the bundle");
		fd = own_fd = openat(bundle_fd >= 0 ? bundle_fd : AT_FDCWD, source_name(op),
				     O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return source_error(op, -errno, err);
	}
	if (fstat(fd, &st) < 0)
		return source_error(op, -errno, err);
	if (!S_ISLNK(st.st_mode))
		return 0;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0)
		return error_set(err, -errno, "read the link %s", source_name(op));
	target[n] = '\0';
	r = rootfs_make_parent(ctx->rootfs_fd, dest, &dir_fd, &name, err);
	if (r < 0)
		return r;
	if (symlinkat(target, dir_fd, name) == 0)
		return 1;
	r = -errno;
	m = readlinkat(dir_fd, name, present, sizeof(present));
	if (r == -EEXIST && m == n && memcmp(present, target, (size_t)n) == 0)
		return 1;
	return error_set(err, r, "copy the link to %s", dest);
}
