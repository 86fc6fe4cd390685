/*
 * Copies of what a commit will need, made while the container still runs: what is then left to do while it is
 * frozen is to give them their names. Unnamed files (O_TMPFILE) in the filesystem of the original: nobody can come upon
 * them, and they go with this process, whatever ends it.
 *
 * A copy counts only if its file has not changed since. The change time says so, which nobody inside can set; but it has
 * the grain of the kernel's clock, so a file that was changed just before is left out, as git does. What is
 * written through a mapping shows in it, too, since the layer is written to the disk first: the next store to
 * a clean page is noticed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "snap/snap_attrs.h"
#include "snap/snap_commit.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"

#define STAGED_MAX   ((size_t)65536)
#define FDS_SPARED   ((size_t)256) /* for all else */
#define GRAIN_NS     INT64_C(20000000) /* more than a tick of the coarsest clock, CONFIG_HZ=100 */
#define NS_IN_SECOND INT64_C(1000000000)

struct staged {
	size_t layer;
	ino_t ino;
	off_t size;
	struct timespec ctim;
	int fd;
};

struct snap_stage {
	struct staged *items; /* by layer and inode once all are there */
	size_t n, room;
};

static int by_inode(const void *a, const void *b)
{
	const struct staged *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int64_t in_ns(const struct timespec *t)
{
	return t->tv_sec * NS_IN_SECOND + t->tv_nsec;
}

static bool unchanged(const struct stat *st, const struct staged *s)
{
	return st->st_ino == s->ino && st->st_size == s->size && in_ns(&st->st_ctim) == in_ns(&s->ctim);
}

/* As many as descriptors can be held. */
static size_t room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur < STAGED_MAX + FDS_SPARED) {
		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)(STAGED_MAX + FDS_SPARED));
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
			return 0;
	}
	return limit.rlim_cur > FDS_SPARED ? MIN((size_t)limit.rlim_cur - FDS_SPARED, STAGED_MAX) : 0;
}

/* 1: not this one. -errno: nor any other. */
static int copy_one(int from_fd, int64_t before, int top_fd, struct staged *ret)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	struct error ignored = ERROR_NULL;
	struct stat st, now;
	int r;

	if (fstat(from_fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 || in_ns(&st.st_ctim) >= before - GRAIN_NS)
		return 1;
	in = snap_object_reopen(from_fd);
	if (in < 0)
		return in;
	out = openat(top_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = snap_data_copy(in, out, st.st_size);
	if (r < 0)
		return r;
	*ret = (struct staged){ .ino = st.st_ino, .size = st.st_size, .ctim = st.st_ctim, .fd = -EBADF };
	if (snap_attrs_copy(from_fd, &st, out, &ignored) < 0 || fstat(from_fd, &now) < 0 || !unchanged(&now, ret))
		return 1;
	ret->fd = take_fd(&out);
	return 0;
}

static int stage_part(struct snap_stage *s, const struct snap_part *p, int64_t before)
{
	_cleanup_close_ int top_fd = snap_tree_open(p->view.lower_fd, "", O_RDONLY | O_DIRECTORY);
	struct snap_cursor upper = SNAP_CURSOR(p->view.upper_fd);
	size_t i;
	int r = top_fd < 0 ? top_fd : 0;

	for (i = 0; i < p->changes.n && r >= 0 && s->n < s->room; i++) {
		const struct snap_change *c = &p->changes.items[i];
		_cleanup_close_ int fd = -EBADF;

		if (c->kind == SNAP_DELETED || !S_ISREG(c->new.st_mode))
			continue;
		fd = snap_cursor_open(&upper, c->path, O_PATH);
		/* It has gone, or is a folder by now. */
		r = fd < 0 ? 1 : copy_one(fd, before, top_fd, &s->items[s->n]);
		if (r == 0)
			s->items[s->n++].layer = p->layer;
	}
	snap_cursor_done(&upper);
	/* Then little is left to write while the container waits. */
	return top_fd >= 0 && syncfs(top_fd) < 0 ? -errno : r;
}

void snap_stage_make(const struct snap *s, const char *path, struct snap_stage **ret)
{
	_cleanup_snap_parts_ struct snap_parts parts = { 0 };
	struct snap_stage *stage = calloc(1, sizeof(*stage));
	struct error ignored = ERROR_NULL;
	_cleanup_free_ char *below = NULL;
	struct timespec now;
	size_t i;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	snap_write_out(s);
	*ret = stage;
	if (!stage || snap_parts_open(s, path, false, &parts, &below, &ignored) < 0)
		return;
	stage->room = room();
	stage->items = calloc(stage->room, sizeof(*stage->items));
	for (i = 0; i < parts.n && stage->items; i++)
		if (stage_part(stage, &parts.items[i], in_ns(&now)) < 0)
			break;
	if (stage->n > 0)
		qsort(stage->items, stage->n, sizeof(*stage->items), by_inode);
}

struct snap_stage *snap_stage_free(struct snap_stage *s)
{
	size_t i;

	if (!s)
		return NULL;
	for (i = 0; i < s->n; i++)
		(void)close(s->items[i].fd);
	free(s->items);
	free(s);
	return NULL;
}

int snap_stage_link(const struct snap_stage *s, size_t layer, const struct stat *st, int dirfd, const char *name)
{
	const struct staged key = { .layer = layer, .ino = st->st_ino }, *found = NULL;

	if (s && s->n > 0 && st->st_nlink == 1)
		found = bsearch(&key, s->items, s->n, sizeof(*s->items), by_inode);
	if (!found || !unchanged(st, found))
		return -ENOENT;
	return linkat(found->fd, "", dirfd, name, AT_EMPTY_PATH) < 0 ? -errno : 0;
}
