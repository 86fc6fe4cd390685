/*
 * Memory, swap and processes: what the specification's resources become. Never without a
 * limit; a lower one of the specification stays. An update leaves what it does not name.
 */
#include <inttypes.h>

#include "policy/policy_internal.h"

/* Engines write 0 for "not set" and -1 for "no limit". */
static bool asked_i64(const struct opt_i64 *v)
{
	return v->set && v->value != 0;
}

static uint64_t value_of(const struct opt_i64 *v)
{
	return v->value < 0 ? POLICY_UNLIMITED : (uint64_t)v->value;
}

/* The lower of the specification's wish and the annotation's. */
static struct policy_ask memory_ask(const struct policy_work *w, const struct spec_memory *m)
{
	struct policy_ask ask = { .control = "memory", .text = policy_bytes_text };
	const struct opt_u64 *req = w->req ? &w->req->memory : NULL;

	if (m && asked_i64(&m->limit)) {
		ask.given = true;
		ask.value = value_of(&m->limit);
	}
	if (req && req->set && (!ask.given || req->value < ask.value)) {
		ask.given = true;
		ask.value = req->value;
	}
	return ask;
}

/* Swap beyond memory; the specification counts both together. */
static struct policy_ask swap_ask(const struct spec_memory *m, uint64_t memory_asked)
{
	struct policy_ask ask = { .control = "swap", .text = policy_bytes_text };

	if (!m || !asked_i64(&m->swap))
		return ask;
	ask.given = true;
	if (m->swap.value < 0)
		ask.value = POLICY_UNLIMITED;
	else if (memory_asked != POLICY_UNLIMITED && (uint64_t)m->swap.value > memory_asked)
		ask.value = (uint64_t)m->swap.value - memory_asked;
	return ask;
}

static void set_i64(struct opt_i64 *v, uint64_t n)
{
	v->set = true;
	v->value = n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void decide_swap(struct policy_work *w, struct spec_memory *m, uint64_t asked_memory,
			uint64_t memory)
{
	const struct policy_limit *limit = &w->profile->resources.swap;
	const struct policy_ask ask = swap_ask(m, asked_memory);
	uint64_t swap, sum;

	if (!w->facts->swap_limit) {
		m->swap = (struct opt_i64){ .set = false };
		/* Nothing to limit, or nothing that could. */
		if (!w->facts->host_swap)
			policy_note(w->v, "swap", POLICY_KEPT, &limit->max, "no swap",
				    "no swap: the host has none");
		else if (w->profile->resources.accept.n & POLICY_ACCEPT_NONE)
			policy_note(w->v, "swap", POLICY_DROPPED, &w->profile->resources.accept,
				    "a limit", "no limit: this kernel does not account swap");
		else
			policy_refuse(
				w->v, "swap", &limit->max, "a start without a limit of swap",
				"boot with swapaccount=1, switch swap off, or add \"none\" to %s",
				policy_place(w->v, &w->profile->resources.accept));
		return;
	}
	swap = policy_limit_decide(w, limit, &w->profile->resources.excess, &ask);
	if (__builtin_add_overflow(memory, swap, &sum))
		sum = POLICY_UNLIMITED;
	set_i64(&m->swap, sum);
}

/* Wishes that would defeat the limit. */
static void decide_oom_killer(struct policy_work *w, struct spec_memory *m)
{
	if (!m->disable_oom_killer.set || !m->disable_oom_killer.value)
		return;
	m->disable_oom_killer.value = false;
	policy_note(w->v, "memory", POLICY_DROPPED, &w->profile->resources.memory.max,
		    "no OOM killer", "the OOM killer");
}

static struct spec_memory *need_memory(struct policy_work *w, struct spec_resources *res)
{
	if (!res->memory)
		res->memory = policy_alloc(w, 1, sizeof(*res->memory));
	return res->memory;
}

static void drop_memory(struct spec_memory *m)
{
	if (!m)
		return;
	m->limit.set = false;
	m->swap.set = false;
	m->reservation.set = false;
}

static void decide_memory(struct policy_work *w, struct spec_resources *res)
{
	const struct policy_limit *limit = &w->profile->resources.memory;
	struct policy_ask ask = memory_ask(w, res->memory);
	struct spec_memory *m = res->memory;

	w->memory = limit->def.n;
	if (m)
		decide_oom_killer(w, m);
	if (!policy_controller_ok(w, POLICY_CG_MEMORY, "memory")) {
		drop_memory(m);
		return;
	}
	if (w->update && !ask.given) {
		w->memory = w->facts->memory_limit;
		/* A swap limit alone: it counts together with the memory in force. */
		if (m && asked_i64(&m->swap)) {
			if (w->memory)
				decide_swap(w, m, w->memory, w->memory);
			else
				m->swap.set = false;
		}
		return;
	}
	m = need_memory(w, res);
	if (!m)
		return;
	w->memory = policy_limit_decide(w, limit, &w->profile->resources.excess, &ask);
	decide_swap(w, m, ask.given && asked_i64(&m->limit) ? value_of(&m->limit) : w->memory,
		    w->memory);
	set_i64(&m->limit, w->memory);
	if (m->reservation.set &&
	    (m->reservation.value < 0 || (uint64_t)m->reservation.value > w->memory))
		set_i64(&m->reservation, w->memory);
	w->v->grant.memory = w->memory;
}

static void decide_pids(struct policy_work *w, struct spec_resources *res)
{
	const struct opt_i64 *pids = &res->pids_limit;
	/* Here 0 is a limit, as in the kernel; but an update sends it for "leave". */
	const struct policy_ask ask = {
		.control = "pids",
		.given = pids->set && (pids->value != 0 || !w->update),
		.value = value_of(pids),
		.text = policy_count_text,
	};

	if (w->update && !ask.given)
		return;
	if (!policy_controller_ok(w, POLICY_CG_PIDS, "pids")) {
		res->pids_limit.set = false;
		return;
	}
	set_i64(&res->pids_limit, policy_limit_decide(w, &w->profile->resources.pids,
						      &w->profile->resources.excess, &ask));
}

void policy_do_resources(struct policy_work *w, struct spec_resources *res)
{
	decide_memory(w, res);
	policy_do_cpu(w, res);
	decide_pids(w, res);
	policy_do_extras(w, res);
}
