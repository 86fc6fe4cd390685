/*
 * What the shipped profiles say: every call's class against a table kept apart from them, every
 * argument rule with its errno and with the high word set. And what the reader refuses.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>

#include "filter/filter_agent.h"
#include "filter/filter_syscalls.h"
#include "tap.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define ALLOW SECCOMP_RET_ALLOW
#define E(e) (SECCOMP_RET_ERRNO | (e))
#define HIGH 0x7700000000000000ull

static uint32_t ask(const struct filter *f, const char *call, uint64_t a, uint64_t b, uint64_t c,
		    uint64_t d)
{
	struct seccomp_data data = { .arch = FILTER_AGENT_NATIVE, .args = { a, b, c, d } };

	data.nr = filter_syscall_nr(filter_syscall_by_name(call), FILTER_AGENT_NATIVE);
	return filter_verdict(f, &data);
}

static uint32_t class_action(const char *word)
{
	if (str_eq(word, "allow"))
		return ALLOW;
	if (str_eq(word, "EPERM"))
		return E(EPERM);
	return str_eq(word, "EINVAL") ? E(EINVAL) : E(ENOSYS);
}

/* The table: number, name, Docker, default, strict, build, … */
static void classes(const char *profile, int column)
{
	const char *srcdir = getenv("srcdir");
	_cleanup_free_ char *path = str_printf("%s/tests/data/syscall-policy.tsv", srcdir ? srcdir : ".");
	_cleanup_fclose_ FILE *table = fopen(path, "re");
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	char line[512], cell[6][64];
	int seen = 0, wrong = 0, filtered = 0;

	is_int(filter_agent_builtin(profile, &f, &err), 0, profile);
	while (table && fgets(line, sizeof(line), table)) {
		const struct filter_syscall *s;

		if (sscanf(line, "%63[^\t]\t%63[^\t]\t%63[^\t]\t%63[^\t]\t%63[^\t]\t%63[^\t]", cell[0],
			   cell[1], cell[2], cell[3], cell[4], cell[5]) != 6 || str_eq(cell[0], "nr"))
			continue;
		seen++;
		s = filter_syscall_by_name(cell[1]);
		if (str_eq(cell[column], "filter")) {
			filtered++;
			continue;
		}
		if (!s || filter_syscall_nr(s, FILTER_AGENT_NATIVE) < 0 ||
		    ask(&f, cell[1], 0, 0, 0, 0) == class_action(cell[column]))
			continue;
		printf("# %s: %#x, want %s\n", cell[1], ask(&f, cell[1], 0, 0, 0, 0), cell[column]);
		wrong++;
	}
	ok(seen == FILTER_SYSCALLS && wrong == 0, "%s: the class of %d calls, %d more by argument",
	   profile, seen - filtered, filtered);
	filter_done(&f);
}

