/*
 * From the specification's resources to the list of writes: which section goes to which
 * version of the hierarchy, and the builders of both. Pure.
 */
#pragma once

#include "cgroup/cgroup_writes.h"
#include "spec/spec.h"

/* What an update on v2 must know of the present values; -1 = max. */
struct cgroup_current {
	bool known;
	int64_t memory_max, swap_max;
	int64_t cpu_quota;
	uint64_t cpu_period;
};

struct cgroup_limits {
	const struct spec_resources *resources;
	/* 0 means "leave" in both cases, except pids.limit at create, where it is a limit. */
	bool update;
	struct cgroup_current current;
};

typedef int (*cgroup_build_fn)(const struct cgroup_limits *in, struct cgroup_writes *w,
			       struct error *err);

int cgroup_v1_memory(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v1_cpu(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v1_blkio(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v1_hugetlb(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v1_network(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v1_unified(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);

int cgroup_v2_memory(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v2_cpu(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v2_io(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v2_hugetlb(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v2_network(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);
int cgroup_v2_unified(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err);

/*
 * The whole list for cg (only layout and the controllers of its folders are looked at).
 * v2_controllers: blank-separated list of what the v2 hierarchy offers on a hybrid host,
 * for controllers that have no v1 mount; may be NULL.
 */
int cgroup_limits_build(const struct cgroup *cg, const struct cgroup_limits *in,
			const char *v2_controllers, struct cgroup_writes *w, struct error *err);

/*
 * The same, asking the host about v2 controllers where that matters (cgroup_enable.c), and
 * checked: every write has a folder.
 */
int cgroup_limits_for_host(const struct cgroup *cg, const struct cgroup_limits *in,
			   struct cgroup_writes *w, struct error *err);

/* Set and not the 0 that engines send for "none". */
static inline bool cgroup_given_i64(const struct opt_i64 *v)
{
	return v->set && v->value != 0;
}
static inline bool cgroup_given_u64(const struct opt_u64 *v)
{
	return v->set && v->value != 0;
}
static inline bool cgroup_given_u32(const struct opt_u32 *v)
{
	return v->set && v->value != 0;
}
/* Docker's CLI sent 2^64-1 for "-1, not set". */
static inline bool cgroup_given_swappiness(const struct spec_memory *m)
{
	return m->swappiness.set && m->swappiness.value != UINT64_MAX;
}
#define CGROUP_PAGE_SIZE_MAX 32
/* "2MB": -EINVAL for names that are too long or would lead out of the folder. */
int cgroup_page_size_check(const char *size, struct error *err);
