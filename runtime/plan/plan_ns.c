/*
 * Namespaces of the plan: which are made and which are joined, id maps, clock
 * offsets, network devices.
 */
#include <linux/sched.h>

#include "plan/plan_internal.h"

static int copy_time_offsets(struct plan *p, const struct spec_time_offsets *from,
			     struct error *err)
{
	size_t i;

	if (from->count == 0)
		return 0;
	p->time_offsets = arena_calloc(&p->arena, from->count, sizeof(*p->time_offsets));
	if (!p->time_offsets)
		return error_oom(err);
	for (i = 0; i < from->count; i++) {
		p->time_offsets[i].clock = from->items[i].clock;
		p->time_offsets[i].secs = from->items[i].secs;
		p->time_offsets[i].nanosecs = from->items[i].nanosecs;
	}
	p->n_time_offsets = from->count;
	return 0;
}

int plan_copy_id_maps(struct plan *p, const struct spec_id_maps *from, struct id_maps *to,
		      struct error *err)
{
	struct id_map *items;
	size_t i;

	if (from->count == 0)
		return 0;
	items = arena_calloc(&p->arena, from->count, sizeof(*items));
	if (!items)
		return error_oom(err);
	for (i = 0; i < from->count; i++) {
		items[i].container_id = from->items[i].container_id;
		items[i].host_id = from->items[i].host_id;
		items[i].size = from->items[i].size;
	}
	*to = (struct id_maps){ .items = items, .count = from->count };
	return 0;
}

/* A user namespace without any map could do nothing; the least that works is the caller's own ids. */
static int own_id_map(struct plan *p, uint32_t id, struct id_maps *to, struct error *err)
{
	struct id_map *item = arena_calloc(&p->arena, 1, sizeof(*item));

	if (!item)
		return error_oom(err);
	*item = (struct id_map){ .container_id = 0, .host_id = id, .size = 1 };
	*to = (struct id_maps){ .items = item, .count = 1 };
	return 0;
}

int plan_make_namespaces(struct plan *p, const struct plan_request *req, struct error *err)
{
	const struct spec_linux *l = p->spec->linux_cfg;
	uint64_t all = 0;
	size_t i;
	int r;

	p->ns_join = arena_calloc(&p->arena, l->namespaces.count, sizeof(*p->ns_join));
	if (!p->ns_join)
		return error_oom(err);
	for (i = 0; i < l->namespaces.count; i++) {
		const struct spec_namespace *ns = &l->namespaces.items[i];

		all |= ns->type;
		if (!ns->path) {
			p->ns_create |= ns->type;
			continue;
		}
		p->ns_join[p->n_ns_join].type = ns->type;
		p->ns_join[p->n_ns_join++].path = ns->path;
	}
	p->in_userns = req->in_userns || (all & CLONE_NEWUSER);
	p->cgroupns = all & CLONE_NEWCGROUP;

	r = plan_copy_id_maps(p, &l->uid_mappings, &p->uid_maps, err);
	if (r < 0)
		return r;
	r = plan_copy_id_maps(p, &l->gid_mappings, &p->gid_maps, err);
	if (r < 0)
		return r;
	if ((p->ns_create & CLONE_NEWUSER) && p->uid_maps.count == 0 && p->gid_maps.count == 0) {
		r = own_id_map(p, req->uid, &p->uid_maps, err);
		if (r == 0)
			r = own_id_map(p, req->gid, &p->gid_maps, err);
		if (r < 0)
			return r;
	}
	p->net_devices = l->net_devices.items;
	p->n_net_devices = l->net_devices.count;
	return copy_time_offsets(p, &l->time_offsets, err);
}

bool plan_has_ns(const struct plan *p, uint64_t type)
{
	size_t i;

	for (i = 0; i < p->n_ns_join; i++)
		if (p->ns_join[i].type == type)
			return true;
	return (p->ns_create & type) != 0;
}
