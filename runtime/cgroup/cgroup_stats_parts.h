/*
 * The members of `events --stats` by hierarchy version, and the helpers they share. Names as
 * in runc's types; a member that is left out when zero there is left out here.
 */
#pragma once

#include <stdint.h>

#include "cgroup/cgroup_stats.h"

/* The controller's folder ("" = v2) or a negative errno, with which all reads fail. */
int stats_open(const struct cgroup *cg, const char *controller);
void stats_u64_nz(struct json_writer *w, const char *key, uint64_t value);
/* "key value" lines as an object; nothing when empty. */
void stats_raw(struct json_writer *w, const char *key, const char *text);
/* "0-2,5" as [0,1,2,5]; nothing when empty. */
void stats_cpu_list(struct json_writer *w, const char *key, int dir, const char *file);
void stats_blkio_entry(struct json_writer *w, uint64_t major, uint64_t minor, const char *op,
		       uint64_t value);

void cgroup_stats_v1_cpu(const struct cgroup *cg, struct json_writer *w);
void cgroup_stats_v1_cpuset(const struct cgroup *cg, struct json_writer *w);
void cgroup_stats_v1_memory(const struct cgroup *cg, struct json_writer *w);
void cgroup_stats_v1_blkio(const struct cgroup *cg, struct json_writer *w);

void cgroup_stats_v2_cpu(int dir, struct json_writer *w);
void cgroup_stats_v2_cpuset(int dir, struct json_writer *w);
void cgroup_stats_v2_memory(int dir, struct json_writer *w);
void cgroup_stats_v2_io(int dir, struct json_writer *w);
