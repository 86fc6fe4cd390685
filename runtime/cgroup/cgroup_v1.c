/*
 * Owns which v1 file carries which limit. Pure: builds a list, touches nothing.
 */
#include "cgroup/cgroup_limits.h"

#include <inttypes.h>

#include "util/str.h"

#define SHARES_MIN     2
#define SHARES_MAX     262144
#define SWAPPINESS_MAX 100

int cgroup_page_size_check(const char *size, struct error *err)
{
	if (!size || !*size || strlen(size) > CGROUP_PAGE_SIZE_MAX || strchr(size, '/'))
		return error_text(err, -EINVAL, "invalid huge page size \"%s\"", size ? size : "");
	return 0;
}

static int memory_pair_check(const struct cgroup_limits *in, struct error *err)
{
	const struct spec_memory *m = in->resources->memory;
	bool limit = cgroup_given_i64(&m->limit), swap = cgroup_given_i64(&m->swap);

	if (!swap || m->swap.value < 0)
		return 0;
	if (!limit && !in->update)
		return error_text(err, -EINVAL,
				  "memory swap limit %" PRId64 " needs a memory limit: "
				  "it counts memory and swap together",
				  m->swap.value);
	if (limit && m->limit.value > m->swap.value)
		return error_text(err, -EINVAL,
				  "memory+swap limit %" PRId64
				  " is below the memory limit %" PRId64,
				  m->swap.value, m->limit.value);
	return 0;
}

int cgroup_v1_memory(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_memory *m = in->resources->memory;
	const char *c = "memory";
	int r;

	if (!m)
		return 0;
	r = memory_pair_check(in, err);
	if (r < 0)
		return r;

	/* The kernel refuses an unlimited memory below a limited memory+swap. */
	if (m->limit.set && m->limit.value == -1 && !cgroup_given_i64(&m->swap))
		cgroup_writes_add(w, c, CGROUP_WRITE_OPTIONAL, "memory.memsw.limit_in_bytes", "-1");
	if (cgroup_given_i64(&m->limit))
		cgroup_writes_add(w, c, CGROUP_WRITE_DEFER, "memory.limit_in_bytes", "%" PRId64,
				  m->limit.value);
	if (cgroup_given_i64(&m->swap))
		cgroup_writes_add(w, c, m->swap.value == -1 ? CGROUP_WRITE_OPTIONAL : 0,
				  "memory.memsw.limit_in_bytes", "%" PRId64, m->swap.value);
	if (cgroup_given_i64(&m->reservation))
		cgroup_writes_add(w, c, 0, "memory.soft_limit_in_bytes", "%" PRId64,
				  m->reservation.value);
	if (cgroup_given_swappiness(m)) {
		if (m->swappiness.value > SWAPPINESS_MAX)
			return error_text(err, -EINVAL,
					  "invalid memory swappiness %" PRIu64 ": 0 to %d",
					  m->swappiness.value, SWAPPINESS_MAX);
		cgroup_writes_add(w, c, 0, "memory.swappiness", "%" PRIu64, m->swappiness.value);
	}
	if (m->disable_oom_killer.set && m->disable_oom_killer.value)
		cgroup_writes_add(w, c, 0, "memory.oom_control", "1");
	return 0;
}

int cgroup_v1_cpu(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_cpu *cpu = in->resources->cpu;
	const char *c = "cpu";

	if (!cpu)
		return 0;
	if (cgroup_given_u64(&cpu->shares)) {
		/* The kernel clamps without a word. */
		if (cpu->shares.value < SHARES_MIN || cpu->shares.value > SHARES_MAX)
			return error_text(err, -EINVAL,
					  "invalid cpu shares %" PRIu64 ": %d to %d are allowed",
					  cpu->shares.value, SHARES_MIN, SHARES_MAX);
		/* Refused while cpu.idle is 1. */
		cgroup_writes_add(w, c, CGROUP_WRITE_DEFER, "cpu.shares", "%" PRIu64,
				  cpu->shares.value);
	}
	if (cpu->idle.set)
		cgroup_writes_add(w, c, 0, "cpu.idle", "%" PRId64, cpu->idle.value);
	if (cpu->burst.set)
		cgroup_writes_add(w, c, CGROUP_WRITE_DEFER, "cpu.cfs_burst_us", "%" PRIu64,
				  cpu->burst.value);
	if (cgroup_given_u64(&cpu->period))
		cgroup_writes_add(w, c, CGROUP_WRITE_DEFER, "cpu.cfs_period_us", "%" PRIu64,
				  cpu->period.value);
	if (cgroup_given_i64(&cpu->quota))
		cgroup_writes_add(w, c, 0, "cpu.cfs_quota_us", "%" PRId64, cpu->quota.value);
	if (cgroup_given_u64(&cpu->realtime_period))
		cgroup_writes_add(w, c, CGROUP_WRITE_DEFER, "cpu.rt_period_us", "%" PRIu64,
				  cpu->realtime_period.value);
	if (cgroup_given_i64(&cpu->realtime_runtime))
		cgroup_writes_add(w, c, 0, "cpu.rt_runtime_us", "%" PRId64,
				  cpu->realtime_runtime.value);
	return 0;
}

