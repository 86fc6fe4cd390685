/*
 * The walk over an upper folder: what stands there is whole (no redirects, no metacopy), so
 * each object is compared with what the original has at the same path. Its depth is the agent's
 * to choose, so nothing recurses.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_change.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/str.h"

#define LINK_BUCKETS 1024

/* Files with several names in the upper folder, by inode. */
struct link {
	struct link *next;
	ino_t ino;
	const char *path;
};

struct walk {
	const struct snap_view *v;
	struct snap_changes *out;
	bool deep;
	size_t bytes; /* of the paths found */
	struct snap_cursor upper, lower;
	struct link *links[LINK_BUCKETS];
	struct error *err;
};

static void object_done(struct snap_object *o)
{
	cleanup_closep(&o->fd);
}

static int object_open(struct snap_cursor *c, const char *path, struct snap_object *o)
{
	int fd = snap_cursor_open(c, path, O_PATH);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &o->st) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	/* A whiteout in the original itself is nothing that could be seen. */
	if (snap_is_whiteout(&o->st))
		(void)close(fd);
	else
		o->fd = fd;
	return 0;
}

/* Remembers the first name of a file that has several. */
static int note_link(struct walk *w, struct snap_change *c)
{
	struct link **bucket = &w->links[(uint64_t)c->new.st_ino % LINK_BUCKETS], *l;

	if (S_ISDIR(c->new.st_mode) || c->new.st_nlink < 2)
		return 0;
	for (l = *bucket; l; l = l->next)
		if (l->ino == c->new.st_ino) {
			c->link = l->path;
			return 0;
		}
	l = arena_alloc(&w->out->arena, sizeof(*l));
	if (!l)
		return error_oom(w->err);
	*l = (struct link){ .next = *bucket, .ino = c->new.st_ino, .path = c->path };
	*bucket = l;
	return 0;
}

/* Which file of the original it was: overlay notes it when it copies one up. */
static int note_handle(struct walk *w, struct snap_change *c, int fd, size_t (*read)(int fd, unsigned char *ret))
{
	unsigned char handle[SNAP_HANDLE_MAX + 1];
	size_t len = read(fd, handle);
	unsigned char *copy;

	if (len == 0)
		return 0;
	c->handle_len = len;
	c->handle = copy = arena_alloc(&w->out->arena, len);
	if (!copy)
		return error_oom(w->err);
	memcpy(copy, handle, len);
	return 0;
}

static int add(struct walk *w, enum snap_kind kind, const char *path, const struct snap_object *up, const struct snap_object *low,
	       unsigned attrs, bool implied)
{
	struct snap_change *c = snap_changes_add(w->out, kind, path);
	int r = 0;

	if (!c)
		return error_oom(w->err);
	w->bytes += strlen(path) + 1;
	c->attrs = attrs;
	c->implied = implied;
	if (low && low->fd >= 0) {
		c->old = low->st;
		if (kind == SNAP_DELETED && S_ISREG(c->old.st_mode))
			r = note_handle(w, c, low->fd, snap_handle_of);
	}
	if (r == 0 && up && up->fd >= 0) {
		c->new = up->st;
		r = kind == SNAP_ADDED ? note_handle(w, c, up->fd, snap_handle_origin) : 0;
		if (r == 0)
			r = note_link(w, c);
	}
	return r;
}

/* Whether what is in the folder is too much to be looked at; then the list says so, at the folder. */
static int too_deep(struct walk *w, const char *path, bool *ret)
{
	struct snap_change *last = w->out->n > 0 ? &w->out->items[w->out->n - 1] : NULL;

	*ret = strlen(path) > SNAP_PATH_MAX || w->bytes > SNAP_PATHS_BYTES;
	if (!*ret)
		return 0;
	if (!last || !str_eq(last->path, path))
		last = snap_changes_add(w->out, SNAP_MODIFIED, path);
	if (!last)
		return error_oom(w->err);
	last->unseen = true;
	return 0;
}

static int enter_gone(struct walk *w, struct snap_levels *levels, const char *path)
{
	struct snap_level *l;
	bool deep;
	int r = too_deep(w, path, &deep);

	if (r < 0 || deep)
		return r;
	l = snap_levels_add(levels, path);
	return l ? snap_cursor_names(&w->lower, path, &l->names, w->err) : error_oom(w->err);
}

