/*
 * The safe ways into a tree.
 */
#include "snap/snap_tree.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/syscalls.h"
#include "util/cleanup.h"
#include "util/str.h"

/* len: of path, which the kernel takes in one piece. */
static int open_piece(int top_fd, const char *path, size_t len, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW | (flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	char piece[PATH_MAX];
	int fd;

	assert(top_fd >= 0 && len < sizeof(piece));
	memcpy(piece, len > 0 ? path : ".", MAX(len, (size_t)1));
	piece[MAX(len, (size_t)1)] = '\0';
	/* A link itself is opened by O_PATH | O_NOFOLLOW; RESOLVE_NO_SYMLINKS permits that for the last part. */
	do
		fd = sys_openat2(top_fd, piece, &how);
	while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	if (fd >= 0)
		return fd;
	/* A link or a file where a folder of the path would be: below it there is nothing. */
	return (flags & O_PATH) && (errno == ELOOP || errno == ENOTDIR) ? -ENOENT : -errno;
}

/* A path may be longer than the kernel takes: whoever is inside makes such by mkdir and chdir. */
static int open_below(int top_fd, const char *path, size_t len, int flags)
{
	_cleanup_close_ int below_fd = -EBADF;
	int from_fd = top_fd, fd;
	size_t cut;

	while (len >= PATH_MAX) {
		for (cut = PATH_MAX - 1; cut > 0 && path[cut] != '/'; cut--)
			;
		if (cut == 0)
			return -ENAMETOOLONG;
		fd = open_piece(from_fd, path, cut, O_PATH | O_DIRECTORY);
		if (fd < 0)
			return fd;
		cleanup_closep(&below_fd);
		below_fd = from_fd = fd;
		path += cut + 1;
		len -= cut + 1;
	}
	return open_piece(from_fd, path, len, flags);
}

int snap_tree_open(int top_fd, const char *path, int flags)
{
	return open_below(top_fd, path, strlen(path), flags);
}

int snap_tree_parent(int top_fd, const char *path, int *ret_fd, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	int fd;

	if (!*path)
		return -EINVAL;
	fd = open_below(top_fd, path, slash ? (size_t)(slash - path) : 0, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

/* From the folder it is at where that is on the way. */
static int cursor_move(struct snap_cursor *c, const char *dir, size_t len)
{
	bool below = c->fd >= 0 && c->len <= len && memcmp(c->dir, dir, c->len) == 0 && (c->len == 0 || c->len == len || dir[c->len] == '/');
	size_t skip = below && c->len > 0 ? c->len + 1 : 0;
	char *copy;
	int fd;

	if (below && c->len == len)
		return 0;
	fd = open_below(below ? c->fd : c->top_fd, dir + skip, len - skip, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	copy = realloc(c->dir, len + 1);
	if (!copy) {
		(void)close(fd);
		return -ENOMEM;
	}
	memcpy(copy, dir, len);
	cleanup_closep(&c->fd);
	c->fd = fd;
	c->dir = copy;
	c->len = len;
	return 0;
}

int snap_cursor_parent(struct snap_cursor *c, const char *path, int *ret_fd, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	int r;

	if (!*path)
		return -EINVAL;
	r = cursor_move(c, path, slash ? (size_t)(slash - path) : 0);
	if (r < 0)
		return r;
	*ret_fd = c->fd;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

int snap_cursor_open(struct snap_cursor *c, const char *path, int flags)
{
	const char *name;
	int dir_fd, r;

	if (!*path)
		return snap_tree_open(c->top_fd, path, flags);
	r = snap_cursor_parent(c, path, &dir_fd, &name);
	return r < 0 ? r : open_piece(dir_fd, name, strlen(name), flags);
}

int snap_cursor_stat(struct snap_cursor *c, const char *path, struct stat *ret)
{
	_cleanup_close_ int fd = snap_cursor_open(c, path, O_PATH);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

void snap_cursor_done(struct snap_cursor *c)
{
	cleanup_closep(&c->fd);
	free(c->dir);
	*c = SNAP_CURSOR(c->top_fd);
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

/* fd: used up; or -errno, which is passed on. */
static int names_fill(int fd, struct snap_names *names)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	size_t room = 0;
	int r;

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

static int names_read(int fd, const char *path, struct snap_names *ret, struct error *err)
{
	_cleanup_snap_names_ struct snap_names names = { 0 };
	int r = names_fill(fd, &names);

	if (r < 0)
		return error_set(err, r, "read the folder %s", *path ? path : ".");
	*ret = names;
	names = (struct snap_names){ 0 };
	return 0;
}

int snap_names_read(int top_fd, const char *path, struct snap_names *ret, struct error *err)
{
	return names_read(snap_tree_open(top_fd, path, O_RDONLY | O_DIRECTORY), path, ret, err);
}

int snap_cursor_names(struct snap_cursor *c, const char *path, struct snap_names *ret, struct error *err)
{
	return names_read(snap_cursor_open(c, path, O_RDONLY | O_DIRECTORY), path, ret, err);
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

static void level_done(struct snap_level *l)
{
	free(l->path);
	snap_names_done(&l->names);
}

struct snap_level *snap_levels_add(struct snap_levels *l, const char *path)
{
	struct snap_level *level;

	if (l->n == l->room) {
		size_t more = l->room ? l->room * 2 : 16;
		struct snap_level *items = reallocarray(l->items, more, sizeof(*items));

		if (!items)
			return NULL;
		l->items = items;
		l->room = more;
	}
	level = &l->items[l->n];
	*level = (struct snap_level){ .path = strdup(path) };
	if (!level->path)
		return NULL;
	l->n++;
	return level;
}

void snap_levels_drop(struct snap_levels *l)
{
	level_done(&l->items[--l->n]);
}

int snap_level_next(struct snap_level *l, char **ret, struct error *err)
{
	*ret = NULL;
	if (l->at == l->names.n)
		return 0;
	*ret = snap_tree_join(l->path, l->names.items[l->at++]);
	return *ret ? 0 : error_oom(err);
}

void snap_levels_done(struct snap_levels *l)
{
	while (l->n > 0)
		snap_levels_drop(l);
	free(l->items);
	*l = (struct snap_levels){ 0 };
}
