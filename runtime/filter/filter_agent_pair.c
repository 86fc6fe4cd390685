/*
 * Two filters in one process: which is loaded first, found by running the specification's
 * program on the very call that loads the second. Owns the interpreter of seccomp programs;
 * knows neither profiles nor how programs are made.
 */
#include "filter/filter_agent.h"

#include <assert.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static bool jump_taken(uint16_t code, uint32_t a, uint32_t k)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == k;
	case BPF_JGT:
		return a > k;
	case BPF_JGE:
		return a >= k;
	default:
		return (a & k) != 0;
	}
}

/*
 * The instructions that libseccomp and our own compiler write. Any other is a kill: the
 * answer then is "does not permit", which is always safe here.
 */
uint32_t filter_verdict(const struct filter *f, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0;
	size_t pc;

	for (pc = 0; pc < f->count; pc++) {
		const struct sock_filter *i = &f->insns[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > sizeof(*data) - sizeof(a))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&a, (const char *)data + i->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += jump_taken(i->code, a, i->k) ? i->jt : i->jf;
			break;
		case BPF_LDX | BPF_W | BPF_IMM:
			x = i->k;
			break;
		case BPF_MISC | BPF_TXA:
			a = x;
			break;
		case BPF_RET | BPF_A:
			return a;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool empty(const struct filter *f)
{
	return !f || f->count == 0;
}

/* Whether f lets the call through whatever the address in one of its arguments. */
static bool permits(const struct filter *f, struct seccomp_data d, unsigned address)
{
	static const uint64_t addresses[] = { 0, 0x7ffffffff000, UINT64_MAX };
	size_t i;

	for (i = 0; i < ELEMENTSOF(addresses); i++) {
		uint32_t action;

		d.args[address] = addresses[i];
		action = filter_verdict(f, &d) & SECCOMP_RET_ACTION_FULL;
		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

/* Whether a process under f may load g. Where the program text lies cannot be known yet. */
static bool permits_loading(const struct filter *f, const struct filter *g)
{
	const struct seccomp_data d = {
		.nr = SYS_seccomp, .arch = FILTER_AGENT_NATIVE, .args = { SECCOMP_SET_MODE_FILTER, g->flags }
	};

	return permits(f, d, 2);
}

bool filter_pair_permits_sending(const struct filter_pair *p, int sock)
{
	const struct seccomp_data d = {
		.nr = SYS_sendmsg, .arch = FILTER_AGENT_NATIVE, .args = { (uint64_t)sock, 0, MSG_NOSIGNAL }
	};

	return (empty(p->first) || permits(p->first, d, 1)) && (empty(p->second) || permits(p->second, d, 1));
}

int filter_pair_order(const struct filter *spec, const struct filter *agent,
		      struct filter_pair *ret, struct error *err)
{
	assert(ret && err);

	if (empty(spec) || empty(agent) || permits_loading(spec, agent))
		*ret = (struct filter_pair){ .first = spec, .second = agent };
	else if (permits_loading(agent, spec))
		*ret = (struct filter_pair){ .first = agent, .second = spec };
	else
		return error_text(
			err, -EINVAL,
			"seccomp: neither the specification's filter nor the agent profile "
			"permits seccomp(2), so only one of them could be loaded: allow "
			"seccomp in one of them");
	return 0;
}

int filter_pair_load(const struct filter_pair *p, int *ret_listener, struct error *err)
{
	int first = -EBADF, second = -EBADF, r;

	r = empty(p->first) ? 0 : filter_load(p->first, &first, err);
	if (r == 0 && !empty(p->second))
		r = filter_load(p->second, &second, err);
	if (r < 0)
		return r;
	*ret_listener = first >= 0 ? first : second;
	return 0;
}
