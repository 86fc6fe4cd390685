/*
 * The systemd driver: the container's folder is that of a scope, which systemd makes and
 * ends, and whose content it leaves to us (Delegate=yes). Knows no D-Bus: a helper program
 * does (cgroup_scope_peer.c).
 *
 * A scope without a process ends at once. So the helper itself is its first process, while
 * limits and device rules are written, until init was cloned into it. On v1 systemd
 * makes the folders of some hierarchies only; the others are ours.
 */
#include "cgroup/cgroup_driver.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_scope.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

#define PROC_DEVICES_MAX ((size_t)256 * 1024)

static int no_slices(const char *unit, struct error *err)
{
	return error_text(err, -EOPNOTSUPP,
			  "systemd cgroup manager: unit %s: a container cannot be a slice, which holds "
			  "no processes; choose a name without \".slice\"",
			  unit);
}

static int plan_dirs(const struct cgroup_host *host, const char *base, const char *folder,
		     struct cgroup *ret, struct error *err)
{
	size_t i;

	for (i = 0; i < host->n; i++) {
		const struct cgroup_hierarchy *h = &host->hierarchies[i];
		struct cgroup_dir *d = &ret->dirs[ret->n_dirs++];

		*d = (struct cgroup_dir){
			.controllers = strdup(h->controllers),
			.path = str_printf("%s%s%s", h->mount, base, folder),
		};
		if (!d->controllers || !d->path)
			return error_oom(err);
	}
	return 0;
}

static int systemd_plan(const struct cgroup_request *req, const struct cgroup_host *host,
			struct cgroup *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct cgroup_scope_name name;
	char base[PATH_MAX];
	int r;

	ret->user_scope = req->rootless;
	r = cgroup_scope_name(req->path, req->id, req->rootless, &arena, &name, err);
	if (r < 0)
		return r;
	if (name.is_slice)
		return no_slices(name.unit, err);
	if (host->n == 0)
		return error_text(err, -ENOENT,
				  "no cgroup hierarchy is mounted below " CGROUP_MOUNT_POINT);
	r = cgroup_peer_start(ret->user_scope, &ret->peer, err);
	if (r == 0)
		r = cgroup_peer_call(ret->peer, CGROUP_SCOPE_MANAGER, NULL, NULL, NULL, base, err);
	if (r < 0)
		return r;
	ret->scope = strdup(name.unit);
	ret->slice = strdup(name.slice);
	if (!ret->scope || !ret->slice)
		return error_oom(err);
	return plan_dirs(host, str_eq(base, "/") ? "" : base, name.folder, ret, err);
}

/* Pressed into the form that systemctl shows; the rules themselves are applied later. */
static int device_props(struct cgroup_props *props, const struct cgroup_request *req,
			struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_free_ char *majors = NULL;
	struct cgroup_device_list rules;
	int r;

	r = cgroup_devices_rules(req->resources, req->strict_devices, &arena, &rules, err);
	if (r == 0)
		r = file_read_all(AT_FDCWD, "/proc/devices", PROC_DEVICES_MAX, &majors, NULL, err);
	return r < 0 ? r : cgroup_props_devices(props, &rules, majors, err);
}

static int scope_props(struct cgroup_props *props, const struct cgroup_request *req,
		       const struct cgroup_writes *writes, struct error *err)
{
	static const char *const accounting[] = { "CPUAccounting", "MemoryAccounting", "IOAccounting",
						  "TasksAccounting" };
	_cleanup_free_ char *description = str_printf("agentrun container %s", req->id);
	size_t i;
	int r;

	if (!description)
		return error_oom(err);
	cgroup_props_string(props, "Description", 0, description);
	cgroup_props_bool(props, "Delegate", true);
	/* The engine ends containers at shutdown, not systemd before the engine. */
	cgroup_props_bool(props, "DefaultDependencies", false);
	/* An out-of-memory kill fails a scope; nobody would remove it. */
	cgroup_props_string(props, "CollectMode", 0, "inactive-or-failed");
	for (i = 0; i < ELEMENTSOF(accounting); i++)
		cgroup_props_bool(props, accounting[i], true);
	r = cgroup_props_limits(props, writes, err);
	/* A user's manager has no right to device programs. */
	if (r == 0 && !req->rootless)
		r = device_props(props, req, err);
	if (r == 0)
		r = cgroup_props_annotations(props, req->annotations, req->any_property, err);
	return r;
}

