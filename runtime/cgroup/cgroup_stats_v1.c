/*
 * Owns the v1 counters of `events --stats`. A file that is missing or unreadable counts as
 * zero: controllers differ between kernels.
 */
#include "cgroup/cgroup_stats_parts.h"

#include <unistd.h>

#include "cgroup/cgroup_io.h"
#include "util/parse.h"
#include "util/str.h"

#define LIST_MAX 4096
/* "cpu user system" for a thousand processors. */
#define USAGE_ALL_MAX 65536

static uint64_t value_of(int dir, const char *file)
{
	uint64_t v;

	return cgroup_read_u64(dir, file, &v) == 0 ? v : 0;
}

/* The n-th number of every line but the first: cpuacct.usage_all has cpu, user, system. */
static void usage_column(struct json_writer *w, const char *key, char *text, int column)
{
	char *line = strchr(text, '\n'), *end, *p;
	char number[24];
	uint64_t v;
	int i;

	json_array_begin(w, key);
	for (; line && line[1]; line = end) {
		p = line + 1;
		end = strchr(p, '\n');
		for (i = 0; i < column && p; i++) {
			p = strchr(p, ' ');
			p = p ? p + 1 : NULL;
		}
		if (!p)
			break;
		(void)snprintf(number, sizeof(number), "%.*s", (int)strcspn(p, " \n"), p);
		json_u64(w, NULL, parse_u64(number, &v) == 0 ? v : 0);
	}
	json_array_end(w);
}

static void percpu_write(struct json_writer *w, int dir)
{
	char text[LIST_MAX], *word, *save = NULL;
	_cleanup_free_ char *all = NULL;
	uint64_t v;

	if (cgroup_read(dir, "cpuacct.usage_percpu", text, sizeof(text)) > 0) {
		json_array_begin(w, "percpu");
		for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
			json_u64(w, NULL, parse_u64(word, &v) == 0 ? v : 0);
		json_array_end(w);
	}
	all = malloc(USAGE_ALL_MAX);
	if (all && cgroup_read(dir, "cpuacct.usage_all", all, USAGE_ALL_MAX) > 0) {
		usage_column(w, "percpu_kernel", all, 2);
		usage_column(w, "percpu_user", all, 1);
	}
}

void cgroup_stats_v1_cpu(const struct cgroup *cg, struct json_writer *w)
{
	_cleanup_close_ int cpu = stats_open(cg, "cpu"), acct = stats_open(cg, "cpuacct");
	uint64_t user = 0, kernel = 0, tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	char text[512];

	json_object_begin(w, "cpu");
	json_object_begin(w, "usage");
	if (acct >= 0) {
		stats_u64_nz(w, "total", value_of(acct, "cpuacct.usage"));
		percpu_write(w, acct);
		if (cgroup_read(acct, "cpuacct.stat", text, sizeof(text)) > 0) {
			user = cgroup_key_value(text, "user", 0) * tick_ns;
			kernel = cgroup_key_value(text, "system", 0) * tick_ns;
		}
	}
	json_u64(w, "kernel", kernel);
	json_u64(w, "user", user);
	json_object_end(w);
	json_object_begin(w, "throttling");
	if (cpu >= 0 && cgroup_read(cpu, "cpu.stat", text, sizeof(text)) > 0) {
		stats_u64_nz(w, "periods", cgroup_key_value(text, "nr_periods", 0));
		stats_u64_nz(w, "throttledPeriods", cgroup_key_value(text, "nr_throttled", 0));
		stats_u64_nz(w, "throttledTime", cgroup_key_value(text, "throttled_time", 0));
	}
	json_object_end(w);
	json_object_end(w);
}

void cgroup_stats_v1_cpuset(const struct cgroup *cg, struct json_writer *w)
{
	_cleanup_close_ int dir = stats_open(cg, "cpuset");
	char text[LIST_MAX];
	int64_t level = 0;

	json_object_begin(w, "cpuset");
	stats_cpu_list(w, "cpus", dir, "cpuset.cpus");
	json_u64(w, "cpu_exclusive", value_of(dir, "cpuset.cpu_exclusive"));
	stats_cpu_list(w, "mems", dir, "cpuset.mems");
	json_u64(w, "mem_hardwall", value_of(dir, "cpuset.mem_hardwall"));
	json_u64(w, "mem_exclusive", value_of(dir, "cpuset.mem_exclusive"));
	json_u64(w, "memory_migrate", value_of(dir, "cpuset.memory_migrate"));
	json_u64(w, "memory_spread_page", value_of(dir, "cpuset.memory_spread_page"));
	json_u64(w, "memory_spread_slab", value_of(dir, "cpuset.memory_spread_slab"));
	json_u64(w, "memory_pressure", value_of(dir, "cpuset.memory_pressure"));
	json_u64(w, "sched_load_balance", value_of(dir, "cpuset.sched_load_balance"));
	if (cgroup_read(dir, "cpuset.sched_relax_domain_level", text, sizeof(text)) > 0)
		(void)parse_i64(text, &level);
	json_i64(w, "sched_relax_domain_level", level);
	json_object_end(w);
}

