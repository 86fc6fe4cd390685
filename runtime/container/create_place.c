/*
 * The parent's work on the child between clone and GO: what only a process outside of
 * the new namespaces can do for one inside. Knows no order beyond that.
 */
#include "container/create_steps.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "os/procattr.h"

static int move_net_devices(const struct create *c, struct error *err)
{
	_cleanup_close_ int netns = -EBADF;
	char path[64];
	size_t i;
	int r;

	if (c->plan->n_net_devices == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "%d/ns/net", c->launch.ref.pid);
	netns = openat(c->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (netns < 0)
		return error_set(err, -errno, "open the container's network namespace");
	for (i = 0; i < c->plan->n_net_devices; i++) {
		const struct spec_net_device *d = &c->plan->net_devices[i];

		r = net_device_move(d->host_name, d->name ? d->name : d->host_name, netns, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int joined_user_namespace(const struct create *c)
{
	size_t i;

	for (i = 0; i < c->ns.n_join; i++)
		if (c->ns.join[i].type == CLONE_NEWUSER)
			return c->ns.join[i].fd;
	return -EBADF;
}

static int place_ids(const struct create *c, struct error *err)
{
	const struct plan *p = c->plan;
	int r;

	if (p->ns_create & CLONE_NEWUSER)
		return ns_write_maps(c->proc_fd, c->launch.ref.pid, &p->uid_maps, &p->gid_maps, err);
	if (p->uid_maps.count == 0 || joined_user_namespace(c) < 0)
		return 0;
	/* containerd names the namespace of a pod and its maps, too. */
	r = ns_check_maps(c->proc_fd, c->launch.ref.pid, &p->uid_maps, &p->gid_maps, err);
	return r < 0 ? error_prefix(err, "linux.uidMappings and linux.gidMappings do not fit the user namespace that "
					 "linux.namespaces joins") :
		       0;
}

/*
 * runtime-spec, "cgroup ownership": what the container sees in its own cgroup namespace and may
 * write belongs to the user that its process runs as.
 */
static int place_cgroup(const struct create *c, struct error *err)
{
	const struct plan *p = c->plan;
	uid_t uid = p->has_process ? p->process.creds.uid : 0;
	int userns_fd = joined_user_namespace(c);
	bool mapped = (p->ns_create & CLONE_NEWUSER) || userns_fd >= 0, own;
	int r;

	if (!p->cgroup_writable_mount)
		return 0;
	if (userns_fd >= 0) {
		r = ns_is_own(c->proc_fd, userns_fd, CLONE_NEWUSER, &own, err);
		if (r < 0)
			return r;
		mapped = !own;
	}
	if (mapped) {
		r = ns_map_uid(c->proc_fd, c->launch.ref.pid, uid, &uid, err);
		if (r < 0)
			return r;
		if (r == NS_E_UNMAPPED)
			return 0; /* it will not become that user either, and be told so */
	}
	r = cgroup_chown(&c->cgroup, uid, err);
	/* Without privilege a cgroup is ours and can be given to nobody else. */
	return c->rootless && (r == -EPERM || r == -EACCES) ? 0 : r;
}

int create_place(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan *p = c->plan;
	int r;

	r = create_rdt_attach(c, err);
	if (r == 0)
		r = place_ids(c, err);
	if (r == 0)
		r = place_cgroup(c, err);
	if (r < 0)
		return r;
	if (p->has_process && p->process.has_oom_score_adj) {
		r = process_oom_score_adj(c->proc_fd, c->launch.ref.pid, p->process.oom_score_adj, c->rootless, err);
		if (r < 0)
			return r;
	}
	return move_net_devices(c, err);
}
