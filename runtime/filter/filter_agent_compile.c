/*
 * Rules per call into BPF: the architecture first, then a binary search over the number; calls
 * with conditions end in a piece of code of their own. A call that is decided by its number
 * touches no argument, so that the kernel (5.11) answers it from a bitmap without running the
 * program at all. Arguments that the kernel cuts to 32 bits are compared in their low word,
 * or a set bit above would slip past every rule.
 */
#include "filter/filter_agent_private.h"

#include <assert.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>

#include "util/str.h"

#define NUMBERS_MAX 512

/* Consecutive numbers with one verdict, or a call with conditions. */
struct range {
	uint32_t first;
	uint32_t action;
	size_t place;		      /* of the code; 0 = only the action */
	const struct agent_use *uses; /* to become code */
	const struct filter_syscall *call;
};

struct compiler {
	const struct agent_profile *profile;
	struct agent_emit emit;
	struct range ranges[NUMBERS_MAX];
	size_t count;
	uint32_t end; /* first number after the table */
};

/*
 * The calls with conditions that programs make most: asked before the search. All other
 * frequent ones are in the kernel's bitmap.
 */
static const char *const hot_calls[] = { "ioctl", "sendto", "sendmsg" };

static uint32_t low(uint64_t v)
{
	return (uint32_t)v;
}

static uint32_t high(uint64_t v)
{
	return (uint32_t)(v >> 32);
}

/* Both machines are little-endian. */
static uint32_t low_offset(uint32_t index)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
}

static uint32_t high_offset(uint32_t index)
{
	return low_offset(index) + (uint32_t)sizeof(uint32_t);
}

/* A = word & mask, then on to the last instruction written. */
static size_t word_load(struct agent_emit *e, uint32_t offset, uint32_t mask)
{
	if (mask != UINT32_MAX)
		(void)agent_emit_and(e, mask);
	return agent_emit_load(e, offset);
}

/* One word is one of the values. */
static size_t one_of_word(struct agent_emit *e, const struct agent_cond *c, uint32_t mask,
			  size_t yes, size_t no)
{
	uint32_t offset = low_offset(c->index);
	size_t past, i;

	if (yes == no)
		return yes;
	/* The next rule mostly asks for the same argument, which A still holds. */
	past = agent_emit_past_load(e, no, offset);
	if (mask == UINT32_MAX && past != yes)
		no = past;
	for (i = c->count; i-- > 0;)
		no = agent_emit_jump(e, BPF_JEQ, low(c->values[i]) & mask, yes, no);
	return word_load(e, offset, mask);
}

static size_t one_of_two_words(struct agent_emit *e, const struct agent_cond *c, uint64_t mask,
			       size_t yes, size_t no)
{
	size_t i, then;

	if (yes == no)
		return yes;
	for (i = c->count; i-- > 0;) {
		uint64_t v = c->values[i] & mask;

		then = yes;
		if (low(mask) != 0) {
			(void)agent_emit_jump(e, BPF_JEQ, low(v), yes, no);
			then = word_load(e, low_offset(c->index), low(mask));
		}
		(void)agent_emit_jump(e, BPF_JEQ, high(v), then, no);
		no = word_load(e, high_offset(c->index), high(mask));
	}
	return no;
}

static size_t order(struct agent_emit *e, const struct agent_cond *c, uint64_t mask, size_t yes,
		    size_t no)
{
	unsigned op = c->test == AGENT_AT_LEAST ? BPF_JGE : BPF_JGT;
	uint64_t v = c->values[0] & mask;
	size_t words;

	if (yes == no)
		return yes;
	(void)agent_emit_jump(e, op, low(v), yes, no);
	words = word_load(e, low_offset(c->index), low(mask));
	if (high(mask) == 0)
		return words;
	words = agent_emit_jump(e, BPF_JEQ, high(v), words, no);
	(void)agent_emit_jump(e, BPF_JGT, high(v), yes, words);
	return word_load(e, high_offset(c->index), UINT32_MAX);
}

static size_t condition(struct agent_emit *e, const struct filter_syscall *call,
			const struct agent_cond *c, size_t yes, size_t no)
{
	uint64_t width = filter_syscall_arg_mask(call, c->index);
	uint64_t mask = c->mask & width;

	if (c->negate) {
		size_t swap = yes;

		yes = no;
		no = swap;
	}
	if (c->test != AGENT_ONE_OF)
		return order(e, c, width, yes, no);
	return high(mask) == 0 ? one_of_word(e, c, low(mask), yes, no)
			       : one_of_two_words(e, c, mask, yes, no);
}

static size_t uses_emit(struct agent_emit *e, const struct filter_syscall *call,
			const struct agent_use *u, uint32_t otherwise)
{
	size_t next, place, i;

	if (!u)
		return agent_emit_ret(e, otherwise);
	/* A rule without conditions ends the list. */
	next = u->rule->count ? uses_emit(e, call, u->next, otherwise) : 0;
	place = agent_emit_ret(e, u->rule->action);
	for (i = u->rule->count; i-- > 0;)
		place = condition(e, call, &u->rule->conds[i], place, next);
	return place;
}

