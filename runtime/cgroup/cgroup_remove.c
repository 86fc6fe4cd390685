/*
 * Owns the removal of cgroup folders: bottom up, patient with the kernel, which keeps a
 * cgroup busy for a moment after its last process has gone.
 */
#include "cgroup/cgroup_driver.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_walk.h"

#define REMOVE_TIMEOUT_US (10 * 1000 * 1000)
#define REMOVE_STEP_US	  (50 * 1000)

static int remove_child(void *arg, int parent, const char *name)
{
	int *result = arg;

	/* Goes on after a failure: what can go shall go, the caller tries again. */
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0 && !cgroup_is_gone(-errno) && *result == 0)
		*result = -errno;
	return 0;
}

/* A record that was tampered with must not have other folders removed. */
static bool is_cgroup(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

static int remove_once(const char *path)
{
	_cleanup_close_ int dir = cgroup_open_dir(path);
	int result = 0, r;
	const struct cgroup_visit visit = { .leave = remove_child, .arg = &result };

	if (dir < 0)
		return cgroup_is_gone(dir) ? 0 : dir;
	if (!is_cgroup(dir))
		return -EXDEV;
	if (rmdir(path) == 0 || cgroup_is_gone(-errno))
		return 0;
	if (errno != EBUSY && errno != ENOTEMPTY)
		return -errno;
	r = cgroup_walk(&dir, &visit);
	if (r < 0 || result < 0)
		return r < 0 ? r : result;
	return rmdir(path) == 0 || cgroup_is_gone(-errno) ? 0 : -errno;
}

int cgroup_remove_tree(const char *path, struct error *err)
{
	struct cgroup_pause pause = { 0 };
	int r;

	do {
		r = remove_once(path);
		if (r != -EBUSY)
			break;
	} while (cgroup_pause(&pause, REMOVE_STEP_US, REMOVE_TIMEOUT_US));
	if (r == -EBUSY)
		return error_set(err, r, "remove cgroup %s (processes are still in it)", path);
	if (r == -EXDEV)
		return error_text(err, r, "remove cgroup %s: it is not in a cgroup file system", path);
	if (r < 0)
		return error_set(err, r, "remove cgroup %s", path);
	return 0;
}
