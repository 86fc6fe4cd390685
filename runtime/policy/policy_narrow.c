/*
 * Owns what an `update` makes of the egress rules that a container has: fewer, never more. What
 * it has may be less than its profile says, so the profile is not asked again.
 */
#include <assert.h>

#include "policy/policy_internal.h"

bool policy_profile_opens(const struct policy_profile *profile, const struct policy_rule *q)
{
	return policy_rules_cover(profile->egress.allow.rules, profile->egress.allow.n_rules, q);
}

int policy_rule_read(const char *text, struct arena *arena, struct policy_rule *ret)
{
	const char *why;

	return policy_rule_from_text(text, arena, ret, &why);
}

int policy_narrow_egress(const struct policy_profile *profile, const struct policy_rule *now, size_t n_now,
			 const char *text, struct policy_verdict *v, struct error *err)
{
	const struct policy_value *allow = &profile->egress.allow;
	struct policy_request req = { .has_egress = false };
	const struct policy_rule **list;
	char count[POLICY_TEXT_MAX];
	size_t i;
	int r;

	assert(profile && text && v && err);

	r = policy_request_egress("--egress-allow", text, &v->arena, &req, err);
	if (r < 0)
		return r;
	list = arena_calloc(&v->arena, req.n_egress + 1, sizeof(*list));
	if (!list)
		return error_oom(err);
	for (i = 0; i < req.n_egress; i++) {
		struct policy_rule *rule = &req.egress[i];

		list[i] = rule;
		/* As strict as what covers it: see decide_egress(). */
		rule->verify = policy_rules_verify(now, n_now, rule);
		rule->scope = policy_rules_scope(now, n_now, rule);
		if (!policy_rules_cover(now, n_now, rule))
			policy_refuse(v, "egress", allow, rule->from.file,
				      "name only what the container may reach now: an update narrows");
	}
	r = policy_verdict_result(v, err);
	if (r < 0)
		return r;
	(void)snprintf(count, sizeof(count), "%zu rules", n_now);
	policy_note(v, "egress", POLICY_CLAMPED, allow, count, req.n_egress > 0 ? text : "nothing");
	v->grant.egress = list;
	v->grant.n_egress = req.n_egress;
	return 0;
}