/* What a deleted folder of the original held. */
static int walk_gone(struct walk *w, const char *path)
{
	_cleanup_snap_levels_ struct snap_levels levels = { 0 };
	int r = enter_gone(w, &levels, path);

	while (r == 0 && levels.n > 0) {
		_cleanup_(object_done) struct snap_object low = SNAP_OBJECT_NULL;
		_cleanup_free_ char *child = NULL;

		r = snap_level_next(&levels.items[levels.n - 1], &child, w->err);
		if (r == 0 && !child) {
			snap_levels_drop(&levels);
			continue;
		}
		if (r == 0) {
			r = object_open(&w->lower, child, &low);
			if (r < 0)
				return error_set(w->err, r, "look at %s of the original", child);
		}
		if (r < 0 || low.fd < 0)
			continue;
		r = add(w, SNAP_DELETED, child, NULL, &low, 0, true);
		if (r == 0 && S_ISDIR(low.st.st_mode))
			r = enter_gone(w, &levels, child);
	}
	return r;
}

static int deleted(struct walk *w, const char *path, const struct snap_object *low)
{
	int r = add(w, SNAP_DELETED, path, NULL, low, 0, false);

	return r == 0 && w->deep && S_ISDIR(low->st.st_mode) ? walk_gone(w, path) : r;
}

/* A folder of the layer, to be walked next. */
static int enter(struct walk *w, struct snap_levels *levels, const char *path, bool was_dir, bool opaque)
{
	struct snap_level *l;
	bool deep;
	int r = too_deep(w, path, &deep);

	if (r < 0 || deep)
		return r;
	l = snap_levels_add(levels, path);
	if (!l)
		return error_oom(w->err);
	l->was_dir = was_dir;
	l->opaque = opaque;
	r = snap_cursor_names(&w->upper, path, &l->names, w->err);
	if (r == -ENOENT) { /* gone while we look */
		*w->err = ERROR_NULL;
		snap_levels_drop(levels);
		return 0;
	}
	return r;
}

/* Both sides of a path; ret_up->fd stays -EBADF when it is gone while we look: the container runs. below: the original may have it. */
static int open_both(struct walk *w, const char *path, bool below, struct snap_object *up, struct snap_object *low)
{
	int r, fd = snap_cursor_open(&w->upper, path, O_PATH);

	r = fd < 0 ? fd : fstat(fd, &up->st) < 0 ? -errno : 0;
	if (r == 0 && below)
		r = object_open(&w->lower, path, low);
	if (r < 0)
		cleanup_closep(&fd);
	if (r < 0 && r != -ENOENT)
		return error_set(w->err, r, "look at %s of the layer", path);
	up->fd = r == 0 ? fd : -EBADF;
	return 0;
}

