/*
 * What the files of policy/ share: the handlers and tables of the document and the steps
 * of the decision. Nobody outside this folder and its tests includes it.
 */
#pragma once

#include "policy/policy.h"
#include "util/str.h"

struct policy {
	struct arena arena;
	const char *name;
	struct policy_value version, profile, requestable, sealed;
	struct policy_profile *profiles; /* as written, nothing inherited */
	size_t n_profiles;
	struct policy *builtin; /* NULL in the built-in policy itself */
};

/* policy_builtin.c: the text of the built-in policy. */
extern const char policy_builtin_text[];

/* policy_fields.c: the document as tables. Leaf offsets are those in the whole struct. */
extern const struct json_object policy_file_type;    /* struct policy */
extern const struct json_object policy_profile_type; /* struct policy_profile */
extern const struct json_object policy_rule_type;    /* struct policy_rule */
/* The limits of a profile: offset of the i-th struct policy_limit, or SIZE_MAX. */
size_t policy_limit_offset(size_t i);
static inline struct policy_value *policy_leaf(void *profile, const struct json_field *f)
{
	return (struct policy_value *)((char *)profile + f->offset);
}

/* policy_values.c: handlers of the leaves; target [struct policy_value]. */
JSON_HANDLER(policy_get_flag);
JSON_HANDLER(policy_get_bytes); /* number or "2GiB" */
JSON_HANDLER(policy_get_size);	/* bytes or "auto" */
JSON_HANDLER(policy_get_count);
JSON_HANDLER(policy_get_cpus);	   /* 1.5 → 1500 */
JSON_HANDLER(policy_get_time);	   /* "1h30m" */
JSON_HANDLER(policy_get_deadline); /* the same, or "off" */
JSON_HANDLER(policy_get_rlimit);   /* number or "unlimited" */
JSON_HANDLER(policy_get_text);
JSON_HANDLER(policy_get_word);	/* arg = enum_table */
JSON_HANDLER(policy_get_mask);	/* arg = enum_table of bits */
JSON_HANDLER(policy_get_bits);	/* arg = enum_table of bit numbers */
JSON_HANDLER(policy_get_list);	/* arg = struct policy_list_kind */
JSON_HANDLER(policy_get_rules); /* policy_egress.c */
struct policy_list_kind {
	const char *what;
	bool (*valid)(const char *s);
};
extern const struct policy_list_kind policy_list_paths, policy_list_tmpfs, policy_list_devices,
	policy_list_net_names, policy_list_types, policy_list_sysctls, policy_list_settings, policy_list_env,
	policy_list_names, policy_list_patterns;
extern const struct enum_table policy_excess_table, policy_env_mode_table, policy_on_failure_table,
	policy_affinity_table, policy_accept_none_table,
	policy_propagation_table, policy_seccomp_allow_table, policy_namespace_table;
/* Sets where the value was written. */
int policy_value_begin(struct json_ctx *ctx, const struct json *at, struct policy_value *v,
		       struct error *err);
int policy_error_at(struct error *err, const struct policy_origin *at, const char *fmt, ...)
	_printf_(3, 4);
/* "c 10:232", "c 195:*"; numbers -1 = any. */
bool policy_device_parse(const char *s, struct policy_device *ret);
/* Absolute, without empty, "." and ".." parts. */
bool policy_path_valid(const char *s);

/* The same folder without empty, "." and ".." parts, absolute; NULL when out of memory. */
char *policy_path_clean(struct arena *a, const char *path);

/* Texts for people; buf is filled and returned. */
#define POLICY_TEXT_MAX 48
const char *policy_bytes_text(char buf[POLICY_TEXT_MAX], uint64_t bytes);
const char *policy_time_text(char buf[POLICY_TEXT_MAX], uint64_t ns);
const char *policy_cpus_text(char buf[POLICY_TEXT_MAX], uint64_t thousandths);
const char *policy_count_text(char buf[POLICY_TEXT_MAX], uint64_t n);
/* "a, b, …"; at most some 400 bytes. */
void policy_list_add(struct buf *b, const char *fmt, ...) _printf_(2, 3);

