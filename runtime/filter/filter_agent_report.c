/*
 * The variant of a profile whose denials are told: rules marked "report" return
 * SECCOMP_RET_USER_NOTIF, and whoever listens answers with the errno of the plain variant.
 * When nobody listens any more the kernel answers ENOSYS, which is a denial, too.
 */
#include "filter/filter_agent_private.h"

#include <linux/seccomp.h>

static int rule_change(struct agent_use *u, uint32_t action, struct arena *arena, struct error *err)
{
	struct agent_rule *copy = arena_alloc(arena, sizeof(*copy));

	if (!copy)
		return error_oom(err);
	*copy = *u->rule;
	copy->action = action;
	u->rule = copy;
	return 0;
}

int agent_profile_report(struct agent_profile *p, struct arena *arena, struct error *err)
{
	struct agent_use *u;
	size_t i;
	int r;

	for (i = 0; i < FILTER_SYSCALLS && !p->silent; i++) {
		for (u = p->calls[i].uses; u; u = u->next) {
			r = u->rule->report ? rule_change(u, SECCOMP_RET_USER_NOTIF, arena, err) : 0;
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int agent_profile_yield(struct agent_profile *p, struct arena *arena, struct error *err)
{
	const uint32_t other = SECCOMP_RET_ERRNO | ENOSYS;
	struct agent_use *u;
	size_t i;
	int r;

	p->default_action = other;
	for (i = 0; i < FILTER_SYSCALLS; i++) {
		for (u = p->calls[i].uses; u; u = u->next) {
			r = rule_change(u, u->rule->report && !p->silent ? SECCOMP_RET_USER_NOTIF : other, arena, err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int agent_profile_vary(struct agent_profile *p, enum agent_variant v, struct arena *arena, struct error *err)
{
	switch (v) {
	case AGENT_REPORT:
		return agent_profile_report(p, arena, err);
	case AGENT_YIELD:
		return agent_profile_yield(p, arena, err);
	default:
		return 0;
	}
}
