/*
 * The passes: what must go, from the deepest up; what must come, from the top down; attributes of
 * folders last, since work inside changes their times.
 */
#include "snap/snap_sync.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_attrs.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/cleanup.h"
#include "util/str.h"

#define PATHS_MAX ((size_t)4000000)

int snap_paths_add(struct snap_paths *p, const char *path, struct error *err)
{
	if (p->n == p->room) {
		size_t more = p->room ? p->room * 2 : 64;
		const char **items = more > PATHS_MAX ? NULL : reallocarray(p->items, more, sizeof(*items));

		if (!items)
			return error_oom(err);
		p->items = items;
		p->room = more;
	}
	p->items[p->n] = arena_strdup(&p->arena, path);
	if (!p->items[p->n])
		return error_oom(err);
	p->n++;
	return 0;
}

static int by_tree(const void *x, const void *y)
{
	return snap_tree_order(*(const char *const *)x, *(const char *const *)y);
}

void snap_paths_sort(struct snap_paths *p)
{
	size_t i, n = 0;

	if (p->n == 0)
		return;
	qsort(p->items, p->n, sizeof(*p->items), by_tree);
	for (i = 0; i < p->n; i++)
		if (n == 0 || !str_eq(p->items[n - 1], p->items[i]))
			p->items[n++] = p->items[i];
	p->n = n;
}

void snap_paths_done(struct snap_paths *p)
{
	arena_done(&p->arena);
	free(p->items);
	*p = (struct snap_paths){ 0 };
}

struct side {
	int fd; /* O_PATH; -EBADF: nothing there */
	struct stat st;
};
#define SIDE_NULL ((struct side){ .fd = -EBADF })

static void side_done(struct side *s)
{
	cleanup_closep(&s->fd);
}

static int side_open(struct snap_cursor *c, const char *path, struct side *ret)
{
	int fd = snap_cursor_open(c, path, O_PATH);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &ret->st) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	if (snap_is_whiteout(&ret->st))
		(void)close(fd);
	else
		ret->fd = fd;
	return 0;
}

/* Files hard-linked in the source, in the order of their inodes' first paths. */
struct link {
	dev_t dev;
	ino_t ino;
	const char *path;
	struct link *next;
};
#define LINK_BUCKETS 1024

struct work {
	struct snap_sync *s;
	struct arena arena;
	struct snap_cursor from, to;
	bool *folders; /* by path: the source has a folder there */
	struct link *links[LINK_BUCKETS];
};

/* 1: something else is mounted there, which is not ours to change. */
static int open_one(struct work *w, struct snap_cursor *c, const char *path, struct side *side, struct error *err)
{
	int r = side_open(c, path, side);

	if (r == -EXDEV) {
		w->s->skipped++;
		return 1;
	}
	return r < 0 ? error_set(err, r, "look at %s", *path ? path : ".") : 0;
}

static int open_both(struct work *w, const char *path, struct side *from, struct side *to, struct error *err)
{
	int r = open_one(w, &w->from, path, from, err);

	return r != 0 ? r : open_one(w, &w->to, path, to, err);
}

/* The path at which the same file stands already in the target; notes this one when it is the first. */
static int link_of(struct work *w, const struct stat *st, const char *path, const char **ret, struct error *err)
{
	struct link **bucket = &w->links[(uint64_t)st->st_ino % LINK_BUCKETS], *l;

	*ret = NULL;
	if (S_ISDIR(st->st_mode) || st->st_nlink < 2)
		return 0;
	for (l = *bucket; l; l = l->next)
		if (l->ino == st->st_ino && l->dev == st->st_dev) {
			*ret = l->path;
			return 0;
		}
	l = arena_alloc(&w->arena, sizeof(*l));
	if (!l)
		return error_oom(err);
	*l = (struct link){ st->st_dev, st->st_ino, path, *bucket };
	*bucket = l;
	return 0;
}