static void memory_entry(struct json_writer *w, const char *key, int dir, const char *prefix)
{
	char file[64];

	json_object_begin(w, key);
	(void)snprintf(file, sizeof(file), "%slimit_in_bytes", prefix);
	json_u64(w, "limit", value_of(dir, file));
	(void)snprintf(file, sizeof(file), "%susage_in_bytes", prefix);
	stats_u64_nz(w, "usage", value_of(dir, file));
	(void)snprintf(file, sizeof(file), "%smax_usage_in_bytes", prefix);
	stats_u64_nz(w, "max", value_of(dir, file));
	(void)snprintf(file, sizeof(file), "%sfailcnt", prefix);
	json_u64(w, "failcnt", value_of(dir, file));
	json_object_end(w);
}

void cgroup_stats_v1_memory(const struct cgroup *cg, struct json_writer *w)
{
	_cleanup_close_ int dir = stats_open(cg, "memory");
	char text[8192] = "";

	json_object_begin(w, "memory");
	(void)cgroup_read(dir, "memory.stat", text, sizeof(text));
	stats_u64_nz(w, "cache", cgroup_key_value(text, "cache", 0));
	memory_entry(w, "usage", dir, "memory.");
	memory_entry(w, "swap", dir, "memory.memsw.");
	memory_entry(w, "kernel", dir, "memory.kmem.");
	memory_entry(w, "kernelTCP", dir, "memory.kmem.tcp.");
	stats_raw(w, "raw", text);
	json_object_end(w);
}

/* "8:0 Read 123" lines; the grand total without a device is left out. */
static bool blkio_table(struct json_writer *w, const char *key, int dir, const char *file)
{
	_cleanup_free_ char *text = malloc(USAGE_ALL_MAX);
	char *line, *save = NULL, *colon, *op, *number;
	bool begun = false;
	uint64_t major, minor, v;

	if (!text || cgroup_read(dir, file, text, USAGE_ALL_MAX) <= 0)
		return false;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		colon = strchr(line, ':');
		op = colon ? strchr(colon, ' ') : NULL;
		number = op ? strchr(op + 1, ' ') : NULL;
		if (!number)
			continue;
		*colon = *op++ = *number++ = '\0';
		if (parse_u64(line, &major) < 0 || parse_u64(colon + 1, &minor) < 0 ||
		    parse_u64(number, &v) < 0)
			continue;
		if (!begun)
			json_array_begin(w, key);
		begun = true;
		stats_blkio_entry(w, major, minor, op, v);
	}
	if (begun)
		json_array_end(w);
	return begun;
}

void cgroup_stats_v1_blkio(const struct cgroup *cg, struct json_writer *w)
{
	_cleanup_close_ int dir = stats_open(cg, "blkio");

	json_object_begin(w, "blkio");
	/* BFQ counts what it schedules; the throttle layer counts everything. */
	if (!blkio_table(w, "ioServiceBytesRecursive", dir, "blkio.bfq.io_service_bytes_recursive"))
		(void)blkio_table(w, "ioServiceBytesRecursive", dir,
				  "blkio.throttle.io_service_bytes_recursive");
	if (!blkio_table(w, "ioServicedRecursive", dir, "blkio.bfq.io_serviced_recursive"))
		(void)blkio_table(w, "ioServicedRecursive", dir,
				  "blkio.throttle.io_serviced_recursive");
	(void)blkio_table(w, "ioQueueRecursive", dir, "blkio.bfq.io_queued_recursive");
	(void)blkio_table(w, "ioServiceTimeRecursive", dir, "blkio.bfq.io_service_time_recursive");
	(void)blkio_table(w, "ioWaitTimeRecursive", dir, "blkio.bfq.io_wait_time_recursive");
	(void)blkio_table(w, "ioMergedRecursive", dir, "blkio.bfq.io_merged_recursive");
	json_object_end(w);
}
