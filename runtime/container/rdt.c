/*
 * Intel RDT: from the spec's member to the resource control group of the container.
 */
#include "container/create_steps.h"

#include "os/intelrdt.h"

int create_rdt_attach(struct create *c, struct error *err)
{
	const struct spec_intel_rdt *s = c->spec->linux_cfg->intel_rdt;
	_cleanup_rdt_group_ struct rdt_group group = RDT_GROUP_NULL;
	_cleanup_free_ char *root = NULL;
	struct rdt_config config;
	int r;

	if (!s)
		return 0;
	config = (struct rdt_config){
		.clos_id = s->clos_id,
		.l3_cache_schema = s->l3_cache_schema,
		.mem_bw_schema = s->mem_bw_schema,
		.schemata = s->schemata.items,
		.n_schemata = s->schemata.count,
		.monitoring = s->enable_monitoring.set && s->enable_monitoring.value,
	};
	r = rdt_mount_find(&root, err);
	if (r < 0)
		return r;
	r = rdt_create(root, c->opt->id, &config, &group, err);
	if (r < 0)
		return r;
	if (group.made_path) {
		c->record->intel_rdt_group = arena_strdup(&c->record->arena, group.made_path);
		if (!c->record->intel_rdt_group)
			return error_oom(err);
	}
	return rdt_attach(&group, c->launch.ref.pid, err);
}
