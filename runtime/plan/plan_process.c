/*
 * The process of the plan: identity, environment, limits, scheduling. Shared by
 * create and exec; for exec what the process leaves open comes from the container's
 * own process, as engines expect of a runtime.
 */
#include <linux/sched.h>

#include "plan/plan_internal.h"
#include "util/str.h"

#define UMASK_DEFAULT 0022

static bool text_set(const char *s)
{
	return s && *s;
}

static const char *text_or(const char *first, const char *second)
{
	return text_set(first) ? first : text_set(second) ? second : NULL;
}

static bool env_same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* The last value of a name wins and keeps its place in the order. */
static int make_env(const struct spec_process *proc, struct arena *arena, struct plan_process *pp,
		    struct error *err)
{
	size_t i, k, n = 0;
	char **env = arena_calloc(arena, proc->env.count + 1, sizeof(*env));

	if (!env)
		return error_oom(err);
	for (i = 0; i < proc->env.count; i++) {
		char *var = proc->env.items[i];

		if (!strchr(var, '='))
			return error_text(err, -EINVAL, "process.env[%zu]: \"%.200s\" has no '='",
					  i, var);
		if (var[0] == '=')
			return error_text(err, -EINVAL, "process.env[%zu]: the name is empty", i);
		for (k = i + 1; k < proc->env.count && !env_same_name(var, proc->env.items[k]); k++)
			;
		if (k == proc->env.count)
			env[n++] = var;
	}
	pp->env = env;
	pp->n_env = n;
	return 0;
}

static bool makes_user_namespace(const struct spec *spec)
{
	const struct spec_namespaces *ns = &spec->linux_cfg->namespaces;
	size_t i;

	for (i = 0; i < ns->count; i++)
		if (ns->items[i].type == CLONE_NEWUSER)
			return !ns->items[i].path;
	return false;
}

/*
 * One id alone can be mapped only with setgroups denied (user_namespaces(7)); without a map
 * it is the caller's own.
 */
static bool setgroups_denied(const struct spec *spec, bool rootless)
{
	const struct spec_id_maps *maps = &spec->linux_cfg->gid_mappings;

	if (maps->count == 0)
		return rootless && makes_user_namespace(spec);
	return rootless && maps->count == 1 && maps->items[0].size == 1;
}

static int make_creds(const struct spec_process *proc, const struct spec *spec, bool rootless,
		      struct plan_process *pp, struct error *err)
{
	const struct spec_process *own = spec ? spec->process : NULL;
	const struct spec_capabilities *caps = proc->capabilities;
	const char *keep = spec ? spec_annotation(spec, "run.oci.keep_original_groups") : NULL;
	struct creds *c = &pp->creds;

	if (!caps && own)
		caps = own->capabilities;
	c->uid = proc->user.uid;
	c->gid = proc->user.gid;
	c->groups = proc->user.additional_gids.items;
	c->n_groups = proc->user.additional_gids.count;
	c->keep_groups = keep && (str_eq(keep, "1") || str_eq(keep, "true"));
	if (spec && setgroups_denied(spec, rootless)) {
		if (c->n_groups > 0)
			return error_text(err, -EINVAL,
					  "process.user.additionalGids: groups cannot be set in a "
					  "user namespace with a single mapped group");
		c->keep_groups = true;
	}
	/* No capabilities named: none held. */
	c->set_caps = true;
	if (caps)
		c->caps = (struct caps_sets){ .bounding = caps->bounding,
					      .effective = caps->effective,
					      .inheritable = caps->inheritable,
					      .permitted = caps->permitted,
					      .ambient = caps->ambient };
	c->no_new_privs = proc->no_new_privileges;
	return 0;
}

static int make_rlimits(const struct spec_process *proc, const struct spec_process *own,
			struct arena *arena, struct plan_process *pp, struct error *err)
{
	const struct spec_rlimits *from = &proc->rlimits;
	struct rlimit_op *ops;
	size_t i;

