/*
 * One object copied whole: type, data with its holes, owner, mode, attributes, times.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "snap/snap_attrs.h"
#include "snap/snap_change.h"
#include "snap/snap_sync.h"
#include "util/fd.h"

#define COPY_STEP ((size_t)1 << 20)
#define BUFFER	  ((size_t)128 * 1024)
#define SMALL	  ((size_t)32 * 1024)

/* Between filesystems that copy_file_range(2) does not serve. */
static int copy_by_hand(int from_fd, int to_fd, off_t at, off_t end)
{
	_cleanup_free_ char *buffer = malloc(BUFFER);

	if (!buffer)
		return -ENOMEM;
	while (at < end) {
		ssize_t n = pread(from_fd, buffer, MIN((size_t)(end - at), BUFFER), at), done = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0; /* shorter than it was: it is written to */
		while (done < n) {
			ssize_t m = pwrite(to_fd, buffer + done, (size_t)(n - done), at + done);

			if (m < 0 && errno != EINTR)
				return -errno;
			done += MAX(m, (ssize_t)0);
		}
		at += n;
	}
	return 0;
}

static int copy_range(int from_fd, int to_fd, off_t start, off_t end)
{
	off_t in = start, out = start;

	/* The call goes through a pipe, whose making costs more than such a copy: each new image has a handful of them. */
	if ((size_t)(end - start) <= SMALL)
		return copy_by_hand(from_fd, to_fd, start, end);
	while (in < end) {
		ssize_t n = copy_file_range(from_fd, &in, to_fd, &out, MIN((size_t)(end - in), COPY_STEP), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 || errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS ?
				       copy_by_hand(from_fd, to_fd, in, end) :
				       -errno;
	}
	return 0;
}

int snap_data_copy(int from_fd, int to_fd, off_t size)
{
	off_t data = 0, hole;
	int r;

	if (size == 0)
		return 0;
	/* Fewer calls than finding out what else the two filesystems could do; a hole so small is written. */
	if ((size_t)size <= SMALL)
		return copy_by_hand(from_fd, to_fd, 0, size);
	if (ioctl(to_fd, FICLONE, from_fd) == 0)
		return 0;
	if (ftruncate(to_fd, size) < 0)
		return -errno;
	for (;;) {
		data = lseek(from_fd, data, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			return 0;
		hole = data < 0 ? -1 : lseek(from_fd, data, SEEK_HOLE);
		/* No such calls here: then there are no holes. */
		if (hole < 0)
			return errno == EINVAL ? copy_range(from_fd, to_fd, 0, size) : -errno;
		r = copy_range(from_fd, to_fd, data, hole);
		if (r < 0)
			return r;
		data = hole;
	}
}

int snap_object_reopen(int fd)
{
	char path[32];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return r < 0 ? -errno : r;
}

static int copy_file(int from_fd, const struct stat *from, int dirfd, const char *name, uint64_t *bytes, int *ret_fd)
{
	_cleanup_close_ int in = snap_object_reopen(from_fd), out = -EBADF;
	int r;

	if (in < 0)
		return in;
	out = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = snap_data_copy(in, out, from->st_size);
	if (r < 0)
		return r;
	*bytes += (uint64_t)from->st_size;
	*ret_fd = take_fd(&out);
	return 0;
}

static int make_other(int from_fd, const struct stat *from, int dirfd, const char *name)
{
	char target[PATH_MAX];
	ssize_t n;

	switch (from->st_mode & S_IFMT) {
	case S_IFDIR:
		return mkdirat(dirfd, name, 0700) < 0 ? -errno : 0;
	case S_IFLNK:
		n = readlinkat(from_fd, "", target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		return symlinkat(target, dirfd, name) < 0 ? -errno : 0;
	default:
		return mknodat(dirfd, name, (from->st_mode & S_IFMT) | 0600, from->st_rdev) < 0 ? -errno : 0;
	}
}

/*
 * What was just made has no descriptor. Whoever may write to the folder could have put something else there, whose
 * owner and mode would then be set: a file can have come by a hard link, so it must be neither that nor another's.
 */
static int open_made(const struct stat *from, int dirfd, const char *name, int *ret_fd)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (((st.st_mode ^ from->st_mode) & S_IFMT) || st.st_uid != (uid_t)setfsuid((uid_t)-1) || (!S_ISDIR(st.st_mode) && st.st_nlink != 1))
		return -ESTALE;
	*ret_fd = take_fd(&fd);
	return 0;
}

int snap_object_copy(int from_fd, const struct stat *from, int dirfd, const char *name, uint64_t *bytes, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (S_ISREG(from->st_mode)) {
		r = copy_file(from_fd, from, dirfd, name, bytes, &fd);
	} else {
		r = make_other(from_fd, from, dirfd, name);
		if (r == 0)
			r = open_made(from, dirfd, name, &fd);
	}
	return r < 0 ? error_set(err, r, "copy") : snap_attrs_copy(from_fd, from, fd, err);
}

static int same_data(int a_fd, const struct stat *a, int b_fd, const struct stat *b, bool *ret)
{
	char x[PATH_MAX], y[PATH_MAX];
	ssize_t n, m;

	switch (a->st_mode & S_IFMT) {
	case S_IFREG: {
		_cleanup_close_ int p = -EBADF, q = -EBADF;

		*ret = a->st_size == b->st_size;
		if (!*ret || a->st_size == 0)
			return 0;
		p = snap_object_reopen(a_fd);
		q = snap_object_reopen(b_fd);
		return p < 0 ? p : q < 0 ? q : snap_same_content(p, q, ret);
	}
	case S_IFLNK:
		n = readlinkat(a_fd, "", x, sizeof(x));
		m = readlinkat(b_fd, "", y, sizeof(y));
		*ret = n == m && n >= 0 && memcmp(x, y, (size_t)n) == 0;
		return 0;
	case S_IFCHR:
	case S_IFBLK:
		*ret = a->st_rdev == b->st_rdev;
		return 0;
	default:
		*ret = true;
		return 0;
	}
}

int snap_same_object(int a_fd, const struct stat *a, int b_fd, const struct stat *b, bool *ret, struct error *err)
{
	unsigned attrs;
	int r;

	*ret = false;
	if ((a->st_mode ^ b->st_mode) & S_IFMT)
		return 0;
	r = snap_attrs_compare(a_fd, a, b_fd, b, &attrs, err);
	if (r < 0)
		return r;
	/* Times of folders and links tell of what was done to them, no more. */
	if (S_ISDIR(a->st_mode) || S_ISLNK(a->st_mode))
		attrs &= ~(unsigned)SNAP_ATTR_TIME;
	if (attrs)
		return 0;
	r = same_data(a_fd, a, b_fd, b, ret);
	return r < 0 ? error_set(err, r, "compare") : 0;
}
