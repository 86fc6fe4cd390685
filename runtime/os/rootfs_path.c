/*
 * Paths below the container's root, where every component may be hostile: openat2 for
 * look-ups, and a walk on descriptors for what has to be made. No path is handed to the
 * kernel outside the root's descriptor.
 */
#include "os/rootfs.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "os/syscalls.h"
#include "util/str.h"

/* A rename or mount anywhere on the host during a look-up of ".." gives EAGAIN. */
#define RESOLVE_TRIES 128
#define LINKS_MAX     40 /* as the kernel's own limit */
#define DIR_MODE      0755
#define FILE_MODE     0644

int rootfs_openat_resolve(int rootfs_fd, const char *path, int flags, mode_t mode, uint64_t resolve,
			  int *ret_fd)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.mode = mode,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int i, fd;

	assert(rootfs_fd >= 0);
	assert(path && ret_fd);

	for (i = 0; i < RESOLVE_TRIES; i++) {
		fd = sys_openat2(rootfs_fd, *path ? path : "/", &how);
		if (fd >= 0) {
			*ret_fd = fd;
			return 0;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int rootfs_openat(int rootfs_fd, const char *path, int flags, mode_t mode, int *ret_fd)
{
	return rootfs_openat_resolve(rootfs_fd, path, flags, mode, 0, ret_fd);
}

/* State of one walk: the folder reached, its path in real names (for ".."), what is left. */
struct walk {
	int rootfs_fd;
	int fd; /* O_PATH of the folder reached */
	char done[PATH_MAX];
	char left[PATH_MAX];
	unsigned links;
};

static void walk_done(struct walk *w)
{
	cleanup_closep(&w->fd);
}

/* done holds names that were no links a moment ago; NO_SYMLINKS keeps it so. */
static int walk_reopen(struct walk *w)
{
	int fd = -EBADF, r;

	r = rootfs_openat_resolve(w->rootfs_fd, w->done, O_PATH | O_DIRECTORY, 0,
				  RESOLVE_NO_SYMLINKS, &fd);
	if (r < 0)
		return r;
	cleanup_closep(&w->fd);
	w->fd = fd;
	return 0;
}

static int walk_up(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash)
		*slash = '\0';
	return walk_reopen(w);
}

/* Takes the next component off left into name; false at the end. */
static bool walk_next(struct walk *w, char name[NAME_MAX + 1], int *r)
{
	char *p = w->left + strspn(w->left, "/");
	size_t len = strcspn(p, "/");

	*r = 0;
	if (len == 0)
		return false;
	if (len > NAME_MAX) {
		*r = -ENAMETOOLONG;
		return false;
	}
	memcpy(name, p, len);
	name[len] = '\0';
	memmove(w->left, p + len, strlen(p + len) + 1);
	return true;
}

static bool walk_is_last(const struct walk *w)
{
	return w->left[strspn(w->left, "/")] == '\0';
}

/* Puts the link's text before what is left; an absolute one starts again at the root. */
static int walk_link(struct walk *w, int link_fd)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link_fd, "", target, sizeof(target));
	size_t left = strlen(w->left);

	if (n < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if ((size_t)n + 1 + left >= sizeof(w->left))
		return -ENAMETOOLONG;
	memmove(w->left + n + 1, w->left, left + 1);
	memcpy(w->left, target, (size_t)n);
	w->left[n] = '/';
	if (n == 0 || target[0] != '/')
		return 0;
	w->done[0] = '\0';
	return walk_reopen(w);
}

static int walk_enter(struct walk *w, int *fd, const char *name)
{
	size_t used = strlen(w->done);
	int n = snprintf(w->done + used, sizeof(w->done) - used, "/%s", name);

	if (n < 0 || (size_t)n >= sizeof(w->done) - used)
		return -ENAMETOOLONG;
	cleanup_closep(&w->fd);
	w->fd = take_fd(fd);
	return 0;
}

/*
 * Another process may make the same name at the same time (a shared volume), so EEXIST is
 * no failure; what is there then is looked at like anything else.
 */
static int make_entry(int dir_fd, const char *name, bool is_dir)
{
	int r = is_dir ? mkdirat(dir_fd, name, DIR_MODE)
		       : mknodat(dir_fd, name, S_IFREG | FILE_MODE, 0);

	return r < 0 && errno != EEXIST ? -errno : 0;
}