static void throttle_add(struct cgroup_writes *w, const char *file,
			 const struct spec_throttle_devices *devices)
{
	size_t i;

	for (i = 0; i < devices->count; i++)
		cgroup_writes_add(w, "blkio", 0, file, "%" PRId64 ":%" PRId64 " %" PRIu64,
				  devices->items[i].major, devices->items[i].minor,
				  devices->items[i].rate);
}

int cgroup_v1_blkio(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_block_io *io = in->resources->block_io;
	const char *c = "blkio";
	size_t i;

	if (!io)
		return 0;
	/* The plain names went with CFQ in Linux 5.0; BFQ brings its own. */
	if (cgroup_given_u32(&io->weight)) {
		cgroup_writes_add(w, c, 0, "blkio.weight", "%" PRIu32, io->weight.value);
		cgroup_writes_alt(w, "blkio.bfq.weight", "%" PRIu32, io->weight.value);
	}
	if (cgroup_given_u32(&io->leaf_weight))
		cgroup_writes_add(w, c, 0, "blkio.leaf_weight", "%" PRIu32, io->leaf_weight.value);
	for (i = 0; i < io->weight_device.count; i++) {
		const struct spec_weight_device *d = &io->weight_device.items[i];

		if (cgroup_given_u32(&d->weight)) {
			cgroup_writes_add(w, c, 0, "blkio.weight_device",
					  "%" PRId64 ":%" PRId64 " %" PRIu32, d->major, d->minor,
					  d->weight.value);
			cgroup_writes_alt(w, "blkio.bfq.weight_device",
					  "%" PRId64 ":%" PRId64 " %" PRIu32, d->major, d->minor,
					  d->weight.value);
		}
		if (cgroup_given_u32(&d->leaf_weight))
			cgroup_writes_add(w, c, 0, "blkio.leaf_weight_device",
					  "%" PRId64 ":%" PRId64 " %" PRIu32, d->major, d->minor,
					  d->leaf_weight.value);
	}
	throttle_add(w, "blkio.throttle.read_bps_device", &io->throttle_read_bps);
	throttle_add(w, "blkio.throttle.write_bps_device", &io->throttle_write_bps);
	throttle_add(w, "blkio.throttle.read_iops_device", &io->throttle_read_iops);
	throttle_add(w, "blkio.throttle.write_iops_device", &io->throttle_write_iops);
	return 0;
}

int cgroup_v1_hugetlb(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_resources *res = in->resources;
	char file[CGROUP_PAGE_SIZE_MAX + 32];
	size_t i;
	int r;

	for (i = 0; i < res->hugepage_limits.count; i++) {
		const struct spec_hugepage_limit *h = &res->hugepage_limits.items[i];

		r = cgroup_page_size_check(h->page_size, err);
		if (r < 0)
			return r;
		(void)snprintf(file, sizeof(file), "hugetlb.%s.limit_in_bytes", h->page_size);
		cgroup_writes_add(w, "hugetlb", 0, file, "%" PRIu64, h->limit);
		/* Reservations are counted apart since Linux 5.7. */
		(void)snprintf(file, sizeof(file), "hugetlb.%s.rsvd.limit_in_bytes", h->page_size);
		cgroup_writes_add(w, "hugetlb", CGROUP_WRITE_OPTIONAL, file, "%" PRIu64, h->limit);
	}
	return 0;
}

int cgroup_v1_network(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_network *net = in->resources->network;
	size_t i;

	if (!net)
		return 0;
	if (cgroup_given_u32(&net->class_id))
		cgroup_writes_add(w, "net_cls", 0, "net_cls.classid", "%" PRIu32,
				  net->class_id.value);
	for (i = 0; i < net->priorities.count; i++)
		cgroup_writes_add(w, "net_prio", 0, "net_prio.ifpriomap", "%s %" PRIu32,
				  net->priorities.items[i].name, net->priorities.items[i].priority);
	return 0;
}

int cgroup_v1_unified(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct str_map *unified = &in->resources->unified;

	if (unified->count == 0)
		return 0;
	return error_text(err, -EOPNOTSUPP,
			  "invalid configuration: cannot set %s: unified resources need a host "
			  "with cgroup v2 only, this one has v1 hierarchies",
			  unified->items[0].key);
}
