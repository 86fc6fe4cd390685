/*
 * Compiled programs against the direct reading of real profiles, and each rule about
 * profiles on small ones.
 */
#include <sys/syscall.h>

#include "bpf_sim.h"
#include "filter/filter_private.h"
#include "filter_reading.h"
#include "tap.h"

#define X32	     0x40000000u
#define RET_ERRNO(e) (0x00050000u | (e))
#define RET_ALLOW    0x7fff0000u
#define RET_KILL     0u

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Values on which a condition turns: those of the profile and their neighbours. */
static uint64_t next_value(const struct spec_seccomp *s)
{
	const struct spec_seccomp_rule *r = &s->syscalls.items[next_random() % s->syscalls.count];
	uint64_t v = next_random();

	if (r->args.count > 0)
		v = r->args.items[next_random() % r->args.count].value;
	switch (next_random() % 8) {
	case 0:
		return v + 1;
	case 1:
		return v - 1;
	case 2:
		return v | next_random() << 32;
	case 3:
		return next_random();
	case 4:
		return next_random() % 64;
	case 5:
		return ~v;
	default:
		return v;
	}
}

static uint32_t verdict_of(const struct filter *f, uint32_t arch, uint32_t nr, uint64_t a0,
			   uint64_t a1)
{
	struct seccomp_data d = { .nr = (int)nr, .arch = arch, .args = { a0, a1 } };

	return bpf_sim_run(f->insns, f->count, &d);
}

static uint32_t native(const struct filter *f, int nr, uint64_t a0, uint64_t a1)
{
	return verdict_of(f, AUDIT_ARCH_X86_64, (uint32_t)nr, a0, a1);
}

static void compare_one(const char *what, const struct raw_profile *raw)
{
	struct error err = ERROR_NULL;
	struct filter f = FILTER_NULL;
	static struct reading_table tables[3];
	static struct profile p;
	const uint32_t audit[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_X86_64 };
	unsigned i, j, bad = 0, runs = 300000, allowed = 0, denied = 0, absent = 0;

	profile_from_raw(&p, raw);
	is_int(filter_compile(&p.s, false, -EBADF, &f, &err), 0, "compiles");
	is_str(err.text, "", "without a message");
	ok(bpf_sim_check(f.insns, f.count), "%s: %zu instructions that the kernel takes", what,
	   f.count);
	reading_table_init(&tables[0], &p.s, SCMP_ARCH_X86_64, 0, true);
	reading_table_init(&tables[1], &p.s, SCMP_ARCH_X86, 0, false);
	reading_table_init(&tables[2], &p.s, SCMP_ARCH_X32, X32, false);

	for (i = 0; i < runs; i++) {
		unsigned a = (unsigned)(next_random() % 3);
		struct seccomp_data d = { .arch = audit[a], .args = { 0 } };
		uint32_t got, want;

		d.nr = (int)(tables[a].base + (next_random() % 16 ? next_random() % 480
								  : next_random() % (X32 - 1)));
		for (j = 0; j < 6; j++)
			d.args[j] = next_value(&p.s);
		got = bpf_sim_run(f.insns, f.count, &d);
		want = reading_verdict(&p.s, &tables[a], &d);
		allowed += want == RET_ALLOW;
		absent += want == RET_ERRNO(ENOSYS);
		denied += want == RET_ERRNO(EPERM);
		if (got != want && bad++ < 5)
			printf("# arch %u nr %u args %llx %llx: got %#x want %#x\n", a,
			       (unsigned)d.nr, (unsigned long long)d.args[0],
			       (unsigned long long)d.args[1], got, want);
	}
	is_int(bad, 0, "every verdict is the one that the profile says");
	ok(allowed > 10000 && denied > 1000 && absent > 10000,
	   "%s: %u runs met allowed (%u), denied (%u) and unknown (%u) calls", what, runs, allowed,
	   denied, absent);
	is_int(verdict_of(&f, AUDIT_ARCH_AARCH64, 0, 0, 0), RET_KILL, "another architecture kills");
	for (i = 0; i < 3; i++)
		reading_table_done(&tables[i]);
	filter_done(&f);
}

