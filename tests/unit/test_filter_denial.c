/*
 * Denied calls in words, and the variant of the profiles that reports: it asks exactly where the
 * plain one gives an errno by a rule that is marked, and says the same everywhere else.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>

#include "bpf_sim.h"
#include "filter/filter_agent_private.h"
#include "filter/filter_denial.h"
#include "tap.h"
#include "util/str.h"

#define CALLS 200000

static struct error err;

struct row {
	const char *profile, *call;
	uint64_t args[4];
	int error; /* -1 = allowed */
	bool report;
	const char *text, *allowed_by;
};

#define POINTER 0x7ffc12345678ull

static const struct row rows[] = {
	{ "agent-default", "read", { 0, POINTER, 10 }, -1, false, NULL, NULL },
	{ "agent-default", "mount", { POINTER, POINTER, 0, 4096 | 16384 }, EPERM, true, "pointer, pointer, 0, MS_BIND|MS_REC, 0", "agent-nested" },
	{ "agent-default", "unshare", { CLONE_NEWUSER | CLONE_NEWNS }, EPERM, true, "CLONE_NEWNS|CLONE_NEWUSER", "agent-nested" },
	{ "agent-default", "clone", { CLONE_NEWUSER | 17, POINTER }, EPERM, true, "CLONE_NEWUSER|0x11, pointer, 0, 0, 0", "agent-nested" },
	{ "agent-default", "ptrace", { 16, 1 }, EPERM, true, "PTRACE_ATTACH, 1, 0, 0", "agent-build" },
	{ "agent-default", "bpf", { 5, POINTER, 128 }, EPERM, true, "BPF_PROG_LOAD, pointer, 128", "" },
	{ "agent-default", "keyctl", { 1 }, EPERM, true, "KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0", "" },
	{ "agent-default", "socket", { 38, SOCK_SEQPACKET | SOCK_CLOEXEC, 0 }, EAFNOSUPPORT, true, "AF_ALG, SOCK_SEQPACKET|SOCK_CLOEXEC, 0", "" },
	{ "agent-default", "socket", { AF_INET, SOCK_RAW, 1 }, EPERM, true, "AF_INET, SOCK_RAW, IPPROTO_ICMP", "" },
	{ "agent-default", "socket", { AF_NETLINK, SOCK_RAW, 12 }, EPROTONOSUPPORT, false, "AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER", "" },
	{ "agent-default", "socket", { AF_INET, SOCK_STREAM, 0 }, -1, false, NULL, NULL },
	{ "agent-strict", "socket", { AF_INET, SOCK_STREAM, 0 }, EAFNOSUPPORT, true, "AF_INET, SOCK_STREAM, 0", "agent-default, agent-build, agent-nested" },
	/* the kernel takes 32 bits of these: what stands above changes neither rule nor words */
	{ "agent-default", "socket", { 0xffffffff00000026, 5, 0 }, EAFNOSUPPORT, true, "AF_ALG, SOCK_SEQPACKET, 0", "" },
	{ "agent-default", "ioctl", { 0, 0x5412, POINTER }, EPERM, true, "0, TIOCSTI, pointer", "" },
	{ "agent-default", "ioctl", { 0, 0x5401, POINTER }, -1, false, NULL, NULL },
	{ "agent-default", "mknodat", { (uint64_t)-100, POINTER, 0060644, 0x800 }, EPERM, true, "-100, pointer, S_IFBLK|0x1a4, 2048", "" },
	{ "agent-default", "personality", { 0x40000 }, EPERM, true, "ADDR_NO_RANDOMIZE", "agent-build" },
	{ "agent-default", "clone3", { POINTER, 88 }, ENOSYS, false, "pointer, 88", "" },
	{ "agent-default", "io_uring_setup", { 8, POINTER }, ENOSYS, false, "8, pointer", "" },
	{ "agent-nested", "bpf", { 5, POINTER, 128 }, EPERM, false, "BPF_PROG_LOAD, pointer, 128", "" },
	{ "agent-nested", "mount", { POINTER, POINTER, POINTER, 2 }, -1, false, NULL, NULL },
};

static void check_row(const struct row *t)
{
	_cleanup_filter_denials_ struct filter_denials *d = NULL;
	const struct filter_syscall *call = filter_syscall_by_name(t->call);
	struct seccomp_data data = { .arch = FILTER_AGENT_NATIVE, .nr = filter_syscall_nr(call, FILTER_AGENT_NATIVE) };
	struct filter_denial got;
	int r;

	if (data.nr < 0)
		return;
	memcpy(data.args, t->args, sizeof(t->args));
	if (filter_denials_new(t->profile, NULL, 0, &d, &err) < 0) {
		ok(false, "%s: %s", t->profile, err.text);
		return;
	}
	r = filter_denials_describe(d, &data, &got);
	if (t->error < 0) {
		is_int(r, FILTER_E_ALLOWED, t->call);
		return;
	}
	is_int(r, 0, t->call);
	is_int(got.error, t->error, "errno");
	is_str(got.call, t->call, "call");
	is_str(got.args, t->text, "arguments");
	is_str(got.allowed_by, t->allowed_by, "who allows it");
	ok(got.report == t->report, "%s: worth a report or not", t->call);
	ok(got.rule >= 0 && *got.reason, "the rule and its reason");
}

