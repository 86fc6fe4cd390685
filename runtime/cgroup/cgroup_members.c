/*
 * Owns the walk over cgroup.procs of a subtree. Signals nobody.
 */
#include "cgroup/cgroup_members.h"

#include <fcntl.h>

#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_walk.h"
#include "util/fd.h"
#include "util/str.h"

/* pid_max is 4 million; seven digits and a newline each. */
#define PROCS_MAX ((size_t)40 * 1024 * 1024)

static int list_add(struct cgroup_pid_list *list, pid_t pid)
{
	pid_t *items;
	size_t cap;

	if (list->n == list->cap) {
		cap = list->cap ? list->cap * 2 : 64;
		items = reallocarray(list->items, cap, sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		list->cap = cap;
	}
	list->items[list->n++] = pid;
	return 0;
}

static int list_parse(struct cgroup_pid_list *list, const char *text)
{
	const char *p;
	pid_t pid;
	int r;

	for (p = text; *p; p++) {
		for (pid = 0; *p >= '0' && *p <= '9'; p++)
			pid = pid * 10 + (*p - '0');
		if (*p != '\n')
			return -EBADMSG;
		/* 0: a process of an outer pid namespace, which we could not name. */
		r = pid > 0 ? list_add(list, pid) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int procs_read(int dir, struct cgroup_pid_list *list)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	int r;

	fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	r = fd_read_all(fd, PROCS_MAX, &text, NULL);
	if (r < 0)
		return r;
	return list_parse(list, text);
}

static int procs_add(void *arg, int dir)
{
	int r = procs_read(dir, arg);

	/* A threaded cgroup lists its processes in the domain above it. */
	return r == -EOPNOTSUPP || cgroup_is_gone(r) ? 0 : r;
}

int cgroup_members(const char *path, struct cgroup_pid_list *list)
{
	const struct cgroup_visit visit = { .enter = procs_add, .arg = list };
	int dir = cgroup_open_dir(path);

	if (dir < 0)
		return cgroup_is_gone(dir) ? 0 : dir;
	return cgroup_walk(&dir, &visit);
}

static int pid_compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void cgroup_pid_list_sort(struct cgroup_pid_list *list)
{
	size_t i, out = 0;

	if (list->n == 0)
		return;
	qsort(list->items, list->n, sizeof(list->items[0]), pid_compare);
	for (i = 1; i < list->n; i++)
		if (list->items[i] != list->items[out])
			list->items[++out] = list->items[i];
	list->n = out + 1;
}

void cgroup_pid_list_done(struct cgroup_pid_list *list)
{
	free(list->items);
	*list = CGROUP_PID_LIST_NULL;
}