static int remove_one(struct work *w, const char *path, struct error *err)
{
	_cleanup_(side_done) struct side from = SIDE_NULL, to = SIDE_NULL;
	const char *name;
	int r, dir_fd;

	r = open_one(w, &w->to, path, &to, err);
	if (r != 0 || to.fd < 0 || !*path)
		return r < 0 ? r : 0;
	r = open_one(w, &w->from, path, &from, err);
	if (r != 0)
		return r < 0 ? r : 0;
	/* What takes its place can be renamed over it, unless one of them is a folder. */
	if (from.fd >= 0 && (!((from.st.st_mode ^ to.st.st_mode) & S_IFMT) || (!S_ISDIR(from.st.st_mode) && !S_ISDIR(to.st.st_mode))))
		return 0;
	r = snap_cursor_parent(&w->to, path, &dir_fd, &name);
	if (r == 0 && unlinkat(dir_fd, name, S_ISDIR(to.st.st_mode) ? AT_REMOVEDIR : 0) < 0)
		r = -errno;
	/* What was too deep to be listed. */
	if ((r == -ENOTEMPTY || r == -EEXIST) && w->s->tight)
		r = snap_tree_remove(dir_fd, name);
	if (r == -EBUSY) {
		w->s->skipped++;
		return 0;
	}
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "remove %s", path);
	w->s->files++;
	return 0;
}

static int make_temp(struct work *w, const struct side *from, int dir_fd, struct error *err)
{
	if (S_ISREG(from->st.st_mode) && snap_stage_link(w->s->stage, w->s->layer, &from->st, dir_fd, w->s->temp) == 0) {
		w->s->bytes += (uint64_t)from->st.st_size;
		return 0;
	}
	return snap_object_copy(from->fd, &from->st, dir_fd, w->s->temp, &w->s->bytes, err);
}

static int put_file(struct work *w, const char *path, const struct side *from, const char *link, struct error *err)
{
	const char *name;
	int r, dir_fd;

	r = snap_cursor_parent(&w->to, path, &dir_fd, &name);
	if (r < 0)
		return error_set(err, r, "open the folder of %s", path);
	if (link) {
		(void)unlinkat(dir_fd, w->s->temp, 0);
		_cleanup_close_ int link_dir = -EBADF;
		const char *link_name;

		r = snap_tree_parent(w->s->to_fd, link, &link_dir, &link_name);
		if (r == 0 && linkat(link_dir, link_name, dir_fd, w->s->temp, 0) < 0)
			r = -errno;
		if (r < 0)
			(void)error_set(err, r, "link");
	} else {
		r = make_temp(w, from, dir_fd, err);
		/* A crash left it. */
		if (r == -EEXIST && unlinkat(dir_fd, w->s->temp, 0) == 0)
			r = make_temp(w, from, dir_fd, err);
		if (r == -ENOSPC && w->s->tight) {
			(void)unlinkat(dir_fd, w->s->temp, 0);
			(void)unlinkat(dir_fd, name, 0);
			r = snap_object_copy(from->fd, &from->st, dir_fd, w->s->temp, &w->s->bytes, err);
		}
	}
	if (r == 0 && renameat(dir_fd, w->s->temp, dir_fd, name) < 0) {
		/* An overlay does not see that both are one file already, and cannot rename them. */
		if (errno != ESTALE || !link || unlinkat(dir_fd, name, 0) < 0 || renameat(dir_fd, w->s->temp, dir_fd, name) < 0)
			r = error_set(err, -errno, "rename");
	}
	/* rename(2) between two names of one file does nothing. */
	if (link || r < 0)
		(void)unlinkat(dir_fd, w->s->temp, 0);
	return r < 0 ? error_prefix(err, "write %s", path) : 0;
}

static bool linked(const struct snap_sync *s, const struct side *to, const char *link)
{
	struct stat st;

	return snap_tree_stat(s->to_fd, link, &st) == 0 && st.st_ino == to->st.st_ino && st.st_dev == to->st.st_dev;
}

