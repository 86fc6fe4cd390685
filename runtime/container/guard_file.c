/*
 * Reading the policy file: whoever could write it, or a folder above it, could switch the
 * policy off. So it and every folder up to / must belong to root (or to us, when we are not
 * root) and be writable by nobody else, and the file itself must not be a link.
 */
#include "container/guard.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/ns.h"
#include "util/fd.h"
#include "util/str.h"

static int check_owner(const char *path, const struct stat *st, struct error *err)
{
	/* The root of a user's namespace (podman's) sees the host's root as an unmapped owner. */
	bool owned = st->st_uid == 0 || st->st_uid == geteuid() || ns_uid_unmapped(st->st_uid);

	if (!owned)
		return error_text(err, -EPERM, "policy: %s belongs to uid %u: only root may own it and the folders above it",
				  path, st->st_uid);
	/* A sticky folder lets others make files, but not replace this one. */
	if ((st->st_mode & 022) && !(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
		return error_text(err, -EPERM, "policy: %s is writable by others (mode %04o): chmod go-w %s", path,
				  st->st_mode & 07777, path);
	return 0;
}

/* Every folder from / down to the canonical one, by descriptor. */
static int open_checked_folder(const char *folder, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *copy = strdup(folder);
	char *rest = copy, *name;
	struct stat st;
	int r;

	if (!copy)
		return error_oom(err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "policy: open /");
	r = check_owner("/", &st, err);
	while (r == 0 && (name = strsep(&rest, "/"))) {
		int next;

		if (!*name)
			continue;
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return error_set(err, -errno, "policy: open folder %s of %s", name, folder);
		(void)close(fd);
		fd = next;
		if (fstat(fd, &st) < 0)
			return error_set(err, -errno, "policy: examine folder %s of %s", name, folder);
		r = check_owner(folder, &st, err);
	}
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

int guard_file_read(const char *path, char **ret_text, size_t *ret_len, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	_cleanup_free_ char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	_cleanup_free_ char *canonical = NULL;
	_cleanup_close_ int dir_fd = -EBADF;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (!folder)
		return error_oom(err);
	canonical = realpath(folder, NULL);
	if (!canonical)
		return error_set(err, -errno, "policy: folder of %s", path);
	r = open_checked_folder(canonical, &dir_fd, err);
	if (r < 0)
		return r;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		return error_text(err, -ELOOP, "policy: %s is a symbolic link: name the file itself", path);
	if (fd < 0)
		return error_set(err, -errno, "policy: open %s", path);
	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "policy: examine %s", path);
	if (!S_ISREG(st.st_mode))
		return error_text(err, -EINVAL, "policy: %s is not a regular file", path);
	r = check_owner(path, &st, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, POLICY_BYTES_MAX, ret_text, ret_len);
	return r < 0 ? error_set(err, r, "policy: read %s", path) : 0;
}
