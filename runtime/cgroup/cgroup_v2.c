/*
 * Owns which v2 file carries which limit. Pure: builds a list, touches nothing.
 */
#include "cgroup/cgroup_limits.h"

#include <inttypes.h>

#include "cgroup/cgroup_convert.h"
#include "util/str.h"

#define V2 CGROUP_WRITE_V2

/* -1 is "max". */
static void max_add(struct cgroup_writes *w, const char *controller, unsigned flags,
		    const char *file, int64_t value)
{
	if (value < 0)
		cgroup_writes_add(w, controller, flags | V2, file, "max");
	else
		cgroup_writes_add(w, controller, flags | V2, file, "%" PRId64, value);
}

/*
 * memory.swap.max counts swap alone, the specification memory and swap together. An update
 * of only one of them therefore has to look at the present values of both.
 */
static int swap_value(const struct cgroup_limits *in, bool *ret_given, int64_t *ret,
		      struct error *err)
{
	const struct spec_memory *m = in->resources->memory;
	const struct cgroup_current *cur = &in->current;
	bool limit = cgroup_given_i64(&m->limit);

	*ret_given = true;
	if (cgroup_given_i64(&m->swap)) {
		int64_t base = limit ? m->limit.value : cur->known ? cur->memory_max : 0;

		return cgroup_convert_swap(m->swap.value, base, ret, err);
	}
	if (limit && m->limit.value < 0) {
		*ret = -1;
		return 0;
	}
	if (limit && cur->known && cur->memory_max >= 0 && cur->swap_max >= 0)
		return cgroup_convert_swap(cur->memory_max + cur->swap_max, m->limit.value, ret,
					   err);
	*ret_given = false;
	return 0;
}

int cgroup_v2_memory(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_memory *m = in->resources->memory;
	bool swap_given;
	int64_t swap;
	int r;

	if (!m)
		return 0;
	if (cgroup_given_swappiness(m))
		return error_text(err, -EOPNOTSUPP,
				  "cannot set memory swappiness %" PRIu64 ": cgroup v2 has no such "
				  "setting; remove it from the configuration",
				  m->swappiness.value);
	if (m->disable_oom_killer.set && m->disable_oom_killer.value)
		return error_text(err, -EOPNOTSUPP,
				  "cannot disable the OOM killer: cgroup v2 has no such setting; "
				  "remove disableOOMKiller from the configuration");
	r = swap_value(in, &swap_given, &swap, err);
	if (r < 0)
		return r;
	/* A kernel without swap has no file: no swap and unlimited swap are then in force. */
	if (swap_given)
		max_add(w, "memory", swap <= 0 ? CGROUP_WRITE_OPTIONAL : 0, "memory.swap.max",
			swap);
	if (cgroup_given_i64(&m->limit))
		max_add(w, "memory", 0, "memory.max", m->limit.value);
	if (cgroup_given_i64(&m->reservation))
		max_add(w, "memory", 0, "memory.low", m->reservation.value);
	return 0;
}

static void cpu_max_add(const struct cgroup_limits *in, struct cgroup_writes *w)
{
	const struct spec_cpu *cpu = in->resources->cpu;
	bool quota = cgroup_given_i64(&cpu->quota), period = cgroup_given_u64(&cpu->period);
	char value[CGROUP_CPU_MAX_SIZE];
	int64_t q;

	if (!quota && !period)
		return;
	q = quota ? cpu->quota.value : in->current.known ? in->current.cpu_quota : -1;
	/* The kernel would keep the present period; said, because systemd's quota is a share of it. */
	cgroup_convert_cpu_max(q, period ? cpu->period.value : in->current.cpu_period, value);
	cgroup_writes_add(w, "cpu", V2, "cpu.max", "%s", value);
}

int cgroup_v2_cpu(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_cpu *cpu = in->resources->cpu;

	if (!cpu)
		return 0;
	if (cgroup_given_i64(&cpu->realtime_runtime) || cgroup_given_u64(&cpu->realtime_period))
		return error_text(err, -EOPNOTSUPP,
				  "cannot set realtime CPU limits: cgroup v2 has no such setting; "
				  "remove realtimeRuntime and realtimePeriod");
	if (cgroup_given_u64(&cpu->shares))
		cgroup_writes_add(w, "cpu", V2 | CGROUP_WRITE_DEFER, "cpu.weight", "%" PRIu64,
				  cgroup_convert_shares(cpu->shares.value));
	if (cpu->idle.set)
		cgroup_writes_add(w, "cpu", V2, "cpu.idle", "%" PRId64, cpu->idle.value);
	if (cpu->burst.set)
		cgroup_writes_add(w, "cpu", V2 | CGROUP_WRITE_DEFER, "cpu.max.burst", "%" PRIu64,
				  cpu->burst.value);
	cpu_max_add(in, w);
	return 0;
}

static int weight_add(struct cgroup_writes *w, const char *device, uint32_t weight,
		      struct error *err)
{
	uint32_t io_weight;
	int r;