static const struct argument_row {
	const char *call;
	uint64_t args[4];
	uint32_t want[4]; /* default, strict, build, nested */
} rows[] = {
#define SAME(v) { v, v, v, v }
#define NOT_STRICT(v) { v, E(EAFNOSUPPORT), v, v }
	{ "socket", { 1, 1 }, SAME(ALLOW) },
	{ "socket", { 1, 2 | 02000000, 7 }, SAME(ALLOW) },
	{ "socket", { 1, 5 | 04000 }, SAME(ALLOW) },
	{ "socket", { 1, 3 }, SAME(E(ESOCKTNOSUPPORT)) },
	{ "socket", { 2, 1, 0 }, NOT_STRICT(ALLOW) },
	{ "socket", { 10, 1, 6 }, NOT_STRICT(ALLOW) },
	{ "socket", { 2, 2, 17 }, NOT_STRICT(ALLOW) },
	{ "socket", { 2, 1, 262 }, NOT_STRICT(E(EPROTONOSUPPORT)) },
	{ "socket", { 2, 2, 136 }, NOT_STRICT(E(EPROTONOSUPPORT)) },
	{ "socket", { 2, 2, 1 }, NOT_STRICT(E(EPROTONOSUPPORT)) },
	{ "socket", { 2, 3, 1 }, NOT_STRICT(E(EPERM)) },
	{ "socket", { 2, 10, 0 }, NOT_STRICT(E(ESOCKTNOSUPPORT)) },
	{ "socket", { 10, 6, 33 }, NOT_STRICT(E(ESOCKTNOSUPPORT)) },
	{ "socket", { 16, 3, 0 }, NOT_STRICT(ALLOW) },
	{ "socket", { 16, 3, 6 }, NOT_STRICT(E(EPROTONOSUPPORT)) },
	{ "socket", { 16, 3, 12 }, NOT_STRICT(E(EPROTONOSUPPORT)) },
	{ "socket", { 17, 3, 0 }, SAME(E(EAFNOSUPPORT)) },
	{ "socket", { 38, 5, 0 }, SAME(E(EAFNOSUPPORT)) },
	{ "socket", { 40, 1, 0 }, SAME(E(EAFNOSUPPORT)) },
	{ "socketpair", { 1, 1 }, SAME(ALLOW) },
	{ "socketpair", { 30, 1 }, SAME(E(EAFNOSUPPORT)) },
	{ "setsockopt", { 3, 1, 9 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 1, 26 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 1, 50 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 1, 51 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 1, 52 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 1, 60 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 1, 32 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 1, 33 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 6, 1 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 6, 31 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 6, 14 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 6, 32 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 6, 38 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 6, 40 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 6, 19 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 0, 1 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 0, 16 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 0, 17 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 0, 63 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 0, 64 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 0, UINT32_MAX }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 41, 26 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 41, 67 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 41, 32 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 41, 34 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 41, 35 }, SAME(E(EPERM)) },
	{ "setsockopt", { 3, 41, 64 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 41, 65 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 41, 200 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 17, 103 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 17, 100 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 270, 1 }, SAME(ALLOW) },
	{ "setsockopt", { 3, 263, 1 }, SAME(E(ENOPROTOOPT)) },
	{ "setsockopt", { 3, 279, 1 }, SAME(E(ENOPROTOOPT)) },
	{ "sendto", { 3, 0, 0, 0x4000 }, SAME(ALLOW) },
	{ "sendto", { 3, 0, 0, 0x4001 }, SAME(E(EOPNOTSUPP)) },
	{ "sendmsg", { 3, 0, 0x40 }, SAME(ALLOW) },
	{ "sendmsg", { 3, 0, 1 }, SAME(E(EOPNOTSUPP)) },
	{ "sendmmsg", { 3, 0, 1, 1 }, SAME(E(EOPNOTSUPP)) },
	{ "ioctl", { 0, 0x5401 }, SAME(ALLOW) },
	{ "ioctl", { 0, 0x5412 }, SAME(E(EPERM)) },
	{ "ioctl", { 0, 0x541c }, SAME(E(EPERM)) },
	{ "ioctl", { 0, 0x541d }, SAME(E(EPERM)) },
	{ "ioctl", { 0, 0x5423 }, SAME(E(EPERM)) },
	{ "ioctl", { 0, 0x5760 }, SAME(E(ENOTTY)) },
	{ "ioctl", { 0, 0x5761 }, SAME(E(ENOTTY)) },
	{ "pipe2", { 0, 02000000 }, SAME(ALLOW) },
	{ "pipe2", { 0, 0x80 }, SAME(E(EINVAL)) },
	{ "clone", { 0x3d0f00 }, SAME(ALLOW) },
	{ "clone", { 17 | 0x80 }, SAME(ALLOW) },
	{ "clone", { 17 | 0x10000000 }, { E(EPERM), E(EPERM), E(EPERM), ALLOW } },
	{ "clone", { 17 | 0x00020000 }, { E(EPERM), E(EPERM), E(EPERM), ALLOW } },
	{ "clone", { 17 | 0x40000000 }, { E(EPERM), E(EPERM), E(EPERM), ALLOW } },
	{ "clone3", { 0 }, SAME(E(ENOSYS)) },
	{ "unshare", { 0x10000000 }, { E(EPERM), E(EPERM), E(EPERM), ALLOW } },
	{ "unshare", { 0x10000080 }, SAME(E(EPERM)) },
	{ "mount", { 0 }, { E(EPERM), E(EPERM), E(EPERM), ALLOW } },
	{ "pidfd_getfd", { 0 }, { E(EPERM), E(EPERM), E(EPERM), ALLOW } },
	{ "fsopen", { 0 }, SAME(E(ENOSYS)) },
	{ "bpf", { 0 }, SAME(E(EPERM)) },
	{ "prctl", { 38 }, SAME(ALLOW) },
	{ "prctl", { 22 }, SAME(ALLOW) },
	{ "prctl", { 35 }, SAME(E(EPERM)) },
	{ "prctl", { 59 }, SAME(E(EINVAL)) },
	{ "prctl", { 62 }, SAME(E(EINVAL)) },
	{ "personality", { 0 }, SAME(ALLOW) },
	{ "personality", { UINT32_MAX }, SAME(ALLOW) },
	{ "personality", { 8 }, { ALLOW, E(EPERM), ALLOW, ALLOW } },
	{ "personality", { 0x20008 }, { ALLOW, E(EPERM), ALLOW, ALLOW } },
	{ "personality", { 0x40000 }, { E(EPERM), E(EPERM), ALLOW, E(EPERM) } },
	{ "personality", { 0x400000 }, SAME(E(EPERM)) },
	{ "ptrace", { 0 }, { E(EPERM), E(EPERM), ALLOW, E(EPERM) } },
	{ "mknodat", { 0, 0, 0x11ff }, SAME(ALLOW) },
	{ "mknodat", { 0, 0, 0666 }, SAME(ALLOW) },
	{ "mknodat", { 0, 0, 0x21ff }, SAME(E(EPERM)) },
	{ "mknodat", { 0, 0, 0x6000 }, SAME(E(EPERM)) },
	{ "seccomp", { 1 }, SAME(ALLOW) },
};

