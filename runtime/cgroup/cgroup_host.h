/*
 * What the host mounts below /sys/fs/cgroup and where this process is in it: read once
 * by cgroup_plan(), from which on only absolute folders are used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cgroup/cgroup.h"
#include "util/arena.h"

#define CGROUP_MOUNT_POINT "/sys/fs/cgroup"

struct cgroup_hierarchy {
	char *controllers; /* as in struct cgroup_dir */
	char *mount;	   /* mount point */
	char *root;	   /* which folder of the hierarchy is mounted there */
	char *own; /* this process's cgroup seen from the mount: "/", "/a/b"; NULL = not below it */
};

/* Everything lives in the arena. The v2 hierarchy, if any, comes last. */
struct cgroup_host {
	enum cgroup_layout layout;
	struct cgroup_hierarchy hierarchies[CGROUP_DIRS_MAX];
	size_t n;
	struct arena arena;
};

#define CGROUP_HOST_NULL ((struct cgroup_host){ 0 })

/*
 * Pure: the texts of /proc/self/mountinfo and /proc/self/cgroup. v2_on_top: the folder
 * CGROUP_MOUNT_POINT itself is a cgroup2 file system, so that v1 mounts in the table are
 * hidden below it.
 */
int cgroup_host_parse(const char *mountinfo, const char *self_cgroup, bool v2_on_top,
		      struct cgroup_host *ret, struct error *err);
int cgroup_host_read(struct cgroup_host *ret, struct error *err);
void cgroup_host_done(struct cgroup_host *host);
#define _cleanup_cgroup_host_ _cleanup_(cgroup_host_done)

/*
 * Pure: the container's folder in one hierarchy (malloc'ed). An absolute path is below the mount
 * point; a relative one below this process's cgroup on v1, below that one's parent on the
 * unified layout (where a cgroup with processes can have no limited children); none or ""
 * is the id, relative. -EINVAL for ".." and for the root of the hierarchy.
 */
int cgroup_host_path(const struct cgroup_host *host, const struct cgroup_hierarchy *h,
		     const char *path, const char *id, char **ret, struct error *err);