static int put_one(struct work *w, const char *path, bool *ret_folder, struct error *err)
{
	_cleanup_(side_done) struct side from = SIDE_NULL, to = SIDE_NULL;
	const char *name, *link;
	bool same = false;
	int r, dir_fd;

	r = open_both(w, path, &from, &to, err);
	*ret_folder = r == 0 && from.fd >= 0 && S_ISDIR(from.st.st_mode);
	if (r != 0 || from.fd < 0 || !*path)
		return r < 0 ? r : 0;
	if (*ret_folder) {
		if (to.fd >= 0)
			return 0;
		r = snap_cursor_parent(&w->to, path, &dir_fd, &name);
		if (r == 0 && mkdirat(dir_fd, name, 0700) < 0)
			r = -errno;
		w->s->files++;
		return r < 0 ? error_set(err, r, "make the folder %s", path) : 0;
	}
	r = link_of(w, &from.st, path, &link, err);
	if (r == 0 && to.fd >= 0)
		r = snap_same_object(from.fd, &from.st, to.fd, &to.st, &same, err);
	if (r < 0)
		return error_prefix(err, "%s", path);
	/* Alone in the source, it must not share a file with others in the target either. */
	if (same && (link ? linked(w->s, &to, link) : from.st.st_nlink > 1 || to.st.st_nlink == 1))
		return 0;
	w->s->files++;
	/* What we hold ourselves could not be freed. */
	side_done(&to);
	to = SIDE_NULL;
	return put_file(w, path, &from, link, err);
}

static int finish_folder(struct work *w, const char *path, struct error *err)
{
	_cleanup_(side_done) struct side from = SIDE_NULL, to = SIDE_NULL;
	bool same;
	int r;

	r = open_both(w, path, &from, &to, err);
	if (r != 0 || from.fd < 0 || to.fd < 0 || !S_ISDIR(from.st.st_mode) || !S_ISDIR(to.st.st_mode))
		return r < 0 ? r : 0;
	r = snap_same_object(from.fd, &from.st, to.fd, &to.st, &same, err);
	if (r == 0 && !same) {
		w->s->files++;
		r = snap_attrs_copy(from.fd, &from.st, to.fd, err);
	}
	return r < 0 ? error_prefix(err, "folder %s", *path ? path : ".") : 0;
}

int snap_sync(struct snap_sync *s, const struct snap_paths *paths, struct error *err)
{
	struct work w = { .s = s, .from = SNAP_CURSOR(s->from_fd), .to = SNAP_CURSOR(s->to_fd) };
	size_t i;
	int r = 0;

	assert(s->temp && *s->temp);

	w.folders = arena_calloc(&w.arena, paths->n + 1, sizeof(*w.folders));
	if (!w.folders)
		return error_oom(err);
	for (i = paths->n; i-- > 0 && r == 0;)
		r = remove_one(&w, paths->items[i], err);
	/* A folder may be another one now. */
	snap_cursor_done(&w.to);
	for (i = 0; i < paths->n && r == 0; i++)
		r = put_one(&w, paths->items[i], &w.folders[i], err);
	for (i = paths->n; i-- > 0 && r == 0;)
		if (w.folders[i])
			r = finish_folder(&w, paths->items[i], err);
	snap_cursor_done(&w.from);
	snap_cursor_done(&w.to);
	arena_done(&w.arena);
	return r;
}

static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

void snap_sync_clean(int to_fd, const struct snap_paths *paths, const char *temp)
{
	const char *last = NULL;
	size_t i;

	for (i = 0; i < paths->n; i++) {
		_cleanup_close_ int dir_fd = -EBADF;
		const char *name;

		/* The top lies nowhere; what lies together, once. */
		if (!*paths->items[i])
			continue;
		if (last && folder_len(last) == folder_len(paths->items[i]) && memcmp(last, paths->items[i], folder_len(last)) == 0)
			continue;
		last = paths->items[i];
		if (snap_tree_parent(to_fd, paths->items[i], &dir_fd, &name) == 0)
			(void)unlinkat(dir_fd, temp, 0);
	}
}
