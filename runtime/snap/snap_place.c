/*
 * Where sessions are: fixed whatever --root is, root's alone. Opens folders one by one
 * without following links, since what is below them is mounted and removed as root.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/sha256.h"
#include "util/str.h"

#define HASH_CHARS 16 /* of the hash of the root folder */

int snap_path(const char *root, const char *id, char **ret, struct error *err)
{
	_cleanup_free_ char *canonical = realpath(root, NULL);
	char hash[SHA256_HEX_SIZE];

	/* After a boot the folder may be gone; records have its canonical name. */
	if (!canonical && errno == ENOENT)
		canonical = strdup(root);
	if (!canonical)
		return error_set(err, -errno, "state folder %s", root);
	sha256_hex_of(canonical, strlen(canonical), hash);
	*ret = str_printf(SNAP_DIR "/%.*s/%s", HASH_CHARS, hash, id);
	return *ret ? 0 : error_oom(err);
}

/* A folder below dirfd that nobody but root can have made or can look into. */
static int open_private(int dirfd, const char *name, bool create, bool closed, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (create && mkdirat(dirfd, name, closed ? 0700 : 0755) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make the folder %s of sessions", name);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return SNAP_E_NOT_FOUND;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open the folder %s of sessions", name);
	if (st.st_uid != 0 || (st.st_mode & (closed ? 077 : 022)))
		return error_text(err, -EPERM, "folder %s on the way to %s: owner %u, mode %04o, but it must be root's and %s",
				  name, SNAP_DIR, st.st_uid, st.st_mode & 07777,
				  closed ? "closed to others (0700)" : "not writable by others");
	*ret_fd = take_fd(&fd);
	return 0;
}

int snap_top_open(bool create, int *ret_fd, struct error *err)
{
	static const struct { const char *name; bool create, closed; } steps[] = {
		{ "var", false, false }, { "lib", false, false }, { "agentrun", true, false }, { "sessions", true, true },
	};
	_cleanup_close_ int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	if (fd < 0)
		return error_set(err, -errno, "open /");
	for (i = 0; i < ELEMENTSOF(steps); i++) {
		int next = -EBADF, r;

		r = open_private(fd, steps[i].name, create && steps[i].create, steps[i].closed, &next, err);
		if (r != 0)
			return r;
		(void)close(fd);
		fd = next;
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

int snap_dir_open(const char *path, bool create, int *ret_fd, struct error *err)
{
	_cleanup_close_ int top_fd = -EBADF, root_fd = -EBADF;
	const char *rest = str_after(path, SNAP_DIR "/");
	char hash[HASH_CHARS + 1];
	int r;

	if (!rest || strlen(rest) < HASH_CHARS + 2 || rest[HASH_CHARS] != '/' || strchr(rest + HASH_CHARS + 1, '/') ||
	    rest[0] == '.' || rest[HASH_CHARS + 1] == '.' || strcspn(rest, "/") != HASH_CHARS)
		return error_text(err, -EINVAL, "%s is no place of a session", path);
	memcpy(hash, rest, HASH_CHARS);
	hash[HASH_CHARS] = '\0';
	r = snap_top_open(create, &top_fd, err);
	if (r == 0)
		r = open_private(top_fd, hash, create, true, &root_fd, err);
	if (r == 0)
		r = open_private(root_fd, rest + HASH_CHARS + 1, create, true, ret_fd, err);
	return r;
}

/* 1: a folder that is not empty. */
static int remove_one(struct snap_cursor *c, const char *path)
{
	const char *name;
	int dir_fd, r = snap_cursor_parent(c, path, &dir_fd, &name);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? 1 : -errno;
}

static int remove_all(struct snap_cursor *c, const char *top, struct snap_levels *levels)
{
	_cleanup_free_ char *path = strdup(top);
	struct error ignored = ERROR_NULL;
	struct snap_level *l;
	int r = path ? remove_one(c, path) : -ENOMEM;

	while (r >= 0) {
		if (r == 1) {
			l = snap_levels_add(levels, path);
			r = l ? snap_cursor_names(c, path, &l->names, &ignored) : -ENOMEM;
			if (r < 0)
				break;
		}
		if (levels->n == 0)
			return 0;
		l = &levels->items[levels->n - 1];
		free(take_ptr(path));
		r = snap_level_next(l, &path, &ignored);
		if (r == 0 && !path) {
			path = take_ptr(l->path);
			snap_levels_drop(levels);
			r = remove_one(c, path);
			/* Somebody puts things there as fast as they go. */
			r = r == 1 ? -ENOTEMPTY : r;
		} else if (r == 0) {
			r = remove_one(c, path);
		}
	}
	return r;
}

int snap_tree_remove(int dirfd, const char *name)
{
	_cleanup_snap_levels_ struct snap_levels levels = { 0 };
	struct snap_cursor c = SNAP_CURSOR(dirfd);
	int r = remove_all(&c, name, &levels);

	snap_cursor_done(&c);
	return r;
}

int snap_dir_clear(int dir_fd)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	int fd, r;

	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	while ((errno = 0, e = readdir(d))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") || str_eq(e->d_name, SNAP_RECORD_FILE))
			continue;
		r = snap_tree_remove(dir_fd, e->d_name);
		if (r < 0)
			return r;
	}
	if (errno != 0)
		return -errno;
	/* The record last: what was interrupted can still be found and removed. */
	return snap_tree_remove(dir_fd, SNAP_RECORD_FILE);
}

int snap_remove(const char *path, struct error *err)
{
	_cleanup_close_ int dir_fd = -EBADF, root_fd = -EBADF, top_fd = -EBADF;
	_cleanup_free_ char *copy = strdup(path);
	char *slash;
	int r;

	if (!copy)
		return error_oom(err);
	r = snap_dir_open(path, false, &dir_fd, err);
	if (r != 0)
		return r < 0 ? r : 0;
	root_fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	top_fd = openat(dir_fd, "../..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 || top_fd < 0)
		return error_set(err, -errno, "open the folder of session %s", path);
	slash = strrchr(copy, '/');
	r = snap_dir_clear(dir_fd);
	if (r == 0)
		r = snap_tree_remove(root_fd, slash + 1);
	if (r < 0)
		return error_set(err, r, "remove session %s", path);
	*slash = '\0';
	(void)unlinkat(top_fd, strrchr(copy, '/') + 1, AT_REMOVEDIR);
	return 0;
}

int snap_open(const char *path, bool lock, struct snap *ret, struct error *err)
{
	_cleanup_snap_ struct snap s = SNAP_NULL;
	int r;

	r = snap_dir_open(path, false, &s.dir_fd, err);
	if (r != 0)
		return r;
	if (lock) {
		s.lock_fd = openat(s.dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s.lock_fd < 0)
			return error_set(err, -errno, "open session %s", path);
		while (flock(s.lock_fd, LOCK_EX) < 0)
			if (errno != EINTR)
				return error_set(err, -errno, "lock session %s", path);
	}
	s.path = strdup(path);
	if (!s.path)
		return error_oom(err);
	r = snap_record_read(s.dir_fd, &s.record, err);
	if (r != 0)
		return r;
	*ret = s;
	s = SNAP_NULL;
	return 0;
}

void snap_done(struct snap *s)
{
	free(take_ptr(s->path));
	cleanup_closep(&s->dir_fd);
	cleanup_closep(&s->lock_fd);
	s->record = snap_record_free(s->record);
	*s = SNAP_NULL;
}
