/*
 * The policy: a host file that says what containers may have, and the pure function that
 * narrows a specification to it. Nothing here makes a system call: documents come in as
 * text, what the host is like comes in as facts, what was decided goes out as a verdict.
 *
 * A profile points into its policy, a verdict owns its texts, a narrowed specification
 * gets what it needs from its own arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/spec.h"
#include "util/error.h"
#include "util/json_dispatch.h"

#define POLICY_FILE "/etc/agentrun/policy.json"
#define POLICY_BUILTIN_NAME "built-in"
#define POLICY_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define POLICY_PROFILES_MAX 64
#define POLICY_INHERITS_MAX 16
#define POLICY_RULES_MAX 20000

/* Where a value was written. */
struct policy_origin {
	const char *file; /* as given to policy_parse(), or POLICY_BUILTIN_NAME */
	const char *path; /* JSON path in that file; NULL = the value is not set */
	size_t offset;
};

/* Numbers with a meaning of their own. */
#define POLICY_UNLIMITED UINT64_MAX /* rlimits: no cap; time: "off" */
#define POLICY_AUTO (UINT64_MAX - 1) /* sizes: half of the memory limit, at most all of it */

enum policy_excess { POLICY_CLAMP, POLICY_REFUSE };
enum policy_env_mode { POLICY_ENV_SCRUB, POLICY_ENV_ALLOWLIST, POLICY_ENV_OFF };
enum policy_on_failure { POLICY_STOP, POLICY_CONTINUE };
enum policy_affinity { POLICY_AFFINITY_AUTO, POLICY_AFFINITY_OFF };
/* Weaker mechanisms that the operator takes. */
enum policy_accept {
	POLICY_ACCEPT_NONE = 1u << 0,
};
/* How a connection to an address that was learned from a name is checked. */
enum policy_verify {
	POLICY_VERIFY_AUTO, /* TCP port 443 by its server name, others by address */
	POLICY_VERIFY_ADDRESS,
	POLICY_VERIFY_SNI, /* all ports by the server name */
};
enum policy_propagation { POLICY_PROPAGATION_SLAVE = 1u << 0, POLICY_PROPAGATION_SHARED = 1u << 1 };

struct policy_ports {
	uint16_t first, last;
};

/* One thing that may leave the container. */
struct policy_rule {
	struct policy_origin from;
	char *host; /* lower case, may begin with "*."; NULL = cidr */
	char *cidr; /* as text */
	int family; /* AF_INET, AF_INET6 */
	uint8_t address[16];
	uint8_t prefix;
	/*
	 * Of the rule that the policy file has for it: private ranges open by this. A rule of the
	 * file is its own; a request of one address inside 0.0.0.0/0 has 0.
	 */
	uint8_t scope;
	struct policy_ports *ports; /* none = every port */
	size_t n_ports;
	uint64_t protocol; /* 0 = any, IPPROTO_TCP, IPPROTO_UDP */
	bool metadata;
	uint64_t verify; /* enum policy_verify; of a host */
};

/* One member of a profile. Which part is used depends on the member; see policy_fields.c. */
struct policy_value {
	struct policy_origin from;
	uint64_t n; /* flag, bytes, count, thousandths of a CPU, ns, word, set of bits */
	const char *text;
	struct strv list;
	const struct policy_rule *rules;
	size_t n_rules;
};

struct policy_limit {
	struct policy_value def; /* "default" */
	struct policy_value max;
	struct policy_value excess; /* enum policy_excess; where not set, the section's counts */
};

#define POLICY_RLIMITS 16 /* RLIMIT_* */

