/*
 * The policy document as tables: each member once, with the handler that knows its type.
 * Reading, inheriting, showing and the test of the schema walk these tables. Offsets of
 * leaves count from the start of struct policy_profile, at any depth.
 */
#include <linux/sched.h>
#include <sys/resource.h>

#include "policy/policy_internal.h"

static const struct enum_entry excess_entries[] = {
	{ "clamp", POLICY_CLAMP, "give the maximum and record it" },
	{ "refuse", POLICY_REFUSE, "do not start the container" },
};
const struct enum_table policy_excess_table = ENUM_TABLE("answer to excess", excess_entries);
static const struct enum_entry env_mode_entries[] = {
	{ "scrub", POLICY_ENV_SCRUB, NULL },
	{ "allowlist", POLICY_ENV_ALLOWLIST, NULL },
	{ "off", POLICY_ENV_OFF, NULL },
};
const struct enum_table policy_env_mode_table = ENUM_TABLE("environment mode", env_mode_entries);
static const struct enum_entry on_failure_entries[] = {
	{ "stop", POLICY_STOP, NULL },
	{ "continue", POLICY_CONTINUE, NULL },
};
const struct enum_table policy_on_failure_table = ENUM_TABLE("answer to failure", on_failure_entries);
static const struct enum_entry affinity_entries[] = {
	{ "auto", POLICY_AFFINITY_AUTO, NULL },
	{ "off", POLICY_AFFINITY_OFF, NULL },
};
const struct enum_table policy_affinity_table = ENUM_TABLE("affinity", affinity_entries);
static const struct enum_entry accept_none_entries[] = { { "none", POLICY_ACCEPT_NONE, NULL } };
const struct enum_table policy_accept_none_table = ENUM_TABLE("fallback", accept_none_entries);
static const struct enum_entry propagation_entries[] = {
	{ "slave", POLICY_PROPAGATION_SLAVE, NULL },
	{ "shared", POLICY_PROPAGATION_SHARED, NULL },
};
const struct enum_table policy_propagation_table = ENUM_TABLE("propagation", propagation_entries);
static const struct enum_entry seccomp_allow_entries[] = {
	{ "SCMP_ACT_NOTIFY", 1u << SPEC_SECCOMP_NOTIFY, NULL },
	{ "SCMP_ACT_TRACE", 1u << SPEC_SECCOMP_TRACE, NULL },
};
const struct enum_table policy_seccomp_allow_table = ENUM_TABLE("action", seccomp_allow_entries);
/* User and time namespaces are as asked, with or without. */
static const struct enum_entry namespace_entries[] = {
	{ "pid", CLONE_NEWPID, NULL },	{ "network", CLONE_NEWNET, NULL },
	{ "mount", CLONE_NEWNS, NULL }, { "ipc", CLONE_NEWIPC, NULL },
	{ "uts", CLONE_NEWUTS, NULL },	{ "cgroup", CLONE_NEWCGROUP, NULL },
};
const struct enum_table policy_namespace_table = ENUM_TABLE("namespace type", namespace_entries);

#define END { .name = NULL }
#define AT(member_) offsetof(struct policy_profile, member_)
#define LEAF(name_, fn_, member_) { .name = (name_), .fn = (fn_), .offset = AT(member_) }
#define LEAF_ARG(name_, fn_, member_, arg_) \
	{ .name = (name_), .fn = (fn_), .offset = AT(member_), .arg = (arg_) }
#define LIST(name_, member_, kind_) LEAF_ARG(name_, policy_get_list, member_, &policy_list_##kind_)
#define WORD(name_, member_, table_) LEAF_ARG(name_, policy_get_word, member_, &policy_##table_##_table)
#define MASK(name_, member_, table_) LEAF_ARG(name_, policy_get_mask, member_, &policy_##table_##_table)
#define EXCESS(member_) WORD("excess", member_, excess)
#define OBJECT(type_, ...)                                                                         \
	static const struct json_field type_##_fields[] = { __VA_ARGS__, END };                    \
	static const struct json_object type_##_type = { .size = sizeof(struct policy_profile),    \
							 .fields = type_##_fields }
/* The target of a section is the whole profile again. */
#define SECTION(name_, type_) { .name = (name_), .fn = json_get_object, .arg = &type_##_type }
#define LIMIT(fn_, member_)                                                                        \
	LEAF("default", fn_, member_.def), LEAF("max", fn_, member_.max), EXCESS(member_.excess)

/* clang-format off */
OBJECT(seccomp,
	LEAF("profile", policy_get_text, seccomp.profile),
	MASK("allow", seccomp.allow, seccomp_allow));
OBJECT(capabilities,
	LEAF_ARG("root", policy_get_bits, capabilities.root, &spec_capability_table),
	LEAF_ARG("user", policy_get_bits, capabilities.user, &spec_capability_table));
OBJECT(namespaces, MASK("host", namespaces.host, namespace));
OBJECT(devices,
	LIST("allow", devices.allow, devices),
	LIST("network", devices.network, net_names),
	MASK("accept", devices.accept, accept_none));
OBJECT(mounts,
	LIST("allow", mounts.allow, paths),
	LIST("deny", mounts.deny, paths),
	LIST("readonly", mounts.readonly, paths),
	LIST("session", mounts.session, paths),
	LIST("types", mounts.types, types),
	MASK("propagation", mounts.propagation, propagation),
	LEAF("serviceAccountToken", policy_get_flag, mounts.service_account_token));
OBJECT(paths,
	LIST("masked", paths.masked, paths),
	LIST("readonly", paths.readonly, paths),
	LIST("unmasked", paths.unmasked, paths));
