/*
 * The safe ways into a tree.
 */
#include "snap/snap_tree.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "os/syscalls.h"
#include "util/cleanup.h"
#include "util/str.h"

int snap_tree_open(int top_fd, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW | (flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	int fd;

	assert(top_fd >= 0);
	/* A link itself is opened by O_PATH | O_NOFOLLOW; RESOLVE_NO_SYMLINKS permits that for the last part. */
	do
		fd = sys_openat2(top_fd, *path ? path : ".", &how);
	while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	if (fd >= 0)
		return fd;
	/* A link or a file where a folder of the path would be: below it there is nothing. */
	return (flags & O_PATH) && (errno == ELOOP || errno == ENOTDIR) ? -ENOENT : -errno;
}

int snap_tree_parent(int top_fd, const char *path, int *ret_fd, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd;

	if (!*path)
		return -EINVAL;
	if (slash && (size_t)(slash - path) >= sizeof(dir))
		return -ENAMETOOLONG;
	(void)snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 0, path);
	fd = snap_tree_open(top_fd, dir, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

int snap_tree_stat(int top_fd, const char *path, struct stat *ret)
{
	_cleanup_close_ int fd = snap_tree_open(top_fd, path, O_PATH);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

char *snap_tree_join(const char *path, const char *name)
{
	return *path ? str_printf("%s/%s", path, name) : strdup(name);
}

bool snap_tree_within(const char *path, const char *dir)
{
	const char *rest = str_after(path, dir);

	return !*dir || (rest && (*rest == '\0' || *rest == '/'));
}

int snap_tree_order(const char *x, const char *y)
{
	const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;

	for (; *a && *a == *b; a++, b++)
		;
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return *a < *b ? -1 : 1;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int names_add(struct snap_names *names, size_t *room, const char *name)
{
	char *copy;

	if (names->n == *room) {
		size_t more = *room ? *room * 2 : 32;
		char **items;

		if (more > SNAP_NAMES_MAX)
			return -E2BIG;
		items = reallocarray(names->items, more, sizeof(*items));
		if (!items)
			return -ENOMEM;
		names->items = items;
		*room = more;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names->items[names->n++] = copy;
	return 0;
}

static int names_fill(int top_fd, const char *path, struct snap_names *names)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	size_t room = 0;
	int fd, r;

	fd = snap_tree_open(top_fd, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	while ((errno = 0, e = readdir(d))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		r = names_add(names, &room, e->d_name);
		if (r < 0)
			return r;
	}
	if (errno != 0)
		return -errno;
	if (names->n > 0)
		qsort(names->items, names->n, sizeof(char *), by_bytes);
	return 0;
}

int snap_names_read(int top_fd, const char *path, struct snap_names *ret, struct error *err)
{
	_cleanup_snap_names_ struct snap_names names = { 0 };
	int r = names_fill(top_fd, path, &names);

	if (r < 0)
		return error_set(err, r, "read the folder %s", *path ? path : ".");
	*ret = names;
	names = (struct snap_names){ 0 };
	return 0;
}

bool snap_names_have(const struct snap_names *names, const char *name)
{
	return names->n > 0 && bsearch(&name, names->items, names->n, sizeof(char *), by_bytes) != NULL;
}

void snap_names_done(struct snap_names *names)
{
	while (names->n > 0)
		free(names->items[--names->n]);
	free(names->items);
	names->items = NULL;
}
