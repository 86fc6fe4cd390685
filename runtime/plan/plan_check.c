/*
 * Rules that need the whole plan: what each wish presupposes of the namespaces,
 * id maps and paths. Every refusal names the member and what is missing.
 */
#include <linux/sched.h>
#include <sys/mount.h>

#include "plan/plan_internal.h"
#include "util/str.h"

#define ID_MAP_LINES_MAX 340 /* user_namespaces(7) */

static uint64_t own_namespaces(const struct plan *p)
{
	uint64_t own = p->ns_create;
	size_t i;

	for (i = 0; i < p->n_ns_join; i++)
		own |= p->ns_join[i].type;
	return own;
}

static bool ranges_meet(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size)
{
	return (uint64_t)a < (uint64_t)b + b_size && (uint64_t)b < (uint64_t)a + a_size;
}

static int check_id_maps(const char *where, const struct id_maps *maps, struct error *err)
{
	size_t i, k;

	if (maps->count > ID_MAP_LINES_MAX)
		return error_text(err, -E2BIG, "%s has %zu ranges; the kernel takes %d", where,
				  maps->count, ID_MAP_LINES_MAX);
	for (i = 0; i < maps->count; i++) {
		const struct id_map *m = &maps->items[i];

		if (m->size == 0)
			return error_text(err, -EINVAL, "%s[%zu]: size must not be 0", where, i);
		if ((uint64_t)m->container_id + m->size > UINT32_MAX ||
		    (uint64_t)m->host_id + m->size > UINT32_MAX)
			return error_text(err, -ERANGE, "%s[%zu]: ids end at %u", where, i,
					  UINT32_MAX - 1);
		for (k = 0; k < i; k++)
			if (ranges_meet(m->container_id, m->size, maps->items[k].container_id,
					maps->items[k].size) ||
			    ranges_meet(m->host_id, m->size, maps->items[k].host_id,
					maps->items[k].size))
				return error_text(err, -EINVAL, "%s[%zu] overlaps %s[%zu]", where,
						  i, where, k);
	}
	return 0;
}

static bool id_mapped(const struct id_maps *maps, uint32_t id)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		if (id >= maps->items[i].container_id &&
		    id - maps->items[i].container_id < maps->items[i].size)
			return true;
	return false;
}

static int check_mapped(const struct plan *p, struct error *err)
{
	const struct creds *c = &p->process.creds;
	size_t i;

	if (!p->has_process)
		return 0;
	if (!id_mapped(&p->uid_maps, c->uid))
		return error_text(err, -EINVAL,
				  "process.user.uid %u is not mapped by linux.uidMappings", c->uid);
	if (!id_mapped(&p->gid_maps, c->gid))
		return error_text(err, -EINVAL,
				  "process.user.gid %u is not mapped by linux.gidMappings", c->gid);
	for (i = 0; i < c->n_groups && !c->keep_groups; i++)
		if (!id_mapped(&p->gid_maps, c->groups[i]))
			return error_text(
				err, -EINVAL,
				"process.user.additionalGids[%zu]: group %u is not mapped "
				"by linux.gidMappings",
				i, c->groups[i]);
	return 0;
}

static int check_user_namespace(const struct plan *p, uint64_t own, struct error *err)
{
	bool maps = p->uid_maps.count > 0 || p->gid_maps.count > 0;
	int r;

	if (!(own & CLONE_NEWUSER)) {
		if (maps)
			return error_text(err, -EINVAL,
					  "linux.uidMappings and linux.gidMappings need a \"user\" "
					  "entry in linux.namespaces");
		return 0;
	}
	if (!maps && !(p->ns_create & CLONE_NEWUSER))
		return 0;
	if (p->uid_maps.count == 0)
		return error_text(err, -EINVAL,
				  "linux.uidMappings: no uid mappings for the new user namespace");
	if (p->gid_maps.count == 0)
		return error_text(err, -EINVAL,
				  "linux.gidMappings: no gid mappings for the new user namespace");
	r = check_id_maps("linux.uidMappings", &p->uid_maps, err);
	if (r < 0)
		return r;
	r = check_id_maps("linux.gidMappings", &p->gid_maps, err);
	if (r < 0)
		return r;
	/* The set-up itself runs as root of the namespace. */
	if (!id_mapped(&p->uid_maps, 0) || !id_mapped(&p->gid_maps, 0))
		return error_text(err, -EINVAL,
				  "linux.uidMappings and linux.gidMappings must map id 0");
	return check_mapped(p, err);
}

