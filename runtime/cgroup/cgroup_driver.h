/*
 * Who makes and removes a container's cgroup. All else (limits, freezer, members) works
 * on the folders, whoever made them.
 */
#pragma once

#include "cgroup/cgroup.h"
#include "cgroup/cgroup_host.h"
#include "cgroup/cgroup_writes.h"

struct cgroup_driver {
	const char *name;
	/* Fills ret (zeroed, layout and manager set) with the folders to be; no side effect. */
	int (*plan)(const struct cgroup_request *req, const struct cgroup_host *host,
		    struct cgroup *ret, struct error *err);
	/*
	 * Makes the folders and marks them; those that req->rootless lets miss are taken out of cg.
	 * writes: the limits that will be written, for a driver that must tell somebody.
	 */
	int (*create)(struct cgroup *cg, const struct cgroup_request *req,
		      const struct cgroup_writes *writes, struct error *err);
	/* Tells new limits before they are written; may be NULL. */
	int (*announce)(const struct cgroup *cg, const struct cgroup_writes *writes,
			struct error *err);
	int (*remove)(const struct cgroup *cg, struct error *err);
};

extern const struct cgroup_driver cgroup_driver_fs;
extern const struct cgroup_driver cgroup_driver_systemd;
extern const struct cgroup_driver cgroup_driver_disabled;
/* cgroup.c */
const struct cgroup_driver *cgroup_driver_of(enum cgroup_manager manager);

/* cgroup_fs.c: one folder with its parents; a v1 cpuset gets its parent's processors. */
int cgroup_folder_create(struct cgroup_dir *d, struct error *err);

/* cgroup_remove.c: the subtree and its root, bottom up, with the time limit of cgroup_remove(). */
int cgroup_remove_tree(const char *path, struct error *err);

/* A cgroup.controllers file with all its words. */
#define CGROUP_CONTROLLERS_MAX 512

/*
 * cgroup_enable.c, v2: makes controllers available in the folder by enabling them in the
 * ancestors' cgroup.subtree_control. want: blank-separated list, as many as possible; need:
 * those without which it is an error. Also refuses a folder that cannot hold processes (below a
 * threaded cgroup).
 */
int cgroup_enable(const char *path, const char *want, const char *need, struct error *err);
/* The controllers that the v2 hierarchy of that folder offers at its top; 0 or negative errno. */
int cgroup_top_controllers(const char *path, char *buf, size_t size);
