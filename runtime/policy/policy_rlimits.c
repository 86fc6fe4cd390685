/*
 * Resource limits of a process: capped where the policy names a maximum, and set where
 * the configuration leaves them to what the engine happens to have.
 */
#include <inttypes.h>
#include <sys/resource.h>

#include "policy/policy_internal.h"

static const char *name_of(uint64_t type)
{
	const char *name = enum_to_name(&spec_rlimit_table, type);

	return name ? name : "rlimit";
}

static void pair_text(char buf[POLICY_TEXT_MAX * 2], uint64_t soft, uint64_t hard)
{
	char s[POLICY_TEXT_MAX], h[POLICY_TEXT_MAX];

	(void)snprintf(buf, POLICY_TEXT_MAX * 2, "%s:%s", policy_count_text(s, soft),
		       policy_count_text(h, hard));
}

static void cap(struct policy_work *w, struct spec_rlimit *r)
{
	const struct policy_value *max;
	char control[POLICY_TEXT_MAX], *name, asked[POLICY_TEXT_MAX * 2],
		given[POLICY_TEXT_MAX * 2], most[POLICY_TEXT_MAX];

	if (r->type >= POLICY_RLIMITS)
		return;
	max = &w->profile->rlimits.max[r->type];
	if (!max->from.path || (r->hard <= max->n && r->soft <= max->n))
		return;
	(void)snprintf(control, sizeof(control), "rlimit %s", name_of(r->type));
	name = arena_strdup(&w->v->arena, control);
	if (!name) {
		w->failed = true;
		return;
	}
	pair_text(asked, r->soft, r->hard);
	if (w->profile->rlimits.excess.n == POLICY_REFUSE) {
		policy_refuse(w->v, name, max, asked, "ask for at most %s, or raise %s",
			      policy_count_text(most, max->n), policy_place(w->v, max));
		return;
	}
	r->soft = MIN(r->soft, max->n);
	r->hard = MIN(r->hard, max->n);
	pair_text(given, r->soft, r->hard);
	policy_note(w->v, name, POLICY_CLAMPED, max, asked, given);
}

static bool has(const struct spec_rlimits *list, uint64_t type)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i].type == type)
			return true;
	return false;
}

/* What would be inherited, under the cap. False: nothing to set. */
static bool inherited(struct policy_work *w, uint64_t type, struct spec_rlimit *ret)
{
	const struct policy_value *max = &w->profile->rlimits.max[type];
	struct spec_rlimit r = { .type = type, .soft = max->n, .hard = max->n };
	char given[POLICY_TEXT_MAX * 2], *name;

	if (!max->from.path || max->n == POLICY_UNLIMITED)
		return false;
	/* Raising would need a capability, and changes programs that close all descriptors. */
	if (w->facts->rlimits) {
		r.soft = MIN(w->facts->rlimits[type].soft, max->n);
		r.hard = MIN(w->facts->rlimits[type].hard, max->n);
	}
	pair_text(given, r.soft, r.hard);
	name = arena_printf(&w->v->arena, "rlimit %s", name_of(type));
	if (!name) {
		w->failed = true;
		return false;
	}
	policy_note(w->v, name, POLICY_ADDED, max, "nothing", given);
	*ret = r;
	return true;
}

void policy_do_rlimits(struct policy_work *w, struct spec_process *proc,
		       const struct spec_process *base)
{
	struct spec_rlimit *items;
	size_t n = proc->rlimits.count, i;
	uint64_t type;

	/* An exec without its own gets the container's. */
	if (n == 0 && base)
		return;
	items = policy_alloc(w, n + POLICY_RLIMITS, sizeof(*items));
	if (!items)
		return;
	for (i = 0; i < n; i++) {
		items[i] = proc->rlimits.items[i];
		cap(w, &items[i]);
	}
	for (type = 0; type < POLICY_RLIMITS; type++)
		if (!has(&proc->rlimits, type) && inherited(w, type, &items[n]))
			n++;
	proc->rlimits.items = items;
	proc->rlimits.count = n;
}