static bool permissive(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

/* What a call gets that no rule decides: one that the profile is too old to know gets ENOSYS. */
static uint32_t default_for(const struct agent_profile *p, int nr)
{
	if (!permissive(p->default_action) && nr > p->last)
		return SECCOMP_RET_ERRNO | ENOSYS;
	return p->default_action;
}

/* Whether the number decides: the rules up to one without conditions all say the same. */
static bool decided(const struct agent_use *uses, uint32_t otherwise, uint32_t *ret)
{
	const struct agent_use *u;

	*ret = uses ? uses->rule->action : otherwise;
	for (u = uses; u; u = u->next) {
		if (u->rule->action != *ret)
			return false;
		if (u->rule->count == 0)
			return true;
	}
	return *ret == otherwise;
}

static void range_add(struct compiler *c, const struct range *r)
{
	const struct range *last = c->count ? &c->ranges[c->count - 1] : NULL;

	if (last && !last->uses && !r->uses && last->action == r->action)
		return;
	assert(c->count < NUMBERS_MAX);
	c->ranges[c->count++] = *r;
}

static void ranges_make(struct compiler *c)
{
	const struct agent_profile *p = c->profile;
	int16_t places[NUMBERS_MAX];
	int nr, end = 0;
	size_t i;

	memset(places, -1, sizeof(places));
	for (i = 0; i < FILTER_SYSCALLS; i++) {
		nr = filter_syscall_nr(&filter_syscalls[i], p->arch);
		if (nr < 0)
			continue;
		assert(nr < NUMBERS_MAX);
		places[nr] = (int16_t)i;
		end = MAX(end, nr + 1);
	}
	c->end = (uint32_t)end;
	for (nr = 0; nr < end; nr++) {
		struct range r = { .first = (uint32_t)nr, .action = SECCOMP_RET_ERRNO | ENOSYS };

		if (places[nr] >= 0) {
			r.call = &filter_syscalls[places[nr]];
			r.uses = p->calls[places[nr]].uses;
			if (decided(r.uses, default_for(p, nr), &r.action))
				r.uses = NULL;
		}
		range_add(c, &r);
	}
}

static size_t range_emit(struct compiler *c, struct range *r)
{
	if (!r->uses)
		return agent_emit_ret(&c->emit, r->action);
	/* A rule may lack an end: the call is named, so the profile's default. */
	r->place = uses_emit(&c->emit, r->call, r->uses, c->profile->default_action);
	return r->place;
}

static size_t search_emit(struct compiler *c, size_t from, size_t to)
{
	size_t middle, above, below;

	if (to - from == 1)
		return range_emit(c, &c->ranges[from]);
	middle = from + (to - from) / 2;
	above = search_emit(c, middle, to);
	below = search_emit(c, from, middle);
	return agent_emit_jump(&c->emit, BPF_JGE, c->ranges[middle].first, above, below);
}

static size_t hot_emit(struct compiler *c, size_t next)
{
	size_t i, j;

	for (i = ELEMENTSOF(hot_calls); i-- > 0;) {
		for (j = 0; j < c->count; j++) {
			const struct range *r = &c->ranges[j];

			if (r->place && str_eq(r->call->name, hot_calls[i]))
				next = agent_emit_jump(&c->emit, BPF_JEQ, r->first, r->place, next);
		}
	}
	return next;
}

static void program_emit(struct compiler *c)
{
	struct agent_emit *e = &c->emit;
	size_t search, above, body;

	/*
	 * Above the table: -1 is a call that a tracer has taken out (ptrace(2), PTRACE_SYSCALL);
	 * x32 numbers have bit 30 set.
	 */
	search = hot_emit(c, search_emit(c, 0, c->count));
	above = agent_emit_jump(e, BPF_JEQ, UINT32_MAX, agent_emit_ret(e, SECCOMP_RET_ALLOW),
				agent_emit_ret(e, SECCOMP_RET_ERRNO | ENOSYS));
	(void)agent_emit_jump(e, BPF_JGE, c->end, above, search);
	body = agent_emit_load(e, offsetof(struct seccomp_data, nr));
	/*
	 * int 0x80 and AArch32: other numbers, and arguments behind pointers (socketcall), which
	 * no rule of ours could judge.
	 */
	(void)agent_emit_jump(e, BPF_JEQ, c->profile->arch, body,
			      agent_emit_ret(e, SECCOMP_RET_KILL_PROCESS));
	(void)agent_emit_load(e, offsetof(struct seccomp_data, arch));
}

int agent_profile_compile(const struct agent_profile *p, const char *name, struct filter *ret,
			  struct error *err)
{
	_cleanup_free_ struct compiler *c = calloc(1, sizeof(*c));
	struct filter f = FILTER_NULL;

	if (!c)
		return error_oom(err);
	c->profile = p;
	ranges_make(c);
	program_emit(c);
	if (c->emit.full)
		return error_text(
			err, -E2BIG,
			"%s: the program has more than %d instructions, the kernel takes no "
			"more: use fewer rules or conditions",
			name, BPF_MAXINSNS);
	f.count = c->emit.count;
	f.insns = malloc(f.count * sizeof(*f.insns));
	if (!f.insns)
		return error_oom(err);
	memcpy(f.insns, &c->emit.insns[BPF_MAXINSNS - f.count], f.count * sizeof(*f.insns));
	f.flags = p->flags;
	*ret = f;
	return 0;
}