static void arguments(void)
{
	static const char *const profiles[] = { "agent-default", "agent-strict", "agent-build",
						"agent-nested" };
	struct filter f[4];
	struct error err = ERROR_NULL;
	size_t i, j, k;

	for (j = 0; j < 4; j++)
		if (filter_agent_builtin(profiles[j], &f[j], &err) < 0)
			printf("# %s\n", err.text);
	for (i = 0; i < ELEMENTSOF(rows); i++) {
		const struct argument_row *r = &rows[i];
		uint32_t got[4], high[4];

		for (j = 0; j < 4; j++) {
			uint64_t a[4];

			got[j] = ask(&f[j], r->call, r->args[0], r->args[1], r->args[2], r->args[3]);
			/* What the kernel cuts off must not matter. */
			for (k = 0; k < 4; k++)
				a[k] = r->args[k] |
				       (filter_syscall_by_name(r->call)->args[k] == 'i' ? HIGH : 0);
			high[j] = ask(&f[j], r->call, a[0], a[1], a[2], a[3]);
		}
		ok(memcmp(got, r->want, sizeof(got)) == 0 && memcmp(high, r->want, sizeof(high)) == 0,
		   "%s(%#llx, %#llx, %#llx, %#llx)", r->call, (unsigned long long)r->args[0],
		   (unsigned long long)r->args[1], (unsigned long long)r->args[2],
		   (unsigned long long)r->args[3]);
	}
	for (j = 0; j < 4; j++)
		filter_done(&f[j]);
}

