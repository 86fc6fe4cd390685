/*
 * Owns the high-water marks of a cgroup: what is told of a container after its end. A file
 * that is missing counts as unknown: memory.peak is of Linux 5.19, pids.peak of 6.1.
 */
#include "cgroup/cgroup_stats.h"

#include <unistd.h>

#include "cgroup/cgroup_io.h"

#define NO_LIMIT (UINT64_C(1) << 62)

static int open_for(const struct cgroup *cg, const char *controller, bool *ret_v2)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, controller);

	*ret_v2 = !d;
	if (!d)
		d = cgroup_dir_find(cg, "");
	return d ? cgroup_open_dir(d->path) : -ENOENT;
}

static void number(int dir, const char *file, uint64_t *ret)
{
	uint64_t v;

	if (cgroup_read_u64(dir, file, &v) == 0)
		*ret = v;
}

static void keyed(int dir, const char *file, const char *key, uint64_t *ret)
{
	char text[2048];

	if (cgroup_read(dir, file, text, sizeof(text)) > 0)
		*ret = cgroup_key_value(text, key, *ret);
}

/* v1 writes a number for "no limit", v2 a word. */
static void limit(int dir, const char *file, uint64_t *ret)
{
	number(dir, file, ret);
	if (*ret >= NO_LIMIT)
		*ret = 0;
}

static void read_memory(const struct cgroup *cg, bool all, struct cgroup_peaks *ret)
{
	bool v2;
	int dir = open_for(cg, "memory", &v2);

	if (dir < 0)
		return;
	keyed(dir, v2 ? "memory.events" : "memory.oom_control", "oom_kill", &ret->oom_kills);
	if (all) {
		number(dir, v2 ? "memory.peak" : "memory.max_usage_in_bytes", &ret->memory);
		limit(dir, v2 ? "memory.max" : "memory.limit_in_bytes", &ret->memory_limit);
	}
	(void)close(dir);
}

static void read_pids(const struct cgroup *cg, bool all, struct cgroup_peaks *ret)
{
	bool v2;
	int dir = open_for(cg, "pids", &v2);

	if (dir < 0)
		return;
	keyed(dir, "pids.events", "max", &ret->pids_refused);
	if (all) {
		number(dir, "pids.peak", &ret->pids);
		limit(dir, "pids.max", &ret->pids_limit);
	}
	(void)close(dir);
}

static void read_cpu(const struct cgroup *cg, struct cgroup_peaks *ret)
{
	bool v2;
	int dir = open_for(cg, "cpuacct", &v2);

	if (dir < 0)
		return;
	if (v2) {
		keyed(dir, "cpu.stat", "usage_usec", &ret->cpu_ns);
		ret->cpu_ns *= 1000;
	} else {
		number(dir, "cpuacct.usage", &ret->cpu_ns);
	}
	(void)close(dir);
}

void cgroup_hits_read(const struct cgroup *cg, struct cgroup_peaks *ret)
{
	*ret = (struct cgroup_peaks){ 0 };
	read_memory(cg, false, ret);
	read_pids(cg, false, ret);
}

void cgroup_peaks_read(const struct cgroup *cg, struct cgroup_peaks *ret)
{
	*ret = (struct cgroup_peaks){ 0 };
	read_memory(cg, true, ret);
	read_pids(cg, true, ret);
	read_cpu(cg, ret);
}
