/*
 * The OCI runtime specification 1.3.0 for Linux as C structs. Everything a struct
 * spec points to lives in its arena. Optional scalars say whether they were
 * there; optional objects are NULL when absent.
 *
 * Enumerations are uint64_t fields holding the kernel's (or libseccomp's) own
 * numbers where there are any; their name tables are declared here and shared by
 * the reader, the writer and `features`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/enum_table.h"
#include "util/error.h"
#include "util/json_dispatch.h"

#define SPEC_VERSION_MIN "1.0.0"
#define SPEC_VERSION_MAX "1.3.0"

struct spec_id_map {
	uint32_t container_id;
	uint32_t host_id;
	uint32_t size;
};
struct spec_id_maps { struct spec_id_map *items; size_t count; }; /* = struct json_list in layout */

struct spec_root {
	char *path;
	bool readonly;
};

struct spec_mount {
	char *destination;
	char *type; /* NULL = none */
	char *source; /* NULL = none */
	struct strv options;
	struct spec_id_maps uid_mappings, gid_mappings;
};
struct spec_mounts { struct spec_mount *items; size_t count; };

struct spec_hook {
	char *path;
	struct strv args; /* items[0] = argv[0]; empty: argv[0] = path */
	struct strv env; /* !set: stage default */
	struct opt_i64 timeout; /* seconds, > 0 */
};
struct spec_hook_list { struct spec_hook *items; size_t count; };

struct spec_hooks {
	struct spec_hook_list prestart, create_runtime, create_container, start_container;
	struct spec_hook_list poststart, poststop;
};

struct spec_rlimit {
	uint64_t type; /* RLIMIT_* */
	uint64_t soft, hard;
};
struct spec_rlimits { struct spec_rlimit *items; size_t count; };

/* Bit n = CAP_n. Names that this build does not know are left out with a warning in the log. */
struct spec_capabilities {
	uint64_t bounding, effective, inheritable, permitted, ambient;
};

struct spec_user {
	uint32_t uid, gid;
	struct opt_u32 umask;
	struct { uint32_t *items; size_t count; } additional_gids;
};

struct spec_scheduler {
	uint64_t policy; /* SCHED_* */
	int32_t nice;
	int32_t priority;
	uint64_t flags; /* SCHED_FLAG_* */
	uint64_t runtime, deadline, period; /* ns */
};

struct spec_io_priority {
	uint64_t class_; /* IOPRIO_CLASS_* 1..3 */
	int64_t priority;
};

struct spec_console_size { uint32_t height, width; };

struct spec_cpu_affinity { char *initial, *final; };

struct spec_process {
	bool terminal;
	struct spec_console_size console_size;
	struct spec_user user;
	struct strv args;
	char *command_line; /* Windows only, ignored */
	struct strv env;
	char *cwd;
	struct spec_capabilities *capabilities; /* NULL: none given */
	struct spec_rlimits rlimits;
	bool no_new_privileges;
	char *apparmor_profile;
	struct opt_i64 oom_score_adj;
	struct spec_scheduler *scheduler;
	char *selinux_label;
	struct spec_io_priority *io_priority;
	struct spec_cpu_affinity *exec_cpu_affinity;
};

struct spec_namespace {
	uint64_t type; /* CLONE_NEW* */
	char *path; /* NULL = new */
};
struct spec_namespaces { struct spec_namespace *items; size_t count; };

struct spec_time_offset { char *clock; int64_t secs; uint32_t nanosecs; };
struct spec_time_offsets { struct spec_time_offset *items; size_t count; };

struct spec_device {
	char *path;
	char type; /* 'c' (also for "u"), 'b', 'p' */
	int64_t major, minor;
	struct opt_u32 file_mode;
	struct opt_u32 uid, gid;
};
struct spec_devices { struct spec_device *items; size_t count; };

struct spec_net_device { char *host_name; char *name; /* NULL = keep */ };
struct spec_net_devices { struct spec_net_device *items; size_t count; };

