/*
 * Counters of a container's cgroup in the form of `events --stats`.
 */
#pragma once

#include "cgroup/cgroup.h"
#include "util/json_write.h"

/*
 * Writes the members cpu, cpuset, memory, pids, blkio, hugetlb (and psi on v2) as runc's types
 * name them into the present object of w. Units: ns, bytes.
 */
int cgroup_stats_write(const struct cgroup *cg, struct json_writer *w, struct error *err);

/* What a cgroup has had at most, and what it was refused; 0 = unknown. Units: bytes, processes, ns. */
struct cgroup_peaks {
	uint64_t memory, pids, cpu_ns, oom_kills, pids_refused;
	uint64_t memory_limit, pids_limit; /* now in force; 0 = also none */
};
void cgroup_peaks_read(const struct cgroup *cg, struct cgroup_peaks *ret);
/* oom_kills and pids_refused alone. */
void cgroup_hits_read(const struct cgroup *cg, struct cgroup_peaks *ret);

/*
 * A descriptor that becomes readable (v1: eventfd on memory.oom_control; v2: inotify on
 * memory.events) and the present count of OOM kills: for the oom records of `events`.
 */
struct cgroup_oom_watch {
	int fd;
	bool is_eventfd; /* v1 */
	uint64_t kills;
	char *file; /* the file with the oom_kill line */
};

#define CGROUP_OOM_WATCH_NULL ((struct cgroup_oom_watch){ .fd = -EBADF })

/* How many of its processes were killed for lack of memory; 0 where that is not known. */
uint64_t cgroup_oom_kills(const struct cgroup *cg);

int cgroup_oom_watch_open(const struct cgroup *cg, struct cgroup_oom_watch *ret, struct error *err);
/*
 * After fd was readable: *ret_new = further OOM events since the last look. On v1 the
 * notice comes before the kill is counted, so there it is the number of notices (0 when
 * it was the removal of the cgroup that woke us).
 */
int cgroup_oom_watch_read(struct cgroup_oom_watch *w, uint64_t *ret_new, struct error *err);
void cgroup_oom_watch_done(struct cgroup_oom_watch *w);
