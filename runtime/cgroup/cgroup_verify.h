/*
 * What was written is kept, so that it can be compared with what is in force. Private to
 * runtime/cgroup but for the two functions that cgroup.h names.
 */
#pragma once

#include "cgroup/cgroup.h"
#include "cgroup/cgroup_writes.h"

/* Names that stand for the two forms of device rules. */
#define CGROUP_DEVICES_LIST    "devices.list"
#define CGROUP_DEVICES_PROGRAM "devices.program"

/* Adds or replaces; the strings are copied. */
int cgroup_kept_add(const struct cgroup_kept *k, const char *controller, const char *file, const char *value,
		    struct error *err);
/* Those of the writes that bound a container. */
int cgroup_kept_writes(const struct cgroup_kept *k, const struct cgroup_writes *w, struct error *err);
/* After a failed application: of the same files what is in force now, old or new. */
void cgroup_kept_present(const struct cgroup_kept *k, const struct cgroup *cg, const struct cgroup_writes *w);
