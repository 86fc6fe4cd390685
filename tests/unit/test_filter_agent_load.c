/*
 * The shipped programs in the kernel, in forked children: real calls and their errnos, the
 * entry points of other architectures, and both orders of two filters.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "filter/filter_agent.h"
#include "filter/filter_private.h"
#include "filter/filter_syscalls.h"
#include "tap.h"
#include "util/str.h"

typedef long (*body_fn)(void);

/* The errno of the call, 0 when it succeeded, 1000 + signal when it ended the child. */
static int under(const struct filter_pair *pair, body_fn body)
{
	int status, fds[2], result = -1;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		struct error err = ERROR_NULL;
		int listener = -EBADF;

		(void)alarm(5);
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (filter_pair_load(pair, &listener, &err) < 0) {
			printf("# %s\n", err.text);
			_exit(1);
		}
		errno = 0;
		result = body() < 0 ? errno : 0;
		(void)!write(fds[1], &result, sizeof(result));
		_exit(0);
	}
	(void)close(fds[1]);
	if (read(fds[0], &result, sizeof(result)) != sizeof(result))
		result = -1;
	(void)close(fds[0]);
	(void)waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : result;
}

static long do_getppid(void)
{
	return getppid();
}
static long do_yield(void)
{
	return syscall(SYS_sched_yield);
}
static long do_unshare(void)
{
	return syscall(SYS_unshare, 0x10000000);
}
static long do_clone3(void)
{
	return syscall(SYS_clone3, 0, 0);
}
static long do_splice(void)
{
	return syscall(SYS_splice, 0, 0, 1, 0, 1, 0);
}
static long do_alg(void)
{
	return syscall(SYS_socket, 38, SOCK_SEQPACKET, 0);
}
static long do_alg_high(void)
{
	return syscall(SYS_socket, 0x100000026ull, SOCK_SEQPACKET, 0);
}
static long do_unix(void)
{
	return syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}
static long do_tcp(void)
{
	return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}
static long do_mptcp(void)
{
	return syscall(SYS_socket, AF_INET, SOCK_STREAM, 262);
}
static long do_notification_pipe(void)
{
	return syscall(SYS_pipe2, (int[2]){ 0 }, 0x80);
}
static long do_sti(void)
{
	return syscall(SYS_ioctl, -1, 0xffffffff00005412ull, 0);
}
static long do_ioctl(void)
{
	return syscall(SYS_ioctl, -1, 0x5401, 0);
}
static long do_new(void)
{
	return syscall(470);
}
static long do_thousand(void)
{
	return syscall(1000);
}
static long do_minus_one(void)
{
	return syscall(-1);
}
static long do_keyctl(void)
{
	return syscall(SYS_keyctl, 0, 0, 0, 0, 0);
}
static long do_seccomp(void)
{
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){ SECCOMP_RET_ALLOW });
}
static long do_mknod(void)
{
	return syscall(SYS_mknodat, -1, "x", 0x2180 | 0x10000, 0x103);
}
static long do_mount(void)
{
	return syscall(SYS_mount, 0, "/nosuch", 0, 0, 0);
}

static long do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

#ifdef __x86_64__
static long do_x32(void)
{
	return syscall(0x40000000 | SYS_getpid);
}

static long do_int80(void)
{
	long nr = 20; /* getpid of i386 */

	__asm__ volatile("int $0x80" : "+a"(nr) : : "memory");
	return nr;
}
#endif

static const struct {
	const char *name;
	body_fn body;
	int want[4];
} calls[] = {
#define ALL(v)             \
	{                  \
		v, v, v, v \
	}
	{ "getppid", do_getppid, ALL(0) },
	{ "fork", do_fork, ALL(0) },
	{ "clone3", do_clone3, ALL(ENOSYS) },
	{ "splice", do_splice, ALL(EINVAL) },
	{ "AF_ALG", do_alg, ALL(EAFNOSUPPORT) },
	{ "AF_ALG, high word set", do_alg_high, ALL(EAFNOSUPPORT) },
	{ "AF_UNIX", do_unix, ALL(0) },
	{ "TCP", do_tcp, { 0, EAFNOSUPPORT, 0, 0 } },
	{ "MPTCP", do_mptcp, { EPROTONOSUPPORT, EAFNOSUPPORT, EPROTONOSUPPORT, EPROTONOSUPPORT } },
	{ "O_NOTIFICATION_PIPE", do_notification_pipe, ALL(EINVAL) },
	{ "TIOCSTI, high word set", do_sti, ALL(EPERM) },
	{ "TCGETS", do_ioctl, ALL(EBADF) },
	{ "call 470", do_new, ALL(ENOSYS) },
	{ "call 1000", do_thousand, ALL(ENOSYS) },
	{ "call -1", do_minus_one, ALL(ENOSYS) },
	{ "keyctl", do_keyctl, ALL(EPERM) },
	{ "seccomp", do_seccomp, ALL(0) },
	{ "mknodat of a device, bit 16 set", do_mknod, ALL(EPERM) },
	{ "mount", do_mount, { EPERM, EPERM, EPERM, -2 } },
	{ "unshare", do_unshare, { EPERM, EPERM, EPERM, 0 } },
#ifdef __x86_64__
	{ "x32 getpid", do_x32, ALL(ENOSYS) },
	{ "int 0x80", do_int80, ALL(1000 + SIGSYS) },
#endif
};

