/* The smaller attributes of a process, each read back from the kernel. */
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/keyctl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/ns.h"
#include "os/procattr.h"
#include "os/procfs.h"
#include "tests/unit/tap.h"
#include "util/cleanup.h"

static struct error err;
static int proc = -1;
static const char *why;

#define CHECK(cond)                   \
	do {                          \
		if (!(cond)) {        \
			why = #cond;  \
			return 1;     \
		}                     \
	} while (0)

static void in_child(int (*fn)(void), const char *name)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int r = fn();

		if (r == 1)
			printf("# failed: %s (last error: %s)\n", why, err.text);
		fflush(stdout);
		_exit(r);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "%s # SKIP not possible here", name);
	else
		is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, name);
}

static bool proc_is(const char *path, const char *want)
{
	_cleanup_free_ char *text = NULL;

	if (procfs_read(proc, path, &text, &err) < 0)
		return false;
	if (strcmp(text, want) != 0)
		printf("# %s: %s\n", path, text);
	return strcmp(text, want) == 0;
}

static int child_limits(void)
{
	const struct rlimit_op ops[] = { { RLIMIT_NOFILE, 100, 200 }, { RLIMIT_CORE, 0, 0 } };
	const struct rlimit_op bad = { RLIMIT_NOFILE, 10, 5 };
	struct rlimit lim;

	CHECK(rlimit_apply(0, ops, 2, &err) == 0);
	CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur == 100 && lim.rlim_max == 200);
	CHECK(getrlimit(RLIMIT_CORE, &lim) == 0 && lim.rlim_max == 0);
	CHECK(rlimit_apply(0, &bad, 1, &err) == -EINVAL);
	CHECK(strcmp(err.text, "error setting rlimit type 7: invalid argument") == 0);
	return 0;
}

static int child_oom(void)
{
	CHECK(oom_score_adj_write(proc, 321, false, &err) == 0);
	CHECK(proc_is("self/oom_score_adj", "321\n"));
	CHECK(oom_score_adj_write(proc, 2000, false, &err) == -EINVAL);
	CHECK(strncmp(err.text, "set oom_score_adj to 2000: ", 27) == 0);
	if (setresuid(1, 1, 1) < 0)
		return 77;
	CHECK(oom_score_adj_write(proc, -500, false, &err) == -EACCES);
	CHECK(oom_score_adj_write(proc, -500, true, &err) == 0);
	CHECK(proc_is("self/oom_score_adj", "321\n"));
	return 0;
}

static int child_sched(void)
{
	const struct sched_op batch = { .policy = SCHED_BATCH, .nice = 7 };
	const struct sched_op bad = { .policy = 99 };
	cpu_set_t set;
	int cpu;

	CHECK(sched_apply(&batch, &err) == 0);
	CHECK(sched_getscheduler(0) == SCHED_BATCH && getpriority(PRIO_PROCESS, 0) == 7);
	CHECK(sched_apply(&bad, &err) == -EINVAL);
	CHECK(ioprio_apply(IOPRIO_CLASS_BE, 5, &err) == 0);
	CHECK(syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) == IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 5));
	CHECK(ioprio_apply(7, 0, &err) == -EINVAL);

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (cpu = 0; !CPU_ISSET(cpu, &set); cpu++)
		;
	{
		cpu_set_t one;
		char list[48];

		snprintf(list, sizeof(list), "%d,%d-%d", cpu, cpu, cpu);
		CHECK(affinity_apply(list, &err) == 0);
		CHECK(sched_getaffinity(0, sizeof(one), &one) == 0);
		CHECK(CPU_COUNT(&one) == 1 && CPU_ISSET(cpu, &one));
		CHECK(affinity_verify(0, list, &err) == 0);
		CHECK(affinity_verify(0, "4000", &err) == -EPERM);
		affinity_reset();
		CHECK(sched_getaffinity(0, sizeof(one), &one) == 0);
		CHECK(CPU_EQUAL(&one, &set));
	}
	CHECK(affinity_apply("8000", &err) == -EINVAL);
	CHECK(strcmp(err.text, "set CPU affinity 8000: invalid argument") == 0);
	return 0;
}

