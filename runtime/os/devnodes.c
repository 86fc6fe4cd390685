/*
 * Device nodes, links and the console below the container's /dev, before the pivot. All
 * of it happens below a descriptor that was resolved inside the root: an image whose
 * /dev is a link to a host folder must not get that folder changed (CVE-2026-41579).
 */
#include "os/devnodes.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/mount_impl.h"
#include "os/rootfs.h"
#include "util/str.h"

const struct devnode devnodes_default[] = {
	{ "/dev/null", 'c', 1, 3, 0666, 0, 0, 0 },	   { "/dev/zero", 'c', 1, 5, 0666, 0, 0, 0 },
	{ "/dev/full", 'c', 1, 7, 0666, 0, 0, 0 },	   { "/dev/random", 'c', 1, 8, 0666, 0, 0, 0 },
	{ "/dev/urandom", 'c', 1, 9, 0666, 0, 0, 0 }, { "/dev/tty", 'c', 5, 0, 0666, 0, 0, 0 },
};
const size_t devnodes_default_count = ELEMENTSOF(devnodes_default);

/* The folder of the last node; most are all in /dev. */
struct folder {
	int rootfs_fd, fd;
	bool setgid; /* new nodes get its group instead of ours */
	char path[PATH_MAX];
};

static void folder_done(struct folder *f)
{
	cleanup_closep(&f->fd);
}

static int folder_open(struct folder *f, const char *path, const char **ret_name, struct error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	struct stat st;
	int fd, r;

	if (f->fd >= 0 && slash && strncmp(f->path, path, len) == 0 && f->path[len] == '\0' &&
	    slash[1]) {
		*ret_name = slash + 1;
		return 0;
	}
	r = rootfs_make_parent(f->rootfs_fd, path, &fd, ret_name, err);
	if (r < 0)
		return r;
	cleanup_closep(&f->fd);
	f->fd = fd;
	memcpy(f->path, path, len);
	f->path[len] = '\0';
	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "stat the folder of %s", path);
	f->setgid = (st.st_mode & S_ISGID) != 0;
	return 0;
}

static mode_t node_type(const struct devnode *n)
{
	return n->type == 'b' ? S_IFBLK : n->type == 'p' ? S_IFIFO : S_IFCHR;
}

static bool same_node(const struct devnode *n, const struct stat *st)
{
	if ((st->st_mode & S_IFMT) != node_type(n))
		return false;
	return n->type == 'p' || st->st_rdev == makedev(n->major, n->minor);
}