OBJECT(rootfs,
	LEAF("readonly", policy_get_flag, rootfs.readonly),
	LIST("tmpfs", rootfs.tmpfs, tmpfs));
OBJECT(env,
	WORD("mode", env.mode, env_mode),
	LIST("allow", env.allow, env),
	LIST("deny", env.deny, env));
OBJECT(sysctls,
	LIST("allow", sysctls.allow, sysctls),
	LIST("set", sysctls.set, settings));
OBJECT(memory, LIMIT(policy_get_bytes, resources.memory));
OBJECT(swap, LIMIT(policy_get_bytes, resources.swap));
OBJECT(cpu,
	LIMIT(policy_get_cpus, resources.cpu),
	WORD("affinity", resources.affinity, affinity));
OBJECT(pids, LIMIT(policy_get_count, resources.pids));
OBJECT(hugetlb, LIMIT(policy_get_bytes, resources.hugetlb));
OBJECT(resources,
	SECTION("memory", memory),
	SECTION("swap", swap),
	SECTION("cpu", cpu),
	SECTION("pids", pids),
	SECTION("hugetlb", hugetlb),
	LEAF("cpuShares", policy_get_count, resources.cpu_shares),
	LEAF("ioWeight", policy_get_count, resources.io_weight),
	LEAF("realtime", policy_get_flag, resources.realtime),
	EXCESS(resources.excess),
	MASK("accept", resources.accept, accept_none));
#define RLIMIT(name_, number_) LEAF(name_, policy_get_rlimit, rlimits.max[number_])
OBJECT(rlimits,
	RLIMIT("as", RLIMIT_AS),
	RLIMIT("core", RLIMIT_CORE),
	RLIMIT("cpu", RLIMIT_CPU),
	RLIMIT("data", RLIMIT_DATA),
	RLIMIT("fsize", RLIMIT_FSIZE),
	RLIMIT("locks", RLIMIT_LOCKS),
	RLIMIT("memlock", RLIMIT_MEMLOCK),
	RLIMIT("msgqueue", RLIMIT_MSGQUEUE),
	RLIMIT("nice", RLIMIT_NICE),
	RLIMIT("nofile", RLIMIT_NOFILE),
	RLIMIT("nproc", RLIMIT_NPROC),
	RLIMIT("rss", RLIMIT_RSS),
	RLIMIT("rtprio", RLIMIT_RTPRIO),
	RLIMIT("rttime", RLIMIT_RTTIME),
	RLIMIT("sigpending", RLIMIT_SIGPENDING),
	RLIMIT("stack", RLIMIT_STACK),
	EXCESS(rlimits.excess));
_Static_assert(RLIMIT_NLIMITS == POLICY_RLIMITS, "one member for each rlimit");
OBJECT(tmpfs,
	LIMIT(policy_get_size, disk.tmpfs_size),
	LEAF("inodes", policy_get_count, disk.tmpfs_inodes));
OBJECT(session,
	LEAF("size", policy_get_bytes, disk.session_size),
	LEAF("inodes", policy_get_count, disk.session_inodes),
	LEAF("keep", policy_get_flag, disk.session_keep));
OBJECT(disk,
	SECTION("tmpfs", tmpfs),
	SECTION("session", session),
	EXCESS(disk.excess));
OBJECT(time_container, LIMIT(policy_get_deadline, time.container));
OBJECT(time_exec, LIMIT(policy_get_deadline, time.exec));
OBJECT(time,
	SECTION("container", time_container),
	SECTION("exec", time_exec),
	LEAF("grace", policy_get_time, time.grace),
	EXCESS(time.excess),
	MASK("accept", time.accept, accept_none));
OBJECT(egress,
	LEAF("allow", policy_get_rules, egress.allow),
	MASK("accept", egress.accept, accept_none));
OBJECT(output,
	LEAF("maxBytes", policy_get_bytes, audit.output_max_bytes),
	LEAF("requestMax", policy_get_bytes, audit.output_request_max));
OBJECT(input, LEAF("maxBytes", policy_get_bytes, audit.input_max_bytes));
OBJECT(audit,
	LEAF("exec", policy_get_flag, audit.exec),
	SECTION("output", output),
	SECTION("input", input),
	LEAF("maxBytes", policy_get_bytes, audit.max_bytes),
	LIST("redact", audit.redact, patterns),
	WORD("onFailure", audit.on_failure, on_failure),
	MASK("accept", audit.accept, accept_none));
OBJECT(exec, LEAF("allow", policy_get_flag, exec.allowed));

static const struct json_field profile_fields[] = {
	LEAF("inherits", policy_get_text, inherits),
	SECTION("seccomp", seccomp),
	LEAF("noNewPrivileges", policy_get_flag, no_new_privileges),
	SECTION("capabilities", capabilities),
	SECTION("namespaces", namespaces),
	SECTION("devices", devices),
	SECTION("mounts", mounts),
	SECTION("paths", paths),
	SECTION("rootfs", rootfs),
	SECTION("env", env),
	SECTION("sysctls", sysctls),
	SECTION("resources", resources),
	SECTION("rlimits", rlimits),
	SECTION("disk", disk),
	SECTION("time", time),
	SECTION("egress", egress),
	SECTION("audit", audit),
	SECTION("exec", exec),
	END,
};
/* clang-format on */
const struct json_object policy_profile_type = { .size = sizeof(struct policy_profile),
						 .fields = profile_fields };

static const size_t limits[] = {
	AT(resources.memory),  AT(resources.swap),   AT(resources.cpu), AT(resources.pids),
	AT(resources.hugetlb), AT(disk.tmpfs_size), AT(time.container), AT(time.exec),
};

size_t policy_limit_offset(size_t i)
{
	return i < ELEMENTSOF(limits) ? limits[i] : SIZE_MAX;
}
