/*
 * Looks through a parent's descriptors for a pidfd of its child.
 */
#include "os/pidfd_watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "os/procfs.h"
#include "util/parse.h"

/* A parent with more is not searched to the end. */
#define WATCH_FDS_MAX 4096

static int parent_of(int proc_fd, pid_t pid, pid_t *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char path[32], *end;
	uint32_t parent;
	int r;

	(void)snprintf(path, sizeof(path), "%d/stat", pid);
	r = procfs_read(proc_fd, path, &text, err);
	if (r < 0)
		return r;
	/* Its name is its own choice, and may hold brackets and blanks: the last bracket ends it. */
	end = strrchr(text, ')');
	if (!end || strlen(end) < 5)
		return error_text(err, -EPROTO, "%s cannot be understood", path);
	end += 4;
	end[strcspn(end, " ")] = '\0';
	if (parse_u32(end, &parent) < 0)
		return error_text(err, -EPROTO, "%s cannot be understood", path);
	*ret = (pid_t)parent;
	return 0;
}

/* Linux 6.9 gave pidfds a filesystem of their own, and links another text. */
static bool looks_like_pidfd(int dir, const char *name)
{
	char link[32];
	ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);

	if (n <= 0)
		return false;
	link[n] = '\0';
	return strcmp(link, "anon_inode:[pidfd]") == 0 || strncmp(link, "pidfd:", 6) == 0;
}

static bool is_of(int proc_fd, pid_t holder, const char *fd, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	struct error ignored;
	char path[64], line[32];

	(void)snprintf(path, sizeof(path), "%d/fdinfo/%.16s", holder, fd);
	(void)snprintf(line, sizeof(line), "\nPid:\t%d\n", pid);
	return procfs_read(proc_fd, path, &text, &ignored) == 0 && strstr(text, line);
}

int pidfd_is_watched(int proc_fd, pid_t pid, pid_t *ret_parent, bool *ret, struct error *err)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct error ignored;
	const struct dirent *e;
	char path[32];
	pid_t parent = 0;
	int fd, r, i;

	r = parent_of(proc_fd, pid, &parent, err);
	if (r < 0)
		return r;
	*ret = false;
	*ret_parent = parent;
	(void)snprintf(path, sizeof(path), "%d/fd", parent);
	if (parent <= 0 || procfs_openat(proc_fd, path, O_RDONLY | O_DIRECTORY, &fd, &ignored) < 0)
		return 0;
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return error_set(err, -ENOMEM, "read the descriptors of process %d", parent);
	}
	for (i = 0; i < WATCH_FDS_MAX && !*ret && (e = readdir(d)); i++)
		*ret = looks_like_pidfd(dirfd(d), e->d_name) && is_of(proc_fd, parent, e->d_name, pid);
	return 0;
}