static void shipped(void)
{
	const struct filter_agent_shipped *s;
	size_t i, p = 0;

	for (s = filter_agent_shipped; s->name; s++, p++) {
		struct filter f = FILTER_NULL;
		struct error err = ERROR_NULL;
		struct filter_pair pair;

		is_int(filter_agent_builtin(s->name, &f, &err), 0, s->name);
		(void)filter_pair_order(NULL, &f, &pair, &err);
		for (i = 0; i < ELEMENTSOF(calls); i++) {
			int got = under(&pair, calls[i].body), want = calls[i].want[p];

			/* -2: the kernel's own answer, anything but the filter's; EPERM for a user.
			 */
			ok(want == -2 ? got == ENOENT || got == EPERM : got == want,
			   "%s: %s: %d, want %d", s->name, calls[i].name, got, want);
		}
		filter_done(&f);
	}
}

static struct spec_seccomp_rule one_rule(char **names, uint32_t value)
{
	return (struct spec_seccomp_rule){ .names = { .items = names, .count = 1, .set = true },
					   .action = SPEC_SECCOMP_ERRNO,
					   .errno_ret = { true, value } };
}

/* The specification allows all but one or two calls. */
static void spec_filter(const char *first, const char *second, uint32_t value, struct filter *ret)
{
	char *one[] = { (char *)(uintptr_t)first, NULL },
	     *two[] = { (char *)(uintptr_t)second, NULL };
	struct spec_seccomp_rule rules[2] = { one_rule(one, value), one_rule(two, value) };
	struct spec_seccomp s = { .default_action = SPEC_SECCOMP_ALLOW };
	struct error err = ERROR_NULL;

	s.syscalls.items = rules;
	s.syscalls.count = second ? 2 : 1;
	if (filter_compile(&s, true, -EBADF, ret, &err) < 0)
		printf("# %s\n", err.text);
}

static int count_filters(const struct filter_pair *pair)
{
	char line[256];
	int status = 0, n = -1, fds[2];
	FILE *f;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		struct error err = ERROR_NULL;
		int listener;

		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (filter_pair_load(pair, &listener, &err) < 0)
			_exit(1);
		f = fopen("/proc/self/status", "re");
		while (f && fgets(line, sizeof(line), f))
			(void)sscanf(line, "Seccomp_filters: %d", &n);
		_exit(n);
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void orders(void)
{
	struct filter agent = FILTER_NULL, spec = FILTER_NULL, none = FILTER_NULL;
	struct error err = ERROR_NULL;
	struct filter_pair pair;
	static const char closed[] =
		"{ \"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [ "
		"{ \"names\": [ \"seccomp\" ], \"action\": \"SCMP_ACT_ERRNO\" } ] }";

	(void)filter_agent_builtin("agent-default", &agent, &err);
	spec_filter("clone3", "sched_yield", EPERM, &spec);
	is_int(filter_pair_order(&spec, &agent, &pair, &err), 0, "order");
	ok(pair.first == &spec && pair.second == &agent, "the specification's comes first");
	is_int(under(&pair, do_clone3), ENOSYS, "so the agent's errno wins");
	is_int(under(&pair, do_yield), EPERM, "and the specification's denials hold");
	is_int(count_filters(&pair), 2, "two filters are loaded");
	filter_done(&spec);

	spec_filter("seccomp", "clone3", EPERM, &spec);
	is_int(filter_pair_order(&spec, &agent, &pair, &err), 0, "order: seccomp denied");
	ok(pair.first == &agent && pair.second == &spec, "the agent's comes first");
	is_int(under(&pair, do_clone3), EPERM, "the specification's errno is accepted");
	is_int(under(&pair, do_keyctl), EPERM, "the agent's denials hold");
	is_int(under(&pair, do_seccomp), EPERM, "and those of the specification");
	is_int(count_filters(&pair), 2, "two filters are loaded");
	filter_done(&agent);
	is_int(filter_agent_compile("closed.json", closed, strlen(closed), FILTER_AGENT_NATIVE,
				    &agent, &err),
	       0, "an agent profile without seccomp(2)");
	is_int(filter_pair_order(&spec, &agent, &pair, &err), -EINVAL, err.text);
	is_int(filter_pair_order(&none, &agent, &pair, &err), 0, "no filter of the specification");
	is_int(under(&pair, do_seccomp), EPERM, "the agent's alone");
	is_int(filter_pair_order(NULL, NULL, &pair, &err), 0, "no filter at all");
	is_int(under(&pair, do_keyctl) == 0, false, "passes to the kernel");
	filter_done(&agent);
	filter_done(&spec);
}

int main(void)
{
	TAP_BEGIN();
	shipped();
	orders();
	return TAP_END();
}
