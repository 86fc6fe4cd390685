/*
 * The container's root as a mount: made, pivoted to, finished. What hides things in it
 * is in rootfs_mask.c, the way without pivot_root in rootfs_move.c.
 */
#include "os/rootfs.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "os/mount_impl.h"

/*
 * The mount that holds the root must not be shared: the bind below would appear in the
 * host's namespace, and pivot_root refuses it. Only its own root can be given to
 * mount_setattr, so walk up to that.
 */
static int parent_mount_private(int dir_fd, unsigned long flags, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct statx stx;
	int r;

	fd = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (;;) {
		int up;

		if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx) < 0)
			return error_set(err, -errno, "find the mount of the container's root");
		if (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT)
			break;
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		cleanup_closep(&fd);
		fd = up;
	}
	r = mount_propagation_fd(fd, flags & MS_SLAVE ? MS_SLAVE : MS_PRIVATE);
	if (r < 0)
		return error_set(err, r, "make the mount of the container's root private");
	return 0;
}

int rootfs_prepare_tree(const char *rootfs, unsigned long propagation, int *tree_fd,
			int *ret_rootfs_fd, struct error *err)
{
	_cleanup_close_ int dir_fd = -EBADF, own_fd = -EBADF, top_fd = -EBADF;
	int r;

	assert(rootfs && ret_rootfs_fd);

	if (!propagation)
		propagation = MS_SLAVE | MS_REC;
	top_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top_fd < 0)
		return error_set(err, -errno, "open /");
	r = mount_propagation_fd(top_fd, propagation);
	if (r < 0)
		return error_set(err, r, "set the propagation of the mounts below /");
	dir_fd = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return error_set(err, -errno, "open the container's root %s", rootfs);
	if (propagation != (MS_SLAVE | MS_REC) && propagation != (MS_PRIVATE | MS_REC)) {
		r = parent_mount_private(dir_fd, propagation, err);
		if (r < 0)
			return r;
	}
	r = *tree_fd < 0 ? mount_clone(dir_fd, "", AT_RECURSIVE, &own_fd) : 0;
	if (r < 0)
		return error_set(err, r, "clone the mounts of the container's root %s", rootfs);
	r = mount_attach(*tree_fd < 0 ? own_fd : *tree_fd, dir_fd);
	if (r < 0)
		return error_set(err, r, "bind the container's root %s onto itself", rootfs);
	*ret_rootfs_fd = take_fd(*tree_fd < 0 ? &own_fd : tree_fd);
	return 0;
}

int rootfs_prepare(const char *rootfs, unsigned long propagation, int *ret_rootfs_fd,
		   struct error *err)
{
	int none = -EBADF;

	return rootfs_prepare_tree(rootfs, propagation, &none, ret_rootfs_fd, err);
}

int rootfs_pivot(int rootfs_fd, struct error *err)
{
	_cleanup_close_ int old_fd = -EBADF;
	int r;

	assert(rootfs_fd >= 0);

	old_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (old_fd < 0)
		return error_set(err, -errno, "open the old root");
	if (fchdir(rootfs_fd) < 0)
		return error_set(err, -errno, "change to the container's root");
	/* Both names the same: the old root ends up on top of the new one, no folder is needed. */
	if (sys_pivot_root(".", ".") < 0)
		return error_set(
			err, -errno,
			"pivot_root (a root on an initramfs cannot be pivoted: use --no-pivot)");
	/* With a shared propagation the unmounting would otherwise reach the host. */
	r = mount_propagation_fd(old_fd, MS_SLAVE | MS_REC);
	if (r < 0)
		return error_set(err, r, "make the old root's mounts slaves");
	if (fchdir(old_fd) < 0 || umount2(".", MNT_DETACH) < 0)
		return error_set(err, -errno, "detach the old root");
	if (chdir("/") < 0)
		return error_set(err, -errno, "change to the new root");
	return 0;
}

int rootfs_chroot(int rootfs_fd, struct error *err)
{
	assert(rootfs_fd >= 0);

	if (fchdir(rootfs_fd) < 0 || chroot(".") < 0 || chdir("/") < 0)
		return error_set(err, -errno, "change the root to the container's");
	return 0;
}

int rootfs_finish(bool readonly, unsigned long propagation, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (!readonly && !propagation)
		return 0;
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, -errno, "open the container's root");
	if (propagation) {
		r = mount_propagation_fd(fd, propagation);
		if (r < 0)
			return error_set(err, r, "set rootfsPropagation");
	}
	if (readonly) {
		r = mount_setattr_fd(fd, false,
				     &(struct mount_attr){ .attr_set = MOUNT_ATTR_RDONLY });
		if (r < 0)
			return error_set(err, r, "make the container's root read-only");
	}
	return 0;
}