struct policy_profile {
	const char *name;
	const char *policy_file; /* where a remedy would be written */
	const char *pod_profile; /* of the fixed sandbox profile: the one whose namespaces.host it has; else NULL */
	bool passthrough; /* the specification alone: nothing below counts */
	bool monitored; /* false: the fixed sandbox profile, which has no monitor */
	struct policy_value inherits;
	struct { struct policy_value profile, allow; } seccomp; /* allow: bits of enum spec_seccomp_action */
	struct policy_value no_new_privileges;
	struct { struct policy_value root, user; } capabilities; /* bit n = CAP_n */
	struct { struct policy_value host; } namespaces; /* CLONE_NEW* */
	struct { struct policy_value allow, network, accept; } devices;
	struct {
		struct policy_value allow, deny, readonly, session, types, propagation, service_account_token;
	} mounts;
	struct { struct policy_value masked, readonly, unmasked; } paths;
	struct { struct policy_value readonly, tmpfs; } rootfs;
	struct { struct policy_value mode, allow, deny; } env;
	struct { struct policy_value allow, set; } sysctls; /* set: "NAME=VALUE" */
	struct {
		struct policy_limit memory, swap, cpu, pids, hugetlb;
		struct policy_value affinity, cpu_shares, io_weight, realtime, excess, accept;
	} resources;
	struct { struct policy_value max[POLICY_RLIMITS], excess; } rlimits;
	struct {
		struct policy_limit tmpfs_size;
		struct policy_value tmpfs_inodes, session_size, session_inodes, session_keep, excess;
	} disk;
	struct {
		struct policy_limit container, exec;
		struct policy_value grace, excess, accept;
	} time;
	struct { struct policy_value allow, accept; } egress;
	struct {
		struct policy_value exec, output_max_bytes, output_request_max, input_max_bytes, max_bytes, redact, on_failure, accept;
	} audit;
	struct { struct policy_value allowed; } exec;
};

struct policy;

/*
 * Reads a policy document: strict JSON with comments. All profiles are checked, used or
 * not, with what they inherit. name appears in messages and decisions.
 */
int policy_parse(const char *name, const char *data, size_t len, struct policy **ret, struct error *err);
/* The policy of a host without a file. */
int policy_builtin(struct policy **ret, struct error *err);
struct policy *policy_free(struct policy *p);
static inline void policy_freep(struct policy **p)
{
	*p = policy_free(*p);
}
#define _cleanup_policy_ _cleanup_(policy_freep)

bool policy_sealed(const struct policy *p);
/* The names of all profiles, the file's first, then the shipped ones; NULL behind the last. */
const char *policy_profile_name(const struct policy *p, size_t i);
/* Whether a shipped profile of that name is the same under every policy. */
bool policy_profile_fixed(const char *name);
/* A profile with everything it inherits. */
int policy_profile_get(const struct policy *p, const char *name, struct policy_profile *ret, struct error *err);
/*
 * The profile of a container. flag: --profile, or NULL. -EPERM when the policy forbids
 * the choice, -EINVAL when there is no such profile.
 */
int policy_select(const struct policy *p, const char *flag, const struct str_map *annotations,
		  struct policy_profile *ret, struct error *err);

/* What annotations ask for beside the profile; they can only narrow. */
struct policy_request {
	struct opt_u64 memory; /* bytes */
	struct opt_u64 time_container, time_exec; /* ns */
	struct opt_u64 audit_output; /* bytes */
	struct opt_bool session; /* the root filesystem */
	struct strv session_paths;
	struct opt_bool session_keep;
	bool has_egress; /* then the rules are all that may leave */
	struct policy_rule *egress;
	size_t n_egress;
};
/* Strict: an unknown org.agentrun.* key is an error that names the known ones. */
int policy_request_read(const struct str_map *annotations, struct arena *arena,
			struct policy_request *ret, struct error *err);
/* The keys for `features`; NULL behind the last. */
const char *policy_request_key(size_t i);

/* Whose namespace a joined path is. */
enum policy_ns_owner { POLICY_NS_UNKNOWN, POLICY_NS_HOST, POLICY_NS_OTHER };
enum policy_controller {
	POLICY_CG_MEMORY = 1u << 0,
	POLICY_CG_CPU = 1u << 1,
	POLICY_CG_PIDS = 1u << 2,
	POLICY_CG_HUGETLB = 1u << 3,
	POLICY_CG_DEVICES = 1u << 4, /* v1 controller or the right to attach programs */
};
struct policy_device {
	const char *path; /* as in devices.allow */
	char type; /* 'c', 'b' */
	int64_t major, minor;
};

