/*
 * Resource control groups of the resctrl file system (Intel RDT, AMD QoS): shares of
 * cache and memory bandwidth. Takes plain arguments; the rules about which group is
 * used, compared or made are the runtime specification's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

struct rdt_config {
	const char *clos_id; /* NULL: a group named like the container; "/": the default group */
	const char *l3_cache_schema, *mem_bw_schema; /* NULL = none */
	char *const *schemata; /* further lines, written after those two and so winning over them */
	size_t n_schemata;
	bool monitoring; /* a monitoring group named like the container in the group */
};

struct rdt_group {
	char *path; /* the control group */
	char *mon_path; /* the monitoring group, NULL = none */
	char *made_path; /* what rdt_remove() must get at the end; NULL: all was there before us */
};

#define RDT_GROUP_NULL ((struct rdt_group){ 0 })

/* Where resctrl is mounted (malloc'ed). -ENODEV with advice when it is not. */
int rdt_mount_find(char **ret_root, struct error *err);
/*
 * Makes or checks the group; on failure nothing is left behind. A group of a given closID
 * that exists must already have the wanted schemata; one without schemata must exist.
 */
int rdt_create(const char *root, const char *id, const struct rdt_config *config,
	       struct rdt_group *ret, struct error *err);
/* Puts the process (and what it forks from then on) into the group and its monitoring group. */
int rdt_attach(const struct rdt_group *group, pid_t pid, struct error *err);
/* Removes a group that rdt_create() made, with its monitoring groups. NULL or gone: done. */
int rdt_remove(const char *made_path, struct error *err);
void rdt_group_done(struct rdt_group *group);
#define _cleanup_rdt_group_ _cleanup_(rdt_group_done)
