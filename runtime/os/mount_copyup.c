/*
 * tmpcopyup: the content of the folder that a tmpfs is about to cover, copied into it.
 * The content is the container image's, so links are copied and never followed, other
 * mounts are left out, and everything goes by descriptors. The tmpfs bounds the size.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "os/mount_impl.h"
#include "util/str.h"

#define COPYUP_DEPTH_MAX 128 /* two descriptors for each level */
#define COPYUP_CHUNK	 ((size_t)16 * 1024 * 1024)

struct copyup {
	uint64_t mnt_id; /* the mount that is copied; st_dev differs between files of one overlay */
	bool keep_owner;
	unsigned depth;
};

static int look(int dir_fd, const char *name, struct statx *ret)
{
	return statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
		     STATX_BASIC_STATS | STATX_MNT_ID, ret);
}

/* Owners that the user namespace does not map stay the namespace's root. */
static int set_owner(const struct copyup *c, int dir_fd, const char *name, const struct statx *st)
{
	if (!c->keep_owner)
		return 0;
	if (fchownat(dir_fd, name, st->stx_uid, st->stx_gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) <
		    0 &&
	    errno != EPERM && errno != EINVAL)
		return -errno;
	return 0;
}

static int set_times(int dir_fd, const char *name, const struct statx *st)
{
	const struct timespec times[2] = {
		{ .tv_sec = st->stx_atime.tv_sec, .tv_nsec = st->stx_atime.tv_nsec },
		{ .tv_sec = st->stx_mtime.tv_sec, .tv_nsec = st->stx_mtime.tv_nsec },
	};

	return utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int copy_data(int in, int out)
{
	for (;;) {
		ssize_t n = sendfile(out, in, NULL, COPYUP_CHUNK);

		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int copy_file(const struct copyup *c, int from, int to, const char *name)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	struct statx st;
	int r;

	/* NONBLOCK: it may have become a fifo since it was looked at. */
	in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0 || look(in, "", &st) < 0)
		return -errno;
	if (!S_ISREG(st.stx_mode))
		return 0;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = copy_data(in, out);
	if (r < 0)
		return r;
	r = set_owner(c, out, "", &st);
	if (r < 0)
		return r;
	/* After the owner: changing that takes setuid bits away. */
	if (fchmod(out, st.stx_mode & 07777) < 0)
		return -errno;
	return set_times(to, name, &st);
}

static int copy_link(const struct copyup *c, int from, int to, const char *name,
		     const struct statx *st)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (symlinkat(target, to, name) < 0)
		return -errno;
	return set_owner(c, to, name, st);
}

static int copy_dir(struct copyup *c, int *from, int to);

static int copy_subdir(struct copyup *c, int from, int to, const char *name, const struct statx *st)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	int r;

	if (mkdirat(to, name, 0700) < 0)
		return -errno;
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return -errno;
	if (st->stx_mnt_id == c->mnt_id) {
		in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (in < 0)
			return -errno;
		if (++c->depth > COPYUP_DEPTH_MAX)
			return -ELOOP;
		r = copy_dir(c, &in, out);
		c->depth--;
		if (r < 0)
			return r;
	}
	r = set_owner(c, out, "", st);
	if (r < 0)
		return r;
	if (fchmod(out, st->stx_mode & 07777) < 0)
		return -errno;
	return set_times(to, name, st);
}

/* Devices and sockets are left out: they mean nothing in another file system. */
static int copy_entry(struct copyup *c, int from, int to, const char *name)
{
	struct statx st;

	if (look(from, name, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.stx_mode))
		return copy_subdir(c, from, to, name, &st);
	if (st.stx_mnt_id != c->mnt_id)
		return 0;
	if (S_ISREG(st.stx_mode))
		return copy_file(c, from, to, name);
	if (S_ISLNK(st.stx_mode))
		return copy_link(c, from, to, name, &st);
	if (S_ISFIFO(st.stx_mode)) {
		if (mknodat(to, name, S_IFIFO | (st.stx_mode & 0777), 0) < 0)
			return -errno;
		return set_owner(c, to, name, &st);
	}
	return 0;
}

/* Takes *from. */
static int copy_dir(struct copyup *c, int *from, int to)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int r, fd;

	dir = fdopendir(*from);
	if (!dir)
		return -errno;
	fd = take_fd(from);
	for (;;) {
		struct dirent *de;

		errno = 0;
		de = readdir(dir);
		if (!de)
			return -errno;
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		r = copy_entry(c, fd, to, de->d_name);
		if (r < 0)
			return r;
	}
}

int mount_copyup(int dir_fd, int tmpfs_fd, bool keep_owner, struct error *err)
{
	_cleanup_close_ int from = -EBADF;
	struct copyup c = { .keep_owner = keep_owner };
	struct statx st;
	mode_t old;
	int r;

	assert(dir_fd >= 0 && tmpfs_fd >= 0);

	from = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from < 0 || look(from, "", &st) < 0)
		return error_set(err, -errno, "open the folder to copy");
	c.mnt_id = st.stx_mnt_id;
	old = umask(0);
	r = copy_dir(&c, &from, tmpfs_fd);
	if (r == 0)
		r = set_owner(&c, tmpfs_fd, "", &st);
	(void)umask(old);
	if (r < 0)
		return error_set(err, r, "copy the folder's content");
	return 0;
}