static bool compile(struct profile *p, struct filter *f, struct error *err)
{
	*err = ERROR_NULL;
	*f = FILTER_NULL;
	return filter_compile(&p->s, false, -EBADF, f, err) == 0;
}

static void refused(struct profile *p, const char *want)
{
	struct error err;
	struct filter f;

	ok(!compile(p, &f, &err), "refused");
	is_str(err.text, want, want);
	is_int(err.code, -EINVAL, "as invalid");
	filter_done(&f);
}

static void test_conditions(void)
{
	static const struct spec_seccomp_arg both[] = {
		{ .index = 0, .op = SPEC_SECCOMP_EQ, .value = 7 },
		{ .index = 1, .op = SPEC_SECCOMP_GT, .value = 0x100000000 },
	};
	static const struct spec_seccomp_arg same[] = {
		{ .index = 1, .op = SPEC_SECCOMP_EQ, .value = 3 },
		{ .index = 0, .op = SPEC_SECCOMP_EQ, .value = 1 },
		{ .index = 0, .op = SPEC_SECCOMP_EQ, .value = 2 },
	};
	static const struct spec_seccomp_arg masked[] = {
		{ .index = 0, .op = SPEC_SECCOMP_MASKED_EQ, .value = 0xf0, .value_two = 0x10 },
	};
	struct profile p;
	struct filter f;
	struct error err;

	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_args(profile_call(&p, "kill", SPEC_SECCOMP_ERRNO, 5), both, 2);
	profile_args(profile_call(&p, "tkill", SPEC_SECCOMP_ERRNO, -1), same, 3);
	profile_args(profile_call(&p, "socket", SPEC_SECCOMP_TRACE, 9), masked, 1);
	ok(compile(&p, &f, &err), "conditions compile");
	is_int(native(&f, SYS_kill, 7, 0x100000001), RET_ERRNO(5), "both conditions hold");
	is_int(native(&f, SYS_kill, 7, 0x100000000), RET_ALLOW, "the second does not hold");
	is_int(native(&f, SYS_kill, 0x700000007, 0x100000001), RET_ALLOW,
	       "the upper half of an argument counts");
	is_int(native(&f, SYS_tkill, 2, 9), RET_ERRNO(EPERM),
	       "one of two on one argument is enough");
	is_int(native(&f, SYS_tkill, 9, 3), RET_ERRNO(EPERM),
	       "and the third stands alone then too");
	is_int(native(&f, SYS_tkill, 9, 9), RET_ALLOW, "none holds");
	is_int(native(&f, SYS_socket, 0xaa1f, 0), 0x7ff00009, "mask and value");
	is_int(native(&f, SYS_socket, 0xaa2f, 0), RET_ALLOW, "mask and another value");
	filter_done(&f);
}