static void test_lists(void)
{
	static const char *const bad[] = { "", ",", "1,", ",1", "a", "1-", "-1", "3-1", "1--2", "0 1", "0x1", "1;2" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(bad); i++)
		is_int(affinity_apply(bad[i], &err), -EINVAL, bad[i]);
	is_int(affinity_apply("99999999999999", &err), -ERANGE, "a CPU that cannot be");
	ok(cpu_list_within("1,3-4\n", "0-7") && cpu_list_within("0-7", "4-7,0-3"), "a list within another");
	ok(!cpu_list_within("0,8", "0-7") && !cpu_list_within("", "0-7") && !cpu_list_within("0", "x"),
	   "a list that is not");
	is_str(err.text, "CPU list \"99999999999999\" is not of the form 0-3,5", "its message");
}

static int child_memory(void)
{
	unsigned long mask[128] = { 0 };
	int mode = -1, r;

	r = mempolicy_apply(MPOL_INTERLEAVE, "0", 0, &err);
	if (r == -ENOSYS)
		return 77;
	CHECK(r == 0);
	CHECK(syscall(SYS_get_mempolicy, &mode, mask, sizeof(mask) * 8, NULL, 0) == 0);
	CHECK(mode == MPOL_INTERLEAVE && mask[0] == 1);
	CHECK(mempolicy_apply(MPOL_DEFAULT, NULL, 0, &err) == 0);
	CHECK(syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) == 0 && mode == MPOL_DEFAULT);
	CHECK(mempolicy_apply(MPOL_BIND, "0-", 0, &err) == -EINVAL);
	CHECK(mempolicy_apply(MPOL_BIND, "", 0, &err) == -EINVAL);
	return 0;
}

static int child_personality(void)
{
	CHECK(personality_apply(PER_LINUX32, &err) == 0);
	CHECK((personality(0xffffffff) & 0xff) == PER_LINUX32);
	CHECK(personality_apply(PER_LINUX, &err) == 0);
	CHECK((personality(0xffffffff) & 0xff) == PER_LINUX);
	return 0;
}

static int child_keyring(void)
{
	char text[256] = "";
	long ring, before = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
	unsigned perm = 0;
	char name[64] = "";

	CHECK(keyring_join(proc, "test-id", NULL, &err) == 0);
	ring = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
	if (ring < 0 && errno == ENOSYS)
		return 77;
	CHECK(ring > 0 && ring != before);
	CHECK(syscall(SYS_keyctl, KEYCTL_DESCRIBE, ring, text, sizeof(text)) > 0);
	CHECK(sscanf(text, "keyring;%*d;%*d;%x;%63s", &perm, name) == 2);
	CHECK(strcmp(name, "_ses.test-id") == 0);
	CHECK(perm & 0x00080000);
	/* Once more, from inside it. */
	CHECK(keyring_join(proc, "test-id", NULL, &err) == 0);
	CHECK(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) == ring);
	return 0;
}

/* A container's root without /proc: the label goes through the handle, or nowhere without SELinux. */
static int child_keyring_bare(void)
{
	char dir[] = "/tmp/test_procattr.XXXXXX";

	CHECK(mkdtemp(dir) && chdir(dir) == 0 && rmdir(dir) == 0 && chroot(".") == 0);
	CHECK(access("/proc", F_OK) < 0);
	if (lsm_selinux_enabled(proc))
		CHECK(keyring_join(proc, "test-id", "no label at all", &err) < 0 &&
		      strstr(err.text, "label of the session keyring"));
	else
		CHECK(keyring_join(proc, "test-id", "no label at all", &err) == 0);
	return 0;
}

static void test_lsm(void)
{
	if (!lsm_apparmor_enabled(proc)) {
		is_int(lsm_apparmor_exec(proc, "some-profile", &err), -EOPNOTSUPP, "AppArmor is not active");
		is_str(err.text, "apparmor profile \"some-profile\": AppArmor is not active on this host",
		       "its message");
		is_int(lsm_apparmor_exec(proc, "unconfined", &err), 0, "unconfined is what it is");
	}
	if (!lsm_selinux_enabled(proc)) {
		is_int(lsm_selinux_exec(proc, "a:b:c", &err), -EOPNOTSUPP, "SELinux is not active");
		is_str(err.text, "selinux label \"a:b:c\": SELinux is not active on this host", "its message");
	}
}

#define ALL_NS (CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS)

