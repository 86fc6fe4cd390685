/*
 * Owns which of systemd's properties says what a cgroup file says. Pure. A file without a
 * property is left to the file.
 */
#include "cgroup/cgroup_scope.h"

#include <inttypes.h>

#include "cgroup/cgroup_convert.h"
#include "util/parse.h"
#include "util/str.h"

/* The kernel's, for both versions of the hierarchy. */
#define CPU_PERIOD_US	100000
/* systemd keeps the quota in whole percents: rounded up, so that the file may say less. */
#define CPU_PERCENT_US	10000
#define CPUS_MAX	8192
#define SINCE_IDLE	252
#define SINCE_OOM_SCOPE 253

/* What several files say together. */
struct cpu_time {
	bool given, period_given, idle;
	int64_t quota; /* <= 0: none */
	uint64_t period;
};

typedef int (*convert_fn)(struct cgroup_props *p, const char *property, const char *value);

/* "max" and v1's "-1". */
static int number(const char *value, uint64_t *ret)
{
	*ret = UINT64_MAX;
	return str_eq(value, "max") || str_eq(value, "-1") ? 0 : parse_u64(value, ret);
}

static int convert_number(struct cgroup_props *p, const char *property, const char *value)
{
	uint64_t v;

	if (number(value, &v) < 0)
		return -EINVAL;
	cgroup_props_u64(p, property, 0, v);
	return 0;
}

static int convert_shares(struct cgroup_props *p, const char *property, const char *value)
{
	uint64_t v;

	if (parse_u64(value, &v) < 0)
		return -EINVAL;
	cgroup_props_u64(p, property, 0, cgroup_convert_shares(v));
	return 0;
}

/* "100", "default 100"; a weight for one device has no property. */
static int convert_io_weight(struct cgroup_props *p, const char *property, const char *value)
{
	const char *rest = str_after(value, "default ");

	return strchr(value, ':') ? 0 : convert_number(p, property, rest ? rest : value);
}

static int convert_blkio_weight(struct cgroup_props *p, const char *property, const char *value)
{
	uint32_t v, weight;

	if (parse_u32(value, &v) < 0 || cgroup_convert_io_weight(v, &weight) < 0)
		return strchr(value, ':') ? 0 : -EINVAL;
	cgroup_props_u64(p, property, 0, weight);
	return 0;
}

static int list_number(const char **p, unsigned *ret)
{
	char text[8];
	size_t len = strspn(*p, "0123456789");
	uint32_t v;

	if (len == 0 || len >= sizeof(text))
		return -EINVAL;
	memcpy(text, *p, len);
	text[len] = '\0';
	if (parse_u32(text, &v) < 0 || v >= CPUS_MAX)
		return -EINVAL;
	*p += len;
	*ret = v;
	return 0;
}

/* "0-3,7" to bytes, the lowest first. */
static int convert_set(struct cgroup_props *p, const char *property, const char *value)
{
	unsigned char bits[CPUS_MAX / 8] = { 0 };
	char text[CPUS_MAX / 8][4];
	const char *values[CPUS_MAX / 8];
	unsigned first, last, i;
	size_t n = 0;

	while (*value) {
		if (list_number(&value, &first) < 0)
			return -EINVAL;
		last = first;
		if (*value == '-' && (value++, list_number(&value, &last) < 0))
			return -EINVAL;
		if (last < first || (*value && *value != ',' && *value != '\n'))
			return -EINVAL;
		value += *value != '\0';
		for (i = first; i <= last; i++)
			bits[i / 8] |= (unsigned char)(1u << (i % 8));
		n = MAX(n, (size_t)last / 8 + 1);
	}
	for (i = 0; i < n; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "%u", bits[i]);
		values[i] = text[i];
	}
	cgroup_props_add(p, property, "ay", 0, values, n);
	return 0;
}

static int convert_oom_group(struct cgroup_props *p, const char *property, const char *value)
{
	cgroup_props_string(p, property, SINCE_OOM_SCOPE, str_eq(value, "1") ? "kill" : "continue");
	return 0;
}