/* policy_egress.c */
/* One entry of an annotation: HOST[:PORT][/PROTO], CIDR[:PORT], [CIDR6]:PORT. */
int policy_rule_from_text(const char *text, struct arena *arena, struct policy_rule *ret,
			  const char **ret_why);
/* Whether everything that q opens is opened by the rules. */
bool policy_rules_cover(const struct policy_rule *rules, size_t n, const struct policy_rule *q);
/*
 * The scope of what q asks, which for rules of the file is their prefix: of the rules that cover a port of
 * it the longest, of its ports the shortest; so no port gets more than one rule gives it. 0 when
 * a port is not covered, and for hosts.
 */
uint8_t policy_rules_scope(const struct policy_rule *rules, size_t n, const struct policy_rule *q);
/* The strictest check among the rules that cover any of it. */
uint64_t policy_rules_verify(const struct policy_rule *rules, size_t n, const struct policy_rule *q);
/* "sni", "address"; NULL for POLICY_VERIFY_AUTO. */
const char *policy_verify_name(uint64_t verify);

/* policy_request.c: the rules of an annotation's text, or of an option's; key stands in messages. */
int policy_request_egress(const char *key, const char *text, struct arena *arena,
			  struct policy_request *req, struct error *err);

struct policy_work;
/* policy_namespaces.c: whose the i-th namespace of the specification is. */
enum policy_ns_owner policy_ns_owner_of(const struct policy_work *w, size_t i);
/* policy_sysctls.c: an entry of sysctls.set. */
bool policy_setting_valid(const char *s);

/* policy_resolve.c */
int policy_check_profiles(const struct policy *p, struct error *err);

/* One decision in progress. */
struct policy_work {
	const struct policy_profile *profile;
	const struct policy_request *req; /* NULL for exec and update */
	const struct policy_facts *facts;
	struct arena *arena; /* of the specification */
	struct policy_verdict *v;
	bool update;
	uint64_t memory; /* the limit given, or what sizes are measured by */
	bool failed;	 /* out of memory */
};

/* policy_limit.c */
struct policy_ask {
	const char *control;
	bool given;	/* false: nothing asked */
	uint64_t value; /* POLICY_UNLIMITED: without limit */
	const char *(*text)(char buf[POLICY_TEXT_MAX], uint64_t n);
};
/* What the limit gives, with the decision noted; the section's excess where the limit has none. */
uint64_t policy_limit_decide(struct policy_work *w, const struct policy_limit *limit,
			     const struct policy_value *excess, const struct policy_ask *ask);
/* The same for a maximum without default. */
uint64_t policy_max_decide(struct policy_work *w, const struct policy_value *max,
			   const struct policy_value *excess, const struct policy_ask *ask);
/* Whether the controller can be had; else the refusal or the accepted loss is noted. */
bool policy_controller_ok(struct policy_work *w, unsigned controller, const char *control);
/* Grows the list by one word. */
void policy_word_add(struct policy_work *w, struct strv *list, const char *word);
void *policy_alloc(struct policy_work *w, size_t count, size_t size);

/* The steps; refusals are in the verdict, out of memory in w->failed. */
void policy_do_process(struct policy_work *w, struct spec_process *proc,
		       const struct spec_process *base);
void policy_do_rlimits(struct policy_work *w, struct spec_process *proc,
		       const struct spec_process *base);
void policy_do_resources(struct policy_work *w, struct spec_resources *res);
void policy_do_cpu(struct policy_work *w, struct spec_resources *res);
void policy_do_extras(struct policy_work *w, struct spec_resources *res);
void policy_do_devices(struct policy_work *w, struct spec_linux *l);
void policy_do_mounts(struct policy_work *w, struct spec *spec);
void policy_do_paths(struct policy_work *w, struct spec *spec);
void policy_do_namespaces(struct policy_work *w, struct spec_linux *l);
void policy_do_sysctls(struct policy_work *w, struct spec_linux *l);
void policy_do_seccomp(struct policy_work *w, struct spec_linux *l);
void policy_do_propagation(struct policy_work *w, struct spec_linux *l);
void policy_do_devpts(struct policy_work *w, struct spec_mount *m);
void policy_do_tmpfs(struct policy_work *w, struct spec_mount *m);
void policy_do_rootfs(struct policy_work *w, struct spec *spec);
void policy_do_grants(struct policy_work *w);