	r = cgroup_convert_io_weight(weight, &io_weight);
	if (r < 0)
		return error_text(err, r, "invalid block I/O weight %" PRIu32 ": 10 to 1000",
				  weight);
	/* BFQ, where it runs, ignores io.weight and takes the specification's range as it is. */
	cgroup_writes_add(w, "io", V2, "io.bfq.weight", "%s%" PRIu32, device, weight);
	cgroup_writes_alt(w, "io.weight", "%s%" PRIu32, device, io_weight);
	return 0;
}

static void io_max_add(struct cgroup_writes *w, const char *key,
		       const struct spec_throttle_devices *devices)
{
	size_t i;

	for (i = 0; i < devices->count; i++) {
		const struct spec_throttle_device *d = &devices->items[i];

		/* 0 lifts the limit on v1; here that is "max". */
		if (d->rate)
			cgroup_writes_add(w, "io", V2, "io.max",
					  "%" PRId64 ":%" PRId64 " %s=%" PRIu64, d->major, d->minor,
					  key, d->rate);
		else
			cgroup_writes_add(w, "io", V2, "io.max", "%" PRId64 ":%" PRId64 " %s=max",
					  d->major, d->minor, key);
	}
}

int cgroup_v2_io(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_block_io *io = in->resources->block_io;
	char device[48];
	size_t i;
	int r;

	if (!io)
		return 0;
	if (cgroup_given_u32(&io->leaf_weight))
		return error_text(err, -EOPNOTSUPP,
				  "cannot set blockIO.leafWeight: cgroup v2 has no such setting");
	if (cgroup_given_u32(&io->weight)) {
		r = weight_add(w, "", io->weight.value, err);
		if (r < 0)
			return r;
	}
	for (i = 0; i < io->weight_device.count; i++) {
		const struct spec_weight_device *d = &io->weight_device.items[i];

		if (!cgroup_given_u32(&d->weight))
			continue;
		(void)snprintf(device, sizeof(device), "%" PRId64 ":%" PRId64 " ", d->major,
			       d->minor);
		r = weight_add(w, device, d->weight.value, err);
		if (r < 0)
			return r;
	}
	io_max_add(w, "rbps", &io->throttle_read_bps);
	io_max_add(w, "wbps", &io->throttle_write_bps);
	io_max_add(w, "riops", &io->throttle_read_iops);
	io_max_add(w, "wiops", &io->throttle_write_iops);
	return 0;
}

int cgroup_v2_hugetlb(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
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
		(void)snprintf(file, sizeof(file), "hugetlb.%s.max", h->page_size);
		cgroup_writes_add(w, "hugetlb", V2, file, "%" PRIu64, h->limit);
		(void)snprintf(file, sizeof(file), "hugetlb.%s.rsvd.max", h->page_size);
		cgroup_writes_add(w, "hugetlb", V2 | CGROUP_WRITE_OPTIONAL, file, "%" PRIu64,
				  h->limit);
	}
	return 0;
}

int cgroup_v2_network(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct spec_network *net = in->resources->network;

	if (net && (cgroup_given_u32(&net->class_id) || net->priorities.count))
		return error_text(err, -EOPNOTSUPP,
				  "cannot set network class or priorities: cgroup v2 has no such "
				  "settings; remove linux.resources.network");
	return 0;
}

/* The core's own files move, kill or freeze processes: only its limits are a resource. */
static bool unified_core_allowed(const char *file)
{
	static const char *const allowed[] = { "cgroup.max.depth", "cgroup.max.descendants",
					       "cgroup.pressure" };
	size_t i;

	if (!str_after(file, "cgroup."))
		return true;
	for (i = 0; i < ELEMENTSOF(allowed); i++)
		if (str_eq(file, allowed[i]))
			return true;
	return false;
}

static int unified_add(struct cgroup_writes *w, const struct str_pair *p, struct error *err)
{
	const char *dot = strchr(p->key, '.'), *line = p->value;
	char *controller, *text;
	size_t len;

	if (strchr(p->key, '/') || !dot || dot == p->key)
		return error_text(err, -EINVAL,
				  "unified resource \"%s\" must be a file name CONTROLLER.NAME "
				  "without slashes",
				  p->key);
	if (!unified_core_allowed(p->key))
		return error_text(err, -EINVAL, "unified resource \"%s\" is not a resource limit",
				  p->key);
	controller = arena_strndup(&w->arena, p->key, (size_t)(dot - p->key));
	if (!controller)
		return error_oom(err);
	/* Files with a line per device take one line with each write. */
	do {
		len = strcspn(line, "\n");
		text = arena_strndup(&w->arena, line, len);
		if (!text)
			return error_oom(err);
		if (len > 0)
			cgroup_writes_add(w, controller, V2, p->key, "%s", text);
		line += len + (line[len] == '\n');
	} while (*line);
	return 0;
}

int cgroup_v2_unified(const struct cgroup_limits *in, struct cgroup_writes *w, struct error *err)
{
	const struct str_map *unified = &in->resources->unified;
	size_t i;
	int r;

	for (i = 0; i < unified->count; i++) {
		r = unified_add(w, &unified->items[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}
