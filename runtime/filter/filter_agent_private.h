/*
 * A profile between its reader and its compiler: rules per call, includes resolved, names
 * turned into numbers, checked for contradictions.
 */
#pragma once

#include "filter/filter_agent.h"
#include "filter/filter_syscalls.h"
#include "util/arena.h"
#include "util/json_dispatch.h"

/* Each condition is "one of", "at least" or "more than", or the opposite. */
enum agent_test { AGENT_ONE_OF, AGENT_AT_LEAST, AGENT_MORE_THAN };

struct agent_cond {
	uint32_t index;
	enum agent_test test;
	bool negate;
	uint64_t mask; /* AGENT_ONE_OF looks at these bits only */
	const uint64_t *values; /* the other tests have one */
	size_t count;
};

struct agent_rule {
	uint32_t action; /* SECCOMP_RET_* with its value */
	const struct agent_cond *conds; /* all must hold; none = always */
	size_t count;
	size_t place; /* syscalls[place] of its file */
	const char *file, *comment; /* comment may be NULL */
	bool report; /* worth telling the operator of */
};

struct agent_use {
	const struct agent_rule *rule;
	struct agent_use *next;
};

/* The rules of one call: the first whose conditions hold decides, else the default. */
struct agent_call {
	struct agent_use *uses;
	unsigned level; /* of the file that the rules come from, 1 = the outermost base */
};

struct agent_profile {
	uint32_t arch;
	uint32_t default_action;
	unsigned flags;
	bool silent; /* "silent": rules with "report" do not count */
	int last; /* largest number that a rule names, -1 = none */
	struct agent_call calls[FILTER_SYSCALLS]; /* by place in filter_syscalls */
};

struct agent_source {
	const char *name;
	const char *text;
	size_t len;
};

/* Finds the profile that an "extends" names; 0 or -ENOENT. */
typedef int (*agent_find_fn)(const char *name, struct agent_source *ret);

/* filter_agent_parse.c: the document as written. */
struct agent_words {
	uint64_t *items;
	size_t count;
	bool set;
};

struct agent_doc_arg {
	uint32_t index;
	uint64_t op; /* enum spec_seccomp_op */
	struct opt_u64 value, value_two;
	struct agent_words values;
};

struct agent_doc_when {
	struct strv caps, arches;
	char *min_kernel;
};

struct agent_doc_rule {
	char *name; /* Docker's old spelling of names */
	struct strv names;
	uint64_t action; /* enum spec_seccomp_action */
	struct opt_u32 errno_ret;
	char *errno_name;
	struct json_list args; /* struct agent_doc_arg */
	struct agent_doc_when includes, excludes;
	bool report;
	char *comment;
};

enum agent_match { AGENT_MATCH_STRICTEST, AGENT_MATCH_FIRST };

struct agent_doc {
	char *extends;
	uint64_t match; /* enum agent_match */
	uint64_t default_action; /* AGENT_UNSET when not given */
	struct opt_u32 default_errno_ret;
	char *default_errno;
	struct strv flags;
	bool silent;
	struct json_list rules; /* struct agent_doc_rule */
};

#define AGENT_UNSET UINT64_MAX

int agent_doc_parse(const struct agent_source *src, struct arena *arena, struct agent_doc *ret,
		    struct error *err);

/* filter_agent_words.c: names of kernel constants. */
/* "AF_UNIX", "0x5412", "17", or several joined with "|"; 0 or -EINVAL. */
int agent_word_value(const char *text, uint64_t *ret);
/* "ENOSYS"; 0 or -EINVAL. */
int agent_errno_value(const char *name, uint32_t *ret);

/* filter_agent_conds.c */
/* What a rule or a default returns to the kernel; NULL, or what is wrong. */
const char *agent_action_value(uint64_t action, const struct opt_u32 *number, const char *word, uint32_t *ret);
/* Conditions of one rule, checked but for the width of the arguments. */
int agent_conds_make(const struct agent_doc_rule *r, struct arena *arena, struct agent_rule *ret,
		     char *why, size_t why_size);
/* Whether the conditions can be asked of that call: the argument exists, the values fit. */
bool agent_conds_fit(const struct agent_rule *r, const struct filter_syscall *s, char *why,
		     size_t why_size);
/* filter_agent_read.c: the profile lives in the arena. find may be NULL: then nothing can be extended. */
int agent_profile_read(const struct agent_source *src, agent_find_fn find, uint32_t arch,
		       struct arena *arena, struct agent_profile **ret, struct error *err);

/* filter_listener.c: notes whether the program asks, and with which flags it is loaded then. */
void filter_agent_listen(struct filter *f);
/* filter_agent_report.c: rules that are reported ask the listener instead of giving their errno. */
int agent_profile_report(struct agent_profile *p, struct arena *arena, struct error *err);
/* The profile becomes: SECCOMP_RET_USER_NOTIF where it would report, some errno everywhere else. */
int agent_profile_yield(struct agent_profile *p, struct arena *arena, struct error *err);
/* filter_agent_yield.c: FILTER_E_FULL when both do not fit into one program. */
int agent_yield_append(struct filter *spec, const struct filter *yield, struct error *err);

enum agent_variant { AGENT_PLAIN, AGENT_REPORT, AGENT_YIELD };
int agent_profile_vary(struct agent_profile *p, enum agent_variant v, struct arena *arena, struct error *err);

/* filter_agent_compile.c */
int agent_profile_compile(const struct agent_profile *p, const char *name, struct filter *ret,
			  struct error *err);

/* filter_agent_emit.c: a program written from its end to its start, so that targets exist. */
struct agent_emit {
	struct sock_filter insns[BPF_MAXINSNS];
	size_t count;
	bool full; /* did not fit: the content is incomplete */
	struct { uint32_t action; size_t place; } rets[16];
	size_t n_rets;
};

/* A place is the number of instructions from there to the end; 0 is none. */
size_t agent_emit_ret(struct agent_emit *e, uint32_t action);
/* if (A op k) goto yes; else goto no. op: BPF_JEQ, BPF_JGE, BPF_JGT. */
size_t agent_emit_jump(struct agent_emit *e, unsigned op, uint32_t k, size_t yes, size_t no);
size_t agent_emit_load(struct agent_emit *e, uint32_t offset);
size_t agent_emit_and(struct agent_emit *e, uint32_t mask);
/* The place behind a load of offset at place, for a caller that has just that in A. */
size_t agent_emit_past_load(const struct agent_emit *e, size_t place, uint32_t offset);