static void test_sysctl_check(void)
{
	static const struct { const char *key; uint64_t ns; bool domainname; int want; } cases[] = {
		{ "net.ipv4.ip_forward", CLONE_NEWNET, false, 0 },
		{ "net/ipv4/ip_forward", CLONE_NEWNET, false, 0 },
		{ "net/ipv4/conf/eth0.5/mtu", CLONE_NEWNET, false, 0 },
		{ "net.ipv4.conf.eth0/5.mtu", CLONE_NEWNET, false, 0 },
		{ "net.ipv4.ip_forward", ALL_NS & ~(uint64_t)CLONE_NEWNET, false, -EINVAL },
		{ "kernel.msgmax", CLONE_NEWIPC, false, 0 },
		{ "kernel.sem", CLONE_NEWIPC, false, 0 },
		{ "kernel.shm_rmid_forced", CLONE_NEWIPC, false, 0 },
		{ "kernel.shmmax", CLONE_NEWNET, false, -EINVAL },
		{ "fs.mqueue.msg_max", CLONE_NEWIPC, false, 0 },
		{ "fs.mqueue", CLONE_NEWIPC, false, -EINVAL },
		{ "kernel.domainname", CLONE_NEWUTS, false, 0 },
		{ "kernel.domainname", CLONE_NEWIPC, false, -EINVAL },
		{ "kernel.domainname", CLONE_NEWUTS, true, -EINVAL },
		{ "kernel.hostname", CLONE_NEWUTS, false, -EINVAL },
		{ "kernel.core_pattern", ALL_NS, false, -EINVAL },
		{ "kernel.semx", ALL_NS, false, -EINVAL },
		{ "vm.overcommit_memory", ALL_NS, false, -EINVAL },
		{ "fs.file-max", ALL_NS, false, -EINVAL },
		{ "net", ALL_NS, false, -EINVAL },
		{ "", ALL_NS, false, -EINVAL },
		{ "net.", ALL_NS, false, -EINVAL },
		{ "net..ipv4", ALL_NS, false, -EINVAL },
		{ "net/../kernel/core_pattern", ALL_NS, false, -EINVAL },
		{ "net.//.kernel.core_pattern", ALL_NS, false, -EINVAL }, /* the part "//" is ".." */
		{ "net/./ipv4", ALL_NS, false, -EINVAL },
		{ "/net/ipv4/ip_forward", ALL_NS, false, -EINVAL },
		{ ".net.ipv4", ALL_NS, false, -EINVAL },
	};
	char longer[300];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++)
		ok(sysctl_check(cases[i].key, cases[i].ns, cases[i].domainname, &err) == cases[i].want,
		   "sysctl \"%s\" gives %d", cases[i].key, cases[i].want);
	memset(longer, 'a', sizeof(longer));
	memcpy(longer, "net.", 4);
	longer[sizeof(longer) - 1] = '\0';
	is_int(sysctl_check(longer, ALL_NS, false, &err), -EINVAL, "a key that is too long");
	(void)sysctl_check("kernel.msgmax", 0, false, &err);
	is_str(err.text, "sysctl \"kernel.msgmax\" is not allowed without a ipc namespace of the container's own",
	       "message names the namespace");
}

/* In new namespaces, through the handle of the host's /proc. */
static int child_sysctl_write(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return 77;
	CHECK(sysctl_write(proc, "net.ipv4.ip_unprivileged_port_start", "77", &err) == 0);
	CHECK(proc_is("sys/net/ipv4/ip_unprivileged_port_start", "77\n"));
	CHECK(sysctl_write(proc, "kernel/msgmax", "12345", &err) == 0);
	CHECK(proc_is("sys/kernel/msgmax", "12345\n"));
	CHECK(sysctl_write(proc, "kernel.domainname", "example", &err) == 0);
	CHECK(proc_is("sys/kernel/domainname", "example\n"));
	CHECK(sysctl_write(proc, "net.no.such", "1", &err) == -ENOENT);
	CHECK(strcmp(err.text, "set sysctl net.no.such to \"1\": open /proc/sys/net/no/such: no such file or directory") == 0);
	CHECK(sysctl_write(proc, "net/../kernel/msgmax", "1", &err) == -EINVAL);
	return 0;
}

static int child_loopback(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return 77;
	CHECK(system("ip -o link show lo | grep -q 'state DOWN'") == 0);
	CHECK(net_loopback_up(&err) == 0);
	CHECK(system("ip -o link show lo | grep -q '<LOOPBACK,UP,LOWER_UP>'") == 0);
	CHECK(system("ip -o addr show lo | grep -q 'inet 127.0.0.1/8'") == 0);
	return 0;
}

static _noreturn_ void fn_pause(void *arg)
{
	for (;;)
		pause();
}

/* The "container": a process in a network namespace of its own. */
static int inside(const struct pidref *p, const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "nsenter -t %d -n sh -c '%s'", p->pid, command);
	return system(line);
}