static const struct row {
	const char *file, *property;
	convert_fn convert;
} rows[] = {
	{ "memory.max", "MemoryMax", convert_number },
	{ "memory.high", "MemoryHigh", convert_number },
	{ "memory.low", "MemoryLow", convert_number },
	{ "memory.min", "MemoryMin", convert_number },
	{ "memory.swap.max", "MemorySwapMax", convert_number },
	{ "memory.oom.group", "OOMPolicy", convert_oom_group },
	{ "pids.max", "TasksMax", convert_number },
	{ "cpu.weight", "CPUWeight", convert_number },
	{ "cpuset.cpus", "AllowedCPUs", convert_set },
	{ "cpuset.mems", "AllowedMemoryNodes", convert_set },
	{ "io.weight", "IOWeight", convert_io_weight },
	{ "memory.limit_in_bytes", "MemoryMax", convert_number },
	{ "cpu.shares", "CPUWeight", convert_shares },
	{ "blkio.weight", "IOWeight", convert_blkio_weight },
	{ "blkio.bfq.weight", "IOWeight", convert_blkio_weight },
};

/* 1: one of the files that are read together. */
static int cpu_file(struct cpu_time *t, const char *file, const char *value)
{
	char first[24];
	size_t len = strcspn(value, " ");

	if (str_eq(file, "cpu.idle")) {
		t->idle = str_eq(value, "1");
		return 1;
	}
	if (str_eq(file, "cpu.cfs_period_us")) {
		t->period_given = true;
		return parse_u64(value, &t->period) < 0 ? -EINVAL : 1;
	}
	if (str_eq(file, "cpu.cfs_quota_us")) {
		t->given = true;
		return parse_i64(value, &t->quota) < 0 ? -EINVAL : 1;
	}
	if (!str_eq(file, "cpu.max"))
		return 0;
	if (len >= sizeof(first))
		return -EINVAL;
	memcpy(first, value, len);
	first[len] = '\0';
	t->given = true;
	t->quota = -1;
	if (!str_eq(first, "max") && parse_i64(first, &t->quota) < 0)
		return -EINVAL;
	if (!value[len])
		return 1;
	t->period_given = true;
	return parse_u64(value + len + 1, &t->period) < 0 ? -EINVAL : 1;
}

static int cpu_add(struct cgroup_props *p, const struct cpu_time *t)
{
	uint64_t period = t->period_given ? t->period : CPU_PERIOD_US, per_second = UINT64_MAX;

	if (t->idle)
		cgroup_props_u64(p, "CPUWeight", SINCE_IDLE, 0);
	if (t->period_given)
		cgroup_props_u64(p, "CPUQuotaPeriodUSec", 0, t->period);
	if (!t->given)
		return 0;
	if (t->quota > 0) {
		unsigned __int128 us;

		if (period == 0)
			return -EINVAL;
		us = (unsigned __int128)t->quota * 1000000 / period;
		us = (us + CPU_PERCENT_US - 1) / CPU_PERCENT_US * CPU_PERCENT_US;
		if (us < UINT64_MAX)
			per_second = (uint64_t)us;
	}
	cgroup_props_u64(p, "CPUQuotaPerSecUSec", 0, per_second);
	return 0;
}

static int value_bad(const char *file, const char *value, struct error *err)
{
	return error_text(err, -EINVAL, "cannot set %s to \"%s\": not a value that systemd takes", file,
			  value);
}

int cgroup_props_limits(struct cgroup_props *p, const struct cgroup_writes *w, struct error *err)
{
	struct cpu_time cpu = { .quota = -1 };
	size_t i, k;
	int r;

	for (i = 0; i < w->n; i++) {
		const char *file = w->items[i].file, *value = w->items[i].value;

		/* BFQ's own file and range are a second form of io.weight. */
		if (w->items[i].alt_file && str_eq(w->items[i].alt_file, "io.weight")) {
			file = w->items[i].alt_file;
			value = w->items[i].alt_value;
		}
		r = cpu_file(&cpu, file, value);
		for (k = 0; r == 0 && k < ELEMENTSOF(rows); k++)
			if (str_eq(rows[k].file, file))
				r = rows[k].convert(p, rows[k].property, value) < 0 ? -EINVAL : 1;
		if (r < 0)
			return value_bad(file, value, err);
	}
	return cpu_add(p, &cpu) < 0 ? value_bad("cpu.max", "the period 0", err) : 0;
}
