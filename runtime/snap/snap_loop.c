/*
 * The filesystem in an image, mounted by a loop device that goes with its last mount. An
 * image that is in use already is mounted once more from the device it has: the same
 * superblock, never a second one on the same blocks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/syscalls.h"
#include "snap/snap_private.h"
#include "util/str.h"

#define ATTACH_TRIES 64
#define LOOP_CONTROL "/dev/loop-control"

/* Whether the device has that image; it keeps it as long as fd is open. */
static bool loop_has(int fd, const struct stat *image)
{
	struct loop_info64 info;

	return ioctl(fd, LOOP_GET_STATUS64, &info) == 0 && info.lo_inode == image->st_ino &&
	       info.lo_device == image->st_dev;
}

/* The device that has the image, or -ENOENT. */
static int loop_find(const struct stat *image, int *ret_fd)
{
	_cleanup_closedir_ DIR *d = opendir("/sys/block");
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		_cleanup_close_ int fd = -EBADF;
		char path[300];

		if (!str_after(e->d_name, "loop"))
			continue;
		(void)snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", e->d_name);
		if (access(path, F_OK) < 0)
			continue;
		(void)snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0 || !loop_has(fd, image))
			continue;
		*ret_fd = take_fd(&fd);
		return 0;
	}
	return -ENOENT;
}

/* A container's /dev may lack the node that the kernel has just made. */
static int loop_open(long number)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/dev/loop%ld", number);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT && mknod(path, S_IFBLK | 0600, makedev(7, (unsigned)number)) == 0)
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int loop_attach(int image_fd, int *ret_fd, struct error *err)
{
	_cleanup_close_ int control_fd = open(LOOP_CONTROL, O_RDWR | O_CLOEXEC);
	int i;

	if (control_fd < 0)
		return error_set(err, -errno, "open %s (a session keeps its changes in an image on a loop device)", LOOP_CONTROL);
	/* Another program may take the same free device between the two calls. */
	for (i = 0; i < ATTACH_TRIES; i++) {
		/* Blocks as large as the filesystem's: with others it would first be read twice. */
		struct loop_config config = {
			.fd = (unsigned)image_fd,
			.block_size = 4096,
			.info.lo_flags = LO_FLAGS_AUTOCLEAR,
		};
		long number = ioctl(control_fd, LOOP_CTL_GET_FREE);
		int fd;

		if (number < 0)
			return error_set(err, -errno, "find a free loop device for the session");
		fd = loop_open(number);
		if (fd < 0)
			return error_set(err, fd, "open /dev/loop%ld for the session", number);
		if (ioctl(fd, LOOP_CONFIGURE, &config) == 0) {
			*ret_fd = fd;
			return 0;
		}
		if (errno != EBUSY) {
			int r = error_set(err, -errno, "attach the session's image to /dev/loop%ld", number);

			(void)close(fd);
			return r;
		}
		(void)close(fd);
	}
	return error_text(err, -EBUSY, "attach the session's image: others took each loop device first");
}

/*
 * A mount reads block after block and waits for each; here all are asked for at once. The blocks of a
 * fresh image are known: they are those that are no holes. What fails here is read, and told, by the mount.
 */
static void read_ahead(int image_fd, int device_fd)
{
	off_t at = 0, end;

	while ((at = lseek(image_fd, at, SEEK_DATA)) >= 0) {
		end = lseek(image_fd, at, SEEK_HOLE);
		if (end < 0)
			return;
		(void)posix_fadvise(device_fd, at, end - at, POSIX_FADV_WILLNEED);
		at = end;
	}
}

/* The superblock is writable for all alike: one that was not could not be shared. */
static int mount_device(int device_fd, unsigned flags, int *ret_mount_fd)
{
	_cleanup_close_ int fs_fd = fsopen("ext4", FSOPEN_CLOEXEC);
	char source[64];
	int fd;

	(void)snprintf(source, sizeof(source), "/proc/self/fd/%d", device_fd);
	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", source, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_FLAG, "noinit_itable", NULL, 0) < 0 ||
	    /* What is deleted inside is given back to the host. */
	    fsconfig(fs_fd, FSCONFIG_SET_FLAG, "discard", NULL, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "errors", "remount-ro", 0) < 0 ||
	    ((flags & SNAP_MOUNT_VOLATILE) && fsconfig(fs_fd, FSCONFIG_SET_FLAG, "nobarrier", NULL, 0) < 0) ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	/* Whoever looks at what is there must not wake a device that was put in a file's place meanwhile. */
	fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOATIME | (flags & SNAP_MOUNT_FRESH ? 0 : MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID) |
						     (flags & SNAP_MOUNT_READONLY ? MOUNT_ATTR_RDONLY : 0));
	if (fd < 0)
		return -errno;
	*ret_mount_fd = fd;
	return 0;
}

int snap_image_mount(int image_fd, unsigned flags, int *ret_mount_fd, struct error *err)
{
	_cleanup_close_ int device_fd = -EBADF, lock_fd = -EBADF;
	struct stat st;
	int r;

	if (fstat(image_fd, &st) < 0)
		return error_set(err, -errno, "inspect the image of a session");
	if (!(flags & SNAP_MOUNT_FRESH)) {
		char path[64];

		/* Two who find no device at the same time would each make one. */
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", image_fd);
		lock_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (lock_fd < 0 || flock(lock_fd, LOCK_EX) < 0)
			return error_set(err, -errno, "lock the image of a session");
		r = loop_find(&st, &device_fd);
		if (r < 0 && r != -ENOENT)
			return error_set(err, r, "look for the loop device of the session's image");
	}
	if (device_fd < 0) {
		r = loop_attach(image_fd, &device_fd, err);
		if (r < 0)
			return r;
	}
	if (flags & SNAP_MOUNT_FRESH)
		read_ahead(image_fd, device_fd);
	r = mount_device(device_fd, flags, ret_mount_fd);
	return r < 0 ? error_set(err, r, "mount the session's image") : 0;
}
