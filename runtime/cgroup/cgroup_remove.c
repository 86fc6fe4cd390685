/*
 * Owns the removal of cgroup folders: bottom up, patient with the kernel, which keeps a
 * cgroup busy for a moment after its last process has gone.
 */
#include "cgroup/cgroup_driver.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cgroup/cgroup_io.h"
#include "util/str.h"

#define REMOVE_TIMEOUT_US (10 * 1000 * 1000)
#define REMOVE_STEP_US	  (50 * 1000)
#define DEPTH_MAX	  128

static int remove_children(int dir, unsigned depth);

/* kernfs counts sub-folders as links: without any the listing can be spared. */
static bool has_children(int dir)
{
	struct stat st;

	return fstat(dir, &st) < 0 || st.st_nlink > 2;
}

static int remove_at(int parent, const char *name, unsigned depth)
{
	_cleanup_close_ int dir = -EBADF;
	int r = 0;

	if (depth > DEPTH_MAX)
		return -ELOOP;
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || cgroup_is_gone(-errno))
		return 0;
	if (errno != EBUSY && errno != ENOTEMPTY)
		return -errno;

	dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return cgroup_is_gone(-errno) ? 0 : -errno;
	if (!has_children(dir))
		return -EBUSY;
	r = remove_children(dir, depth + 1);
	if (r < 0)
		return r;
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || cgroup_is_gone(-errno))
		return 0;
	return -errno;
}

/* Goes on after a failure: what can go shall go, the caller tries again. */
static int remove_children(int dir, unsigned depth)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	int fd, r = 0, one;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cgroup_is_gone(-errno) ? 0 : -errno;
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(d))) {
		if (e->d_type != DT_DIR || str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		one = remove_at(dir, e->d_name, depth);
		if (one < 0)
			r = one;
	}
	return r;
}

int cgroup_remove_tree(const char *path, struct error *err)
{
	struct cgroup_pause pause = { 0 };
	int r;

	do {
		r = remove_at(AT_FDCWD, path, 0);
		if (r != -EBUSY)
			break;
	} while (cgroup_pause(&pause, REMOVE_STEP_US, REMOVE_TIMEOUT_US));
	if (r == -EBUSY)
		return error_set(err, r, "remove cgroup %s (processes are still in it)", path);
	if (r < 0)
		return error_set(err, r, "remove cgroup %s", path);
	return 0;
}