static void numbers(void)
{
	struct seccomp_data d = { .arch = FILTER_AGENT_NATIVE };
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;

	(void)filter_agent_builtin("agent-default", &f, &err);
	d.nr = -1;
	is_int(filter_verdict(&f, &d), ALLOW, "-1 passes");
	d.nr = 470;
	is_int(filter_verdict(&f, &d), E(ENOSYS), "the next new call is ENOSYS");
	d.nr = 0x40000000 | 1;
	is_int(filter_verdict(&f, &d), E(ENOSYS), "x32 is ENOSYS");
	d.nr = -2;
	is_int(filter_verdict(&f, &d), E(ENOSYS), "-2 is ENOSYS");
	d.arch = AUDIT_ARCH_I386;
	is_int(filter_verdict(&f, &d), SECCOMP_RET_KILL_PROCESS, "i386 is killed");
	d.nr = -1;
	is_int(filter_verdict(&f, &d), SECCOMP_RET_KILL_PROCESS, "whatever its number");
	is_int(f.flags, SECCOMP_FILTER_FLAG_SPEC_ALLOW, "flags as Docker's");
	filter_done(&f);
	is_int(filter_agent_builtin("agent-nosuch", &f, &err), -ENOENT, "no such profile");
	ok(strstr(err.text, "agent-default, agent-strict, agent-build, agent-nested") != NULL,
	   "the names are listed: %s", err.text);
}

/* The program in front keeps an owner in his cgroup and changes nothing else. */
static void kept_in_cgroup(void)
{
	static const struct { const char *call; uint64_t flags; uint32_t before, after; } calls[] = {
		{ "unshare", 0x02000000, ALLOW, E(EPERM) },
		{ "unshare", 0x10000000, ALLOW, ALLOW },
		{ "unshare", 0x12000080, E(EPERM), E(EPERM) },
		{ "clone", 0x7e020011, ALLOW, E(EPERM) },
		{ "clone", 0x7c020011, ALLOW, ALLOW },
		{ "clone", HIGH | 17, ALLOW, ALLOW },
		{ "clone3", 0, E(ENOSYS), E(ENOSYS) },
		{ "setns", 0x02000000, ALLOW, ALLOW },
		{ "bpf", 0x02000000, E(EPERM), E(EPERM) },
	};
	static const char open_profile[] = "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}";
	struct seccomp_data d = { .arch = AUDIT_ARCH_I386, .nr = 310 };
	struct filter f = FILTER_NULL, plain = FILTER_NULL;
	struct error err = ERROR_NULL;
	size_t i, count;

	(void)filter_agent_builtin("agent-nested", &plain, &err);
	(void)filter_agent_builtin("agent-nested", &f, &err);
	is_int(filter_agent_keep_cgroup(&f, true, &err), 0, "agent-nested is changed");
	for (i = 0; i < ELEMENTSOF(calls); i++)
		ok(ask(&plain, calls[i].call, calls[i].flags, 0, 0, 0) == calls[i].before &&
			   ask(&f, calls[i].call, calls[i].flags, 0, 0, 0) == calls[i].after,
		   "%s(%#llx)", calls[i].call, (unsigned long long)calls[i].flags);
	is_int(filter_verdict(&f, &d), SECCOMP_RET_KILL_PROCESS, "i386 is killed as before");
	filter_done(&f);
	filter_done(&plain);
	(void)filter_agent_builtin("agent-default", &f, &err);
	count = f.count;
	ok(filter_agent_keep_cgroup(&f, true, &err) == 0 && f.count == count, "agent-default stays as it is");
	ok(filter_agent_keep_cgroup(&f, false, &err) == 0 && f.count == count, "as does the same from a file, with its errnos");
	filter_done(&f);
	(void)filter_agent_compile("t", open_profile, strlen(open_profile), FILTER_AGENT_NATIVE, &f, &err);
	(void)filter_agent_keep_cgroup(&f, false, &err);
	is_int(ask(&f, "unshare", 0x02020000, 0, 0, 0), E(EPERM), "what allows all allows this no more");
	is_int(ask(&f, "clone3", 0, 0, 0, 0), E(ENOSYS), "clone3 hides its flags: who had it takes clone");
	filter_done(&f);
}

int main(void)
{
	TAP_BEGIN();
	classes("agent-default", 3);
	classes("agent-strict", 4);
	classes("agent-build", 5);
	arguments();
	numbers();
	kept_in_cgroup();
	return TAP_END();
}