/* One component: 0 and *ret_fd at the end of the path, else 1. */
static int walk_step(struct walk *w, const char *name, bool is_dir, int *ret_fd)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (str_eq(name, "."))
		return 1;
	if (str_eq(name, "..")) {
		r = walk_up(w);
		return r < 0 ? r : 1;
	}
	fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		r = make_entry(w->fd, name, is_dir || !walk_is_last(w));
		if (r < 0)
			return r;
		fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		r = walk_link(w, fd);
		return r < 0 ? r : 1;
	}
	if (walk_is_last(w)) {
		*ret_fd = take_fd(&fd);
		return 0;
	}
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	r = walk_enter(w, &fd, name);
	return r < 0 ? r : 1;
}

static int walk_make(int rootfs_fd, const char *path, bool is_dir, int *ret_fd)
{
	_cleanup_(walk_done) struct walk w = { .rootfs_fd = rootfs_fd, .fd = -EBADF };
	char name[NAME_MAX + 1];
	int r;

	if (strlen(path) >= sizeof(w.left))
		return -ENAMETOOLONG;
	strncpy(w.left, path, sizeof(w.left) - 1);
	r = walk_reopen(&w);
	if (r < 0)
		return r;
	while (walk_next(&w, name, &r)) {
		r = walk_step(&w, name, is_dir, ret_fd);
		if (r <= 0)
			return r;
	}
	if (r < 0)
		return r;
	/* The path ended in "." or ".." or was empty: the folder reached. */
	*ret_fd = take_fd(&w.fd);
	return 0;
}

/* The usual case, only the last component is missing: 1 when it is not that easy. */
static int make_last(int rootfs_fd, const char *path, bool is_dir, int *ret_fd)
{
	_cleanup_close_ int dir_fd = -EBADF;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char parent[PATH_MAX];
	size_t len = slash ? (size_t)(slash - path) : 0;
	int fd, r;

	if (!*name || str_eq(name, ".") || str_eq(name, "..") || len >= sizeof(parent))
		return 1;
	memcpy(parent, path, len);
	parent[len] = '\0';
	if (rootfs_openat(rootfs_fd, parent, O_PATH | O_DIRECTORY, 0, &dir_fd) < 0)
		return 1;
	r = make_entry(dir_fd, name, is_dir);
	if (r < 0)
		return r;
	/* O_DIRECTORY refuses a link that was there already; the walk knows what to do with it. */
	fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_dir ? O_DIRECTORY : 0));
	if (fd < 0)
		return 1;
	if (!is_dir) {
		struct stat st;

		if (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode)) {
			cleanup_closep(&fd);
			return 1;
		}
	}
	*ret_fd = fd;
	return 0;
}

int rootfs_make_missing(int rootfs_fd, const char *path, bool is_dir, int *ret_fd,
			struct error *err)
{
	mode_t old;
	int r;

	assert(rootfs_fd >= 0);
	assert(path && ret_fd);

	old = umask(0);
	r = make_last(rootfs_fd, path, is_dir, ret_fd);
	if (r > 0)
		r = walk_make(rootfs_fd, path, is_dir, ret_fd);
	(void)umask(old);
	if (r < 0)
		return error_set(err, r, "create %s in the container's root", path);
	return 0;
}

int rootfs_make_target(int rootfs_fd, const char *path, bool is_dir, int *ret_fd, struct error *err)
{
	int r;

	r = rootfs_openat(rootfs_fd, path, O_PATH, 0, ret_fd);
	if (r == -ENOENT)
		return rootfs_make_missing(rootfs_fd, path, is_dir, ret_fd, err);
	if (r < 0)
		return error_set(err, r, "open %s in the container's root", path);
	return 0;
}

int rootfs_make_parent(int rootfs_fd, const char *path, int *ret_fd, const char **ret_name,
		       struct error *err)
{
	const char *slash, *name;
	char parent[PATH_MAX];
	int r;

	assert(path && ret_fd && ret_name);

	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	if (!*name || str_eq(name, ".") || str_eq(name, ".."))
		return error_text(err, -EINVAL, "\"%s\" names no file in a folder", path);
	if (name - path >= (ptrdiff_t)sizeof(parent))
		return error_set(err, -ENAMETOOLONG, "open the folder of %s", path);
	memcpy(parent, path, (size_t)(name - path));
	parent[name - path] = '\0';
	r = rootfs_make_target(rootfs_fd, parent, true, ret_fd, err);
	if (r < 0)
		return r;
	*ret_name = name;
	return 0;
}
