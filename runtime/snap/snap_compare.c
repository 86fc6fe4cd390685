/*
 * Changes as a list, and the comparison of one object with the original's.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_change.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/str.h"

#define COMPARE_STEP ((size_t)64 * 1024)
#define CHANGES_MAX ((size_t)4000000)

void snap_changes_done(struct snap_changes *c)
{
	arena_done(&c->arena);
	free(c->items);
	*c = (struct snap_changes){ 0 };
}

struct snap_change *snap_changes_add(struct snap_changes *c, enum snap_kind kind, const char *path)
{
	struct snap_change *change;

	if (c->n == c->room) {
		size_t more = c->room ? c->room * 2 : 64;
		struct snap_change *items = more > CHANGES_MAX ? NULL : reallocarray(c->items, more, sizeof(*items));

		if (!items)
			return NULL;
		c->items = items;
		c->room = more;
	}
	change = &c->items[c->n];
	*change = (struct snap_change){ .kind = kind, .path = arena_strdup(&c->arena, path) };
	if (!change->path)
		return NULL;
	c->n++;
	return change;
}

/* Where one of the two has data next: holes of both are equal, and may be longer than anybody could wait for. */
static off_t skip_holes(int a_fd, int b_fd, off_t at)
{
	const int fds[] = { a_fd, b_fd };
	off_t next = -1, data;
	struct stat st;
	size_t i;

	for (i = 0; i < ELEMENTSOF(fds); i++) {
		data = lseek(fds[i], at, SEEK_DATA);
		/* The rest is a hole, or this filesystem cannot say: then nothing is skipped. */
		if (data < 0)
			data = errno == ENXIO && fstat(fds[i], &st) == 0 ? MAX(st.st_size, at) : at;
		next = next < 0 ? data : MIN(next, data);
	}
	return next;
}

int snap_same_content(int a_fd, int b_fd, bool *ret)
{
	_cleanup_free_ char *a = malloc(2 * COMPARE_STEP);
	char *b = a + COMPARE_STEP;
	off_t at = 0;

	if (!a)
		return -ENOMEM;
	for (;; at = skip_holes(a_fd, b_fd, at)) {
		ssize_t n = pread(a_fd, a, COMPARE_STEP, at), done = 0;

		if (n < 0)
			return -errno;
		while (done < n || n == 0) {
			ssize_t m = pread(b_fd, b, n ? (size_t)(n - done) : 1, at + done);

			if (m < 0)
				return -errno;
			if (n == 0 || m == 0 || memcmp(a + done, b, (size_t)m) != 0) {
				*ret = n == 0 && m == 0;
				return 0;
			}
			done += m;
		}
		at += n;
	}
}

static int same_files(const struct snap_view *v, const char *path, bool *ret)
{
	_cleanup_close_ int a = snap_tree_open(v->upper_fd, path, O_RDONLY);
	_cleanup_close_ int b = snap_tree_open(v->lower_fd, path, O_RDONLY);

	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	return snap_same_content(a, b, ret);
}

static int same_links(const struct snap_object *a, const struct snap_object *b, bool *ret)
{
	char x[PATH_MAX], y[PATH_MAX];
	ssize_t n = readlinkat(a->fd, "", x, sizeof(x)), m = readlinkat(b->fd, "", y, sizeof(y));

	if (n < 0 || m < 0)
		return -errno;
	*ret = n == m && memcmp(x, y, (size_t)n) == 0;
	return 0;
}

int snap_compare(const struct snap_view *v, const char *path, const struct snap_object *up, const struct snap_object *low, unsigned *ret,
		 struct error *err)
{
	bool same = true;
	int r = snap_attrs_compare(up->fd, &up->st, low->fd, &low->st, ret, err);

	if (r < 0)
		return r;
	if (S_ISDIR(up->st.st_mode)) {
		/* It tells of what is in the folder, no more. */
		*ret &= ~(unsigned)SNAP_ATTR_TIME;
		return 0;
	}
	if (S_ISREG(up->st.st_mode)) {
		same = up->st.st_size == low->st.st_size;
		r = same ? same_files(v, path, &same) : 0;
	} else if (S_ISLNK(up->st.st_mode)) {
		r = same_links(up, low, &same);
		*ret &= ~(unsigned)SNAP_ATTR_TIME;
	} else if (S_ISCHR(up->st.st_mode) || S_ISBLK(up->st.st_mode)) {
		same = up->st.st_rdev == low->st.st_rdev;
	}
	if (!same)
		*ret |= SNAP_ATTR_CONTENT;
	return r < 0 ? error_set(err, r, "compare %s", path) : 0;
}