	if (from->count == 0 && own)
		from = &own->rlimits;
	if (from->count == 0)
		return 0;
	ops = arena_calloc(arena, from->count, sizeof(*ops));
	if (!ops)
		return error_oom(err);
	for (i = 0; i < from->count; i++) {
		const struct spec_rlimit *r = &from->items[i];

		if (r->soft > r->hard)
			return error_text(err, -EINVAL,
					  "process.rlimits[%zu] (%s): soft limit %llu is above the "
					  "hard limit %llu",
					  i, enum_to_name(&spec_rlimit_table, r->type),
					  (unsigned long long)r->soft, (unsigned long long)r->hard);
		ops[i] = (struct rlimit_op){ .resource = (int)r->type,
					     .soft = r->soft,
					     .hard = r->hard };
	}
	pp->rlimits = ops;
	pp->n_rlimits = from->count;
	return 0;
}

static int make_scheduling(const struct spec_process *proc, const struct spec_process *own,
			   struct arena *arena, struct plan_process *pp, struct error *err)
{
	const struct spec_scheduler *s = proc->scheduler;
	const struct spec_io_priority *io = proc->io_priority;
	const struct spec_cpu_affinity *cpus = proc->exec_cpu_affinity;
	struct sched_op *op;

	if (own) {
		s = s ? s : own->scheduler;
		io = io ? io : own->io_priority;
		cpus = cpus ? cpus : own->exec_cpu_affinity;
	}
	if (s) {
		op = arena_alloc(arena, sizeof(*op));
		if (!op)
			return error_oom(err);
		*op = (struct sched_op){ .policy = s->policy,
					 .nice = s->nice,
					 .priority = s->priority,
					 .flags = s->flags,
					 .runtime = s->runtime,
					 .deadline = s->deadline,
					 .period = s->period };
		pp->scheduler = op;
	}
	if (io) {
		pp->ioprio_class = (int)io->class_;
		pp->ioprio_priority = (int)io->priority;
	}
	/* The specification gives affinity to exec alone. */
	if (cpus && own) {
		pp->affinity_initial = text_or(cpus->initial, NULL);
		pp->affinity_final = text_or(cpus->final, NULL);
	}
	return 0;
}

static void make_attributes(const struct spec_process *proc, const struct spec *spec,
			    const struct spec_process *own, struct plan_process *pp)
{
	const struct opt_u32 *mask = &proc->user.umask;
	const struct opt_i64 *oom = &proc->oom_score_adj;

	if (!mask->set && own)
		mask = &own->user.umask;
	if (!oom->set && own)
		oom = &own->oom_score_adj;
	pp->umask = mask->set ? mask->value : UMASK_DEFAULT;
	pp->has_oom_score_adj = oom->set;
	pp->oom_score_adj = oom->value;
	pp->apparmor_profile = text_or(proc->apparmor_profile, own ? own->apparmor_profile : NULL);
	pp->selinux_label = text_or(proc->selinux_label, own ? own->selinux_label : NULL);
	if (!spec)
		return;
	if (spec->linux_cfg->personality) {
		pp->has_personality = true;
		pp->personality = (unsigned long)spec->linux_cfg->personality->domain;
	}
	pp->memory_policy = spec->linux_cfg->memory_policy;
}

int plan_build_process(const struct spec_process *proc, const struct spec *spec, bool rootless,
		       struct arena *arena, struct plan_process *ret, struct error *err)
{
	/* For init there is nothing to inherit from. */
	const struct spec_process *own = spec && spec->process != proc ? spec->process : NULL;
	struct plan_process pp = { 0 };
	int r;

	if (proc->args.count == 0)
		return error_text(err, -EINVAL, "process.args must name the program to run");
	pp.argv = proc->args.items;
	pp.cwd = proc->cwd ? proc->cwd : "/";
	pp.terminal = proc->terminal;
	if (proc->terminal) {
		pp.rows = (uint16_t)proc->console_size.height;
		pp.cols = (uint16_t)proc->console_size.width;
	}
	r = make_env(proc, arena, &pp, err);
	if (r < 0)
		return r;
	r = make_creds(proc, spec, rootless, &pp, err);
	if (r < 0)
		return r;
	r = make_rlimits(proc, own, arena, &pp, err);
	if (r < 0)
		return r;
	r = make_scheduling(proc, own, arena, &pp, err);
	if (r < 0)
		return r;
	make_attributes(proc, spec, own, &pp);
	*ret = pp;
	return 0;
}
