/*
 * The direct reading of a profile: what it says about one call, rule by rule, without
 * libseccomp's rule engine or BPF. Only call names and numbers are the library's.
 */
#pragma once

#include <linux/audit.h>
#include <seccomp.h>

#include "filter_profile.h"

#define READING_NAMES 1024

/* One call table with the names by number. */
struct reading_table {
	uint32_t token;
	uint32_t base; /* added to the numbers */
	bool wide;     /* arguments are compared in 64 bits */
	uint32_t last; /* largest number that the profile names */
	char *names[READING_NAMES];
};

static inline void reading_table_init(struct reading_table *t, const struct spec_seccomp *s,
				      uint32_t token, uint32_t base, bool wide)
{
	size_t i, j;
	unsigned n;
	int nr;

	memset(t, 0, sizeof(*t));
	t->token = token;
	t->base = base;
	t->wide = wide;
	for (n = 0; n < READING_NAMES; n++)
		t->names[n] = seccomp_syscall_resolve_num_arch(token, (int)(base + n));
	for (i = 0; i < s->syscalls.count; i++) {
		for (j = 0; j < s->syscalls.items[i].names.count; j++) {
			nr = seccomp_syscall_resolve_name_arch(token,
							       s->syscalls.items[i].names.items[j]);
			if (nr >= 0 && (uint32_t)nr > t->last)
				t->last = (uint32_t)nr;
		}
	}
}

static inline void reading_table_done(struct reading_table *t)
{
	unsigned n;

	for (n = 0; n < READING_NAMES; n++)
		free(t->names[n]);
}

static inline uint32_t reading_action(uint64_t action, struct opt_u32 e)
{
	uint32_t value = e.set ? e.value : 1;

	switch (action) {
	case SPEC_SECCOMP_KILL_THREAD:
		return 0x00000000;
	case SPEC_SECCOMP_KILL_PROCESS:
		return 0x80000000;
	case SPEC_SECCOMP_TRAP:
		return 0x00030000;
	case SPEC_SECCOMP_ERRNO:
		return 0x00050000 | value;
	case SPEC_SECCOMP_TRACE:
		return 0x7ff00000 | value;
	case SPEC_SECCOMP_LOG:
		return 0x7ffc0000;
	case SPEC_SECCOMP_NOTIFY:
		return 0x7fc00000;
	default:
		return 0x7fff0000;
	}
}

static inline bool reading_arg_holds(const struct spec_seccomp_arg *a, uint64_t v, bool wide)
{
	uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
	uint64_t want = a->value & mask;

	v &= mask;
	switch (a->op) {
	case SPEC_SECCOMP_NE:
		return v != want;
	case SPEC_SECCOMP_LT:
		return v < want;
	case SPEC_SECCOMP_LE:
		return v <= want;
	case SPEC_SECCOMP_EQ:
		return v == want;
	case SPEC_SECCOMP_GE:
		return v >= want;
	case SPEC_SECCOMP_GT:
		return v > want;
	default:
		return (v & want) == (a->value_two & mask);
	}
}

static inline bool reading_args_hold(const struct spec_seccomp_args *args, const __u64 *v,
				     bool wide)
{
	bool twice = false, any = false, all = true;
	unsigned seen = 0;
	size_t i;

	for (i = 0; i < args->count; i++) {
		bool holds = reading_arg_holds(&args->items[i], v[args->items[i].index], wide);

		twice |= (seen & 1u << args->items[i].index) != 0;
		seen |= 1u << args->items[i].index;
		any |= holds;
		all &= holds;
	}
	return twice ? any : all;
}

/*
 * An unconditional rule decides alone, the first of them; otherwise any rule whose
 * conditions hold (the profiles here have no two that disagree).
 */
static inline uint32_t reading_verdict(const struct spec_seccomp *s, const struct reading_table *t,
				       const struct seccomp_data *d)
{
	uint32_t def = reading_action(s->default_action, s->default_errno_ret);
	uint32_t nr = (uint32_t)d->nr - t->base, verdict = def, act;
	const char *name = nr < READING_NAMES ? t->names[nr] : NULL;
	bool permissive = def == 0x7fff0000 || def == 0x7ffc0000 || (def >> 16) == 0x7ff0;
	size_t i, j;

	if (!permissive && (uint32_t)d->nr > t->last)
		return 0x00050000 | ENOSYS;
	for (i = 0; name && i < s->syscalls.count; i++) {
		const struct spec_seccomp_rule *r = &s->syscalls.items[i];

		act = reading_action(r->action, r->errno_ret);
		for (j = 0; j < r->names.count; j++) {
			if (act == def || strcmp(r->names.items[j], name) != 0)
				continue;
			if (r->args.count == 0)
				return act;
			if (verdict == def && reading_args_hold(&r->args, d->args, t->wide))
				verdict = act;
		}
	}
	/* An unconditional rule further down was returned above, whatever a conditional one said.
	 */
	return verdict;
}
