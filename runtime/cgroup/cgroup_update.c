/*
 * Owns `update`: new values for a cgroup in use. Device rules are not updated: engines send
 * a deny-all that they do not mean.
 */
#include "cgroup/cgroup.h"

#include <inttypes.h>

#include "cgroup/cgroup_driver.h"
#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_limits.h"
#include "cgroup/cgroup_verify.h"
#include "util/parse.h"
#include "util/str.h"

#define UNLIMITED_MIN ((uint64_t)1 << 62)

static int64_t max_or(int dir, const char *file, int64_t missing)
{
	uint64_t v;

	if (cgroup_read_u64(dir, file, &v) < 0)
		return missing;
	return v > INT64_MAX ? -1 : (int64_t)v;
}

/* cpu.max: "max 100000" or "50000 100000". */
static void cpu_max_read(int dir, struct cgroup_current *cur)
{
	char text[64], *blank;

	cur->cpu_quota = -1;
	if (cgroup_read(dir, "cpu.max", text, sizeof(text)) < 0)
		return;
	blank = strchr(text, ' ');
	if (!blank)
		return;
	*blank = '\0';
	(void)parse_i64(text, &cur->cpu_quota);
	(void)parse_u64(blank + 1, &cur->cpu_period);
}

static int current_read(const struct cgroup *cg, struct cgroup_current *cur, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	_cleanup_close_ int dir = -EBADF;

	if (cg->layout != CGROUP_LAYOUT_UNIFIED || !d)
		return 0;
	dir = cgroup_open_dir(d->path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", d->path);
	cur->known = true;
	cur->memory_max = max_or(dir, "memory.max", -1);
	/* No file: this kernel has no swap, so the sum is the memory limit. */
	cur->swap_max = max_or(dir, "memory.swap.max", 0);
	cpu_max_read(dir, cur);
	return 0;
}

static void present_v1(const struct cgroup *cg, struct cgroup_present *ret)
{
	const struct cgroup_dir *memory = cgroup_dir_find(cg, "memory"), *cpu = cgroup_dir_find(cg, "cpu");
	_cleanup_close_ int memory_dir = memory ? cgroup_open_dir(memory->path) : -EBADF;
	_cleanup_close_ int cpu_dir = cpu ? cgroup_open_dir(cpu->path) : -EBADF;
	char quota[32];

	if (memory_dir >= 0)
		(void)cgroup_read_u64(memory_dir, "memory.limit_in_bytes", &ret->memory);
	if (cpu_dir < 0)
		return;
	(void)cgroup_read_u64(cpu_dir, "cpu.cfs_period_us", &ret->cpu_period);
	if (cgroup_read(cpu_dir, "cpu.cfs_quota_us", quota, sizeof(quota)) > 0)
		(void)parse_i64(quota, &ret->cpu_quota);
}

int cgroup_present_read(const struct cgroup *cg, struct cgroup_present *ret, struct error *err)
{
	struct cgroup_current cur = { 0 };
	int r = current_read(cg, &cur, err);

	*ret = (struct cgroup_present){ 0 };
	if (r < 0)
		return r;
	if (cur.known) {
		ret->memory = cur.memory_max > 0 ? (uint64_t)cur.memory_max : 0;
		ret->cpu_quota = cur.cpu_quota;
		ret->cpu_period = cur.cpu_period;
	} else {
		present_v1(cg, ret);
	}
	/* v1 says "none" by a number that no machine has. */
	if (ret->memory > UNLIMITED_MIN)
		ret->memory = 0;
	return 0;
}

static int reject(const char *what, int64_t limit, uint64_t usage, struct error *err)
{
	return error_text(err, -EBUSY, "rejecting %s %" PRId64 " < usage %" PRIu64, what, limit,
			  usage);
}

/* checkBeforeUpdate: a limit below what is in use would end in an OOM kill. */
static int usage_check(const struct cgroup *cg, const struct spec_memory *m, struct error *err)
{
	bool v2 = cg->layout == CGROUP_LAYOUT_UNIFIED;
	const struct cgroup_dir *d = cgroup_dir_find(cg, v2 ? "" : "memory");
	_cleanup_close_ int dir = -EBADF;
	uint64_t usage, swap = 0;
	int r;

	if (!m || !m->check_before_update.set || !m->check_before_update.value || !d)
		return 0;
	dir = cgroup_open_dir(d->path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", d->path);
	r = cgroup_read_u64(dir, v2 ? "memory.current" : "memory.usage_in_bytes", &usage);
	if (r < 0)
		return error_set(err, r, "read the memory usage of cgroup %s", d->path);
	if (m->limit.set && m->limit.value > 0 && (uint64_t)m->limit.value < usage)
		return reject("memory limit", m->limit.value, usage, err);
	if (!m->swap.set || m->swap.value <= 0)
		return 0;
	r = cgroup_read_u64(dir, v2 ? "memory.swap.current" : "memory.memsw.usage_in_bytes", &swap);
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "read the swap usage of cgroup %s", d->path);
	if (v2 || r == -ENOENT)
		swap += usage;
	if ((uint64_t)m->swap.value < swap)
		return reject("memory+swap limit", m->swap.value, swap, err);
	return 0;
}

int cgroup_update(const struct cgroup *cg, const struct spec_resources *res, const struct cgroup_kept *kept,
		  struct error *err)
{
	_cleanup_cgroup_writes_ struct cgroup_writes writes = CGROUP_WRITES_NULL;
	struct cgroup_limits in = { .resources = res, .update = true };
	int r;

	r = usage_check(cg, res->memory, err);
	if (r < 0)
		return r;
	r = current_read(cg, &in.current, err);
	if (r < 0)
		return r;
	r = cgroup_limits_for_host(cg, &in, &writes, err);
	if (r < 0)
		return r;
	if (cgroup_driver_of(cg->manager)->announce) {
		r = cgroup_driver_of(cg->manager)->announce(cg, &writes, err);
		if (r < 0)
			return r;
	}
	r = cgroup_writes_apply(cg, &writes, err);
	if (!kept)
		return r;
	return r < 0 ? (cgroup_kept_present(kept, cg, &writes), r) : cgroup_kept_writes(kept, &writes, err);
}