/* What systemd did not make: on v1, hierarchies that it does not know or use. */
static int folders_make(struct cgroup *cg, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < cg->n_dirs; i++) {
		if (cg->layout == CGROUP_LAYOUT_UNIFIED) {
			if (access(cg->dirs[i].path, F_OK) < 0)
				return error_set(err, -errno, "find the cgroup of %s: %s", cg->scope,
						 cg->dirs[i].path);
		} else {
			r = cgroup_folder_create(&cg->dirs[i], err);
			if (r < 0)
				return r;
		}
		/* An old folder cannot be here: the unit is new. */
		cg->dirs[i].created = true;
	}
	return 0;
}

static int systemd_create(struct cgroup *cg, const struct cgroup_request *req,
			  const struct cgroup_writes *writes, struct error *err)
{
	_cleanup_cgroup_props_ struct cgroup_props props = CGROUP_PROPS_NULL;
	int r;

	assert(cg->peer && cg->scope && cg->slice);

	r = scope_props(&props, req, writes, err);
	if (r == 0)
		r = cgroup_peer_call(cg->peer, CGROUP_SCOPE_START, cg->scope, cg->slice, &props, NULL,
				     err);
	return r < 0 ? r : folders_make(cg, err);
}

/* The file that is more exact than the property: systemd rounds up to whole percents. */
struct quota {
	const char *file;
	int dir;
	char text[64];
};

static void quota_read(const struct cgroup *cg, struct quota *q)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "cpu");

	q->file = d ? "cpu.cfs_quota_us" : "cpu.max";
	if (!d)
		d = cgroup_dir_find(cg, "");
	q->dir = d ? cgroup_open_dir(d->path) : -EBADF;
	q->text[0] = '\0';
	if (q->dir >= 0 && cgroup_read(q->dir, q->file, q->text, sizeof(q->text)) < 0)
		q->text[0] = '\0';
}

static int quota_restore(struct quota *q, struct error *err)
{
	_cleanup_close_ int dir = q->dir;
	char now[64];
	int r = 0;

	if (q->text[0] && cgroup_read(dir, q->file, now, sizeof(now)) >= 0 && !str_eq(now, q->text))
		r = cgroup_write(dir, q->file, q->text);
	return r < 0 ? error_set(err, r, "write \"%s\" to %s again", q->text, q->file) : 0;
}

/* systemd writes all its limits again, not only the new ones. */
static int systemd_announce(const struct cgroup *cg, const struct cgroup_writes *writes,
			    struct error *err)
{
	_cleanup_cgroup_peer_ struct cgroup_peer *peer = NULL;
	_cleanup_cgroup_props_ struct cgroup_props props = CGROUP_PROPS_NULL;
	struct error ignored = ERROR_NULL;
	struct quota quota;
	int r, k;

	r = cgroup_props_limits(&props, writes, err);
	if (r < 0 || props.n == 0)
		return r;
	r = cgroup_peer_start(cg->user_scope, &peer, err);
	if (r < 0)
		return r;
	quota_read(cg, &quota);
	r = cgroup_peer_call(peer, CGROUP_SCOPE_SET, cg->scope, NULL, &props, NULL, err);
	k = quota_restore(&quota, r < 0 ? &ignored : err);
	return r < 0 ? r : k;
}

static bool any_folder(const struct cgroup *cg)
{
	size_t i;

	for (i = 0; i < cg->n_dirs; i++)
		if (cg->dirs[i].created && access(cg->dirs[i].path, F_OK) == 0)
			return true;
	return false;
}

/*
 * Usually systemd has ended the scope when its last process ended, and nothing is left. Out of
 * reach, it will do so as soon as the folder is empty: so its refusal is no failure.
 */
static int systemd_remove(const struct cgroup *cg, struct error *err)
{
	_cleanup_cgroup_peer_ struct cgroup_peer *peer = NULL;
	struct error ignored = ERROR_NULL;
	int r;

	if (!cg->scope || !any_folder(cg))
		return 0;
	r = cgroup_peer_start(cg->user_scope, &peer, &ignored);
	if (r == 0)
		r = cgroup_peer_call(peer, CGROUP_SCOPE_STOP, cg->scope, NULL, NULL, NULL, &ignored);
	if (r < 0)
		log_debugf("stop %s: %s", cg->scope, ignored.text);
	return cgroup_driver_fs.remove(cg, err);
}

const struct cgroup_driver cgroup_driver_systemd = {
	.name = "systemd",
	.plan = systemd_plan,
	.create = systemd_create,
	.announce = systemd_announce,
	.remove = systemd_remove,
};
