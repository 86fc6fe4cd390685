/*
 * What a limit makes of a wish: default, maximum, clamp or refuse, and whether a limit
 * can be put in force at all. One place, so that all limits behave alike.
 */
#include "policy/policy_internal.h"

void *policy_alloc(struct policy_work *w, size_t count, size_t size)
{
	void *p = arena_calloc(w->arena, count ? count : 1, size);

	if (!p)
		w->failed = true;
	return p;
}

static uint64_t excess_of(struct policy_work *w, const struct policy_value *max,
			  const struct policy_value *own, const struct policy_value *section,
			  const struct policy_ask *ask)
{
	const struct policy_value *excess = own && own->from.path ? own : section;
	char asked[POLICY_TEXT_MAX], given[POLICY_TEXT_MAX];

	ask->text(asked, ask->value);
	if (excess->n == POLICY_REFUSE) {
		policy_refuse(w->v, ask->control, max, asked, "ask for at most %s, or raise %s",
			      ask->text(given, max->n), policy_place(w->v, max));
		return max->n;
	}
	policy_note(w->v, ask->control, POLICY_CLAMPED, max, asked, ask->text(given, max->n));
	return max->n;
}

uint64_t policy_limit_decide(struct policy_work *w, const struct policy_limit *limit,
			     const struct policy_value *excess, const struct policy_ask *ask)
{
	char asked[POLICY_TEXT_MAX], given[POLICY_TEXT_MAX];
	uint64_t value = limit->def.n;

	/* "Unlimited" is not a number that somebody chose: it means the default. */
	if (!ask->given || (ask->value == POLICY_UNLIMITED && limit->max.n != POLICY_UNLIMITED)) {
		policy_note(w->v, ask->control, ask->given ? POLICY_CLAMPED : POLICY_ADDED,
			    &limit->def, ask->given ? ask->text(asked, ask->value) : "nothing",
			    ask->text(given, value));
		return value;
	}
	if (ask->value > limit->max.n)
		return excess_of(w, &limit->max, &limit->excess, excess, ask);
	ask->text(asked, ask->value);
	policy_note(w->v, ask->control, POLICY_KEPT, &limit->max, asked, asked);
	return ask->value;
}

uint64_t policy_max_decide(struct policy_work *w, const struct policy_value *max,
			   const struct policy_value *excess, const struct policy_ask *ask)
{
	if (ask->value <= max->n)
		return ask->value;
	return excess_of(w, max, NULL, excess, ask);
}

bool policy_controller_ok(struct policy_work *w, unsigned controller, const char *control)
{
	const struct policy_value *accept = &w->profile->resources.accept;

	if (w->facts->controllers & controller)
		return true;
	if (accept->n & POLICY_ACCEPT_NONE)
		policy_note(w->v, control, POLICY_DROPPED, accept, "a limit",
			    "no limit: this process has no such cgroup controller");
	else
		policy_refuse(w->v, control, accept, "a start without this limit",
			      "delegate the cgroup controller to this user, or add \"none\" to %s",
			      policy_place(w->v, accept));
	return false;
}
