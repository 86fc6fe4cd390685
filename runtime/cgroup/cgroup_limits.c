/*
 * Owns the table of resource sections and the choice between v1 and v2 files for each.
 * Pure: what the host offers is passed in.
 */
#include "cgroup/cgroup_limits.h"

#include <inttypes.h>

#include "cgroup/cgroup_io.h"
#include "util/str.h"

struct section {
	const char *v1_controller, *v2_controller;
	cgroup_build_fn v1, v2;
};

static int cpuset_build(const struct cgroup_limits *in, struct cgroup_writes *w, unsigned flags)
{
	const struct spec_cpu *cpu = in->resources->cpu;

	if (cpu && cpu->cpus && *cpu->cpus)
		cgroup_writes_add(w, "cpuset", flags, "cpuset.cpus", "%s", cpu->cpus);
	if (cpu && cpu->mems && *cpu->mems)
		cgroup_writes_add(w, "cpuset", flags, "cpuset.mems", "%s", cpu->mems);
	return 0;
}

static int v1_cpuset(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	return cpuset_build(in, w, 0);
}

static int v2_cpuset(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	return cpuset_build(in, w, CGROUP_WRITE_V2);
}

static int pids_build(const struct cgroup_limits *in, struct cgroup_writes *w, unsigned flags)
{
	const struct opt_i64 *limit = &in->resources->pids_limit;

	/* Docker 20.10 sends 0 for "unchanged" in updates. */
	if (!limit->set || (in->update && limit->value == 0))
		return 0;
	if (limit->value < 0)
		cgroup_writes_add(w, "pids", flags, "pids.max", "max");
	else /* With 0 not even the first process could be forked; 1 is what is meant. */
		cgroup_writes_add(w, "pids", flags, "pids.max", "%" PRId64, MAX(limit->value, 1));
	return 0;
}

static int v1_pids(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	return pids_build(in, w, 0);
}

static int v2_pids(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	return pids_build(in, w, CGROUP_WRITE_V2);
}

static int rdma_build(const struct cgroup_limits *in, struct cgroup_writes *w, unsigned flags,
		      struct error *err)
{
	const struct spec_resources *res = in->resources;
	char handles[32], objects[32];
	size_t i;

	for (i = 0; i < res->rdma.count; i++) {
		const struct spec_rdma *d = &res->rdma.items[i];

		if (!d->device || !*d->device || strpbrk(d->device, " \n"))
			return error_text(err, -EINVAL, "invalid rdma device name \"%s\"",
					  d->device ? d->device : "");
		handles[0] = objects[0] = '\0';
		if (d->hca_handles.set)
			(void)snprintf(handles, sizeof(handles), " hca_handle=%" PRIu32,
				       d->hca_handles.value);
		if (d->hca_objects.set)
			(void)snprintf(objects, sizeof(objects), " hca_object=%" PRIu32,
				       d->hca_objects.value);
		if (*handles || *objects)
			cgroup_writes_add(w, "rdma", flags, "rdma.max", "%s%s%s", d->device,
					  handles, objects);
	}
	return 0;
}

static int v1_rdma(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	return rdma_build(in, w, 0, err);
}

static int v2_rdma(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	return rdma_build(in, w, CGROUP_WRITE_V2, err);
}

/* unified comes last: its values are the most explicit and win. */
static const struct section sections[] = {
	{ "cpuset", "cpuset", v1_cpuset, v2_cpuset },
	{ "memory", "memory", cgroup_v1_memory, cgroup_v2_memory },
	{ "cpu", "cpu", cgroup_v1_cpu, cgroup_v2_cpu },
	{ "pids", "pids", v1_pids, v2_pids },
	{ "blkio", "io", cgroup_v1_blkio, cgroup_v2_io },
	{ "hugetlb", "hugetlb", cgroup_v1_hugetlb, cgroup_v2_hugetlb },
	{ "rdma", "rdma", v1_rdma, v2_rdma },
	{ "", "", cgroup_v1_network, cgroup_v2_network },
	{ "", "", cgroup_v1_unified, cgroup_v2_unified },
};

static bool words_have(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *p = list;

	while ((p = strstr(p, word))) {
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0'))
			return true;
		p += len;
	}
	return false;
}

/* On a hybrid host a controller is where it is mounted; hugetlb is often left to v2. */
static bool section_is_v2(const struct cgroup *cg, const struct section *s,
			  const char *v2_controllers)
{
	if (cg->layout == CGROUP_LAYOUT_UNIFIED)
		return true;
	/* Without any hierarchy the message shall be about that. */
	if (cg->layout == CGROUP_LAYOUT_NONE)
		return s->v1 == cgroup_v1_unified;
	if (cg->layout != CGROUP_LAYOUT_HYBRID || !*s->v1_controller || !v2_controllers)
		return false;
	return !cgroup_dir_find(cg, s->v1_controller) &&
	       words_have(v2_controllers, s->v2_controller);
}

int cgroup_limits_build(const struct cgroup *cg, const struct cgroup_limits *in,
			const char *v2_controllers, struct cgroup_writes *w, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < ELEMENTSOF(sections); i++) {
		const struct section *s = &sections[i];

		r = (section_is_v2(cg, s, v2_controllers) ? s->v2 : s->v1)(in, w, err);
		if (r < 0)
			return r;
	}
	return w->failed ? error_oom(err) : 0;
}
