/*
 * Profiles for the filter tests: built by hand from tables or rule by rule, with no
 * parser in between.
 */
#pragma once

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp_profiles.h"

#define PROFILE_RULES_MAX 64

struct profile {
	struct spec_seccomp s;
	struct spec_seccomp_rule rules[PROFILE_RULES_MAX];
	char *single[PROFILE_RULES_MAX]; /* the names of rules with one */
	char *archs[32];
	char *flags[8];
};

static inline void profile_init(struct profile *p, uint64_t action, int errno_ret)
{
	memset(p, 0, sizeof(*p));
	p->s.default_action = action;
	p->s.default_errno_ret = (struct opt_u32){ errno_ret >= 0, (uint32_t)errno_ret };
	p->s.syscalls.items = p->rules;
	p->s.architectures.items = p->archs;
	p->s.flags.items = p->flags;
}

/* names must stay; its strings are only read. */
static inline struct spec_seccomp_rule *profile_rule(struct profile *p, const char *const *names,
						     size_t n_names, uint64_t action, int errno_ret)
{
	struct spec_seccomp_rule *r = &p->rules[p->s.syscalls.count++];

	assert(p->s.syscalls.count <= PROFILE_RULES_MAX);
	r->names =
		(struct strv){ .items = (char **)(uintptr_t)names, .count = n_names, .set = true };
	r->action = action;
	r->errno_ret = (struct opt_u32){ errno_ret >= 0, (uint32_t)errno_ret };
	return r;
}

static inline void profile_args(struct spec_seccomp_rule *r, const struct spec_seccomp_arg *args,
				size_t n)
{
	r->args.items = (struct spec_seccomp_arg *)(uintptr_t)args;
	r->args.count = n;
}

static inline void profile_arch(struct profile *p, const char *name)
{
	p->archs[p->s.architectures.count++] = (char *)(uintptr_t)name;
	p->s.architectures.set = true;
}

static inline void profile_flag(struct profile *p, const char *name)
{
	p->s.flags.set = true;
	if (name)
		p->flags[p->s.flags.count++] = (char *)(uintptr_t)name;
}

static inline void profile_from_raw(struct profile *p, const struct raw_profile *raw)
{
	size_t i;

	profile_init(p, raw->default_action, raw->default_errno);
	profile_arch(p, "SCMP_ARCH_X86_64");
	profile_arch(p, "SCMP_ARCH_X86");
	profile_arch(p, "SCMP_ARCH_X32");
	for (i = 0; i < raw->n_rules; i++) {
		const struct raw_rule *r = &raw->rules[i];

		profile_args(profile_rule(p, r->names, r->n_names, r->action, r->errno_ret),
			     r->args, r->n_args);
	}
}

/* One call, one action. */
static inline struct spec_seccomp_rule *profile_call(struct profile *p, const char *name,
						     uint64_t action, int errno_ret)
{
	char **slot = &p->single[p->s.syscalls.count];

	*slot = (char *)(uintptr_t)name;
	return profile_rule(p, (const char *const *)slot, 1, action, errno_ret);
}
