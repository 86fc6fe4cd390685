/*
 * Renames: an added file that overlay copied up from an original which is deleted now is
 * that file under another name. Where filesystems have no handles to tell, equal content does.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_change.h"
#include "snap/snap_tree.h"
#include "util/str.h"

#define COMPARES_MAX 1000 /* of contents, in one list */

struct find {
	const struct snap_view *v;
	struct snap_change **gone; /* deleted files; without a path once they are paired */
	size_t n;
	unsigned compares;
};

static int compare_handles(const struct snap_change *x, const struct snap_change *y)
{
	if (x->handle_len != y->handle_len)
		return x->handle_len < y->handle_len ? -1 : 1;
	return x->handle_len ? memcmp(x->handle, y->handle, x->handle_len) : 0;
}

static int by_handle(const void *a, const void *b)
{
	return compare_handles(*(struct snap_change *const *)a, *(struct snap_change *const *)b);
}

static int by_size(const void *a, const void *b)
{
	const struct snap_change *x = *(struct snap_change *const *)a, *y = *(struct snap_change *const *)b;

	return x->old.st_size < y->old.st_size ? -1 : x->old.st_size > y->old.st_size;
}

/* The first that is not less. */
static size_t find_first(const struct find *f, const struct snap_change *c, int (*compare)(const void *, const void *))
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&f->gone[middle], &c) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct snap_change *same_handle(const struct find *f, const struct snap_change *c)
{
	size_t i = c->handle ? find_first(f, c, by_handle) : f->n;

	for (; i < f->n && compare_handles(f->gone[i], c) == 0; i++)
		if (f->gone[i]->path)
			return f->gone[i];
	return NULL;
}

static bool same(const struct find *f, const char *old, const char *new)
{
	_cleanup_close_ int a = snap_tree_open(f->v->lower_fd, old, O_RDONLY);
	_cleanup_close_ int b = snap_tree_open(f->v->upper_fd, new, O_RDONLY);
	bool equal = false;

	return a >= 0 && b >= 0 && snap_same_content(a, b, &equal) == 0 && equal;
}

/* An empty file says nothing. */
static struct snap_change *same_content(struct find *f, const struct snap_change *c)
{
	struct snap_change wanted = { .old.st_size = c->new.st_size };
	size_t i = c->new.st_size > 0 ? find_first(f, &wanted, by_size) : f->n;

	for (; i < f->n && f->gone[i]->old.st_size == c->new.st_size; i++) {
		if (!f->gone[i]->path)
			continue;
		if (++f->compares > COMPARES_MAX)
			return NULL;
		if (same(f, f->gone[i]->path, c->path))
			return f->gone[i];
	}
	return NULL;
}

/* The new one takes the place of both. */
static int pair(const struct find *f, struct snap_change *old, struct snap_change *new, struct error *err)
{
	_cleanup_close_ int a = snap_tree_open(f->v->lower_fd, old->path, O_PATH);
	_cleanup_close_ int b = snap_tree_open(f->v->upper_fd, new->path, O_PATH);
	unsigned attrs;
	int r;

	if (a < 0 || b < 0)
		return 0; /* changed while we look */
	r = snap_attrs_compare(b, &new->new, a, &old->old, &attrs, err);
	if (r < 0)
		return error_prefix(err, "%s", new->path);
	if (old->old.st_size != new->new.st_size || !same(f, old->path, new->path))
		attrs |= SNAP_ATTR_CONTENT;
	new->kind = SNAP_RENAMED;
	new->from = old->path;
	new->old = old->old;
	new->attrs = attrs;
	old->path = NULL;
	return 0;
}

static void drop_paired(struct snap_changes *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++)
		if (c->items[i].path)
			c->items[n++] = c->items[i];
	c->n = n;
}

int snap_find_renames(const struct snap_view *v, struct snap_changes *c, struct error *err)
{
	struct find f = { .v = v };
	_cleanup_free_ struct snap_change **gone = calloc(c->n + 1, sizeof(struct snap_change *));
	size_t i, round;
	int r;

	f.gone = gone;
	if (!gone)
		return error_oom(err);
	for (i = 0; i < c->n; i++)
		if (c->items[i].kind == SNAP_DELETED && !c->items[i].implied && S_ISREG(c->items[i].old.st_mode))
			f.gone[f.n++] = &c->items[i];
	if (f.n == 0)
		return 0;
	/* Certainty first, so that a guess does not take its partner. */
	for (round = 0; round < 2; round++) {
		qsort(f.gone, f.n, sizeof(f.gone[0]), round == 0 ? by_handle : by_size);
		for (i = 0; i < c->n; i++) {
			struct snap_change *new = &c->items[i], *old;

			if (new->kind != SNAP_ADDED || !S_ISREG(new->new.st_mode) || new->link)
				continue;
			old = round == 0 ? same_handle(&f, new) : same_content(&f, new);
			r = old ? pair(&f, old, new, err) : 0;
			if (r < 0)
				return r;
		}
	}
	drop_paired(c);
	return 0;
}
