/*
 * Where a mount goes: the destination opened below the root, made when missing, and
 * refused where a mount would replace parts of /proc that the runtime relies on.
 */
#include <assert.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "os/mount_impl.h"
#include "os/rootfs.h"
#include "util/str.h"

/* Single files that lxcfs and the like emulate. */
static const char *const proc_files[] = {
	"/proc/cpuinfo",
	"/proc/diskstats",
	"/proc/loadavg",
	"/proc/meminfo",
	"/proc/net/dev",
	"/proc/slabinfo",
	"/proc/stat",
	"/proc/swaps",
	"/proc/uptime",
	"/proc/sys/crypto/fips_enabled",
	"/proc/sys/kernel/ns_last_pid",
};

const char *mount_destination(const struct mount_op *op, const struct mount_ctx *ctx)
{
	const char *rest;

	if (!ctx->rootfs_path)
		return op->destination;
	rest = str_after(op->destination, ctx->rootfs_path);
	return rest && *rest == '/' && !str_eq(ctx->rootfs_path, "/") ? rest : op->destination;
}

/* The absolute path without ".", ".." and doubled slashes; by its text alone. */
static int clean_path(const char *path, char *out, size_t size)
{
	size_t len = 0;

	while (*path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			if (len + n + 2 > size)
				return -ENAMETOOLONG;
			out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		path += n;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return 0;
}

static bool on_procfs(int fd)
{
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* CVE-2019-19921: a mount inside /proc could catch what the runtime writes there. */
static int check_proc(const struct mount_op *op, const char *dest, int tree_fd, struct error *err)
{
	const char *rest = str_after(dest, "/proc");
	size_t i;

	if (!rest || (*rest && *rest != '/') || op->kind == MOUNT_REMOUNT)
		return 0;
	if (!*rest) {
		if (op->kind == MOUNT_BIND ? on_procfs(tree_fd) : mount_type_is(op, "proc"))
			return 0;
		return error_text(err, -EPERM,
				  "\"%s\" cannot be mounted because it is not of type proc", dest);
	}
	for (i = 0; i < ELEMENTSOF(proc_files); i++)
		if (str_eq(proc_files[i], dest))
			return 0;
	return error_text(err, -EPERM, "\"%s\" cannot be mounted because it is inside /proc", dest);
}

/* The destination was reached through links: what its text said of /proc and / proves nothing. */
static int check_landing(const struct mount_op *op, const struct mount_ctx *ctx, int fd,
			 struct error *err)
{
	struct stat st, root;

	if (on_procfs(fd) && !mount_type_is(op, "proc") && op->kind != MOUNT_REMOUNT)
		return error_text(err, -EPERM,
				  "\"%s\" cannot be mounted because it is inside /proc",
				  op->destination);
	if (fstat(fd, &st) < 0 || fstat(ctx->rootfs_fd, &root) < 0)
		return error_set(err, -errno, "stat %s", op->destination);
	if (st.st_dev == root.st_dev && st.st_ino == root.st_ino)
		return error_text(err, -EINVAL, "\"%s\" is the container's root itself",
				  op->destination);
	return 0;
}

/* CVE-2023-27561: /proc and /sys are never reached through a link. */
static bool wants_plain_dir(const struct mount_op *op, const char *dest)
{
	return (op->kind == MOUNT_FS &&
		(mount_type_is(op, "proc") || mount_type_is(op, "sysfs"))) ||
	       str_eq(dest, "/proc") || str_eq(dest, "/sys");
}

static int plain_dir_error(const struct mount_op *op, const char *dest, int rootfs_fd,
			   struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	bool link;

	link = rootfs_openat(rootfs_fd, dest, O_PATH | O_NOFOLLOW, 0, &fd) == 0 &&
	       fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
	return error_text(
		err, -ENOTDIR,
		"filesystem \"%s\" must be mounted on ordinary directory: %s must be a directory%s",
		op->fstype ? op->fstype : "bind", dest, link ? ", is a symlink" : "");
}

static int open_existing(const struct mount_op *op, const struct mount_ctx *ctx, const char *dest,
			 int *ret_fd, struct error *err)
{
	bool linked = false;
	int flags = O_PATH, r;

	/* Only the last link is not followed then; those before it lead elsewhere as well. */
	if (op->dest_nofollow)
		flags |= O_NOFOLLOW;
	r = rootfs_openat_resolve(ctx->rootfs_fd, dest, flags, 0, RESOLVE_NO_SYMLINKS, ret_fd);
	if (r == -ELOOP) {
		linked = true;
		r = rootfs_openat(ctx->rootfs_fd, dest, flags, 0, ret_fd);
	}
	if (r < 0 || !linked)
		return r;
	r = check_landing(op, ctx, *ret_fd, err);
	if (r < 0)
		cleanup_closep(ret_fd);
	return r;
}

static int make_missing(const struct mount_op *op, const struct mount_ctx *ctx, const char *dest,
			int tree_fd, int *ret_fd, struct error *err)
{
	struct stat st;
	bool is_dir = true;
	int r;

	if (tree_fd >= 0) {
		if (fstat(tree_fd, &st) < 0)
			return error_set(err, -errno, "stat the source");
		is_dir = S_ISDIR(st.st_mode);
	}
	r = rootfs_make_missing(ctx->rootfs_fd, dest, is_dir, ret_fd, err);
	if (r < 0)
		return r;
	r = check_landing(op, ctx, *ret_fd, err);
	if (r < 0)
		cleanup_closep(ret_fd);
	return r;
}

int mount_target_open(const struct mount_op *op, const struct mount_ctx *ctx, int tree_fd,
		      int *ret_fd, bool *ret_existed, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	const char *dest = mount_destination(op, ctx);
	char clean[PATH_MAX] = "";
	bool plain;
	int r;

	assert(ctx->rootfs_fd >= 0);

	r = clean_path(dest, clean, sizeof(clean));
	if (r < 0)
		return error_set(err, r, "the destination");
	if (str_eq(clean, "/") && op->kind != MOUNT_REMOUNT)
		return error_text(err, -EINVAL, "\"%s\" is the container's root itself", dest);
	r = check_proc(op, clean, tree_fd, err);
	if (r < 0)
		return r;

	plain = wants_plain_dir(op, clean);
	err->code = 0;
	if (plain)
		r = rootfs_openat(ctx->rootfs_fd, dest, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, &fd);
	else
		r = open_existing(op, ctx, dest, &fd, err);
	if (ret_existed)
		*ret_existed = r == 0;
	if (plain && (r == -ENOTDIR || r == -ELOOP))
		return plain_dir_error(op, dest, ctx->rootfs_fd, err);
	if (r == -ENOENT && op->kind != MOUNT_REMOUNT)
		r = make_missing(op, ctx, dest, tree_fd, &fd, err);
	if (r < 0)
		return err->code ? r : error_set(err, r, "open %s in the container's root", dest);
	*ret_fd = take_fd(&fd);
	return 0;
}
