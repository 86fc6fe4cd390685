/*
 * Owns the cgroups that are neither the container's nor the engine's: one for each command
 * added to a container, and the place of the resident programs. They limit nothing.
 */
#include "cgroup/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "cgroup/cgroup_host.h"
#include "cgroup/cgroup_io.h"
#include "util/fd.h"
#include "util/str.h"

int cgroup_exec_create(const struct cgroup *cg, unsigned number, struct cgroup *ret, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	struct cgroup sub = { .layout = cg->layout, .manager = CGROUP_MANAGER_CGROUPFS };

	if (!d)
		d = cgroup_dir_find(cg, "freezer");
	if (!d)
		return CGROUP_E_NO_PLACE;
	sub.dirs[0] = (struct cgroup_dir){
		.controllers = strdup(d->controllers),
		.path = str_printf("%s/exec-%u", d->path, number),
		.created = true,
	};
	sub.n_dirs = 1;
	if (!sub.dirs[0].controllers || !sub.dirs[0].path) {
		cgroup_done(&sub);
		return error_oom(err);
	}
	/* Left by a supervisor that was killed: empty, or the container is dying. */
	if (mkdir(sub.dirs[0].path, 0755) < 0 && errno != EEXIST) {
		int r = errno == EAGAIN || errno == EOPNOTSUPP ?
				CGROUP_E_NO_PLACE :
				error_set(err, -errno, "make cgroup %s", sub.dirs[0].path);

		cgroup_done(&sub);
		return r;
	}
	*ret = sub;
	return 0;
}

static int enter(const struct cgroup_hierarchy *h, const char *name, struct error *err)
{
	_cleanup_free_ char *folder = str_printf("%s/%s", h->mount, name);
	_cleanup_free_ char *file = folder ? str_printf("%s/%s", folder, *h->controllers ? "tasks" : "cgroup.procs") : NULL;
	int r;

	if (!file)
		return error_oom(err);
	/* A thread of its own kind: a write of oneself into "tasks" waits for no RCU grace period. */
	r = file_write_once(AT_FDCWD, file, "0", 1);
	if (r == -ENOENT) {
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			return error_set(err, -errno, "make cgroup %s", folder);
		r = file_write_once(AT_FDCWD, file, "0", 1);
	}
	return r < 0 ? error_set(err, r, "enter cgroup %s", folder) : 0;
}

static bool is_there(const struct cgroup_hierarchy *h, const char *name)
{
	return h->own && h->own[0] == '/' && str_eq(h->own + 1, name);
}

static bool is_v2(const char *mount)
{
	struct statfs st;

	return statfs(mount, &st) == 0 && st.f_type == CGROUP2_SUPER_MAGIC;
}

int cgroup_apart_open(const char *name, int *ret_fd, struct error *err)
{
	_cleanup_free_ char *folder = NULL;
	const char *mount = CGROUP_MOUNT_POINT;
	int fd;

	*ret_fd = -EBADF;
	if (!is_v2(mount))
		mount = CGROUP_MOUNT_POINT "/unified";
	/* Elsewhere it is rarely mounted, and who is not born there moves. */
	if (!is_v2(mount))
		return 0;
	folder = str_printf("%s/%s", mount, name);
	if (!folder)
		return error_oom(err);
	fd = cgroup_open_dir(folder);
	if (fd == -ENOENT) {
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			return error_set(err, -errno, "make cgroup %s", folder);
		fd = cgroup_open_dir(folder);
	}
	if (fd < 0)
		return error_set(err, fd, "open cgroup %s", folder);
	*ret_fd = fd;
	return 0;
}

int cgroup_enter_apart(const char *name, struct error *err)
{
	_cleanup_cgroup_host_ struct cgroup_host host = CGROUP_HOST_NULL;
	size_t i;
	int r;

	r = cgroup_host_read(&host, err);
	for (i = 0; r == 0 && i < host.n; i++) {
		const struct cgroup_hierarchy *h = &host.hierarchies[i];

		/* A cpuset must be filled before it takes processes, and no engine kills by it. */
		if (is_there(h, name) || cgroup_list_has(h->controllers, "cpuset"))
			continue;
		r = enter(h, name, err);
	}
	return r;
}
