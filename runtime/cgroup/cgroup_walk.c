/*
 * Owns the walk over a tree of cgroups. A container that may make cgroups can nest them by
 * the thousand, so that its end fails where each level costs a descriptor or a stack frame:
 * this walk has one folder open and keeps the names that are left to visit on the heap.
 */
#include "cgroup/cgroup_walk.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup/cgroup_io.h"
#include "util/str.h"

/* The children of one folder, each name with its end; at: the one that is being visited. */
struct level {
	struct buf names;
	size_t at;
};

struct walk {
	int dir; /* the folder of the last level */
	struct level *levels;
	size_t n, cap;
};

static void walk_done(struct walk *w)
{
	while (w->n > 0)
		buf_done(&w->levels[--w->n].names);
	free(w->levels);
	cleanup_closep(&w->dir);
}

static int list_children(int dir, struct buf *names)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	struct stat st;
	int fd;

	/* kernfs counts sub-folders as links: without any the listing can be spared. */
	if (fstat(dir, &st) == 0 && st.st_nlink <= 2)
		return 0;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cgroup_is_gone(-errno) ? 0 : -errno;
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return -ENOMEM;
	}
	while ((errno = 0, e = readdir(d)))
		if (e->d_type == DT_DIR && !str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			buf_add(names, e->d_name, strlen(e->d_name) + 1);
	if (errno != 0 && !cgroup_is_gone(-errno))
		return -errno;
	return buf_ok(names) ? 0 : -ENOMEM;
}

/* Takes *dir as the next level. */
static int walk_down(struct walk *w, int *dir, const struct cgroup_visit *v)
{
	struct level *levels;
	size_t cap;
	int r;

	if (w->n == w->cap) {
		cap = w->cap ? w->cap * 2 : 16;
		levels = reallocarray(w->levels, cap, sizeof(*levels));
		if (!levels)
			return -ENOMEM;
		w->levels = levels;
		w->cap = cap;
	}
	cleanup_closep(&w->dir);
	w->dir = take_fd(dir);
	w->levels[w->n++] = (struct level){ .names = BUF_NULL };
	r = v->enter ? v->enter(v->arg, w->dir) : 0;
	return r ? r : list_children(w->dir, &w->levels[w->n - 1].names);
}

/* Back to the folder above, which cannot have changed: cgroups do not move between folders. */
static int walk_up(struct walk *w, const struct cgroup_visit *v)
{
	struct level *l;
	int up, r;

	buf_done(&w->levels[--w->n].names);
	if (w->n == 0)
		return 0;
	up = openat(w->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (up < 0)
		return -errno;
	cleanup_closep(&w->dir);
	w->dir = up;
	l = &w->levels[w->n - 1];
	r = v->leave ? v->leave(v->arg, w->dir, l->names.data + l->at) : 0;
	l->at += strlen(l->names.data + l->at) + 1;
	return r;
}

int cgroup_walk(int *dir, const struct cgroup_visit *visit)
{
	_cleanup_(walk_done) struct walk w = { .dir = -EBADF };
	int r;

	assert(*dir >= 0);

	r = walk_down(&w, dir, visit);
	while (r == 0 && w.n > 0) {
		struct level *l = &w.levels[w.n - 1];
		const char *name;
		int sub;

		if (l->at == l->names.len) {
			r = walk_up(&w, visit);
			continue;
		}
		name = l->names.data + l->at;
		sub = openat(w.dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (sub < 0) {
			l->at += strlen(name) + 1;
			continue;
		}
		r = walk_down(&w, &sub, visit);
		if (sub >= 0)
			(void)close(sub);
	}
	return r;
}