struct policy_rlimit { uint64_t soft, hard; };

#define POLICY_SETTING_NAME_MAX 128
/* The name in an entry of sysctls.set; false: it is none. */
bool policy_setting_name(const char *setting, char ret[POLICY_SETTING_NAME_MAX]);

/* What was found on the host before the decision, read-only. Plain data. */
struct policy_facts {
	const char *id; /* the container's */
	bool no_pivot;
	unsigned controllers; /* enum policy_controller, that this process can put limits into */
	/* Programs can be put on cgroups: the host's root, a v2 hierarchy, a kernel that has what they need. */
	bool cgroup_bpf;
	const char *no_listener; /* why no filter of a child can have a listener; NULL = it can */
	bool host_swap; /* the host has swap space */
	bool swap_limit; /* the kernel can limit it for a cgroup */
	uint64_t host_memory; /* bytes, 0 = unknown */
	const uint32_t *cpus; /* that the container could use */
	size_t n_cpus;
	int64_t oom_score_adj; /* of this runtime */
	const struct policy_rlimit *rlimits; /* POLICY_RLIMITS of this runtime; NULL = unknown */
	/* One for each of the profile's sysctls.set: why it cannot be set here; NULL = it can. NULL: nothing is set. */
	const char *const *settings;
	const enum policy_ns_owner *namespaces; /* one for each of linux.namespaces; NULL = all unknown */
	const struct policy_device *devices; /* the nodes that devices.allow names and that exist */
	size_t n_devices;
	const char *const *hugepages; /* page sizes with pages on this host: "2MB" */
	size_t n_hugepages;
	/* For an update: what is in force, 0 = unknown. */
	int64_t cpu_quota;
	uint64_t cpu_period;
	uint64_t memory_limit;
};

enum policy_action { POLICY_KEPT, POLICY_CLAMPED, POLICY_DROPPED, POLICY_ADDED, POLICY_REFUSED };
extern const struct enum_table policy_action_table;

struct policy_decision {
	const char *control; /* "memory", "capabilities" */
	enum policy_action action;
	const char *asked, *given; /* for people; never NULL */
	const char *rule; /* JSON path in file */
	const char *file;
	size_t offset;
	const char *remedy; /* of a refusal: the policy line that would allow it; else NULL */
};

/* What the executor needs beside the narrowed specification. */
struct policy_grant {
	bool passthrough;
	const char *affinity; /* CPU list; NULL = leave */
	bool devices_strict; /* only linux.resources.devices and the default nodes: no mknod of others, no net/tun */
	uint64_t memory; /* bytes, 0 = no limit in force */
	const char *seccomp_profile;
	uint64_t time_container, time_exec, time_grace; /* ns, POLICY_UNLIMITED = none */
	bool egress_on; /* in force, with or without rules */
	bool exec_audit; /* executed programs are recorded */
	bool call_reports; /* denied system calls are told of, as far as the filter asks for it */
	const struct policy_rule **egress;
	size_t n_egress;
	uint64_t audit_output; /* bytes for each command */
	uint64_t audit_input; /* the same of its standard input; 0 = it is not recorded */
	bool session_rootfs, session_keep;
	uint64_t session_size, session_inodes;
	const char *const *session_paths;
	size_t n_session_paths;
};

struct policy_verdict {
	struct arena arena;
	const char *profile, *policy_file;
	struct policy_decision *items;
	size_t count, room;
	size_t refused; /* number of refusals */
	bool failed; /* out of memory: decisions are missing */
	struct policy_grant grant;
};
#define POLICY_VERDICT_NULL ((struct policy_verdict){ 0 })
void policy_verdict_done(struct policy_verdict *v);
#define _cleanup_policy_verdict_ _cleanup_(policy_verdict_done)