static void test_enosys(void)
{
	static const uint64_t strict[] = { SPEC_SECCOMP_ERRNO, SPEC_SECCOMP_KILL_THREAD,
					   SPEC_SECCOMP_KILL_PROCESS, SPEC_SECCOMP_TRAP };
	static const uint64_t loose[] = { SPEC_SECCOMP_ALLOW, SPEC_SECCOMP_LOG,
					  SPEC_SECCOMP_TRACE };
	struct opt_u32 none = { 0 };
	struct profile p;
	struct filter f;
	struct error err;
	size_t i;

	for (i = 0; i < ELEMENTSOF(strict); i++) {
		profile_init(&p, strict[i], -1);
		profile_call(&p, "openat", SPEC_SECCOMP_ALLOW, -1);
		ok(compile(&p, &f, &err) && bpf_sim_check(f.insns, f.count), "strict default");
		is_int(native(&f, SYS_openat, 0, 0), RET_ALLOW, "the largest named call");
		is_int(native(&f, SYS_openat - 1, 0, 0), reading_action(strict[i], none),
		       "below it the default action");
		is_int(native(&f, SYS_openat + 1, 0, 0), RET_ERRNO(ENOSYS), "above it ENOSYS");
		is_int(native(&f, 0x3fffffff, 0, 0), RET_ERRNO(ENOSYS), "far above it ENOSYS");
		is_int(native(&f, (int)(X32 + 1), 0, 0), RET_KILL,
		       "x32 was not asked for: it kills, whatever the number");
		filter_done(&f);
	}
	for (i = 0; i < ELEMENTSOF(loose); i++) {
		profile_init(&p, loose[i], -1);
		profile_call(&p, "openat", SPEC_SECCOMP_ERRNO, 13);
		ok(compile(&p, &f, &err), "permissive default");
		is_int(native(&f, SYS_openat, 0, 0), RET_ERRNO(13), "the named call");
		is_int(native(&f, 9999, 0, 0), reading_action(loose[i], none),
		       "an unknown call gets the default action");
		filter_done(&f);
	}
	profile_init(&p, SPEC_SECCOMP_ERRNO, ENOSYS);
	profile_call(&p, "openat", SPEC_SECCOMP_ALLOW, -1);
	ok(compile(&p, &f, &err), "default errno ENOSYS");
	is_int(native(&f, SYS_getpid, 0, 0), RET_ERRNO(ENOSYS), "is the given one");
	filter_done(&f);
	profile_init(&p, SPEC_SECCOMP_ERRNO, -1);
	ok(compile(&p, &f, &err), "no rules at all");
	is_int(native(&f, 9999, 0, 0), RET_ERRNO(EPERM), "no largest call: the default action");
	filter_done(&f);
}

static void test_refusals(void)
{
	static const struct spec_seccomp_arg sixth[] = { { .index = 6, .op = SPEC_SECCOMP_EQ } };
	static const struct spec_seccomp_arg first[] = { { .index = 0, .op = SPEC_SECCOMP_EQ } };
	struct profile p;

	profile_init(&p, SPEC_SECCOMP_NOTIFY, -1);
	refused(&p, "seccomp: SCMP_ACT_NOTIFY cannot be used as default action");
	profile_init(&p, SPEC_SECCOMP_ALLOW, 3);
	refused(&p, "seccomp: default action: errnoRet has no meaning with SCMP_ACT_ALLOW: remove "
		    "it");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_NOTIFY, -1);
	profile_call(&p, "write", SPEC_SECCOMP_NOTIFY, -1);
	refused(&p, "seccomp: SCMP_ACT_NOTIFY cannot be used for the write syscall");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_ERRNO, -1);
	profile_call(&p, "rmdir", SPEC_SECCOMP_KILL_PROCESS, 1);
	refused(&p, "seccomp: syscalls[1]: errnoRet has no meaning with SCMP_ACT_KILL_PROCESS: "
		    "remove it");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_ERRNO, 4095);
	refused(&p, "seccomp: syscalls[0]: errnoRet 4095 is too large for SCMP_ACT_ERRNO (at most "
		    "4094)");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_args(profile_call(&p, "mkdir", SPEC_SECCOMP_ERRNO, 1), sixth, 1);
	refused(&p, "seccomp: syscalls[0].args[0]: index 6 is not 0..5");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_args(profile_call(&p, "mkdir", SPEC_SECCOMP_ERRNO, 1), first, 1);
	profile_args(profile_call(&p, "mkdir", SPEC_SECCOMP_ERRNO, 2), first, 1);
	refused(&p,
		"seccomp: syscalls[1]: \"mkdir\" has the same conditions as an earlier rule but "
		"another action");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_flag(&p, "SECCOMP_FILTER_FLAG_NEW_LISTENER");
	refused(&p, "seccomp: unknown flag SECCOMP_FILTER_FLAG_NEW_LISTENER");
}

