/*
 * Masked and read-only paths, on descriptors resolved inside the new root. The mask of a
 * file is a device proved to be 1:3, never whatever lies at the container's /dev/null
 * (CVE-2025-31133).
 */
#include "os/rootfs.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/mount_impl.h"
#include "os/procfs.h"
#include "util/str.h"

static int null_verify(int fd, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "stat /dev/null");
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
		return error_text(err, -EINVAL, "/dev/null is not the null device (char 1:3)");
	return 0;
}

int rootfs_null_open(int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	bool detached;
	int r;

	assert(ret_fd);

	r = mount_clone(AT_FDCWD, "/dev/null", AT_SYMLINK_NOFOLLOW, &fd);
	detached = r == 0;
	if (!detached) {
		fd = open("/dev/null", O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return error_set(err, -errno, "open /dev/null");
	}
	r = null_verify(fd, err);
	if (r < 0)
		return r;
	if (detached) {
		/* Out of the peer group of the host's /dev. */
		r = mount_propagation_fd(fd, MS_PRIVATE);
		if (r < 0)
			return error_set(err, r, "make the clone of /dev/null private");
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

int rootfs_own_null(int rootfs_fd, int proc_fd, struct error *err)
{
	_cleanup_close_ int own = -EBADF;
	int fd, i, r;

	for (i = 0; i < 3; i++) {
		if (!is_null(i))
			continue;
		if (own < 0 && (rootfs_openat(rootfs_fd, "dev/null", O_PATH | O_NOFOLLOW, 0, &own) < 0 || !is_null(own)))
			return 0;
		/* a device list that leaves it out is no reason to lose a stream that works */
		if (procfs_reopen(proc_fd, own, fcntl(i, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK), &fd, err) < 0)
			continue;
		r = dup2(fd, i);
		(void)close(fd);
		if (r < 0)
			return error_set(err, -errno, "put the container's /dev/null on descriptor %d", i);
	}
	return 0;
}

struct masks {
	int root_fd;
	int null_fd;	 /* borrowed */
	int dir_fd;	 /* the shared tmpfs */
	int own_null_fd; /* the container's, verified */
	bool own_tried;
	const char *label;
};

static void masks_done(struct masks *m)
{
	cleanup_closep(&m->root_fd);
	cleanup_closep(&m->dir_fd);
	cleanup_closep(&m->own_null_fd);
}

/*
 * Puts one more instance of a mount on target. A detached mount can be cloned since Linux
 * 6.15; before, it is attached itself the first time and can be cloned from then on. It
 * must not be moved when it is attached, so cloning is tried first.
 */
static int stamp(int mount_fd, int target_fd)
{
	_cleanup_close_ int clone_fd = -EBADF;
	int r;

	r = mount_clone(mount_fd, "", 0, &clone_fd);
	if (r == 0)
		return mount_attach(clone_fd, target_fd);
	return r == -EINVAL ? mount_attach(mount_fd, target_fd) : r;
}

/*
 * The container's own node, if it is one: root in there may change the mode or the owner of the
 * mask, and with the host's node it would do so to everybody.
 */
static int own_null_open(struct masks *m, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = rootfs_openat(m->root_fd, "dev/null", O_PATH | O_NOFOLLOW, 0, &fd);
	if (r < 0)
		return error_set(err, r, "open the container's /dev/null");
	r = null_verify(fd, err);
	if (r == 0)
		m->own_null_fd = take_fd(&fd);
	return r;
}

static int mask_file(struct masks *m, int target_fd, struct error *err)
{
	int r = 0;

	if (!m->own_tried) {
		m->own_tried = true;
		r = own_null_open(m, err);
	}
	if (m->own_null_fd >= 0)
		return stamp(m->own_null_fd, target_fd);
	if (m->null_fd < 0)
		return r < 0 ? r : own_null_open(m, err);
	*err = ERROR_NULL;
	return stamp(m->null_fd, target_fd);
}

static int mask_dir(struct masks *m, int target_fd, struct error *err)
{
	int r;

	if (m->dir_fd < 0) {
		const struct mount_fs fs = {
			.fstype = "tmpfs",
			.source = "tmpfs",
			.data = "mode=755,size=4k,nr_inodes=1",
			.label = m->label,
			.attrs = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				 MOUNT_ATTR_NOEXEC,
		};

		r = mount_fs_create(&fs, &m->dir_fd, err);
		if (r < 0)
			return r;
		/*
		 * The mount itself the first time: closing one that was never attached waits for an
		 * RCU grace period.
		 */
		return mount_attach(m->dir_fd, target_fd);
	}
	return stamp(m->dir_fd, target_fd);
}

static int mask_path(struct masks *m, const char *path, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	r = rootfs_openat(m->root_fd, path, O_PATH, 0, &fd);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0)
		return error_set(err, r, "open the path to mask");
	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "stat the path to mask");
	err->code = 0;
	r = S_ISDIR(st.st_mode) ? mask_dir(m, fd, err) : mask_file(m, fd, err);
	if (r < 0 && err->code == 0)
		return error_set(err, r, "mount over it");
	return r;
}

static bool seen_before(char *const *paths, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (str_eq(paths[k], paths[i]))
			return true;
	return false;
}

static int root_open(int *ret_fd, struct error *err)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, -errno, "open the container's root");
	*ret_fd = fd;
	return 0;
}

int rootfs_mask_paths(char *const *paths, size_t count, int null_fd, const char *label,
		      struct error *err)
{
	_cleanup_(masks_done) struct masks m = {
		.root_fd = -EBADF,
		.null_fd = null_fd,
		.dir_fd = -EBADF,
		.own_null_fd = -EBADF,
		.label = label,
	};
	size_t i;
	int r;

	assert(paths || count == 0);

	if (count == 0)
		return 0;
	r = root_open(&m.root_fd, err);
	if (r < 0)
		return r;
	for (i = 0; i < count; i++) {
		if (seen_before(paths, i))
			continue;
		r = mask_path(&m, paths[i], err);
		if (r < 0)
			return error_prefix(err, "mask path \"%s\"", paths[i]);
	}
	return 0;
}

static int readonly_path(int root_fd, const char *path, struct error *err)
{
	_cleanup_close_ int fd = -EBADF, tree_fd = -EBADF;
	int r;

	r = rootfs_openat(root_fd, path, O_PATH, 0, &fd);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0)
		return error_set(err, r, "open it");
	r = mount_clone(fd, "", AT_RECURSIVE, &tree_fd);
	if (r < 0)
		return error_set(err, r, "clone its mount");
	/* Nothing but this flag: clearing another one could be refused as locked. */
	r = mount_setattr_fd(tree_fd, false, &(struct mount_attr){ .attr_set = MOUNT_ATTR_RDONLY });
	if (r < 0)
		return error_set(err, r, "set it read-only");
	r = mount_attach(tree_fd, fd);
	if (r < 0)
		return error_set(err, r, "mount it onto itself");
	return 0;
}

int rootfs_readonly_paths(char *const *paths, size_t count, struct error *err)
{
	_cleanup_close_ int root_fd = -EBADF;
	size_t i;
	int r;

	assert(paths || count == 0);

	if (count == 0)
		return 0;
	r = root_open(&root_fd, err);
	if (r < 0)
		return r;
	for (i = 0; i < count; i++) {
		if (seen_before(paths, i))
			continue;
		r = readonly_path(root_fd, paths[i], err);
		if (r < 0)
			return error_prefix(err, "make path \"%s\" read-only", paths[i]);
	}
	return 0;
}
