/*
 * What a process may be: capabilities, no_new_privs, scheduling, OOM score. The same for
 * the first process and for each exec.
 */
#include <inttypes.h>
#include <linux/ioprio.h>
#include <sched.h>

#include "policy/policy_internal.h"

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

static void caps_text(struct buf *b, uint64_t mask)
{
	unsigned bit;

	if (!mask)
		policy_list_add(b, "none");
	for (bit = 0; bit < 64; bit++) {
		const char *name =
			mask & (1ull << bit) ? enum_to_name(&spec_capability_table, bit) : NULL;

		/* Unknown bits cannot come out of the reader. */
		if (name)
			policy_list_add(b, "%s", name);
	}
}

static void note_caps(struct policy_work *w, const struct policy_value *rule, uint64_t asked,
		      uint64_t given, bool changed)
{
	_cleanup_buf_ struct buf a = BUF_NULL, g = BUF_NULL;

	caps_text(&a, asked);
	caps_text(&g, given);
	if (!buf_ok(&a) || !buf_ok(&g)) {
		w->failed = true;
		return;
	}
	policy_note(w->v, "capabilities", changed ? POLICY_CLAMPED : POLICY_KEPT, rule, a.data,
		    g.data);
}

/* None of the sets may hold more; inheritable and ambient would survive a change of user. */
static void decide_caps(struct policy_work *w, struct spec_process *proc,
			const struct spec_process *base)
{
	const struct policy_value *max = proc->user.uid == 0 ? &w->profile->capabilities.root
							     : &w->profile->capabilities.user;
	const struct spec_capabilities *from = proc->capabilities;
	struct spec_capabilities *to;
	uint64_t asked = 0, given;
	bool changed;

	if (!from && base)
		from = base->capabilities;
	to = policy_alloc(w, 1, sizeof(*to));
	if (!to)
		return;
	if (from) {
		asked = from->bounding | from->effective | from->permitted | from->inheritable |
			from->ambient;
		to->bounding = from->bounding & max->n;
		to->permitted = from->permitted & max->n;
		to->effective = from->effective & max->n;
		changed = to->bounding != from->bounding || to->permitted != from->permitted ||
			  to->effective != from->effective || from->inheritable || from->ambient;
	} else {
		changed = false;
	}
	given = to->bounding | to->permitted | to->effective;
	proc->capabilities = to;
	note_caps(w, max, asked, given, changed);
}

static void decide_no_new_privs(struct policy_work *w, struct spec_process *proc)
{
	if (!w->profile->no_new_privileges.n)
		return;
	policy_note(w->v, "no_new_privs", proc->no_new_privileges ? POLICY_KEPT : POLICY_ADDED,
		    &w->profile->no_new_privileges, proc->no_new_privileges ? "set" : "not set",
		    "set");
	proc->no_new_privileges = true;
}

/*
 * A process of a container dies before those of the host. Not named in the configuration
 * means inherited, from an engine that may have protected itself.
 */
static void decide_oom_score(struct policy_work *w, struct spec_process *proc,
			     const struct spec_process *base)
{
	int64_t least = w->facts->oom_score_adj > 0 ? w->facts->oom_score_adj : 0;
	char asked[24], given[24];
	bool named = proc->oom_score_adj.set;

	if (!named && base && base->oom_score_adj.set)
		return;
	if (named ? proc->oom_score_adj.value >= least : w->facts->oom_score_adj >= 0)
		return;
	(void)snprintf(asked, sizeof(asked), "%" PRId64,
		       named ? proc->oom_score_adj.value : w->facts->oom_score_adj);
	(void)snprintf(given, sizeof(given), "%" PRId64, least);
	proc->oom_score_adj.set = true;
	proc->oom_score_adj.value = least;
	policy_note(w->v, "oom_score_adj", named ? POLICY_CLAMPED : POLICY_ADDED, NULL, asked,
		    given);
}

static void decide_scheduler(struct policy_work *w, struct spec_process *proc)
{
	const struct policy_value *rule = &w->profile->resources.realtime;
	struct spec_scheduler *s = proc->scheduler;
	char asked[48];

	if (rule->n)
		return;
	if (s &&
	    (s->policy == SCHED_FIFO || s->policy == SCHED_RR || s->policy == SCHED_DEADLINE)) {
		policy_note(w->v, "realtime", POLICY_DROPPED, rule,
			    enum_to_name(&spec_scheduler_policy_table, s->policy), "SCHED_OTHER");
		proc->scheduler = NULL;
	} else if (s && s->nice < 0) {
		(void)snprintf(asked, sizeof(asked), "nice %" PRId32, s->nice);
		policy_note(w->v, "realtime", POLICY_CLAMPED, rule, asked, "nice 0");
		s->nice = 0;
	}
	if (proc->io_priority && proc->io_priority->class_ == IOPRIO_CLASS_RT) {
		policy_note(w->v, "realtime", POLICY_DROPPED, rule, "IOPRIO_CLASS_RT",
			    "the usual I/O priority");
		proc->io_priority = NULL;
	}
}

void policy_do_process(struct policy_work *w, struct spec_process *proc,
		       const struct spec_process *base)
{
	decide_caps(w, proc, base);
	decide_no_new_privs(w, proc);
	decide_scheduler(w, proc);
	decide_oom_score(w, proc, base);
	policy_do_rlimits(w, proc, base);
}