static void test_tolerance(void)
{
	static const struct spec_seccomp_arg first[] = { { .index = 0, .op = SPEC_SECCOMP_EQ } };
	struct profile p;
	struct filter f;
	struct error err;

	profile_init(&p, SPEC_SECCOMP_ERRNO, 5);
	profile_call(&p, "no_such_call", SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "openat", SPEC_SECCOMP_ERRNO, 5);
	profile_args(profile_call(&p, "getpid", SPEC_SECCOMP_ERRNO, 5), first, 1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_ERRNO, 6);
	profile_arch(&p, "SCMP_ARCH_LOONGARCH64");
	profile_arch(&p, "SCMP_ARCH_S390X");
	profile_arch(&p, "SCMP_ARCH_X86_64");
	ok(compile(&p, &f, &err), "unknown call, default action as rule, odd architectures");
	is_int(native(&f, SYS_openat, 0, 0), RET_ERRNO(5), "rule that says the default");
	is_int(native(&f, SYS_getpid, 0, 0), RET_ERRNO(5), "the same with a condition");
	is_int(native(&f, SYS_mkdir, 0, 0), RET_ERRNO(6), "another errno is another action");
	filter_done(&f);

	is_int(filter_compile(&p.s, true, -EBADF, &f, &err), -EINVAL, "unknown calls are errors");
	is_str(err.text, "seccomp: syscalls[0]: unknown syscall \"no_such_call\"", "on demand");
}

static void test_flags(void)
{
	struct profile p;
	struct filter f;
	struct error err;

	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	ok(compile(&p, &f, &err), "no flags member");
	is_int(f.flags, SECCOMP_FILTER_FLAG_SPEC_ALLOW, "means SPEC_ALLOW");
	filter_done(&f);
	profile_flag(&p, NULL);
	ok(compile(&p, &f, &err), "empty flags");
	is_int(f.flags, 0, "mean none");
	filter_done(&f);
	profile_flag(&p, "SECCOMP_FILTER_FLAG_TSYNC");
	profile_flag(&p, "SECCOMP_FILTER_FLAG_LOG");
	profile_flag(&p, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV");
	ok(compile(&p, &f, &err), "TSYNC, LOG, WAIT_KILLABLE_RECV without NOTIFY");
	is_int(f.flags, SECCOMP_FILTER_FLAG_LOG, "only LOG has an effect");
	ok(!f.notify, "no listener");
	filter_done(&f);
	profile_call(&p, "mkdir", SPEC_SECCOMP_NOTIFY, -1);
	ok(compile(&p, &f, &err), "with NOTIFY");
	is_int(f.flags,
	       SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_NEW_LISTENER |
		       SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
	       "the kernel is told to wait");
	ok(f.notify, "and there will be a listener");
	is_int(native(&f, SYS_mkdir, 0, 0), 0x7fc00000, "the verdict is NOTIFY");
	filter_done(&f);
}

static void test_names(void)
{
	uint32_t token = 0;
	unsigned bits = 99;
	size_t i, known = 0;

	for (i = 0; i < spec_seccomp_arch_table.count; i++)
		known += filter_arch(spec_seccomp_arch_table.entries[i].name, &token) == 0;
	is_int(spec_seccomp_arch_table.count, 23, "23 architectures in the table");
	ok(known >= 19, "libseccomp %s knows %zu of them", filter_library_version(), known);
	is_int(filter_arch("SCMP_ARCH_MIPSEL64N32", &token), 0, "a long name");
	is_int(token, SCMP_ARCH_MIPSEL64N32, "its token");
	is_int(filter_arch("x86_64", &token), -ENOENT,
	       "the library's own spelling is none of ours");
	is_int(filter_flag("SECCOMP_FILTER_FLAG_TSYNC", &bits), 0, "TSYNC is known");
	is_int(bits, 0, "and does nothing");
	ok(filter_flag_supported("SECCOMP_FILTER_FLAG_SPEC_ALLOW"), "SPEC_ALLOW is supported");
	ok(filter_flag_supported("SECCOMP_FILTER_FLAG_LOG"), "LOG is supported");
	ok(!filter_flag_supported("SECCOMP_FILTER_FLAG_NEW_LISTENER"), "no flag of a profile");
}

int main(void)
{
	if (seccomp_arch_native() != SCMP_ARCH_X86_64)
		return TAP_SKIP_ALL("the profiles are those of an x86_64 machine");
	TAP_BEGIN();
	compare_one("docker", &docker_profile);
	compare_one("podman", &podman_profile);
	test_conditions();
	test_enosys();
	test_refusals();
	test_tolerance();
	test_flags();
	test_names();
	return TAP_END();
}
