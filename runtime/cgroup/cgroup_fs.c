/*
 * The cgroupfs driver: folders made and removed by ourselves. Also the driver for no
 * cgroup at all. Knows no limits.
 */
#include "cgroup/cgroup_driver.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cgroup/cgroup_devices.h"
#include "cgroup/cgroup_io.h"
#include "util/log.h"
#include "util/str.h"

/* A cpuset of a machine with thousands of processors. */
#define CPUSET_MAX 4096

static int fs_plan(const struct cgroup_request *req, const struct cgroup_host *host,
		   struct cgroup *ret, struct error *err)
{
	size_t i;
	int r;

	if (host->n == 0 && !req->rootless)
		return error_text(err, -ENOENT,
				  "no cgroup hierarchy is mounted below " CGROUP_MOUNT_POINT
				  ": mount cgroup2 there or use --cgroup-manager=disabled");
	for (i = 0; i < host->n; i++) {
		const struct cgroup_hierarchy *h = &host->hierarchies[i];
		struct cgroup_dir *d = &ret->dirs[ret->n_dirs];

		r = cgroup_host_path(host, h, req->path, req->id, &d->path, err);
		if (r < 0)
			return r;
		ret->n_dirs++;
		d->controllers = strdup(h->controllers);
		if (!d->controllers)
			return error_oom(err);
	}
	return 0;
}

/* mkdir -p: first the folder alone, because nearly always the parent is there. */
static int make_folder(const char *path, bool *ret_created)
{
	_cleanup_free_ char *parent = NULL;
	bool ignored;
	char *slash;
	int r;

	if (mkdir(path, 0755) == 0) {
		*ret_created = true;
		return 0;
	}
	if (errno == EEXIST) {
		*ret_created = false;
		return 0;
	}
	if (errno != ENOENT)
		return -errno;

	parent = strdup(path);
	if (!parent)
		return -ENOMEM;
	slash = strrchr(parent, '/');
	if (!slash || slash == parent)
		return -ENOENT;
	*slash = '\0';
	r = make_folder(parent, &ignored);
	if (r < 0)
		return r;
	if (mkdir(path, 0755) < 0) {
		if (errno != EEXIST)
			return -errno;
		*ret_created = false;
		return 0;
	}
	*ret_created = true;
	return 0;
}

static int cpuset_copy(int parent, int dir, const char *file)
{
	char value[CPUSET_MAX];
	ssize_t n;

	n = cgroup_read(dir, file, value, sizeof(value));
	if (n != 0)
		return n < 0 ? (int)n : 0;
	n = cgroup_read(parent, file, value, sizeof(value));
	if (n < 0)
		return (int)n;
	return n == 0 ? -ENODATA : cgroup_write(dir, file, value);
}

/*
 * A new v1 cpuset is empty and takes no process. Folders on the way that an earlier call of
 * somebody else made may be empty as well, so the walk goes up to the first that is not.
 */
static int cpuset_fill(const char *path, unsigned depth)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };
	_cleanup_close_ int dir = -EBADF, parent = -EBADF;
	_cleanup_free_ char *above = NULL;
	char *slash;
	size_t i;
	int r;

	if (depth > 64)
		return -ELOOP;
	above = strdup(path);
	slash = above ? strrchr(above, '/') : NULL;
	if (!slash || slash == above)
		return above ? -ENOENT : -ENOMEM;
	*slash = '\0';

	dir = cgroup_open_dir(path);
	parent = cgroup_open_dir(above);
	if (dir < 0 || parent < 0)
		return dir < 0 ? dir : parent;
	for (i = 0; i < ELEMENTSOF(files); i++) {
		r = cpuset_copy(parent, dir, files[i]);
		if (r == -ENODATA) {
			r = cpuset_fill(above, depth + 1);
			if (r == 0)
				r = cpuset_copy(parent, dir, files[i]);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int cgroup_folder_create(struct cgroup_dir *d, struct error *err)
{
	int r;

	r = make_folder(d->path, &d->created);
	if (r < 0)
		return error_set(err, r, "create cgroup %s", d->path);
	if (cgroup_list_has(d->controllers, "cpuset")) {
		r = cpuset_fill(d->path, 0);
		if (r < 0) {
			if (d->created)
				(void)rmdir(d->path);
			return error_set(err, r, "copy the parent's cpuset to %s", d->path);
		}
	}
	return 0;
}

static bool rootless_tolerates(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS || r == -ENOENT;
}

static void dir_drop(struct cgroup *cg, size_t i)
{
	free(cg->dirs[i].controllers);
	free(cg->dirs[i].path);
	cg->n_dirs--;
	memmove(&cg->dirs[i], &cg->dirs[i + 1], (cg->n_dirs - i) * sizeof(cg->dirs[0]));
	cg->dirs[cg->n_dirs] = (struct cgroup_dir){ 0 };
}

static int fs_create(struct cgroup *cg, const struct cgroup_request *req,
		     const struct cgroup_writes *writes, struct error *err)
{
	size_t i = 0;
	int r;

	while (i < cg->n_dirs) {
		r = cgroup_folder_create(&cg->dirs[i], err);
		/* A folder that was asked for by name is not left out. */
		if (r < 0 && req->rootless && !(req->path && *req->path) && rootless_tolerates(r)) {
			log_debugf("left out: %s", err->text);
			*err = ERROR_NULL;
			dir_drop(cg, i);
			continue;
		}
		if (r < 0)
			return r;
		i++;
	}
	return 0;
}

/* A folder that was there before stays, without what was ours on it. */
static int clear_kept(const struct cgroup_dir *d, struct error *err)
{
	_cleanup_close_ int dir = *d->controllers ? -EBADF : cgroup_open_dir(d->path);
	int r = dir < 0 ? 0 : cgroup_devices_remove_v2(dir);

	/* who may not look has put nothing there */
	return r < 0 && r != -EPERM && r != -EACCES ? error_set(err, r, "take the device filter off cgroup %s", d->path) : 0;
}

static int fs_remove(const struct cgroup *cg, struct error *err)
{
	struct error first = ERROR_NULL, one = ERROR_NULL;
	size_t i;
	int r;

	/* One stuck hierarchy shall not keep the others. */
	for (i = 0; i < cg->n_dirs; i++) {
		r = cg->dirs[i].created ? cgroup_remove_tree(cg->dirs[i].path, &one) : clear_kept(&cg->dirs[i], &one);
		if (r < 0 && first.code == 0)
			first = one;
	}
	if (first.code < 0)
		*err = first;
	return first.code;
}

const struct cgroup_driver cgroup_driver_fs = {
	.name = "cgroupfs",
	.plan = fs_plan,
	.create = fs_create,
	.remove = fs_remove,
};

static int disabled_plan(const struct cgroup_request *req, const struct cgroup_host *host,
			 struct cgroup *ret, struct error *err)
{
	return 0;
}

static int disabled_create(struct cgroup *cg, const struct cgroup_request *req,
			   const struct cgroup_writes *writes, struct error *err)
{
	return 0;
}

static int disabled_remove(const struct cgroup *cg, struct error *err)
{
	return 0;
}

const struct cgroup_driver cgroup_driver_disabled = {
	.name = "disabled",
	.plan = disabled_plan,
	.create = disabled_create,
	.remove = disabled_remove,
};