/* hidden: the original's content does not shine through here; below: the original has the folder this is in. Folders are entered. */
static int walk_object(struct walk *w, struct snap_levels *levels, const char *path, bool hidden, bool below)
{
	_cleanup_(object_done) struct snap_object up = SNAP_OBJECT_NULL, low = SNAP_OBJECT_NULL;
	bool opaque = false, is_dir, was_dir;
	char value[4] = "";
	unsigned attrs = 0;
	int r = open_both(w, path, below, &up, &low);

	if (r < 0 || up.fd < 0)
		return r;
	if (snap_is_whiteout(&up.st))
		return low.fd >= 0 ? deleted(w, path, &low) : 0;
	is_dir = S_ISDIR(up.st.st_mode);
	was_dir = low.fd >= 0 && S_ISDIR(low.st.st_mode);
	if (is_dir)
		opaque = hidden || (snap_attr_get(up.fd, "trusted.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y');

	if (low.fd < 0) {
		r = add(w, SNAP_ADDED, path, &up, NULL, 0, false);
	} else if ((up.st.st_mode ^ low.st.st_mode) & S_IFMT) {
		r = add(w, SNAP_REPLACED, path, &up, &low, SNAP_ATTR_CONTENT, false);
		if (r == 0 && was_dir && w->deep)
			r = walk_gone(w, path);
	} else {
		r = snap_compare(w->v, path, &up, &low, &attrs, w->err);
		/* One that is the same, but has another name that is new, must be known to whoever makes that. */
		if (r == 0 && (attrs || (!is_dir && up.st.st_nlink > 1)))
			r = add(w, SNAP_MODIFIED, path, &up, &low, attrs, attrs == 0);
	}
	return r == 0 && is_dir ? enter(w, levels, path, was_dir, opaque) : r;
}

/* In an opaque folder everything the original has and the layer has not was deleted. */
static int walk_missing(struct walk *w, const char *path, const struct snap_names *have)
{
	_cleanup_snap_names_ struct snap_names names = { 0 };
	size_t i;
	int r = snap_cursor_names(&w->lower, path, &names, w->err);

	for (i = 0; i < names.n && r == 0; i++) {
		_cleanup_(object_done) struct snap_object low = SNAP_OBJECT_NULL;
		_cleanup_free_ char *child = NULL;

		if (snap_names_have(have, names.items[i]))
			continue;
		child = snap_tree_join(path, names.items[i]);
		if (!child)
			return error_oom(w->err);
		r = object_open(&w->lower, child, &low);
		if (r < 0)
			return error_set(w->err, r, "look at %s of the original", child);
		if (low.fd >= 0)
			r = deleted(w, child, &low);
	}
	return r;
}

static int walk_tree(struct walk *w, const char *path, bool hidden)
{
	_cleanup_snap_levels_ struct snap_levels levels = { 0 };
	int r = walk_object(w, &levels, path, hidden, true);

	while (r == 0 && levels.n > 0) {
		struct snap_level *l = &levels.items[levels.n - 1];
		_cleanup_free_ char *child = NULL;

		r = snap_level_next(l, &child, w->err);
		if (r < 0)
			return r;
		if (child) {
			r = walk_object(w, &levels, child, l->opaque, l->was_dir);
			continue;
		}
		if (l->opaque && l->was_dir)
			r = walk_missing(w, l->path, &l->names);
		snap_levels_drop(&levels);
	}
	return r;
}

/* What the folders above path say: whether the layer has them all, and whether the original shines through. */
static int look_above(struct walk *w, const char *path, bool *ret_there, bool *ret_hidden)
{
	_cleanup_free_ char *above = strdup(path);
	char *slash = above;

	if (!above)
		return error_oom(w->err);
	*ret_there = true;
	while (*ret_there) {
		_cleanup_close_ int fd = -EBADF;
		char value[4] = "";
		struct stat st;

		slash = strchr(slash == above ? above : slash + 1, '/');
		if (!slash)
			return 0;
		*slash = '\0';
		fd = snap_tree_open(w->v->upper_fd, above, O_PATH);
		if (fd < 0 && fd != -ENOENT)
			return error_set(w->err, fd, "look at %s of the layer", above);
		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode)) {
			*ret_there = false;
			*ret_hidden |= fd >= 0;
		} else if (snap_attr_get(fd, "trusted.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y') {
			*ret_hidden = true;
		}
		*slash = '/';
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct snap_change *x = a, *y = b;

	return snap_tree_order(x->path, y->path);
}

static int walk_at(const struct snap_view *v, const char *path, bool deep, struct snap_changes *ret, struct error *err)
{
	struct walk w = { .v = v, .out = ret, .deep = deep, .err = err, .upper = SNAP_CURSOR(v->upper_fd), .lower = SNAP_CURSOR(v->lower_fd) };
	bool there = false, hidden = false;
	struct stat st;
	int r;

	r = look_above(&w, path, &there, &hidden);
	if (r < 0)
		return r;
	r = there ? snap_tree_stat(v->upper_fd, path, &st) : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "look at %s of the layer", *path ? path : ".");
	if (r == 0) {
		r = walk_tree(&w, path, hidden);
	} else if (hidden) {
		_cleanup_(object_done) struct snap_object low = SNAP_OBJECT_NULL;

		r = object_open(&w.lower, path, &low);
		if (r < 0)
			(void)error_set(err, r, "look at %s of the original", path);
		else if (low.fd >= 0)
			r = deleted(&w, path, &low);
	} else {
		r = 0;
	}
	snap_cursor_done(&w.upper);
	snap_cursor_done(&w.lower);
	return r;
}

int snap_walk(const struct snap_view *v, const char *path, bool deep, struct snap_changes *ret, struct error *err)
{
	int r = walk_at(v, path, deep, ret, err);

	/* What is missing from a folder was found after what is in it. */
	if (r == 0 && ret->n > 0)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_path);
	return r;
}
