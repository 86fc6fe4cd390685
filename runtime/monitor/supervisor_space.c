/*
 * Owns the knowledge of which file systems of a container can be full, and whether they are.
 * Descriptors of them are taken while nobody inside runs and nothing inside can have been put in
 * their way; what is asked of them later goes to the file system and to no path.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "monitor/supervisor.h"
#include "os/procfs.h"
#include "os/rootfs.h"
#include "util/fd.h"
#include "util/str.h"

#define MOUNTINFO_MAX ((size_t)1 << 20)
#define CAP_SYS_ADMIN 21

/* Fields of a mountinfo line, as in proc(5); the type follows a lone "-". */
struct line {
	char *point, *options, *type;
};

static bool split(char *text, struct line *ret)
{
	char *save = NULL, *word = strtok_r(text, " ", &save);
	unsigned i;

	*ret = (struct line){ NULL };
	for (i = 0; word; i++, word = strtok_r(NULL, " ", &save)) {
		if (i == 4)
			ret->point = word;
		else if (i == 5)
			ret->options = word;
		else if (i > 5 && str_eq(word, "-"))
			break;
	}
	ret->type = word ? strtok_r(NULL, " ", &save) : NULL;
	return ret->point && ret->options && ret->type;
}

/* What is too little for a write of usual size: of the whole, and of bytes. */
#define NEAR_PART  64
#define NEAR_BYTES ((uint64_t)1 << 20)

/* Of memory, or a layer of its own over somebody's files: both have their size. */
static bool can_fill(const struct line *l)
{
	return (str_eq(l->type, "tmpfs") || str_eq(l->type, "overlay")) &&
	       (str_eq(l->options, "rw") || str_after(l->options, "rw,"));
}

static void take(struct sup *s, int root_fd, const struct line *l)
{
	struct sup_space *space = &s->spaces[s->n_spaces];
	int fd = -EBADF;

	/* A name with a blank is written with an escape, and so not found. */
	if (rootfs_openat(root_fd, l->point, O_PATH | O_CLOEXEC, 0, &fd) < 0)
		return;
	*space = (struct sup_space){ .fd = fd, .exact = str_eq(l->type, "tmpfs") };
	(void)snprintf(space->point, sizeof(space->point), "%s", l->point);
	s->n_spaces++;
}

void sup_spaces_open(struct sup *s)
{
	_cleanup_close_ int root_fd = -EBADF, info_fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	struct error ignored;
	char path[48], *at, *next;

	/* Who may unmount would find it busy because of us. */
	if (!s->record->expect.set || s->record->expect.bounding >> CAP_SYS_ADMIN & 1)
		return;
	(void)snprintf(path, sizeof(path), "%d/mountinfo", s->init->pid);
	if (procfs_openat(s->proc_fd, path, O_RDONLY | O_CLOEXEC, &info_fd, &ignored) < 0 ||
	    fd_read_all(info_fd, MOUNTINFO_MAX, &text, NULL) < 0)
		return;
	(void)snprintf(path, sizeof(path), "%d/root", s->init->pid);
	root_fd = openat(s->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (at = text; root_fd >= 0 && at && s->n_spaces < SUP_SPACES_MAX; at = next) {
		struct line l;

		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		if (split(at, &l) && can_fill(&l))
			take(s, root_fd, &l);
	}
}

/*
 * Not every file system counts its blocks or its files. One of memory takes its last page; one on a
 * disk refuses a large write while some blocks are left.
 */
static bool is_full(const struct sup_space *space, const struct statvfs *st)
{
	uint64_t near = space->exact ? 0 : MIN((uint64_t)st->f_blocks / NEAR_PART, NEAR_BYTES / MAX(st->f_frsize, 1UL));

	return (st->f_blocks > 0 && st->f_bavail <= near) || (st->f_files > 0 && st->f_favail == 0);
}

const char *sup_spaces_full(const struct sup *s)
{
	struct statvfs st;
	size_t i;

	for (i = 0; i < s->n_spaces; i++) {
		if (fstatvfs(s->spaces[i].fd, &st) < 0)
			continue;
		if (is_full(&s->spaces[i], &st))
			return s->spaces[i].point;
	}
	return NULL;
}

void sup_spaces_close(struct sup *s)
{
	while (s->n_spaces > 0)
		(void)close(s->spaces[--s->n_spaces].fd);
}
