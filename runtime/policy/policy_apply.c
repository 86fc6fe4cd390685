/*
 * The decision as a whole: which steps run over a specification, a process or an update,
 * in which order. Pure: spec, profile, request and facts in, narrowed spec and verdict out.
 */
#include <assert.h>

#include "policy/policy_internal.h"

static const struct policy_request no_request;
static const struct policy_value passthrough_rule = { .from = { .file = POLICY_BUILTIN_NAME,
								.path = "profiles.passthrough" } };

static int finish(const struct policy_work *w, struct error *err)
{
	return w->failed ? error_oom(err) : policy_verdict_result(w->v, err);
}

static bool passthrough(struct policy_work *w)
{
	if (!w->profile->passthrough)
		return false;
	w->v->grant.passthrough = true;
	w->v->grant.time_container = POLICY_UNLIMITED;
	w->v->grant.time_exec = POLICY_UNLIMITED;
	policy_note(w->v, "policy", POLICY_KEPT, &passthrough_rule, "the specification",
		    "the specification alone, nothing is enforced");
	return true;
}

static bool asks_anything(const struct policy_request *r)
{
	return r->memory.set || r->time_container.set || r->time_exec.set || r->audit_output.set ||
	       r->session.set || r->session_paths.count || r->session_keep.set || r->has_egress;
}

/* Annotations that make the runtime act on the host or keep its groups; images can bring them. */
static void drop_annotations(struct policy_work *w, struct str_map *map)
{
	static const char *const acting[] = { "run.oci.keep_original_groups",
					      "run.oci.hooks.stdout", "run.oci.hooks.stderr" };
	size_t i, k, n = 0;

	for (i = 0; i < map->count; i++) {
		struct str_pair pair = map->items[i];

		for (k = 0; k < ELEMENTSOF(acting); k++)
			if (str_eq(acting[k], pair.key))
				break;
		if (k == ELEMENTSOF(acting))
			map->items[n++] = pair;
		else
			policy_note(w->v, "annotations", POLICY_DROPPED, NULL, acting[k],
				    "as if it were not there");
	}
	map->count = n;
}

static struct policy_work work_new(const struct policy_profile *profile,
				   const struct policy_facts *facts, struct arena *arena,
				   struct policy_verdict *v)
{
	v->profile = profile->name;
	v->policy_file = profile->policy_file;
	return (struct policy_work){
		.profile = profile, .req = &no_request, .facts = facts, .arena = arena, .v = v
	};
}

int policy_apply(struct spec *spec, const struct policy_profile *profile,
		 const struct policy_request *req, const struct policy_facts *facts,
		 struct policy_verdict *ret, struct error *err)
{
	struct policy_work w;
	struct spec_linux *l;

	assert(spec && spec->linux_cfg && profile && facts && ret && err);

	w = work_new(profile, facts, &spec->arena, ret);
	l = spec->linux_cfg;
	if (req)
		w.req = req;
	if (passthrough(&w)) {
		if (asks_anything(w.req))
			policy_refuse(ret, "policy", &passthrough_rule,
				      "an org.agentrun annotation",
				      "remove it, or choose a profile that enforces something");
		return finish(&w, err);
	}
	if (!l->resources)
		l->resources = policy_alloc(&w, 1, sizeof(*l->resources));
	if (!l->resources)
		return error_oom(err);
	drop_annotations(&w, &spec->annotations);
	policy_do_namespaces(&w, l);
	policy_do_sysctls(&w, l);
	policy_do_seccomp(&w, l);
	policy_do_resources(&w, l->resources);
	policy_do_devices(&w, l);
	policy_do_rootfs(&w, spec);
	/* Sizes are measured by the memory limit, and the places of rootfs are mounts, too. */
	policy_do_mounts(&w, spec);
	policy_do_propagation(&w, l);
	policy_do_paths(&w, spec);
	if (spec->process)
		policy_do_process(&w, spec->process, NULL);
	policy_do_grants(&w);
	return finish(&w, err);
}

int policy_apply_filter(struct spec *spec, const struct policy_profile *profile, const struct policy_facts *facts,
			struct policy_verdict *ret, struct error *err)
{
	struct policy_work w;

	assert(spec && spec->linux_cfg && profile && facts && ret && err);

	w = work_new(profile, facts, &spec->arena, ret);
	if (!passthrough(&w))
		policy_do_seccomp(&w, spec->linux_cfg);
	return finish(&w, err);
}

int policy_apply_process(struct spec_process *proc, const struct spec_process *base,
			 struct arena *arena, const struct policy_profile *profile,
			 const struct policy_facts *facts, struct policy_verdict *ret,
			 struct error *err)
{
	struct policy_work w;

	assert(proc && arena && profile && facts && ret && err);

	w = work_new(profile, facts, arena, ret);
	if (passthrough(&w))
		return finish(&w, err);
	if (!profile->exec.allowed.n)
		policy_refuse(ret, "exec", &profile->exec.allowed, "a further process",
			      "use a profile that allows it");
	policy_do_process(&w, proc, base);
	return finish(&w, err);
}

int policy_apply_resources(struct spec_resources *res, struct arena *arena,
			   const struct policy_profile *profile, const struct policy_facts *facts,
			   struct policy_verdict *ret, struct error *err)
{
	struct policy_work w;

	assert(res && arena && profile && facts && ret && err);

	w = work_new(profile, facts, arena, ret);
	w.update = true;
	if (passthrough(&w))
		return finish(&w, err);
	policy_do_resources(&w, res);
	return finish(&w, err);
}
