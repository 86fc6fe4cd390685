/*
 * Two programs in one: the specification's, and behind it the question whether the agent's
 * profile reports the call. Only an errno of the specification's leads there, so what it
 * allows costs nothing more, and what it kills is killed.
 */
#include "filter/filter_agent_private.h"

#include <assert.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#define STMT(code_, k_) ((struct sock_filter)BPF_STMT((code_), (uint32_t)(k_)))

struct stone {
	uint32_t action;
	size_t place;
};

/* Each errno that the specification gives gets a stone: it keeps the errno in X and goes on to the question. */
struct yielding {
	struct sock_filter *code;
	size_t count, room;
	struct stone stones[64];
	size_t n_stones;
};

static bool gives_errno(const struct sock_filter *i)
{
	return i->code == (BPF_RET | BPF_K) && (i->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
}

static bool put(struct yielding *y, struct sock_filter insn)
{
	if (y->count == y->room)
		return false;
	y->code[y->count++] = insn;
	return true;
}

/* False: no room. Errnos beyond those that have a stone stay as they are. */
static bool stones_put(struct yielding *y, size_t spec_count)
{
	size_t i, s;

	for (i = 0; i < spec_count; i++) {
		if (!gives_errno(&y->code[i]))
			continue;
		for (s = 0; s < y->n_stones && y->stones[s].action != y->code[i].k; s++)
			;
		if (s == ELEMENTSOF(y->stones))
			continue;
		if (s == y->n_stones) {
			y->stones[y->n_stones++] = (struct stone){ .action = y->code[i].k, .place = y->count };
			if (!put(y, STMT(BPF_LDX | BPF_W | BPF_IMM, y->code[i].k)) || !put(y, STMT(BPF_JMP | BPF_JA, 0)))
				return false;
		}
		y->code[i] = STMT(BPF_JMP | BPF_JA, y->stones[s].place - i - 1);
	}
	for (s = 0; s < y->n_stones; s++)
		y->code[y->stones[s].place + 1].k = (uint32_t)(y->count - y->stones[s].place - 2);
	return true;
}

static bool question_put(struct yielding *y, const struct filter *question)
{
	size_t end = y->count + question->count, i;

	for (i = 0; i < question->count; i++) {
		struct sock_filter insn = question->insns[i];

		if (insn.code == (BPF_RET | BPF_K))
			insn = insn.k == SECCOMP_RET_USER_NOTIF ? STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) :
								  STMT(BPF_JMP | BPF_JA, end - y->count - 1);
		if (!put(y, insn))
			return false;
	}
	return put(y, STMT(BPF_MISC | BPF_TXA, 0)) && put(y, STMT(BPF_RET | BPF_A, 0));
}

int agent_yield_append(struct filter *spec, const struct filter *yield, struct error *err)
{
	struct yielding y = { .room = BPF_MAXINSNS, .count = spec->count };

	assert(spec->count > 0 && spec->count <= BPF_MAXINSNS && !spec->notify);

	/* A profile that reports nothing asks nothing. */
	if (!yield->notify)
		return 0;
	y.code = malloc(y.room * sizeof(*y.code));
	if (!y.code)
		return error_oom(err);
	memcpy(y.code, spec->insns, spec->count * sizeof(*y.code));
	if (!stones_put(&y, spec->count) || !question_put(&y, yield)) {
		free(y.code);
		return FILTER_E_FULL;
	}
	free(spec->insns);
	spec->insns = y.code;
	spec->count = y.count;
	return 0;
}
