/*
 * The file "ours": how commits left the originals. Appended to; the last entry of a path counts.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "snap/snap_undo.h"
#include "util/fd.h"
#include "util/str.h"

#define OURS_FILE "ours"
#define BYTES_MAX ((size_t)1 << 30)

struct entry {
	size_t layer;
	unsigned long long ino;
	long long seconds, nanoseconds;
	const char *path;
	size_t order;
};

struct snap_ours {
	char *text;
	struct entry *items;
	size_t n;
};

/* Of equal paths the latest comes first. */
static int by_path(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = x->layer != y->layer ? (x->layer < y->layer ? -1 : 1) : strcmp(x->path, y->path);

	return r ? r : x->order > y->order ? -1 : x->order < y->order;
}

static int parse(struct snap_ours *o, size_t len)
{
	size_t at = 0, room = 0;

	/* What a crash cut off has no NUL. */
	while (at < len && memchr(o->text + at, '\0', len - at)) {
		struct entry e = { .order = o->n };
		int n = 0;

		if (o->n == room) {
			struct entry *more = reallocarray(o->items, room = room ? room * 2 : 64, sizeof(*more));

			if (!more)
				return -ENOMEM;
			o->items = more;
		}
		if (sscanf(o->text + at, "%zu %llu %lld %lld%n", &e.layer, &e.ino, &e.seconds, &e.nanoseconds, &n) == 4 &&
		    o->text[at + (size_t)n] == ' ') {
			e.path = o->text + at + n + 1;
			o->items[o->n++] = e;
		}
		at += strlen(o->text + at) + 1;
	}
	if (o->n > 0)
		qsort(o->items, o->n, sizeof(*o->items), by_path);
	return 0;
}

int snap_ours_read(int dir_fd, struct snap_ours **ret, struct error *err)
{
	_cleanup_snap_ours_ struct snap_ours *o = calloc(1, sizeof(*o));
	size_t len = 0;
	int r = 0;

	if (!o)
		return error_oom(err);
	if (faccessat(dir_fd, OURS_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		r = file_read_all(dir_fd, OURS_FILE, BYTES_MAX, &o->text, &len, err);
	if (r == 0 && parse(o, len) < 0)
		r = error_oom(err);
	if (r == 0)
		*ret = take_ptr(o);
	return r;
}

struct snap_ours *snap_ours_free(struct snap_ours *o)
{
	if (o) {
		free(o->text);
		free(o->items);
		free(o);
	}
	return NULL;
}

static const struct entry *last_of(const struct snap_ours *o, size_t layer, const char *path)
{
	const struct entry key = { .layer = layer, .path = path, .order = SIZE_MAX };
	size_t low = 0, high = o->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_path(&o->items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->n && o->items[low].layer == layer && str_eq(o->items[low].path, path) ? &o->items[low] : NULL;
}

bool snap_ours_made(const struct snap_ours *o, size_t layer, const char *path, const struct stat *st)
{
	const struct entry *e = last_of(o, layer, path);

	return e && e->ino == st->st_ino;
}

bool snap_ours_has(const struct snap_ours *o, size_t layer, const char *path, const struct stat *st)
{
	const struct entry *e = last_of(o, layer, path);

	return e && e->ino == st->st_ino && e->seconds == st->st_ctim.tv_sec && e->nanoseconds == st->st_ctim.tv_nsec;
}

int snap_ours_add(int dir_fd, size_t layer, int original_fd, const struct snap_paths *paths, struct error *err)
{
	_cleanup_close_ int fd = openat(dir_fd, OURS_FILE, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct snap_cursor original = SNAP_CURSOR(original_fd);
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct stat st;
	size_t i;
	int r;

	if (fd < 0)
		return error_set(err, -errno, "open the list of what was committed");
	/* Ends what a crash may have cut off. */
	buf_add(&b, "", 1);
	for (i = 0; i < paths->n; i++) {
		if (snap_cursor_stat(&original, paths->items[i], &st) < 0)
			continue;
		buf_addf(&b, "%zu %llu %lld %lld ", layer, (unsigned long long)st.st_ino, (long long)st.st_ctim.tv_sec,
			 (long long)st.st_ctim.tv_nsec);
		buf_add(&b, paths->items[i], strlen(paths->items[i]) + 1);
	}
	snap_cursor_done(&original);
	r = buf_ok(&b) ? fd_write_all(fd, b.data, b.len) : -ENOMEM;
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? error_set(err, r, "write the list of what was committed") : 0;
}
