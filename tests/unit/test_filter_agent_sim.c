/*
 * The compiled programs against the direct reading of the profile: the shipped ones, one of
 * Docker's and thousands made at random, on both architectures, over more than a million calls
 * each time this runs. The kernel's own rules for programs are checked on the way.
 */
#include "bpf_sim.h"
#include "filter_agent_reading.h"
#include "tap.h"
#include "util/str.h"

#define CALLS_SHIPPED	150000
#define PROFILES_RANDOM 400
#define CALLS_RANDOM	1000

static const uint32_t archs[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64 };
static unsigned long long compared;

static int find_shipped(const char *name, struct agent_source *ret)
{
	const struct filter_agent_shipped *s;

	for (s = filter_agent_shipped; s->name; s++) {
		if (str_eq(s->name, name)) {
			*ret = (struct agent_source){ s->name, s->text, s->len };
			return 0;
		}
	}
	return -ENOENT;
}

static bool one_call(const struct agent_profile *p, const struct filter *f,
		     const struct seccomp_data *d)
{
	uint32_t want = agent_reading(p, d), got = bpf_sim_run(f->insns, f->count, d);
	uint32_t own = filter_verdict(f, d);

	compared++;
	if (got == want && own == want)
		return true;
	printf("# arch %#x nr %d args %#llx %#llx %#llx %#llx %#llx %#llx: %#x (%#x), want %#x\n",
	       d->arch, d->nr, d->args[0], d->args[1], d->args[2], d->args[3], d->args[4],
	       d->args[5], got, own, want);
	return false;
}

/* Whether the kernel answers an allowed call from its bitmap: no argument may be looked at. */
static bool by_number(const struct filter *f, uint32_t arch, int nr)
{
	struct seccomp_data d = { .arch = arch, .nr = nr };
	uint32_t a = 0;
	size_t pc;

	for (pc = 0; pc < f->count; pc++) {
		const struct sock_filter *i = &f->insns[pc];

		if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
			if (i->k >= offsetof(struct seccomp_data, instruction_pointer))
				return false;
			memcpy(&a, (const char *)&d + i->k, 4);
		} else if (i->code == (BPF_RET | BPF_K)) {
			return true;
		} else if (i->code == (BPF_JMP | BPF_JA)) {
			pc += i->k;
		} else if (BPF_CLASS(i->code) == BPF_JMP) {
			pc += bpf_sim_holds(i->code, a, i->k) ? i->jt : i->jf;
		} else {
			return false;
		}
	}
	return false;
}

enum outcome { WRONG, RIGHT, REFUSED };

static enum outcome compare(const struct agent_source *src, uint32_t arch, unsigned long calls,
			    uint64_t *state, size_t *ret_count)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	struct agent_profile *p;
	struct seccomp_data d;
	bool good = true;
	unsigned long i;
	int nr;

	if (agent_profile_read(src, find_shipped, arch, &arena, &p, &err) < 0 ||
	    agent_profile_compile(p, src->name, &f, &err) < 0) {
		/* Random rules may contradict each other, or be too many. */
		if (strstr(err.text, "but another action") || err.code == -E2BIG)
			return REFUSED;
		printf("# %s\n", err.text);
		return WRONG;
	}
	*ret_count = f.count;
	good = bpf_sim_check(f.insns, f.count);
	for (nr = -3; good && nr < 600; nr++) {
		const struct filter_syscall *s = filter_syscall_by_nr(arch, nr);
		const struct agent_use *u = s ? p->calls[s - filter_syscalls].uses : NULL;

		memset(&d, 0, sizeof(d));
		d.arch = arch;
		d.nr = nr;
		good = one_call(p, &f, &d);
		d.nr |= 0x40000000;
		good = good && one_call(p, &f, &d);
		if (good && u && u->rule->count == 0)
			good = by_number(&f, arch, nr);
	}
	for (i = 0; good && i < calls; i++) {
		agent_random_call(p, &d, state);
		good = one_call(p, &f, &d);
	}
	filter_done(&f);
	return good ? RIGHT : WRONG;
}

static void shipped(uint64_t *state)
{
	const struct filter_agent_shipped *s;
	size_t i, n = 0;

	for (s = filter_agent_shipped; s->name; s++) {
		struct agent_source src = { s->name, s->text, s->len };

		for (i = 0; i < 2; i++) {
			enum outcome o = compare(&src, archs[i], CALLS_SHIPPED, state, &n);

			ok(o == RIGHT,
			   "%s, arch %#x: %d calls as the profile says (%zu instructions)", s->name,
			   archs[i], CALLS_SHIPPED, n);
			ok(n < 1000, "%s: the program is short", s->name);
		}
	}
}

