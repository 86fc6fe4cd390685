/*
 * Owns the frame of the statistics and the members that both versions share: pids and
 * huge pages.
 */
#include "cgroup/cgroup_stats.h"

#include <dirent.h>
#include <fcntl.h>

#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_stats_parts.h"
#include "util/parse.h"
#include "util/str.h"

#define LIST_MAX 4096
/* The kernel's own NR_CPUS limit is 8192. */
#define CPU_NUMBER_MAX 65535

int stats_open(const struct cgroup *cg, const char *controller)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, controller);

	return d ? cgroup_open_dir(d->path) : -EBADF;
}

void stats_u64_nz(struct json_writer *w, const char *key, uint64_t value)
{
	if (value)
		json_u64(w, key, value);
}

void stats_raw(struct json_writer *w, const char *key, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *line, *save = NULL, *blank;
	uint64_t v;

	if (!copy || !*copy)
		return;
	json_object_begin(w, key);
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		blank = strchr(line, ' ');
		if (!blank)
			continue;
		*blank++ = '\0';
		if (parse_u64(blank, &v) == 0)
			json_u64(w, line, v);
	}
	json_object_end(w);
}

void stats_cpu_list(struct json_writer *w, const char *key, int dir, const char *file)
{
	char text[LIST_MAX], *range, *save = NULL, *dash;
	uint32_t first, last;

	if (cgroup_read(dir, file, text, sizeof(text)) <= 0)
		return;
	json_array_begin(w, key);
	for (range = strtok_r(text, ",", &save); range; range = strtok_r(NULL, ",", &save)) {
		dash = strchr(range, '-');
		if (dash)
			*dash++ = '\0';
		if (parse_u32(range, &first) < 0)
			continue;
		last = first;
		if (dash && parse_u32(dash, &last) < 0)
			continue;
		for (; first <= last && first <= CPU_NUMBER_MAX; first++)
			json_u64(w, NULL, first);
	}
	json_array_end(w);
}

void stats_blkio_entry(struct json_writer *w, uint64_t major, uint64_t minor, const char *op,
		       uint64_t value)
{
	json_object_begin(w, NULL);
	stats_u64_nz(w, "major", major);
	stats_u64_nz(w, "minor", minor);
	json_string(w, "op", op);
	stats_u64_nz(w, "value", value);
	json_object_end(w);
}

static void pids_write(struct json_writer *w, int dir)
{
	uint64_t v;

	json_object_begin(w, "pids");
	if (cgroup_read_u64(dir, "pids.current", &v) == 0)
		stats_u64_nz(w, "current", v);
	/* "max" is shown as no limit. */
	if (cgroup_read_u64(dir, "pids.max", &v) == 0 && v != UINT64_MAX)
		json_u64(w, "limit", v);
	json_object_end(w);
}

static void hugetlb_size(struct json_writer *w, int dir, const char *size, bool v2)
{
	uint64_t usage = 0, max = 0, failcnt = 0;
	char file[300], events[256];

	(void)snprintf(file, sizeof(file), "hugetlb.%s.%s", size,
		       v2 ? "current" : "usage_in_bytes");
	(void)cgroup_read_u64(dir, file, &usage);
	if (v2) {
		(void)snprintf(file, sizeof(file), "hugetlb.%s.events", size);
		if (cgroup_read(dir, file, events, sizeof(events)) > 0)
			failcnt = cgroup_key_value(events, "max", 0);
	} else {
		(void)snprintf(file, sizeof(file), "hugetlb.%s.max_usage_in_bytes", size);
		(void)cgroup_read_u64(dir, file, &max);
		(void)snprintf(file, sizeof(file), "hugetlb.%s.failcnt", size);
		(void)cgroup_read_u64(dir, file, &failcnt);
	}
	json_object_begin(w, size);
	stats_u64_nz(w, "usage", usage);
	stats_u64_nz(w, "max", max);
	json_u64(w, "failcnt", failcnt);
	json_object_end(w);
}

/* The page sizes are those that the folder has files for. */
static void hugetlb_write(struct json_writer *w, int dir, bool v2)
{
	const char *suffix = v2 ? ".current" : ".usage_in_bytes";
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	int fd;

	json_object_begin(w, "hugetlb");
	fd = dir >= 0 ? openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d && fd >= 0)
		(void)close(fd);
	while (d && (e = readdir(d))) {
		const char *size = str_after(e->d_name, "hugetlb.");
		char *end = size ? strstr(size, suffix) : NULL;

		/* "2MB.rsvd.current" counts reservations. */
		if (!end || end[strlen(suffix)] || strstr(size, ".rsvd"))
			continue;
		*end = '\0';
		hugetlb_size(w, dir, size, v2);
	}
	json_object_end(w);
}

static int write_v1(const struct cgroup *cg, struct json_writer *w)
{
	_cleanup_close_ int pids = stats_open(cg, "pids"), huge = stats_open(cg, "hugetlb");
	bool huge_v2 = huge < 0;

	cgroup_stats_v1_cpu(cg, w);
	cgroup_stats_v1_cpuset(cg, w);
	cgroup_stats_v1_memory(cg, w);
	pids_write(w, pids);
	cgroup_stats_v1_blkio(cg, w);
	/* On hybrid hosts this one may be left to the v2 hierarchy. */
	if (huge_v2)
		huge = stats_open(cg, "");
	hugetlb_write(w, huge, huge_v2);
	return 0;
}

int cgroup_stats_write(const struct cgroup *cg, struct json_writer *w, struct error *err)
{
	_cleanup_close_ int dir = -EBADF;
	const struct cgroup_dir *d;

	if (cg->layout != CGROUP_LAYOUT_UNIFIED)
		return write_v1(cg, w);
	d = cgroup_dir_find(cg, "");
	dir = d ? cgroup_open_dir(d->path) : -EBADF;
	if (d && dir < 0)
		return error_set(err, dir, "open cgroup %s", d->path);
	cgroup_stats_v2_cpu(dir, w);
	cgroup_stats_v2_cpuset(dir, w);
	cgroup_stats_v2_memory(dir, w);
	pids_write(w, dir);
	cgroup_stats_v2_io(dir, w);
	hugetlb_write(w, dir, true);
	return 0;
}
