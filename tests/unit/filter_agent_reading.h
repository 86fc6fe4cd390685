/*
 * The direct reading of an agent profile: rule by rule in order, arguments cut to what the
 * kernel takes, no BPF. And a source of calls, random ones and those at the edges of what the
 * profile's rules name.
 */
#pragma once

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

#include "filter/filter_agent_private.h"

static inline bool agent_reading_holds(const struct agent_cond *c, char width, uint64_t v)
{
	bool holds = false;
	size_t i;

	/* As the kernel casts it. */
	uint64_t cut = width == 's' ? (uint16_t)v : width == 'i' ? (uint32_t)v : v;

	for (i = 0; i < c->count; i++) {
		uint64_t want = width == 's'   ? (uint16_t)c->values[i]
				: width == 'i' ? (uint32_t)c->values[i]
					       : c->values[i];

		if (c->test == AGENT_ONE_OF)
			holds |= (cut & c->mask) == want;
		else if (c->test == AGENT_AT_LEAST)
			holds |= cut >= want;
		else
			holds |= cut > want;
	}
	return holds != c->negate;
}

static inline uint32_t agent_reading(const struct agent_profile *p, const struct seccomp_data *d)
{
	const struct filter_syscall *s;
	const struct agent_use *u;
	bool lets = p->default_action == SECCOMP_RET_ALLOW || p->default_action == SECCOMP_RET_LOG;
	size_t i;

	if (d->arch != p->arch)
		return SECCOMP_RET_KILL_PROCESS;
	if (d->nr == -1)
		return SECCOMP_RET_ALLOW;
	s = filter_syscall_by_nr(p->arch, d->nr);
	if (!s)
		return SECCOMP_RET_ERRNO | ENOSYS;
	for (u = p->calls[s - filter_syscalls].uses; u; u = u->next) {
		bool all = true;

		for (i = 0; i < u->rule->count; i++)
			all &= agent_reading_holds(&u->rule->conds[i],
						   s->args[u->rule->conds[i].index],
						   d->args[u->rule->conds[i].index]);
		if (all)
			return u->rule->action;
	}
	return d->nr > p->last && !lets ? SECCOMP_RET_ERRNO | ENOSYS : p->default_action;
}

/* xorshift64*, so that a failure can be repeated. */
static inline uint64_t agent_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* A value near one that some rule of the profile compares that argument with, or any value. */
static inline uint64_t agent_random_arg(const struct agent_profile *p,
					const struct filter_syscall *s, uint32_t index,
					uint64_t *state)
{
	static const uint64_t edges[] = { 0,	      1,	   0x7fffffff,	       0x80000000,
					  UINT32_MAX, 0x100000000, 0x7fffffffffffffff, UINT64_MAX };
	const struct agent_use *u = s ? p->calls[s - filter_syscalls].uses : NULL;
	uint64_t pick = agent_random(state), v = edges[pick % 8];
	size_t i;

	if (pick % 16 == 15)
		return agent_random(state);
	for (; u; u = u->next) {
		for (i = 0; i < u->rule->count; i++) {
			const struct agent_cond *c = &u->rule->conds[i];

			if (c->index == index && agent_random(state) % 4)
				v = c->values[agent_random(state) % c->count];
		}
	}
	pick >>= 8;
	if (pick % 8 == 0)
		v += agent_random(state) % 3 - 1;
	else if (pick % 8 == 1)
		v ^= 1ull << (agent_random(state) % 64);
	/* The high word set, which the kernel does not look at in a narrow argument. */
	if (pick % 32 >= 24)
		v |= agent_random(state) << 32;
	return v;
}

static inline void agent_random_call(const struct agent_profile *p, struct seccomp_data *d,
				     uint64_t *state)
{
	static const int odd[] = { -1,	       -2,	  0x40000000, 0x40000000 | 59,
				   0x7fffffff, INT32_MIN, 470,	      511,
				   512,	       337,	  423,	      (int)0xc0000001 };
	const struct filter_syscall *s = NULL;
	uint64_t pick = agent_random(state);
	uint32_t i;

	memset(d, 0, sizeof(*d));
	d->arch = pick % 64 ? p->arch : pick % 128 ? AUDIT_ARCH_I386 : (uint32_t)(pick >> 32);
	pick >>= 16;
	if (pick % 16 == 0)
		d->nr = odd[(pick >> 8) % (sizeof(odd) / sizeof(odd[0]))];
	else if (pick % 16 == 1)
		d->nr = (int)(pick >> 20);
	else if (pick % 2)
		d->nr = (int)((pick >> 8) % 480);
	else {
		/* The calls with conditions are few: most tuples go there. */
		for (i = 0; i < 64 && !s; i++) {
			const struct filter_syscall *t =
				&filter_syscalls[agent_random(state) % FILTER_SYSCALLS];
			const struct agent_use *u = p->calls[t - filter_syscalls].uses;

			if (u && (u->next || u->rule->count))
				s = t;
		}
		d->nr = s ? filter_syscall_nr(s, p->arch) : (int)((pick >> 8) % 480);
	}
	s = filter_syscall_by_nr(p->arch, d->nr);
	for (i = 0; i < FILTER_SYSCALL_ARGS; i++)
		d->args[i] = agent_random_arg(p, s, i, state);
}
