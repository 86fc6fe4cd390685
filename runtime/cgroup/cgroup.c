/*
 * Owns the order of making a container's cgroup and the choice of the driver. The steps
 * themselves are in the other files.
 */
#include "cgroup/cgroup.h"

#include <assert.h>
#include <fcntl.h>

#include "cgroup/cgroup_devices.h"
#include "cgroup/cgroup_driver.h"
#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_limits.h"
#include "cgroup/cgroup_members.h"
#include "cgroup/cgroup_scope.h"
#include "cgroup/cgroup_verify.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

/* Also without a limit, so that `events` finds counters. */
#define V2_CONTROLLERS "cpuset cpu io memory hugetlb pids rdma misc"

#define DELEGATE_MAX   ((size_t)64 * 1024)

const struct cgroup_driver *cgroup_driver_of(enum cgroup_manager manager)
{
	static const struct cgroup_driver *const drivers[] = {
		[CGROUP_MANAGER_CGROUPFS] = &cgroup_driver_fs,
		[CGROUP_MANAGER_SYSTEMD] = &cgroup_driver_systemd,
		[CGROUP_MANAGER_DISABLED] = &cgroup_driver_disabled,
	};

	assert((size_t)manager < ELEMENTSOF(drivers));
	return drivers[manager];
}

int cgroup_layout_detect(enum cgroup_layout *ret, struct error *err)
{
	_cleanup_cgroup_host_ struct cgroup_host host = CGROUP_HOST_NULL;
	int r;

	r = cgroup_host_read(&host, err);
	if (r < 0)
		return r;
	*ret = host.layout;
	return 0;
}

int cgroup_plan(const struct cgroup_request *req, struct cgroup *ret, struct error *err)
{
	_cleanup_cgroup_host_ struct cgroup_host host = CGROUP_HOST_NULL;
	struct cgroup cg = CGROUP_NULL;
	int r;

	assert(req && req->id && ret);

	r = cgroup_host_read(&host, err);
	if (r < 0)
		return r;
	cg.layout = host.layout;
	cg.manager = req->manager;
	r = cgroup_driver_of(req->manager)->plan(req, &host, &cg, err);
	if (r < 0) {
		cgroup_done(&cg);
		return r;
	}
	*ret = cg;
	return 0;
}

/* A reused folder with processes is somebody's: ours would share their limits and their end. */
static int unused_check(const struct cgroup *cg, struct error *err)
{
	bool frozen;
	size_t i, n;
	int r;

	for (i = 0; i < cg->n_dirs; i++) {
		struct cgroup_pid_list list = CGROUP_PID_LIST_NULL;

		if (cg->dirs[i].created)
			continue;
		r = cgroup_members(cg->dirs[i].path, &list);
		n = list.n;
		cgroup_pid_list_done(&list);
		if (r < 0)
			return error_set(err, r, "list the processes of cgroup %s",
					 cg->dirs[i].path);
		if (n > 0)
			return error_text(err, -EBUSY,
					  "container's cgroup is not empty: %zu process(es) found "
					  "in %s",
					  n, cg->dirs[i].path);
	}
	r = cgroup_would_freeze(cg, &frozen);
	if (r < 0)
		return error_set(err, r, "read the freezer of the container's cgroup");
	if (frozen)
		return error_text(
			err, -EBUSY,
			"container's cgroup unexpectedly frozen: thaw it or choose another "
			"cgroupsPath");
	return 0;
}

static void needed_controllers(const struct cgroup_writes *w, struct buf *out)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		const struct cgroup_write *x = &w->items[i];

		/* "cgroup" files are the core's own; an optional write is no need. */
		if (!(x->flags & CGROUP_WRITE_V2) || (x->flags & CGROUP_WRITE_OPTIONAL) ||
		    str_eq(x->controller, "cgroup"))
			continue;
		if (i > 0 && str_eq(x->controller, w->items[i - 1].controller))
			continue;
		buf_addf(out, "%s%s", out->len ? " " : "", x->controller);
	}
}

static int controllers_enable(const struct cgroup *cg, const struct cgroup_writes *w,
			      struct error *err)
{
	_cleanup_buf_ struct buf need = BUF_NULL, want = BUF_NULL;
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");

	if (!d)
		return 0;
	buf_adds(&need, "");
	needed_controllers(w, &need);
	/* On hybrid the v2 hierarchy is for membership; controllers only where a limit needs one.
	 */
	if (cg->layout == CGROUP_LAYOUT_HYBRID && need.len == 0)
		return 0;
	buf_addf(&want, "%s%s%s", need.data ? need.data : "", need.len ? " " : "",
		 cg->layout == CGROUP_LAYOUT_UNIFIED ? V2_CONTROLLERS : "");
	if (!buf_ok(&need) || !buf_ok(&want))
		return error_oom(err);
	return cgroup_enable(d->path, want.data, need.data, err);
}

static int devices_keep(const struct cgroup_kept *kept, const struct cgroup_device_list *rules, bool v2,
			uint32_t program, struct error *err)
{
	_cleanup_free_ char *text = NULL;

	if (!v2) {
		int r = cgroup_devices_text(rules, &text, err);

		return r < 0 ? r : cgroup_kept_add(kept, "devices", CGROUP_DEVICES_LIST, text, err);
	}
	text = str_printf("%u", program);
	return text ? cgroup_kept_add(kept, "", CGROUP_DEVICES_PROGRAM, text, err) : error_oom(err);
}