struct spec_device_rule {
	bool allow;
	char type; /* 'a', 'c', 'b' */
	struct opt_i64 major, minor; /* !set or -1 = any */
	char *access; /* NULL = rwm */
};

struct spec_memory {
	struct opt_i64 limit, reservation, swap, kernel, kernel_tcp;
	struct opt_u64 swappiness;
	struct opt_bool disable_oom_killer, use_hierarchy, check_before_update;
};

struct spec_cpu {
	struct opt_u64 shares;
	struct opt_i64 quota;
	struct opt_u64 burst, period;
	struct opt_i64 realtime_runtime;
	struct opt_u64 realtime_period;
	char *cpus, *mems;
	struct opt_i64 idle;
};

struct spec_weight_device { int64_t major, minor; struct opt_u32 weight, leaf_weight; };
struct spec_throttle_device { int64_t major, minor; uint64_t rate; };
struct spec_weight_devices { struct spec_weight_device *items; size_t count; };
struct spec_throttle_devices { struct spec_throttle_device *items; size_t count; };

struct spec_block_io {
	struct opt_u32 weight, leaf_weight;
	struct spec_weight_devices weight_device;
	struct spec_throttle_devices throttle_read_bps, throttle_write_bps;
	struct spec_throttle_devices throttle_read_iops, throttle_write_iops;
};

struct spec_hugepage_limit { char *page_size; uint64_t limit; };
struct spec_net_priority { char *name; uint32_t priority; };
struct spec_network {
	struct opt_u32 class_id;
	struct { struct spec_net_priority *items; size_t count; } priorities;
};
struct spec_rdma { char *device; struct opt_u32 hca_handles, hca_objects; };

struct spec_resources {
	struct { struct spec_device_rule *items; size_t count; } devices;
	struct spec_memory *memory;
	struct spec_cpu *cpu;
	struct opt_i64 pids_limit;
	struct spec_block_io *block_io;
	struct { struct spec_hugepage_limit *items; size_t count; } hugepage_limits;
	struct spec_network *network;
	struct { struct spec_rdma *items; size_t count; } rdma;
	struct str_map unified;
};

struct spec_seccomp_arg {
	uint32_t index;
	uint64_t value, value_two;
	uint64_t op; /* enum scmp_compare */
};
struct spec_seccomp_args { struct spec_seccomp_arg *items; size_t count; };

/* Our own numbering, because libseccomp is not known here; filter/ translates. */
enum spec_seccomp_action {
	SPEC_SECCOMP_KILL_THREAD,
	SPEC_SECCOMP_KILL_PROCESS,
	SPEC_SECCOMP_TRAP,
	SPEC_SECCOMP_ERRNO,
	SPEC_SECCOMP_TRACE,
	SPEC_SECCOMP_ALLOW,
	SPEC_SECCOMP_LOG,
	SPEC_SECCOMP_NOTIFY,
};
enum spec_seccomp_op {
	SPEC_SECCOMP_NE, SPEC_SECCOMP_LT, SPEC_SECCOMP_LE, SPEC_SECCOMP_EQ,
	SPEC_SECCOMP_GE, SPEC_SECCOMP_GT, SPEC_SECCOMP_MASKED_EQ,
};

struct spec_seccomp_rule {
	struct strv names;
	uint64_t action; /* enum spec_seccomp_action */
	struct opt_u32 errno_ret;
	struct spec_seccomp_args args;
};

struct spec_seccomp {
	uint64_t default_action;
	struct opt_u32 default_errno_ret;
	struct strv architectures; /* SCMP_ARCH_*; validated against the table */
	struct strv flags; /* SECCOMP_FILTER_FLAG_*; validated */
	char *listener_path, *listener_metadata;
	struct { struct spec_seccomp_rule *items; size_t count; } syscalls;
};

struct spec_intel_rdt {
	char *clos_id, *l3_cache_schema, *mem_bw_schema;
	struct strv schemata;
	struct opt_bool enable_monitoring;
};