static int check_mount_namespace(const struct plan *p, uint64_t own, struct error *err)
{
	const char *what = NULL;

	if (own & CLONE_NEWNS)
		return 0;
	/* Each of them would change the caller's mounts and stay behind. */
	if (p->n_mounts > 0)
		what = "mounts";
	else if (p->n_masked_paths > 0)
		what = "linux.maskedPaths";
	else if (p->n_readonly_paths > 0)
		what = "linux.readonlyPaths";
	else if (p->rootfs_readonly)
		what = "root.readonly";
	else if (p->spec->linux_cfg->rootfs_propagation)
		what = "linux.rootfsPropagation";
	if (!what)
		return 0;
	return error_text(err, -EINVAL,
			  "%s: not possible without a private mount namespace (add a \"mount\" "
			  "entry to linux.namespaces)",
			  what);
}

static int check_time_namespace(const struct plan *p, uint64_t own, struct error *err)
{
	if (p->n_time_offsets == 0)
		return 0;
	if (!(own & CLONE_NEWTIME))
		return error_text(err, -EINVAL,
				  "linux.timeOffsets needs a \"time\" entry in linux.namespaces");
	if (!(p->ns_create & CLONE_NEWTIME))
		return error_text(
			err, -EINVAL,
			"linux.timeOffsets cannot change a time namespace that is joined");
	return 0;
}

static int check_uts(const struct plan *p, uint64_t own, struct error *err)
{
	if (own & CLONE_NEWUTS)
		return 0;
	if (p->hostname)
		return error_text(
			err, -EINVAL,
			"hostname: unable to set hostname without a private UTS namespace");
	if (p->domainname)
		return error_text(
			err, -EINVAL,
			"domainname: unable to set domainname without a private UTS namespace");
	return 0;
}

static int check_net_devices(const struct plan *p, const struct plan_request *req, uint64_t own,
			     struct error *err)
{
	const struct spec_net_device *d = p->net_devices;
	size_t i, k;

	if (p->n_net_devices == 0)
		return 0;
	if (!(own & CLONE_NEWNET))
		return error_text(err, -EINVAL,
				  "linux.netDevices: unable to move network devices without a "
				  "private network "
				  "namespace");
	if (req->rootless)
		return error_text(
			err, -EINVAL,
			"linux.netDevices: a rootless runtime cannot move network devices");
	for (i = 0; i < p->n_net_devices; i++)
		for (k = 0; k < i; k++) {
			const char *a = d[i].name ? d[i].name : d[i].host_name;
			const char *b = d[k].name ? d[k].name : d[k].host_name;

			if (str_eq(a, b) && !strchr(a, '%'))
				return error_text(
					err, -EINVAL,
					"linux.netDevices: %s and %s would both be named %s",
					d[k].host_name, d[i].host_name, a);
		}
	return 0;
}

static int check_sysctls(const struct plan *p, uint64_t own, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < p->sysctl.count; i++) {
		r = sysctl_check(p->sysctl.items[i].key, own,
				 p->domainname && !str_eq(p->domainname, p->sysctl.items[i].value), err);
		if (r < 0)
			return error_prefix(err, "linux.sysctl");
	}
	return 0;
}

/* A working folder that is hidden before the process enters it. */
static int check_cwd(const struct plan *p, struct error *err)
{
	struct arena scratch = ARENA_NULL;
	const char *cwd, *masked;
	size_t i;
	int r = 0;

	if (!p->has_process)
		return 0;
	cwd = plan_path_clean(&scratch, p->process.cwd);
	for (i = 0; cwd && i < p->n_masked_paths; i++) {
		masked = plan_path_clean(&scratch, p->masked_paths[i]);
		if (!masked) {
			cwd = NULL;
		} else if (plan_path_within(cwd, masked)) {
			r = error_text(
				err, -EINVAL,
				"process.cwd \"%s\" is hidden by linux.maskedPaths[%zu] \"%s\"",
				p->process.cwd, i, p->masked_paths[i]);
			break;
		}
	}
	if (!cwd)
		r = error_oom(err);
	arena_done(&scratch);
	return r;
}

int plan_check(const struct plan *p, const struct plan_request *req, struct error *err)
{
	uint64_t own = own_namespaces(p);
	int r;

	r = check_user_namespace(p, own, err);
	if (r < 0)
		return r;
	r = check_mount_namespace(p, own, err);
	if (r < 0)
		return r;
	r = check_time_namespace(p, own, err);
	if (r < 0)
		return r;
	r = check_uts(p, own, err);
	if (r < 0)
		return r;
	r = check_net_devices(p, req, own, err);
	if (r < 0)
		return r;
	r = check_sysctls(p, own, err);
	if (r < 0)
		return r;
	return check_cwd(p, err);
}
