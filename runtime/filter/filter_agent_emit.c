/*
 * Instructions from the end of a program to its start. Every jump's target exists when the
 * jump is written, so distances are known and one that is too far for eight bits gets a
 * stepping stone. Knows nothing of rules.
 */
#include "filter/filter_agent_private.h"

#include <assert.h>

/* Of 255, less what one jump may still put in between. */
#define REACH 250u

static struct sock_filter *at(struct agent_emit *e, size_t place)
{
	return &e->insns[BPF_MAXINSNS - place];
}

static size_t emit(struct agent_emit *e, unsigned code, uint32_t k, unsigned jt, unsigned jf)
{
	if (e->count == BPF_MAXINSNS) {
		e->full = true;
		return e->count;
	}
	e->count++;
	*at(e, e->count) = (struct sock_filter){
		.code = (uint16_t)code, .jt = (uint8_t)jt, .jf = (uint8_t)jf, .k = k
	};
	return e->count;
}

/* A place that does the same as target and can be jumped to from here. */
static size_t near(struct agent_emit *e, size_t target)
{
	assert(target > 0 && target <= e->count);

	if (e->count - target <= REACH)
		return target;
	if (at(e, target)->code == (BPF_RET | BPF_K))
		return agent_emit_ret(e, at(e, target)->k);
	return emit(e, BPF_JMP | BPF_JA, (uint32_t)(e->count - target), 0, 0);
}

size_t agent_emit_ret(struct agent_emit *e, uint32_t action)
{
	size_t i, place;

	for (i = 0; i < e->n_rets; i++)
		if (e->rets[i].action == action)
			break;
	if (i < e->n_rets && e->count - e->rets[i].place <= REACH)
		return e->rets[i].place;
	place = emit(e, BPF_RET | BPF_K, action, 0, 0);
	if (i == e->n_rets && e->n_rets < ELEMENTSOF(e->rets))
		e->n_rets++;
	if (i < e->n_rets) {
		e->rets[i].action = action;
		e->rets[i].place = place;
	}
	return place;
}

size_t agent_emit_jump(struct agent_emit *e, unsigned op, uint32_t k, size_t yes, size_t no)
{
	if (yes == no)
		return yes;
	yes = near(e, yes);
	no = near(e, no);
	return emit(e, BPF_JMP | op | BPF_K, k, (unsigned)(e->count - yes),
		    (unsigned)(e->count - no));
}

size_t agent_emit_load(struct agent_emit *e, uint32_t offset)
{
	return emit(e, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

size_t agent_emit_and(struct agent_emit *e, uint32_t mask)
{
	return emit(e, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
}

size_t agent_emit_past_load(const struct agent_emit *e, size_t place, uint32_t offset)
{
	const struct sock_filter *f = &e->insns[BPF_MAXINSNS - place];

	return f->code == (BPF_LD | BPF_W | BPF_ABS) && f->k == offset ? place - 1 : place;
}