static int node_mknod(const struct folder *f, const char *name, const struct devnode *n)
{
	dev_t dev = n->type == 'p' ? 0 : makedev(n->major, n->minor);

	if (mknodat(f->fd, name, node_type(n) | (n->mode & 07777), dev) < 0)
		return -errno;
	if ((n->uid || n->gid || f->setgid) &&
	    fchownat(f->fd, name, n->uid, n->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

/* The host's /dev, bound into the container, is not ours to change. */
static bool on_host_dev(const struct stat *st)
{
	struct stat dev;

	return stat("/dev", &dev) == 0 && dev.st_dev == st->st_dev;
}

/*
 * The node is there already. A mode cannot be changed on an O_PATH descriptor before Linux
 * 6.6, and changing it by name could follow a link, so the node is made anew.
 */
static int node_existing(const struct folder *f, const char *name, const struct devnode *n,
			 bool adjust, struct error *err)
{
	struct stat st;
	int r;

	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_set(err, -errno, "stat device %s", n->path);
	if (!same_node(n, &st))
		return error_text(err, -EEXIST,
				  "device %s: the container's root has something else of that name",
				  n->path);
	if (!adjust || on_host_dev(&st))
		return 0;
	if ((st.st_mode & 07777) != (n->mode & 07777)) {
		if (unlinkat(f->fd, name, 0) < 0)
			return error_set(err, -errno, "replace device %s", n->path);
		r = node_mknod(f, name, n);
		if (r < 0)
			return error_set(err, r, "replace device %s", n->path);
		return 0;
	}
	if ((st.st_uid != n->uid || st.st_gid != n->gid) &&
	    fchownat(f->fd, name, n->uid, n->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return error_set(err, -errno, "change the owner of device %s", n->path);
	return 0;
}

/* The host's node or the parent's, proved to be the device that was asked, on an empty file. */
static int node_bind(const struct folder *f, const char *name, const struct devnode *n,
		     struct error *err)
{
	_cleanup_close_ int tree_fd = -EBADF, target_fd = -EBADF;
	int use_fd = n->tree_fd;
	struct stat st;
	int r;

	if (n->tree_fd <= 2) {
		r = mount_clone(AT_FDCWD, n->path, 0, &tree_fd);
		if (r < 0)
			return error_set(err, r, "bind the host's device %s", n->path);
		use_fd = tree_fd;
	}
	if (fstat(use_fd, &st) < 0)
		return error_set(err, -errno, "stat the host's device %s", n->path);
	if (!same_node(n, &st))
		return error_text(err, -ENODEV,
				  "the host's %s is not the device %c %u:%u that was asked",
				  n->path, n->type, n->major, n->minor);
	if (mknodat(f->fd, name, S_IFREG, 0) < 0 && errno != EEXIST)
		return error_set(err, -errno, "create a file for device %s", n->path);
	target_fd = openat(f->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (target_fd < 0 || fstat(target_fd, &st) < 0)
		return error_set(err, -errno, "open the file for device %s", n->path);
	if (same_node(n, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return error_text(err, -EEXIST,
				  "device %s: the container's root has something else of that name",
				  n->path);
	r = mount_attach(use_fd, target_fd);
	if (r < 0)
		return error_set(err, r, "bind device %s", n->path);
	return 0;
}

static int node_create(struct folder *f, const struct devnode *n, bool bind, struct error *err)
{
	const char *name;
	int r;

	/* The container's ptmx is the link that devnodes_links() makes, whatever the list says. */
	if (str_eq(n->path, "/dev/ptmx"))
		return 0;
	if (!strchr("cbpu", n->type) || !n->type)
		return error_text(err, -EINVAL, "device %s: '%c' is no device type", n->path,
				  n->type);
	r = folder_open(f, n->path, &name, err);
	if (r < 0)
		return r;
	if (bind && n->type != 'p')
		return node_bind(f, name, n, err);
	r = node_mknod(f, name, n);
	if (r == -EPERM && n->type != 'p')
		return node_bind(f, name, n, err);
	if (r == -EEXIST)
		return node_existing(f, name, n, true, err);
	if (r < 0)
		return error_set(err, r, "create device %s", n->path);
	return 0;
}

int devnodes_create(int rootfs_fd, const struct devnode *nodes, size_t count, bool bind,
		    struct error *err)
{
	_cleanup_(folder_done) struct folder f = { .rootfs_fd = rootfs_fd, .fd = -EBADF };
	mode_t old;
	size_t i;
	int r = 0;

	assert(rootfs_fd >= 0);
	assert(nodes || count == 0);

	old = umask(0);
	for (i = 0; r == 0 && i < count; i++)
		r = node_create(&f, &nodes[i], bind, err);
	(void)umask(old);
	return r;
}

int devnodes_links(int rootfs_fd, struct error *err)
{
	static const struct {
		const char *name, *target;
	} links[] = {
		{ "fd", "/proc/self/fd" },	 { "stdin", "/proc/self/fd/0" },
		{ "stdout", "/proc/self/fd/1" }, { "stderr", "/proc/self/fd/2" },
		{ "ptmx", "pts/ptmx" },		 { "core", "/proc/kcore" },
	};
	_cleanup_close_ int dev_fd = -EBADF;
	size_t i, n = ELEMENTSOF(links);
	int r;

	assert(rootfs_fd >= 0);

	r = rootfs_make_target(rootfs_fd, "/dev", true, &dev_fd, err);
	if (r < 0)
		return r;
	/* Kernels without CONFIG_PROC_KCORE would leave it dangling. */
	if (access("/proc/kcore", F_OK) < 0)
		n--;
	for (i = 0; i < n; i++) {
		if (symlinkat(links[i].target, dev_fd, links[i].name) == 0 || errno == EEXIST)
			continue;
		/* A /dev that the engine bound read-only comes with what it has. */
		if (errno == EROFS)
			return 0;
		return error_set(err, -errno, "create link /dev/%s", links[i].name);
	}
	return 0;
}

int devnodes_console(int rootfs_fd, int pty_fd, struct error *err)
{
	_cleanup_close_ int dev_fd = -EBADF, target_fd = -EBADF, tree_fd = -EBADF;
	const char *name;
	struct stat st;
	mode_t old;
	int r;

	assert(rootfs_fd >= 0 && pty_fd >= 0);

	r = rootfs_make_parent(rootfs_fd, "/dev/console", &dev_fd, &name, err);
	if (r < 0)
		return r;
	old = umask(0);
	r = mknodat(dev_fd, name, S_IFREG | 0600, 0) < 0 && errno != EEXIST ? -errno : 0;
	(void)umask(old);
	if (r < 0)
		return error_set(err, r, "create /dev/console");
	target_fd = openat(dev_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (target_fd < 0 || fstat(target_fd, &st) < 0)
		return error_set(err, -errno, "open /dev/console");
	if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode))
		return error_text(err, -EINVAL, "/dev/console in the container's root is no file");
	r = mount_clone(pty_fd, "", 0, &tree_fd);
	if (r < 0)
		return error_set(err, r, "clone the mount of the terminal");
	r = mount_attach(tree_fd, target_fd);
	if (r < 0)
		return error_set(err, r, "mount the terminal on /dev/console");
	return 0;
}
