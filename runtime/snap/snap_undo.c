/*
 * The trees of replaced objects.
 */
#include "snap/snap_undo.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define UNDO_DIR "undo"
#define PATHS_BYTES_MAX ((size_t)1 << 30)
#define DONE_PREFIX "done-" /* not needed any more, and being removed */
#define SAVE_TEMP ".agentrun-saving"

static int open_undo(int dir_fd, bool create, int *ret_fd, struct error *err)
{
	int fd;

	if (create && mkdirat(dir_fd, UNDO_DIR, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make the folder for what a commit replaces");
	fd = openat(dir_fd, UNDO_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && !create ? SNAP_E_NOT_FOUND : error_set(err, -errno, "open the folder of replaced files");
	*ret_fd = fd;
	return 0;
}

int snap_undo_last(int dir_fd, uint64_t *ret, struct error *err)
{
	_cleanup_snap_names_ struct snap_names names = { 0 };
	_cleanup_close_ int fd = -EBADF;
	uint64_t number;
	size_t i;
	int r = open_undo(dir_fd, false, &fd, err);

	*ret = 0;
	if (r != 0)
		return r < 0 ? r : 0;
	r = snap_names_read(fd, "", &names, err);
	for (i = 0; i < names.n; i++)
		if (parse_u64(names.items[i], &number) == 0 && number > *ret)
			*ret = number;
	return r;
}

int snap_undo_open(int dir_fd, uint64_t number, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char name[24];
	int r = open_undo(dir_fd, false, &fd, err);

	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
	if (r == 0) {
		*ret_fd = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (*ret_fd >= 0)
			return 0;
	}
	return r < 0 ? r : error_text(err, -ENOENT, "what commit %s replaced is not there", name);
}

/* Half of a tree would be worse than none: first it loses its number, then it goes. */
int snap_undo_remove(int dir_fd, uint64_t number, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char name[24], done[40];
	int r = open_undo(dir_fd, false, &fd, err);

	if (r != 0)
		return r < 0 ? r : 0;
	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
	(void)snprintf(done, sizeof(done), DONE_PREFIX "%s", name);
	r = snap_tree_remove(fd, done);
	if (r == 0 && renameat(fd, name, fd, done) < 0 && errno != ENOENT)
		r = -errno;
	if (r == 0)
		r = snap_tree_remove(fd, done);
	return r < 0 ? error_set(err, r, "remove what commit %s replaced", name) : 0;
}

static void remove_leftovers(int fd)
{
	_cleanup_snap_names_ struct snap_names names = { 0 };
	struct error ignored = ERROR_NULL;
	size_t i;

	if (snap_names_read(fd, "", &names, &ignored) < 0)
		return;
	for (i = 0; i < names.n; i++)
		if (str_after(names.items[i], DONE_PREFIX))
			(void)snap_tree_remove(fd, names.items[i]);
}

int snap_undo_make(int dir_fd, uint64_t *ret_number, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char name[24];
	int r = snap_undo_last(dir_fd, ret_number, err);

	if (r == 0)
		r = open_undo(dir_fd, true, &fd, err);
	if (r < 0)
		return r;
	remove_leftovers(fd);
	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)++*ret_number);
	if (mkdirat(fd, name, 0700) < 0)
		return error_set(err, -errno, "make the folder for what the commit replaces");
	return snap_undo_open(dir_fd, *ret_number, ret_fd, err);
}

void snap_undo_prune(int dir_fd, uint64_t last)
{
	struct error ignored = ERROR_NULL;

	if (last > SNAP_UNDO_MAX)
		(void)snap_undo_remove(dir_fd, last - SNAP_UNDO_MAX, &ignored);
}

static int write_paths(int undo_fd, const char *name, const struct snap_paths *paths, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	buf_adds(&b, "");
	for (i = 0; i < paths->n; i++)
		buf_add(&b, paths->items[i], strlen(paths->items[i]) + 1);
	if (!buf_ok(&b))
		return error_oom(err);
	return file_replace(undo_fd, name, b.data, b.len, 0600, 1, err);
}

/* The folders above a path. What they are like does not matter: they are not among the paths, or follow. */
static int make_parents(int top_fd, const char *path)
{
	_cleanup_close_ int there_fd = -EBADF;
	_cleanup_free_ char *copy = NULL;
	const char *name;
	char *slash;

	/* Mostly those of the path before. */
	if (!*path || snap_tree_parent(top_fd, path, &there_fd, &name) == 0)
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	for (slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_close_ int dir_fd = -EBADF;
		int r;

		*slash = '\0';
		r = snap_tree_parent(top_fd, copy, &dir_fd, &name);
		if (r == 0 && mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
			r = -errno;
		if (r < 0)
			return r;
		*slash = '/';
	}
	return 0;
}

int snap_undo_save(int undo_fd, size_t layer, int original_fd, const struct snap_paths *paths, struct error *err)
{
	struct snap_sync sync = { .from_fd = original_fd, .temp = SAVE_TEMP, .to_fd = -EBADF };
	struct snap_cursor original = SNAP_CURSOR(original_fd);
	_cleanup_snap_paths_ struct snap_paths there = { 0 };
	_cleanup_close_ int tree_fd = -EBADF;
	char name[24], list[32];
	struct stat st;
	size_t i;
	int r = 0;

	(void)snprintf(name, sizeof(name), "%zu", layer);
	(void)snprintf(list, sizeof(list), "%zu.paths", layer);
	if (mkdirat(undo_fd, name, 0700) < 0)
		return error_set(err, -errno, "make the folder for what the commit replaces");
	tree_fd = openat(undo_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree_fd < 0)
		return error_set(err, -errno, "open the folder for what the commit replaces");
	/* What is not there need not be saved: of a commit of new files that is nearly all. */
	for (i = 0; i < paths->n; i++) {
		if (snap_cursor_stat(&original, paths->items[i], &st) < 0)
			continue;
		r = make_parents(tree_fd, paths->items[i]);
		if (r < 0)
			(void)error_set(err, r, "save %s", paths->items[i]);
		else
			r = snap_paths_add(&there, paths->items[i], err);
		if (r < 0)
			break;
	}
	snap_cursor_done(&original);
	sync.to_fd = tree_fd;
	if (r == 0)
		r = snap_sync(&sync, &there, err);
	if (r < 0)
		return error_prefix(err, "save what the commit replaces");
	return write_paths(undo_fd, list, paths, err);
}

int snap_undo_load(int undo_fd, size_t layer, struct snap_paths *ret, int *ret_tree_fd, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char name[24], list[32];
	size_t len, at;
	int r;

	(void)snprintf(name, sizeof(name), "%zu", layer);
	(void)snprintf(list, sizeof(list), "%zu.paths", layer);
	if (faccessat(undo_fd, list, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return SNAP_E_NOT_FOUND;
	r = file_read_all(undo_fd, list, PATHS_BYTES_MAX, &text, &len, err);
	for (at = 0; r == 0 && at < len; at += strlen(text + at) + 1)
		r = snap_paths_add(ret, text + at, err);
	if (r < 0)
		return r;
	*ret_tree_fd = openat(undo_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_tree_fd < 0 ? error_set(err, -errno, "open what the commit replaced") : 0;
}
