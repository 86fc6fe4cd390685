/*
 * A specification's filter that leaves reported calls to the agent's: over random calls it
 * says what it said, but lets through exactly where it gave an errno and the agent asks.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bpf_sim.h"
#include "filter/filter_agent_private.h"
#include "filter_profile.h"
#include "tap.h"
#include "util/str.h"

#define CALLS 200000

static struct error err;
static uint64_t seed = 88172645463325252ull;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void random_call(struct seccomp_data *d)
{
	static const uint32_t archs[] = { FILTER_AGENT_NATIVE, FILTER_AGENT_NATIVE, FILTER_AGENT_NATIVE, 0x40000003 };
	size_t i;

	*d = (struct seccomp_data){ .arch = archs[next() % ELEMENTSOF(archs)], .nr = (int)(next() % 480) };
	for (i = 0; i < 6; i++) {
		uint64_t v = next();

		d->args[i] = v % 3 == 0 ? v % 48 : v % 3 == 1 ? 1ull << v % 64 | (v & 0xff) : v;
	}
}

static void check_profile(const char *what, struct profile *p, const char *agent)
{
	struct filter spec = FILTER_NULL, plain = FILTER_NULL, report = FILTER_NULL;
	_cleanup_free_ struct sock_filter *before = NULL;
	int i, r, left = 0, wrong = 0, differs = 0;
	struct seccomp_data data;
	size_t n;

	if (filter_compile(&p->s, false, -EBADF, &spec, &err) < 0 || filter_agent_open(agent, -EBADF, &plain, &err) < 0 ||
	    filter_agent_open_reporting(agent, -EBADF, &report, &err) < 0) {
		ok(false, "%s: %s", what, err.text);
		return;
	}
	n = spec.count;
	before = malloc(n * sizeof(*before));
	if (!before)
		return;
	memcpy(before, spec.insns, n * sizeof(*before));
	r = filter_agent_yield(agent, -EBADF, &spec, &err);
	ok(r == 0, "%s yields to %s: %zu instructions become %zu", what, agent, n, spec.count);
	ok(bpf_sim_check(spec.insns, spec.count), "the kernel takes it");
	for (i = 0; i < CALLS; i++) {
		uint32_t was, is, asks;

		random_call(&data);
		was = bpf_sim_run(before, n, &data);
		is = bpf_sim_run(spec.insns, spec.count, &data);
		asks = bpf_sim_run(report.insns, report.count, &data);
		differs += is != filter_verdict(&spec, &data);
		if (asks == SECCOMP_RET_USER_NOTIF && (was & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO) {
			left++;
			wrong += is != SECCOMP_RET_ALLOW;
			/* Nothing opens: the agent denies each of them. */
			wrong += (bpf_sim_run(plain.insns, plain.count, &data) & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO;
		} else {
			wrong += is != was;
		}
	}
	is_int(wrong, 0, "and says what it said elsewhere");
	is_int(differs, 0, "our own reading agrees");
	ok(str_eq(agent, "agent-nested") ? left == 0 && spec.count == n : left > 0, "%d of %d calls are left to %s", left, CALLS, agent);
	filter_done(&spec);
	filter_done(&plain);
	filter_done(&report);
}

static void test_kinds(void)
{
	static const char *const profiles[] = { "agent-default", "agent-strict", "agent-build", "agent-nested" };
	struct profile p;
	size_t i;

	for (i = 0; i < ELEMENTSOF(profiles); i++) {
		profile_from_raw(&p, &docker_profile);
		check_profile("Docker's profile", &p, profiles[i]);
	}
	profile_from_raw(&p, &podman_profile);
	check_profile("podman's profile", &p, "agent-default");
	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	(void)profile_call(&p, "mount", SPEC_SECCOMP_KILL_PROCESS, -1);
	(void)profile_call(&p, "unshare", SPEC_SECCOMP_TRAP, -1);
	(void)profile_call(&p, "bpf", SPEC_SECCOMP_ERRNO, 5);
	(void)profile_call(&p, "keyctl", SPEC_SECCOMP_ERRNO, 6);
	(void)profile_call(&p, "chdir", SPEC_SECCOMP_ERRNO, 7);
	check_profile("several errnos and worse", &p, "agent-default");
}

static void test_full(void)
{
	struct sock_filter *code = calloc(BPF_MAXINSNS, sizeof(*code));
	struct filter spec = { .insns = code, .count = 4000 };
	size_t i;

	for (i = 0; i < spec.count; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	is_int(filter_agent_yield("agent-default", -EBADF, &spec, &err), FILTER_E_FULL, "no room for the question");
	ok(spec.count == 4000 && spec.insns == code && code[17].k == (SECCOMP_RET_ERRNO | EPERM), "the program is as it was");
	filter_done(&spec);
	is_int(filter_agent_yield("agent-default", -EBADF, &spec, &err), 0, "no program, nothing to do");
	is_int(spec.count, 0, "nor is one made");
}

/* Errnos beyond the number of stones are kept; the program stays right. */
static void test_many_errnos(void)
{
	struct sock_filter *code = calloc(BPF_MAXINSNS, sizeof(*code));
	struct filter spec = { .insns = code };
	struct seccomp_data data = { .arch = FILTER_AGENT_NATIVE, .nr = SYS_mount };
	unsigned i, kept = 0, left = 0;

	code[spec.count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
	for (i = 0; i < 100; i++) {
		code[spec.count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1);
		code[spec.count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (i + 1));
	}
	code[spec.count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	is_int(filter_agent_yield("agent-default", -EBADF, &spec, &err), 0, "a hundred errnos");
	ok(bpf_sim_check(spec.insns, spec.count), "the kernel takes it");
	for (i = 0; i < 100; i++) {
		uint32_t v;

		data.args[5] = i;
		v = bpf_sim_run(spec.insns, spec.count, &data);
		left += v == SECCOMP_RET_ALLOW;
		kept += v == (SECCOMP_RET_ERRNO | (i + 1));
	}
	ok(left == 64 && kept == 36, "%u calls left to the agent, %u as they were", left, kept);
	data.nr = SYS_chdir;
	for (i = kept = 0; i < 100; i++) {
		data.args[5] = i;
		kept += bpf_sim_run(spec.insns, spec.count, &data) == (SECCOMP_RET_ERRNO | (i + 1));
	}
	is_int(kept, 100, "a call that nobody reports keeps each of them");
	filter_done(&spec);
}

static int in_child(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int load(unsigned flags)
{
	static struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog prog = { .len = 1, .filter = allow };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog) < 0 ? -1 : -filter_listener_possible();
}

static int alone(void)
{
	return -filter_listener_possible();
}
static int filtered(void)
{
	return load(0);
}
static int listened_to(void)
{
	return load(SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

int main(void)
{
	TAP_BEGIN();
	test_kinds();
	test_full();
	test_many_errnos();
	is_int(in_child(alone), 0, "a listener is possible");
	is_int(in_child(filtered), 0, "under a filter, too");
	is_int(in_child(listened_to), EBUSY, "not under one that has a listener itself");
	return TAP_END();
}