/* A profile of a few calls with conditions of every kind on arguments of every width. */
static void random_profile(struct buf *b, uint64_t *state, bool ordered)
{
	static const char *const calls[] = { "socket", "mmap",	 "mknodat", "lseek",	"ioctl",
					     "clone",  "ptrace", "fcntl",   "pwrite64", "prctl" };
	static const char *const ops[] = { "NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ" };
	static const char *const actions[] = {
		"\"SCMP_ACT_ALLOW\"", "\"SCMP_ACT_ERRNO\", \"errnoRet\": 7",
		"\"SCMP_ACT_ERRNO\"", "\"SCMP_ACT_KILL_PROCESS\"",
		"\"SCMP_ACT_LOG\"",   "\"SCMP_ACT_TRAP\""
	};
	size_t rules = agent_random(state) % 40, i, j, k;

	buf_addf(b, "{ \"match\": \"%s\", \"defaultAction\": %s, \"syscalls\": [",
		 ordered ? "first" : "strictest",
		 agent_random(state) % 3 ? "\"SCMP_ACT_ERRNO\"" : "\"SCMP_ACT_ALLOW\"");
	for (i = 0; i < rules; i++) {
		const char *name = calls[agent_random(state) % ELEMENTSOF(calls)];
		size_t args = strlen(filter_syscall_by_name(name)->args), n = 0;

		buf_addf(b, "%s\n { \"names\": [ \"%s\" ], \"args\": [", i ? "," : "", name);
		for (j = 0; j < args; j++) {
			char width = filter_syscall_by_name(name)->args[j];
			uint64_t limit = width == 's'	? 0xffff
					 : width == 'i' ? UINT32_MAX
							: UINT64_MAX;
			uint64_t v = agent_random(state) & limit & agent_random(state);
			const char *op = ops[agent_random(state) % ELEMENTSOF(ops)];

			if (agent_random(state) % 3 && !(n == 0 && j == args - 1))
				continue;
			if (agent_random(state) % 2)
				v &= 7;
			buf_addf(b, "%s{ \"index\": %zu, \"op\": \"SCMP_CMP_%s\", ",
				 n++ ? ", " : "", j, op);
			if (str_eq(op, "MASKED_EQ"))
				buf_addf(b, "\"value\": %llu, \"valueTwo\": %llu }",
					 (unsigned long long)(v | 1),
					 (unsigned long long)(v & agent_random(state)));
			else if (str_eq(op, "EQ") && agent_random(state) % 2) {
				buf_addf(b, "\"values\": [ %llu", (unsigned long long)v);
				for (k = agent_random(state) % 300; k > 0; k--)
					buf_addf(b, ", %llu",
						 (unsigned long long)(agent_random(state) & limit));
				buf_adds(b, " ] }");
			} else
				buf_addf(b, "\"value\": %llu }", (unsigned long long)v);
		}
		buf_addf(b, "], \"action\": %s }",
			 actions[agent_random(state) % ELEMENTSOF(actions)]);
	}
	buf_adds(b, "\n] }");
}

static void at_random(uint64_t *state)
{
	size_t i, n = 0, longest = 0, right = 0, refused = 0;

	for (i = 0; i < PROFILES_RANDOM; i++) {
		_cleanup_buf_ struct buf b = BUF_NULL;
		struct agent_source src = { .name = "random" };
		enum outcome o;

		random_profile(&b, state, i % 2);
		src.text = b.data;
		src.len = b.len;
		o = compare(&src, archs[i / 2 % 2], CALLS_RANDOM, state, &n);
		right += o == RIGHT;
		refused += o == REFUSED;
		if (o == WRONG)
			printf("# random profile %zu\n", i);
		longest = MAX(longest, n);
	}
	ok(right + refused == PROFILES_RANDOM && refused < PROFILES_RANDOM / 10,
	   "%zu random profiles mean what they say, %zu contradict themselves", right, refused);
	ok(longest > 1000, "the longest needed jumps over more than 255 instructions (%zu)",
	   longest);
}

int main(void)
{
	uint64_t state = 0x9e3779b97f4a7c15ull;

	TAP_BEGIN();
	shipped(&state);
	at_random(&state);
	ok(compared > 1000000, "%llu calls were compared", compared);
	return TAP_END();
}
