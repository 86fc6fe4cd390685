/*
 * Owns the v2 counters of `events --stats`, in the v1 terms of runc's types. A file that is
 * missing counts as zero: its controller is not enabled.
 */
#include "cgroup/cgroup_stats_parts.h"

#include "cgroup/cgroup_io.h"
#include "util/parse.h"
#include "util/str.h"

#define STAT_MAX  16384
#define NS_PER_US 1000

static uint64_t value_of(int dir, const char *file)
{
	uint64_t v;

	return cgroup_read_u64(dir, file, &v) == 0 ? v : 0;
}

/* "0.25" without locale and libm. */
static double decimal(const char *s)
{
	double v = 0, unit = 1;

	for (; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (*s - '0');
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++)
			v += (*s - '0') * (unit /= 10);
	return v;
}

/* One line: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0". */
static void pressure_line(struct json_writer *w, char *line)
{
	static const char *const averages[] = { "avg10", "avg60", "avg300" };
	char *word, *save = NULL, *eq;
	uint64_t total;
	size_t i;

	word = strtok_r(line, " ", &save);
	if (!word)
		return;
	json_object_begin(w, word);
	while ((word = strtok_r(NULL, " ", &save))) {
		eq = strchr(word, '=');
		if (!eq)
			continue;
		*eq++ = '\0';
		for (i = 0; i < ELEMENTSOF(averages); i++)
			if (str_eq(word, averages[i]))
				json_double(w, word, decimal(eq));
		if (str_eq(word, "total") && parse_u64(eq, &total) == 0)
			json_u64(w, "total", total);
	}
	json_object_end(w);
}

static void pressure(struct json_writer *w, int dir, const char *file)
{
	char text[512], *line, *save = NULL;

	if (cgroup_read(dir, file, text, sizeof(text)) <= 0)
		return;
	json_object_begin(w, "psi");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		pressure_line(w, line);
	json_object_end(w);
}

void cgroup_stats_v2_cpu(int dir, struct json_writer *w)
{
	char text[1024] = "";

	(void)cgroup_read(dir, "cpu.stat", text, sizeof(text));
	json_object_begin(w, "cpu");
	json_object_begin(w, "usage");
	stats_u64_nz(w, "total", cgroup_key_value(text, "usage_usec", 0) * NS_PER_US);
	json_u64(w, "kernel", cgroup_key_value(text, "system_usec", 0) * NS_PER_US);
	json_u64(w, "user", cgroup_key_value(text, "user_usec", 0) * NS_PER_US);
	json_object_end(w);
	json_object_begin(w, "throttling");
	stats_u64_nz(w, "periods", cgroup_key_value(text, "nr_periods", 0));
	stats_u64_nz(w, "throttledPeriods", cgroup_key_value(text, "nr_throttled", 0));
	stats_u64_nz(w, "throttledTime", cgroup_key_value(text, "throttled_usec", 0) * NS_PER_US);
	json_object_end(w);
	pressure(w, dir, "cpu.pressure");
	json_object_end(w);
}

void cgroup_stats_v2_cpuset(int dir, struct json_writer *w)
{
	static const char *const zero[] = { "cpu_exclusive",	       "mem_hardwall",
					    "mem_exclusive",	       "memory_migrate",
					    "memory_spread_page",      "memory_spread_slab",
					    "memory_pressure",	       "sched_load_balance",
					    "sched_relax_domain_level" };
	size_t i;

	json_object_begin(w, "cpuset");
	stats_cpu_list(w, "cpus", dir, "cpuset.cpus.effective");
	stats_cpu_list(w, "mems", dir, "cpuset.mems.effective");
	/* v1 notions; readers expect the members. */
	for (i = 0; i < ELEMENTSOF(zero); i++)
		json_u64(w, zero[i], 0);
	json_object_end(w);
}

static void memory_entry(struct json_writer *w, const char *key, uint64_t limit, uint64_t usage,
			 uint64_t max)
{
	json_object_begin(w, key);
	json_u64(w, "limit", limit);
	stats_u64_nz(w, "usage", usage);
	stats_u64_nz(w, "max", max);
	json_u64(w, "failcnt", 0);
	json_object_end(w);
}

void cgroup_stats_v2_memory(int dir, struct json_writer *w)
{
	char text[STAT_MAX] = "";
	uint64_t limit, usage, swap_limit, swap;

	(void)cgroup_read(dir, "memory.stat", text, sizeof(text));
	limit = value_of(dir, "memory.max");
	usage = value_of(dir, "memory.current");
	swap_limit = value_of(dir, "memory.swap.max");
	swap = value_of(dir, "memory.swap.current");
	/* The types count memory and swap together, as v1 did. */
	if (limit == UINT64_MAX || __builtin_add_overflow(swap_limit, limit, &swap_limit))
		swap_limit = UINT64_MAX;

	json_object_begin(w, "memory");
	stats_u64_nz(w, "cache", cgroup_key_value(text, "file", 0));
	memory_entry(w, "usage", limit, usage, value_of(dir, "memory.peak"));
	memory_entry(w, "swap", swap_limit, swap + usage, 0);
	memory_entry(w, "kernel", 0, 0, 0);
	memory_entry(w, "kernelTCP", 0, 0, 0);
	stats_raw(w, "raw", text);
	pressure(w, dir, "memory.pressure");
	json_object_end(w);
}

/* One table of io.stat: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 …". */
static void io_table(struct json_writer *w, const char *key, const char *stat, const char *read_key,
		     const char *write_key)
{
	_cleanup_free_ char *text = strdup(stat);
	char *line, *save = NULL, *word, *words, *colon;
	bool begun = false;
	uint64_t major, minor, v;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		word = strtok_r(line, " ", &words);
		colon = word ? strchr(word, ':') : NULL;
		if (!colon)
			continue;
		*colon = '\0';
		if (parse_u64(word, &major) < 0 || parse_u64(colon + 1, &minor) < 0)
			continue;
		while ((word = strtok_r(NULL, " ", &words))) {
			const char *r = str_after(word, read_key), *x = str_after(word, write_key);

			if ((!r && !x) || parse_u64(r ? r : x, &v) < 0)
				continue;
			if (!begun)
				json_array_begin(w, key);
			begun = true;
			stats_blkio_entry(w, major, minor, r ? "Read" : "Write", v);
		}
	}
	if (begun)
		json_array_end(w);
}

void cgroup_stats_v2_io(int dir, struct json_writer *w)
{
	char text[STAT_MAX];

	json_object_begin(w, "blkio");
	if (cgroup_read(dir, "io.stat", text, sizeof(text)) > 0) {
		io_table(w, "ioServiceBytesRecursive", text, "rbytes=", "wbytes=");
		io_table(w, "ioServicedRecursive", text, "rios=", "wios=");
	}
	pressure(w, dir, "io.pressure");
	json_object_end(w);
}