/*
 * Records a decision; the texts are copied. rule: the member that decided. For controls
 * decided elsewhere, too. Out of memory shows in v->failed.
 */
void policy_note(struct policy_verdict *v, const char *control, enum policy_action action,
		 const struct policy_value *rule, const char *asked, const char *given);
/* A refusal; the remedy tells which policy line would allow it, e.g. by policy_place(). */
void policy_refuse(struct policy_verdict *v, const char *control, const struct policy_value *rule,
		   const char *asked, const char *remedy_fmt, ...) _printf_(5, 6);
/* "profiles.default.devices.allow in /etc/agentrun/policy.json"; lives in the verdict. */
const char *policy_place(struct policy_verdict *v, const struct policy_value *rule);
/* 0, or the first refusal (-EPERM) or -ENOMEM as an error. */
int policy_verdict_result(const struct policy_verdict *v, struct error *err);
/* Whether the container would run otherwise than asked. */
bool policy_verdict_changed(const struct policy_verdict *v);
/* One line for each decision, and as JSON; malloc'ed. */
int policy_verdict_text(const struct policy_verdict *v, char **ret, struct error *err);
int policy_verdict_json(const struct policy_verdict *v, char **ret, struct error *err);

/*
 * Narrows spec. Pure. *ret must be POLICY_VERDICT_NULL or hold earlier decisions; it is
 * filled in any case. On a refusal -EPERM with the first one's text: all of them are in
 * the verdict, and spec must not be used.
 */
int policy_apply(struct spec *spec, const struct policy_profile *profile,
		 const struct policy_request *req, const struct policy_facts *facts,
		 struct policy_verdict *ret, struct error *err);
/* The same for what a process of an `exec` takes from the configuration beside the container's own: its filter. */
int policy_apply_filter(struct spec *spec, const struct policy_profile *profile, const struct policy_facts *facts,
			struct policy_verdict *ret, struct error *err);
/*
 * The same for the process of an `exec`. base: the container's own, narrowed before; what
 * proc leaves out comes from there. What is allocated lives in arena.
 */
int policy_apply_process(struct spec_process *proc, const struct spec_process *base,
			 struct arena *arena, const struct policy_profile *profile,
			 const struct policy_facts *facts, struct policy_verdict *ret,
			 struct error *err);
/* The same for the body of an `update`: what it leaves out is left as it is. */
int policy_apply_resources(struct spec_resources *res, struct arena *arena,
			   const struct policy_profile *profile, const struct policy_facts *facts,
			   struct policy_verdict *ret, struct error *err);

/*
 * Other egress rules for a container that has those of now: text as the annotation
 * org.agentrun.egress.allow, each entry covered by one of now; "" = nothing. They are in ret->grant. 0, -EINVAL, or -EPERM
 * with the entry that is more than there is.
 */
int policy_narrow_egress(const struct policy_profile *profile, const struct policy_rule *now, size_t n_now,
			 const char *text, struct policy_verdict *ret, struct error *err);
/* Whether the profile's own rules open all that q does. */
bool policy_profile_opens(const struct policy_profile *profile, const struct policy_rule *q);
/* "443" or "8000-8100", in the form of a rule and back. Reading: 0 or -EINVAL. Writing: buf. */
#define POLICY_PORTS_TEXT sizeof("65535-65535")
int policy_ports_read(const char *text, struct policy_ports *ret);
const char *policy_ports_text(const struct policy_ports *p, char buf[POLICY_PORTS_TEXT]);
/* A host or a cidr, without ports: what a rule of one of them has before anything else is set. 0, -EINVAL, -ENOMEM. */
int policy_rule_read(const char *text, struct arena *arena, struct policy_rule *ret);

/* A document with that one profile, nothing inherited; malloc'ed, stable. */
int policy_show(const struct policy_profile *profile, char **ret, struct error *err);
/* "MEMBER = VALUE (FILE: PATH, offset N)" for each member; malloc'ed. */
int policy_show_origins(const struct policy_profile *profile, char **ret, struct error *err);