static int devices_apply(const struct cgroup *cg, const struct cgroup_request *req,
			 struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	const struct cgroup_dir *d = cgroup_dir_find(cg, "devices");
	_cleanup_close_ int dir = -EBADF;
	struct cgroup_device_list rules;
	uint32_t program = 0;
	bool v2 = !d;
	int r;

	if (cg->manager == CGROUP_MANAGER_DISABLED)
		return 0;
	if (v2)
		d = cgroup_dir_find(cg, "");
	if (!d)
		return req->rootless ? 0
				     : error_text(err, -EOPNOTSUPP,
						  "device rules cannot be applied: neither the v1 "
						  "devices controller nor cgroup v2 is mounted");
	r = cgroup_devices_rules(req->resources, req->strict_devices, &arena, &rules, err);
	if (r < 0)
		return r;
	dir = cgroup_open_dir(d->path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", d->path);
	r = v2 ? cgroup_devices_apply_v2(dir, d->path, &rules, &program, err)
	       : cgroup_devices_apply_v1(dir, d->path, &rules, err);
	/* Without privilege no device node can be made and no filter be set: nothing is lost. */
	if ((r == -EPERM || r == -EACCES) && req->rootless) {
		log_debugf("left out: %s", err->text);
		*err = ERROR_NULL;
		return 0;
	}
	return r < 0 || !req->kept ? r : devices_keep(req->kept, &rules, v2, program, err);
}

static int fill(struct cgroup *cg, const struct cgroup_request *req,
		const struct cgroup_writes *writes, struct error *err)
{
	int r;

	r = cgroup_driver_of(cg->manager)->create(cg, req, writes, err);
	if (r < 0)
		return r;
	r = unused_check(cg, err);
	if (r < 0)
		return r;
	r = controllers_enable(cg, writes, err);
	if (r < 0)
		return r;
	r = cgroup_writes_apply(cg, writes, err);
	if (r == 0 && req->kept)
		r = cgroup_kept_writes(req->kept, writes, err);
	if (r < 0)
		return r;
	return devices_apply(cg, req, err);
}

int cgroup_create(struct cgroup *cg, const struct cgroup_request *req, struct error *err)
{
	_cleanup_cgroup_writes_ struct cgroup_writes writes = CGROUP_WRITES_NULL;
	struct cgroup_limits in = { .resources = req->resources };
	struct error ignored = ERROR_NULL;
	size_t i;
	int r;

	/* Impossible limits are told before anything is made. */
	if (req->resources) {
		r = cgroup_limits_for_host(cg, &in, &writes, err);
		if (r < 0)
			return r;
	}
	r = fill(cg, req, &writes, err);
	if (r < 0) {
		(void)cgroup_driver_of(cg->manager)->remove(cg, &ignored);
		for (i = 0; i < cg->n_dirs; i++)
			cg->dirs[i].created = false;
	}
	return r;
}

/* What the kernel says may be given away, or the three files that always could. */
static char *delegate_list(void)
{
	struct error ignored = ERROR_NULL;
	char *text;

	if (file_read_all(AT_FDCWD, "/sys/kernel/cgroup/delegate", DELEGATE_MAX, &text, NULL,
			  &ignored) == 0)
		return text;
	return strdup("cgroup.procs\ncgroup.subtree_control\ncgroup.threads\n");
}

int cgroup_chown(const struct cgroup *cg, uid_t uid, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	_cleanup_close_ int dir = -EBADF;
	_cleanup_free_ char *files = NULL;
	char *name, *save = NULL;

	/* v1 folders are never given away: their owner could change the limits. */
	if (cg->layout != CGROUP_LAYOUT_UNIFIED || !d)
		return 0;
	dir = cgroup_open_dir(d->path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", d->path);
	if (fchown(dir, uid, (gid_t)-1) < 0)
		return error_set(err, -errno, "change the owner of cgroup %s", d->path);
	files = delegate_list();
	if (!files)
		return error_oom(err);
	for (name = strtok_r(files, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		if (strchr(name, '/'))
			continue;
		/* Files of controllers that are not enabled here are missing. */
		if (fchownat(dir, name, uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0 && errno != ENOENT)
			return error_set(err, -errno, "change the owner of %s/%s", d->path, name);
	}
	return 0;
}

void cgroup_entered(struct cgroup *cg)
{
	cg->peer = cgroup_peer_free(cg->peer);
}

int cgroup_remove(const struct cgroup *cg, struct error *err)
{
	return cgroup_driver_of(cg->manager)->remove(cg, err);
}

void cgroup_done(struct cgroup *cg)
{
	size_t i;

	for (i = 0; i < cg->n_dirs; i++) {
		free(cg->dirs[i].controllers);
		free(cg->dirs[i].path);
	}
	free(cg->scope);
	free(cg->slice);
	cg->peer = cgroup_peer_free(cg->peer);
	*cg = CGROUP_NULL;
}

int cgroup_mount_paths(const struct cgroup *cg, struct arena *arena, const char *const **ret,
		       struct error *err)
{
	const char **list = arena_calloc(arena, cg->n_dirs + 1, sizeof(*list));
	size_t i;

	if (!list)
		return error_oom(err);
	for (i = 0; i < cg->n_dirs; i++) {
		list[i] = arena_printf(arena, "%s:%s", cg->dirs[i].controllers, cg->dirs[i].path);
		if (!list[i])
			return error_oom(err);
	}
	*ret = list;
	return 0;
}