static void test_unknown(void)
{
	_cleanup_filter_denials_ struct filter_denials *d = NULL;
	struct seccomp_data data = { .arch = FILTER_AGENT_NATIVE, .nr = 999 };
	struct filter_denial got;

	is_int(filter_denials_new("agent-default", NULL, 0, &d, &err), 0, "agent-default");
	is_int(filter_denials_describe(d, &data, &got), 0, "a call of the future");
	is_str(got.call, "call 999", "by its number");
	is_int(got.error, ENOSYS, "is not there");
	is_int(got.rule, -1, "by no rule");
	is_str(got.allowed_by, "", "nobody allows it");
	data.nr = -1;
	is_int(filter_denials_describe(d, &data, &got), FILTER_E_ALLOWED, "-1 passes");
	data = (struct seccomp_data){ .arch = AUDIT_ARCH_I386, .nr = 102 };
	is_int(filter_denials_describe(d, &data, &got), 0, "int 0x80");
	is_str(got.call, "foreign call 102", "is foreign");
	is_int(got.error, 0, "and kills");
	d = filter_denials_free(d);
	is_int(filter_denials_new("agent-none", NULL, 0, &d, &err), -ENOENT, "no such profile");
	is_int(filter_denials_new("/x", "{", 1, &d, &err), -EINVAL, "a broken file");
}

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
	size_t i;

	*d = (struct seccomp_data){ .arch = FILTER_AGENT_NATIVE, .nr = (int)(next() % 480) };
	for (i = 0; i < 6; i++) {
		uint64_t v = next();

		d->args[i] = v % 3 == 0 ? v % 48 : v % 3 == 1 ? 1ull << v % 64 | (v & 0xff) : v;
	}
}

/* Both variants and the description must tell one story. */
static void test_variant(const char *profile)
{
	_cleanup_filter_denials_ struct filter_denials *d = NULL;
	struct filter plain = FILTER_NULL, report = FILTER_NULL;
	struct filter_denial say;
	struct seccomp_data data;
	int i, asked = 0, wrong = 0;

	if (filter_denials_new(profile, NULL, 0, &d, &err) < 0 || filter_agent_builtin(profile, &plain, &err) < 0 ||
	    filter_agent_open_reporting(profile, -EBADF, &report, &err) < 0) {
		ok(false, "%s: %s", profile, err.text);
		return;
	}
	for (i = 0; i < CALLS; i++) {
		uint32_t a, b;
		int r;

		random_call(&data);
		a = bpf_sim_run(plain.insns, plain.count, &data);
		b = bpf_sim_run(report.insns, report.count, &data);
		r = filter_denials_describe(d, &data, &say);
		if (b == SECCOMP_RET_USER_NOTIF) {
			asked++;
			wrong += r != 0 || !say.report || a != (SECCOMP_RET_ERRNO | say.error);
		} else {
			wrong += a != b || (r == 0 && say.report);
		}
		wrong += r == 0 ? a != (SECCOMP_RET_ERRNO | say.error) : a != SECCOMP_RET_ALLOW;
	}
	is_int(wrong, 0, profile);
	ok(str_eq(profile, "agent-nested") ? asked == 0 && !report.notify : asked > CALLS / 100 && report.notify,
	   "%s: %d of %d calls are asked about", profile, asked, CALLS);
	ok(!plain.notify && !report.notify == !(report.flags & SECCOMP_FILTER_FLAG_NEW_LISTENER),
	   "%s: a listener for the one that asks", profile);
	ok(bpf_sim_check(report.insns, report.count), "%s: the kernel takes it", profile);
	filter_done(&plain);
	filter_done(&report);
}

static void test_marks(void)
{
	static const char allow[] = "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [{\"names\": [\"read\"], "
				    "\"action\": \"SCMP_ACT_ALLOW\", \"report\": true}]}";
	struct filter f = FILTER_NULL;

	is_int(filter_agent_compile("x", allow, strlen(allow), FILTER_AGENT_NATIVE, &f, &err), -EINVAL,
	       "what is allowed cannot be reported");
	ok(strstr(err.text, "syscalls[0]: report is for SCMP_ACT_ERRNO only"), "and is named");
}

int main(void)
{
	const struct filter_agent_shipped *s;
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < ELEMENTSOF(rows); i++)
		check_row(&rows[i]);
	test_unknown();
	test_marks();
	for (s = filter_agent_shipped; s->name; s++)
		test_variant(s->name);
	return TAP_END();
}