struct spec_memory_policy {
	uint64_t mode; /* MPOL_* */
	char *nodes;
	uint64_t flags; /* MPOL_F_* */
};

struct spec_personality { uint64_t domain; /* PER_LINUX, PER_LINUX32 */ struct strv flags; };

struct spec_linux {
	struct spec_id_maps uid_mappings, gid_mappings;
	struct str_map sysctl;
	struct spec_resources *resources;
	char *cgroups_path;
	struct spec_namespaces namespaces;
	struct spec_time_offsets time_offsets;
	struct spec_devices devices;
	struct spec_net_devices net_devices;
	struct spec_seccomp *seccomp;
	char *rootfs_propagation; /* one of the eight words, validated; NULL = unset */
	struct strv masked_paths, readonly_paths;
	char *mount_label;
	struct spec_intel_rdt *intel_rdt;
	struct spec_memory_policy *memory_policy;
	struct spec_personality *personality;
};

struct spec {
	struct arena arena;
	char *oci_version;
	struct spec_root *root;
	struct spec_process *process; /* NULL allowed until start */
	char *hostname, *domainname;
	struct spec_mounts mounts;
	struct spec_hooks *hooks;
	struct str_map annotations;
	/* "linux", a word that gcc predefines; never NULL after spec_load(). */
	struct spec_linux *linux_cfg;
};

/* Name tables (spec_tables.c). */
/* pid network mount ipc uts user cgroup time → CLONE_NEW* */
extern const struct enum_table spec_namespace_table;
extern const struct enum_table spec_capability_table; /* CAP_* → bit number */
extern const struct enum_table spec_rlimit_table; /* RLIMIT_* */
extern const struct enum_table spec_scheduler_policy_table, spec_scheduler_flag_table;
extern const struct enum_table spec_ioprio_class_table;
extern const struct enum_table spec_seccomp_action_table, spec_seccomp_op_table;
extern const struct enum_table spec_seccomp_arch_table; /* values: the place in the table */
extern const struct enum_table spec_seccomp_flag_table; /* SECCOMP_FILTER_FLAG_* bits */
extern const struct enum_table spec_memory_policy_mode_table, spec_memory_policy_flag_table;
extern const struct enum_table spec_personality_table;
/* shared slave private unbindable and r… → MS_* */
extern const struct enum_table spec_propagation_table;

/*
 * Reads a whole configuration. name appears in messages. Invalid values of known
 * members are errors, unknown members are ignored. On success the caller owns
 * *ret and ends it with spec_free().
 */
int spec_parse(const char *name, const char *data, size_t len, struct spec **ret,
	       struct error *err);
/* Reads dirfd/path ("config.json"); additionally -ENOENT when there is none. */
int spec_load(int dirfd, const char *path, struct spec **ret, struct error *err);
/* A process document as `exec --process` gets it. Lives in arena. */
int spec_parse_process(const char *name, const char *data, size_t len, struct arena *arena,
		       struct spec_process **ret, struct error *err);
/* A resources document as `update --resources` gets it. Lives in arena. */
int spec_parse_resources(const char *name, const char *data, size_t len, struct arena *arena,
			 struct spec_resources **ret, struct error *err);
struct spec *spec_free(struct spec *s);
static inline void spec_freep(struct spec **s)
{
	*s = spec_free(*s);
}
#define _cleanup_spec_ _cleanup_(spec_freep)

/* The namespace entry of that CLONE_NEW* type, or NULL. */
const struct spec_namespace *spec_namespace_find(const struct spec *s, uint64_t type);
/* The annotation's value, or NULL. */
const char *spec_annotation(const struct spec *s, const char *key);
/*
 * `agentrun spec`: the default configuration as indented JSON text (malloc'ed), with a cgroup
 * namespace where cgroup_ns.
 */
int spec_default_json(bool rootless, bool cgroup_ns, uint32_t uid, uint32_t gid, char **ret_text,
		      struct error *err);