static int child_device(void)
{
	const struct ns_spec spec = { .create = CLONE_NEWNET };
	struct pidref c = PIDREF_NULL;
	char path[64];
	int ns = -1, status;

	/* The "host" is a namespace of ours as well. */
	if (unshare(CLONE_NEWNET) < 0 || system("ip link add v0 type veth peer name v1 2>/dev/null") != 0 ||
	    system("command -v nsenter >/dev/null") != 0)
		return 77;
	CHECK(system("ip link add v2 type veth peer name v3; ip link set v1 up; ip link set v0 up;"
		     " ip addr add 10.9.8.7/24 brd + dev v0; ip addr add 10.9.9.1 peer 10.9.9.2/32 dev v0;"
		     " ip addr add 169.254.1.1/16 scope link dev v0;"
		     " ip -6 addr add 2001:db8::5/64 dev v0 nodad") == 0);
	CHECK(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &c, &err) == 0);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", c.pid);
	CHECK(ns_open(path, CLONE_NEWNET, &ns, &err) == 0);

	CHECK(net_device_move("nope", NULL, ns, &err) == -ENODEV);
	CHECK(strcmp(err.text, "network device nope: no such device") == 0);
	CHECK(net_device_move("v0", "lo", ns, &err) == -EEXIST);
	CHECK(strstr(err.text, "lo already exists in the container") != NULL);
	CHECK(system("ip link show v0 >/dev/null") == 0); /* not moved */
	CHECK(net_device_move("v0", "a/b", ns, &err) == -EINVAL);
	CHECK(net_device_move("v0", "abcdefghijklmnop", ns, &err) == -EINVAL);
	CHECK(net_device_move("v0", "eth%s", ns, &err) == -EINVAL);

	CHECK(net_device_move("v0", "eth%d", ns, &err) == 0);
	CHECK(system("ip link show v0 >/dev/null 2>&1") != 0);
	CHECK(inside(&c, "ip -o link show eth0 | grep -q UP") == 0);
	CHECK(inside(&c, "ip -o -4 addr show eth0 | grep -q \"10.9.8.7/24 brd 10.9.8.255\"") == 0);
	CHECK(inside(&c, "ip -o -4 addr show eth0 | grep -q \"10.9.9.1 peer 10.9.9.2/32\"") == 0);
	CHECK(inside(&c, "ip -o -6 addr show eth0 | grep -q 2001:db8::5/64") == 0);
	CHECK(inside(&c, "ip -o addr show eth0 | grep -q 169.254.1.1") != 0); /* not global */
	CHECK(net_device_move("v1", "eth%d", ns, &err) == 0);
	CHECK(inside(&c, "ip link show eth1 >/dev/null") == 0);
	CHECK(net_device_move("v2", NULL, ns, &err) == 0);
	CHECK(inside(&c, "ip -o link show v2 | grep -q UP") == 0);

	CHECK(pidref_signal(&c, SIGKILL) == 0);
	CHECK(pidref_reap(&c, &status, &err) == 0);
	return 0;
}

static int child_signals(void)
{
	const unsigned long ignore[4] = { 1 }; /* SIG_IGN */
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	syscall(SYS_rt_sigaction, 33, ignore, NULL, 8);
	signals_reset();
	CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0 && sigisemptyset(&now));
	{
		_cleanup_free_ char *text = NULL;

		CHECK(procfs_read(proc, "self/status", &text, &err) == 0);
		CHECK(strstr(text, "SigIgn:\t0000000000000000") != NULL);
		CHECK(strstr(text, "SigBlk:\t0000000000000000") != NULL);
		CHECK(strstr(text, "SigCgt:\t0000000000000000") != NULL);
	}
	return 0;
}

int main(void)
{
	TAP_BEGIN();
	alarm(60);
	is_int(procfs_open(&proc, &err), 0, "open /proc");
	test_lists();
	test_lsm();
	test_sysctl_check();
	in_child(child_limits, "resource limits");
	in_child(child_oom, "OOM score");
	in_child(child_sched, "scheduler, I/O priority, affinity");
	in_child(child_memory, "memory policy");
	in_child(child_personality, "personality");
	in_child(child_keyring, "session keyring");
	in_child(child_signals, "signals");
	if (geteuid() == 0) {
		in_child(child_keyring_bare, "session keyring without /proc");
		in_child(child_sysctl_write, "sysctl writes");
		in_child(child_loopback, "loopback");
		in_child(child_device, "device move");
	}
	return TAP_END();
}
