/*
 * Everything `create` will do, decided before anything is done: one plain struct,
 * built from the specification (and later the policy) without a system call. The
 * executor in container/ performs it; golden tests and `policy check` print it.
 *
 * A plan points into its spec, which must outlive it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "os/creds.h"
#include "os/devnodes.h"
#include "os/mount.h"
#include "os/ns.h"
#include "os/procattr.h"
#include "spec/spec.h"
#include "util/arena.h"
#include "util/json_write.h"

/* What the caller of create/run said outside the spec. */
struct plan_request {
	const char *id;
	const char *bundle; /* absolute */
	bool no_pivot, no_new_keyring;
	bool rootless; /* cgroup errors tolerated, devices bound */
	bool in_userns; /* this process is not in the initial user namespace */
	uint32_t uid, gid; /* of this process: what a user namespace without id maps gets */
	uint32_t preserve_fds;
	/* Absolute folder for the socket of sd_notify(3), made after planning; NULL = nobody listens. */
	const char *notify_dir;
};

/* Name of the socket in that folder. */
#define PLAN_NOTIFY_SOCKET "notify.sock"

struct plan_ns_path {
	uint64_t type; /* CLONE_NEW* */
	const char *path;
};

/* The process part, shared by init and exec. */
struct plan_process {
	bool terminal;
	uint16_t rows, cols; /* 0 = leave */
	char *const *argv;
	/* De-duplicated (last wins), NULL-terminated; the executor adds a missing or empty HOME. */
	char **env;
	size_t n_env;
	const char *cwd;
	struct creds creds;
	mode_t umask;
	const struct rlimit_op *rlimits;
	size_t n_rlimits;
	bool has_oom_score_adj;
	int64_t oom_score_adj;
	const char *apparmor_profile, *selinux_label;
	const struct sched_op *scheduler; /* NULL = leave */
	int ioprio_class, ioprio_priority; /* class 0 = leave */
	const char *affinity_initial, *affinity_final; /* exec only; NULL = leave */
	bool has_personality;
	unsigned long personality;
	const struct spec_memory_policy *memory_policy; /* NULL = leave */
};

struct plan {
	struct arena arena;
	const struct spec *spec;
	const char *id, *bundle;
	const char *rootfs; /* absolute */
	bool rootfs_readonly, no_pivot, new_keyring;
	unsigned long host_propagation; /* for the copy of the host's mounts: MS_SLAVE|MS_REC by default */
	unsigned long root_propagation; /* rootfsPropagation to set at the end, 0 = none */

	uint64_t ns_create; /* CLONE_NEW* */
	bool in_userns; /* the container does not run in the initial user namespace */
	bool cgroupns; /* new or joined cgroup namespace */
	struct plan_ns_path *ns_join;
	size_t n_ns_join;
	struct id_maps uid_maps, gid_maps;
	struct ns_time_offset *time_offsets;
	size_t n_time_offsets;

	struct mount_op *mounts;
	size_t n_mounts;
	bool notify; /* the last of them is the request's notify_dir */
	struct devnode *devices; /* defaults first, then the spec's; duplicates removed, the spec's wins */
	size_t n_devices;
	bool bind_devices; /* in a user namespace: bind instead of mknod */
	/* /dev links and console belong to us; false (and no devices) when a bind covers /dev. */
	bool dev_setup;
	bool cgroup_writable_mount; /* cgroup namespace and rw cgroup mount: delegate */

	const char *hostname, *domainname; /* NULL = leave */
	struct str_map sysctl; /* checked */
	/* Absolute, in order, without duplicates; not NULL-terminated. */
	char **masked_paths, **readonly_paths;
	size_t n_masked_paths, n_readonly_paths;
	const struct spec_net_device *net_devices;
	size_t n_net_devices;

	bool has_process;
	struct plan_process process;
	uint32_t preserve_fds;
};

/*
 * Pure. Fails with -EINVAL (-ERANGE and -E2BIG for id maps) and the JSON path for
 * combinations that the specification or the kernel forbids: hostname without uts
 * namespace, sysctl outside own namespaces, a working folder that is masked, …
 * A user namespace path together with mappings passes: only the executor can compare.
 */
int plan_build(const struct spec *spec, const struct plan_request *req, struct plan **ret,
	       struct error *err);
/* Whether the container has a namespace of that type (CLONE_NEW*) that is made or joined. */
bool plan_has_ns(const struct plan *p, uint64_t type);
struct plan *plan_free(struct plan *p);
static inline void plan_freep(struct plan **p)
{
	*p = plan_free(*p);
}
#define _cleanup_plan_ _cleanup_(plan_freep)

/*
 * The process part alone, for `exec`: proc already merged with the command line.
 * What proc leaves open (umask, capabilities, limits, labels, oomScoreAdj, scheduling)
 * comes from spec->process. spec may be NULL.
 */
int plan_build_process(const struct spec_process *proc, const struct spec *spec, bool rootless,
		       struct arena *arena, struct plan_process *ret, struct error *err);

/* Stable JSON of the whole plan for golden tests and dry runs; fds and addresses left out. */
int plan_print(const struct plan *p, char **ret_text, struct error *err);
