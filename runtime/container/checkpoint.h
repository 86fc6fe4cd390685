/*
 * What checkpoint and restore share: what of a container lies outside it, for criu. Private to runtime/container.
 */
#pragma once

#include "cgroup/cgroup.h"
#include "container/container.h"
#include "container/phase.h"
#include "os/criu.h"
#include "plan/plan.h"

#define CHECKPOINT_FILE "descriptors.json" /* beside the images: what init's streams were; as runc names and writes it */

/*
 * criu's own file of options, which may name programs to run: the one that the annotation org.criu.config names or the first
 * of the host's. NULL = none; -EPERM when others than root could have written it.
 */
int checkpoint_config(const struct spec *spec, const char **ret, struct error *err);

/* The key of a network namespace that the container was given. */
#define CHECKPOINT_NETNS_KEY "extRootNetNS"

extern const struct phase_list restore_phases;

/* Texts for criu's "external": "mnt[DESTINATION]:VALUE" for each mount and file that comes from outside. */
struct checkpoint_outside {
	struct arena arena;
	const char **items;
	size_t n;
};

/*
 * cgroup: the container's. restore: VALUE is where the content is now, else the name that restore asks by.
 */
int checkpoint_outside(const struct plan *plan, const struct cgroup *cgroup, bool restore, struct checkpoint_outside *ret,
		       struct error *err);
void checkpoint_outside_done(struct checkpoint_outside *o);

/* Before a restore: the mount points of binds, where the root or another source has lost them. */
int checkpoint_mount_points(const struct plan *plan, struct error *err);

/* "soft", "full", "strict" or "ignore"; NULL = soft. */
int checkpoint_cgroups(const char *mode, enum criu_cgroups *ret, struct error *err);
/* CLONE_NEWNET for "network", the only one that can be left out. */
int checkpoint_empty_ns(const char *const *names, size_t n, uint32_t *ret, struct error *err);
/* Opens a folder, making it (0700) with make. One that others could write is refused: images are processes. */
int checkpoint_folder(const char *path, bool make, int *ret_fd, struct error *err);
/* Everything but "passthrough" is refused, with the reason. */
int checkpoint_may(const char *what, const char *id, const char *profile, struct error *err);
