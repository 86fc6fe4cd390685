/*
 * The ENOSYS prologue for many architectures at once, also those that this machine
 * cannot run, in front of a program that says which way it was reached.
 */
#include <linux/audit.h>

#include "bpf_sim.h"
#include "filter/filter_private.h"
#include "tap.h"

#define THROUGH 0x12345678u
#define ABSENT	(SECCOMP_RET_ERRNO | ENOSYS)

struct program {
	struct sock_filter insns[FILTER_STUB_MAX + 1];
	size_t n;
};

static void build(struct program *p, const struct filter_last *archs, size_t count)
{
	p->n = filter_stub_build(archs, count, p->insns);
	p->insns[p->n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, THROUGH);
}

static uint32_t run(const struct program *p, uint32_t arch, uint32_t nr)
{
	struct seccomp_data d = { .arch = arch, .nr = (int)nr };

	return bpf_sim_run(p->insns, p->n, &d);
}

static void test_x86(void)
{
	static const struct filter_last both[] = { { AUDIT_ARCH_X86_64, 300,
						     FILTER_X32_BIT + 200 } };
	static const struct filter_last wide[] = { { AUDIT_ARCH_X86_64, 300, -1 } };
	static const struct filter_last x32[] = { { AUDIT_ARCH_X86_64, -1, FILTER_X32_BIT + 200 } };
	struct program p;

	build(&p, both, 1);
	ok(bpf_sim_check(p.insns, p.n), "x86_64 and x32: a valid program");
	is_int(run(&p, AUDIT_ARCH_X86_64, 0), THROUGH, "first call");
	is_int(run(&p, AUDIT_ARCH_X86_64, 300), THROUGH, "last call");
	is_int(run(&p, AUDIT_ARCH_X86_64, 301), ABSENT, "one above");
	is_int(run(&p, AUDIT_ARCH_X86_64, FILTER_X32_BIT - 1), ABSENT, "just below x32");
	is_int(run(&p, AUDIT_ARCH_X86_64, FILTER_X32_BIT), THROUGH, "first x32 call");
	is_int(run(&p, AUDIT_ARCH_X86_64, FILTER_X32_BIT + 200), THROUGH, "last x32 call");
	is_int(run(&p, AUDIT_ARCH_X86_64, FILTER_X32_BIT + 201), ABSENT, "one above");
	is_int(run(&p, AUDIT_ARCH_X86_64, UINT32_MAX), ABSENT, "number -1");
	is_int(run(&p, AUDIT_ARCH_I386, 9999), THROUGH, "another architecture is not looked at");

	build(&p, wide, 1);
	is_int(run(&p, AUDIT_ARCH_X86_64, 301), ABSENT, "without x32: one above");
	is_int(run(&p, AUDIT_ARCH_X86_64, FILTER_X32_BIT + 9999), THROUGH,
	       "without x32: left to the program, which kills");
	build(&p, x32, 1);
	is_int(run(&p, AUDIT_ARCH_X86_64, 9999), THROUGH, "x32 alone: native calls are left alone");
	is_int(run(&p, AUDIT_ARCH_X86_64, FILTER_X32_BIT + 201), ABSENT, "x32 alone: one above");
}

static void test_s390(void)
{
	static const struct filter_last z[] = { { AUDIT_ARCH_S390X, 400, -1 },
						{ AUDIT_ARCH_S390, 350, -1 } };
	struct program p;

	build(&p, z, 2);
	ok(bpf_sim_check(p.insns, p.n), "s390: a valid program");
	is_int(run(&p, AUDIT_ARCH_S390X, 0), ABSENT, "number 0 stands for an unknown call");
	is_int(run(&p, AUDIT_ARCH_S390X, 1), THROUGH, "call 1");
	is_int(run(&p, AUDIT_ARCH_S390X, 400), THROUGH, "last call");
	is_int(run(&p, AUDIT_ARCH_S390X, 401), ABSENT, "one above");
	is_int(run(&p, AUDIT_ARCH_S390, 350), THROUGH, "31 bit: last call");
	is_int(run(&p, AUDIT_ARCH_S390, 351), ABSENT, "31 bit: one above");
}

static void test_many(void)
{
	struct filter_last archs[FILTER_ARCHS_MAX];
	unsigned i, bad = 0;
	struct program p;

	for (i = 0; i < FILTER_ARCHS_MAX; i++)
		archs[i] = (struct filter_last){ 1000 + i, i == 7 ? -1 : 100 + (int)i, -1 };
	archs[3].audit_arch = AUDIT_ARCH_X86_64;
	archs[3].x32_nr = FILTER_X32_BIT + 5;
	build(&p, archs, FILTER_ARCHS_MAX);
	ok(bpf_sim_check(p.insns, p.n), "%d architectures: a valid program", FILTER_ARCHS_MAX);
	for (i = 0; i < FILTER_ARCHS_MAX; i++) {
		uint32_t want = i == 7 ? THROUGH : ABSENT;

		bad += run(&p, archs[i].audit_arch, 100 + i) != THROUGH;
		bad += run(&p, archs[i].audit_arch, 101 + i) != want;
	}
	is_int(bad, 0, "each has its own limit, and the one that names nothing has none");
}

static void test_none(void)
{
	static const struct filter_last none[] = { { AUDIT_ARCH_AARCH64, -1, -1 } };
	struct sock_filter out[FILTER_STUB_MAX];

	is_int(filter_stub_build(none, 1, out), 0, "nothing named: no prologue");
	is_int(filter_stub_build(none, 0, out), 0, "no architecture: no prologue");
}

int main(void)
{
	TAP_BEGIN();
	test_x86();
	test_s390();
	test_many();
	test_none();
	return TAP_END();
}
