/* Namespaces: real clones, checked from outside by the inodes below /proc/PID/ns. */
#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/ns.h"
#include "os/procfs.h"
#include "tests/unit/tap.h"
#include "util/cleanup.h"

static struct error err;
static int proc = -1;

static _noreturn_ void fn_pause(void *arg)
{
	for (;;)
		pause();
}

static _noreturn_ void fn_exit(void *arg)
{
	_exit(*(int *)arg);
}

/* Inode of a namespace of a process; 0 when unreadable. */
static ino_t ns_ino(pid_t pid, const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static bool same_ns(pid_t a, pid_t b, const char *name)
{
	return ns_ino(a, name) != 0 && ns_ino(a, name) == ns_ino(b, name);
}

static int ns_fd(pid_t pid, uint64_t type)
{
	char path[64];
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, ns_proc_name(type));
	if (ns_open(path, type, &fd, &err) < 0)
		printf("# %s\n", err.text);
	return fd;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[512] = "", *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	(void)!fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	p = strrchr(text, ')');
	return p ? atoi(p + 4) : -1;
}

static bool no_children(void)
{
	return waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD;
}

static void end(struct pidref *p)
{
	int status = -1;

	pidref_signal(p, SIGKILL);
	is_int(pidref_reap(p, &status, &err), 0, "is our child and can be reaped");
	is_int(status, 128 + SIGKILL, "killed by us");
	pidref_done(p);
}

static void test_names(void)
{
	is_str(ns_type_name(CLONE_NEWNS), "mount", "OCI name");
	is_str(ns_type_name(CLONE_NEWNET), "network", "OCI name of net");
	is_str(ns_proc_name(CLONE_NEWNET), "net", "proc name");
	is_str(ns_proc_name(CLONE_NEWTIME), "time", "proc name of time");
	is_str(ns_type_name(1), "unknown", "no namespace");
}

static void test_open(void)
{
	char fifo[] = "/tmp/test_ns.XXXXXX";
	bool own = false;
	int fd = -1;

	is_int(ns_open("/proc/self/ns/net", CLONE_NEWNET, &fd, &err), 0, "open own net namespace");
	is_int(ns_is_own(proc, fd, CLONE_NEWNET, &own, &err), 0, "compare");
	ok(own, "it is our own");
	close(fd);
	is_int(ns_open("/proc/self/ns/net", CLONE_NEWUTS, &fd, &err), -EINVAL, "wrong type");
	is_str(err.text, "namespace path /proc/self/ns/net is a network namespace, not a uts namespace",
	       "its message");
	is_int(ns_open("/etc/passwd", CLONE_NEWUTS, &fd, &err), -EINVAL, "a file is no namespace");
	is_str(err.text, "uts namespace path /etc/passwd is not a namespace", "its message");
	is_int(ns_open("/no/such", CLONE_NEWPID, &fd, &err), -ENOENT, "missing");
	is_str(err.text, "open pid namespace /no/such: no such file or directory", "its message");
	close(mkstemp(fifo));
	unlink(fifo);
	ok(mkfifo(fifo, 0600) == 0, "fifo");
	alarm(10);
	is_int(ns_open(fifo, CLONE_NEWPID, &fd, &err), -EINVAL, "a FIFO does not block");
	alarm(0);
	unlink(fifo);
}

static void test_create(void)
{
	const struct ns_spec spec = {
		.create = CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID |
			  CLONE_NEWCGROUP | CLONE_NEWTIME,
	};
	static const char *const fresh[] = { "uts", "ipc", "net", "mnt", "pid" };
	static const char *const kept[] = { "cgroup", "time", "user" };
	struct pidref p = PIDREF_NULL;
	int code = 7, status = -1;
	size_t i;

	is_int(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err), 0, "new namespaces");
	for (i = 0; i < ELEMENTSOF(fresh); i++)
		ok(ns_ino(p.pid, fresh[i]) && !same_ns(p.pid, getpid(), fresh[i]), "%s is new", fresh[i]);
	for (i = 0; i < ELEMENTSOF(kept); i++)
		ok(same_ns(p.pid, getpid(), kept[i]), "%s is ours", kept[i]);
	is_int(parent_of(p.pid), getpid(), "parent");
	is_int(prctl(PR_GET_DUMPABLE), 1, "dumpable without joins");
	end(&p);

	is_int(ns_spawn(&spec, -EBADF, proc, fn_exit, &code, &p, &err), 0, "one that ends");
	is_int(pidref_reap(&p, &status, &err), 0, "reap");
	is_int(status, 7, "its status");
	pidref_done(&p);
	ok(no_children(), "nothing is left");
}

static void test_join_own(void)
{
	struct ns_spec spec = { .n_join = 3 };
	struct pidref p = PIDREF_NULL;

	spec.join[0] = (struct ns_join){ CLONE_NEWUSER, ns_fd(getpid(), CLONE_NEWUSER) };
	spec.join[1] = (struct ns_join){ CLONE_NEWPID, ns_fd(getpid(), CLONE_NEWPID) };
	spec.join[2] = (struct ns_join){ CLONE_NEWNS, ns_fd(getpid(), CLONE_NEWNS) };
	is_int(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err), 0, "join our own namespaces");
	ok(same_ns(p.pid, getpid(), "user") && same_ns(p.pid, getpid(), "pid"), "they are ours");
	end(&p);

	spec.create = CLONE_NEWPID;
	is_int(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err), -EINVAL, "both new and joined");
	is_str(err.text, "pid namespace both new and joined", "its message");
}

/* In the pid namespace of another: what does it see of itself? */
static _noreturn_ void fn_report_pid(void *arg)
{
	int v[3] = { getpid(), getppid(), prctl(PR_GET_DUMPABLE) };

	(void)!write(*(int *)arg, v, sizeof(v));
	for (;;)
		pause();
}

static void test_join(void)
{
	const struct ns_spec hold = {
		.create = CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC,
	};
	struct pidref h = PIDREF_NULL, p = PIDREF_NULL;
	struct ns_spec spec = { .create = CLONE_NEWIPC, .n_join = 4 };
	int fds[2], v[3] = { 0 };

	is_int(ns_spawn(&hold, -EBADF, proc, fn_pause, NULL, &h, &err), 0, "a holder of namespaces");
	spec.join[0] = (struct ns_join){ CLONE_NEWPID, ns_fd(h.pid, CLONE_NEWPID) };
	spec.join[1] = (struct ns_join){ CLONE_NEWNS, ns_fd(h.pid, CLONE_NEWNS) };
	spec.join[2] = (struct ns_join){ CLONE_NEWNET, ns_fd(h.pid, CLONE_NEWNET) };
	spec.join[3] = (struct ns_join){ CLONE_NEWUTS, ns_fd(h.pid, CLONE_NEWUTS) };
	ok(pipe2(fds, O_CLOEXEC) == 0, "pipe");
	is_int(ns_spawn(&spec, -EBADF, proc, fn_report_pid, &fds[1], &p, &err), 0, "join four, make one");
	ok(same_ns(p.pid, h.pid, "pid") && same_ns(p.pid, h.pid, "net") &&
	   same_ns(p.pid, h.pid, "uts") && same_ns(p.pid, h.pid, "mnt"), "the joined ones");
	ok(!same_ns(p.pid, h.pid, "ipc") && !same_ns(p.pid, getpid(), "ipc"), "the new one");
	is_int(parent_of(p.pid), getpid(), "parent");
	ok(same_ns(getpid(), getpid(), "pid") &&
	   ns_ino(getpid(), "pid_for_children") == ns_ino(getpid(), "pid"),
	   "our next child will be in our pid namespace");
	ok(read(fds[0], v, sizeof(v)) == sizeof(v), "report");
	is_int(v[0], 2, "second process of that pid namespace");
	is_int(v[1], 0, "its parent is outside");
	is_int(v[2], 0, "it is not dumpable");
	is_int(prctl(PR_GET_DUMPABLE), 1, "we are again");
	end(&p);

	end(&h);
	is_int(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err), -ENOMEM, "dead pid namespace");
	ok(strstr(err.text, "has its first process ended?") != NULL, "message: %s", err.text);
	ok(ns_ino(getpid(), "pid_for_children") == ns_ino(getpid(), "pid"), "pid namespace restored");
	ok(no_children(), "nothing is left");
}

static void test_join_fails(void)
{
	struct ns_spec spec = { .n_join = 1 };
	struct pidref p = PIDREF_NULL;
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	spec.join[0] = (struct ns_join){ CLONE_NEWNET, fd };
	is_int(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err), -EINVAL, "failing join in the child");
	is_str(err.text, "join network namespace: invalid argument", "the child's message arrives");
	is_int(p.fd, -EBADF, "no result");
	ok(no_children(), "nothing is left");

	spec.create = CLONE_NEWUSER;
	is_int(ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err), -EINVAL, "failing join in the helper");
	is_str(err.text, "join network namespace: invalid argument", "the helper's message arrives");
	ok(no_children(), "nothing is left");
	close(fd);
}

static const struct id_map map_items[] = { { 0, 100000, 1000 }, { 1000, 0, 1 } };
static const struct id_maps maps = { map_items, ELEMENTSOF(map_items) };

static void is_proc_text(pid_t pid, const char *file, const char *want, const char *name)
{
	char path[64];
	char *text = NULL;

	snprintf(path, sizeof(path), "%d/%s", pid, file);
	if (procfs_read(proc, path, &text, &err) < 0)
		printf("# %s\n", err.text);
	is_str(text, want, name);
	free(text);
}

/* Against a process whose namespace has `maps`. */
static void test_check_maps(pid_t pid)
{
	static const struct id_map split[] = { { 1000, 0, 1 }, { 400, 100400, 600 }, { 0, 100000, 400 } };
	static const struct id_map shorter[] = { { 0, 100000, 999 }, { 1000, 0, 1 } };
	static const struct id_map gap[] = { { 0, 100000, 400 }, { 400, 100401, 600 }, { 1000, 0, 1 } };
	const struct id_maps split_maps = { split, ELEMENTSOF(split) }, shorter_maps = { shorter, 2 };
	const struct id_maps gap_maps = { gap, 3 }, first = { map_items, 1 }, none = { NULL, 0 };
	uint32_t uid = 7;

	is_int(ns_check_maps(proc, pid, &maps, &maps, &err), 0, "the same maps");
	is_int(ns_check_maps(proc, pid, &split_maps, &split_maps, &err), 0, "in another order and split");
	is_int(ns_check_maps(proc, pid, &shorter_maps, &maps, &err), -EINVAL, "one id less");
	is_str(err.text, "its uid_map is another: 2 ranges, from 0 100000 1000", "its message");
	is_int(ns_check_maps(proc, pid, &maps, &shorter_maps, &err), -EINVAL, "one group less");
	ok(strstr(err.text, "gid_map") != NULL, "message: %s", err.text);
	is_int(ns_check_maps(proc, pid, &gap_maps, &maps, &err), -EINVAL, "another outside id in the middle");
	is_int(ns_check_maps(proc, pid, &first, &maps, &err), -EINVAL, "a range is missing");
	is_int(ns_check_maps(proc, pid, &none, &maps, &err), -EINVAL, "none");
	is_int(ns_map_uid(proc, pid, 0, &uid, &err), 0, "root");
	is_int(uid, 100000, "what it is outside");
	is_int(ns_map_uid(proc, pid, 999, &uid, &err), 0, "last of the first range");
	is_int(uid, 100999, "what it is outside");
	is_int(ns_map_uid(proc, pid, 1000, &uid, &err), 0, "second range");
	is_int(uid, 0, "what it is outside");
	is_int(ns_map_uid(proc, pid, 1001, &uid, &err), NS_E_UNMAPPED, "behind them");
	is_int(ns_map_uid(proc, pid, UINT32_MAX, &uid, &err), NS_E_UNMAPPED, "the last id");
	is_int(uid, 0, "result untouched");
	is_int(ns_map_uid(proc, getpid(), 1234, &uid, &err), 0, "our own namespace");
	is_int(uid, 1234, "is the first one here");
	is_int(ns_map_gid(proc, getpid(), 1234, &uid, &err), 0, "a group");
	is_int(ns_map_gid(proc, pid, 1001, &uid, &err), NS_E_UNMAPPED, "a group behind them");
	ok(ns_map_uid(proc, 1 << 22, 0, &uid, &err) < 0, "no such process: %s", err.text);
}

/* Waits for the maps, becomes root, says who it is. */
static _noreturn_ void fn_userns(void *arg)
{
	int *fds = arg;
	int v[4] = { 0 };
	char c;

	close(fds[3]); /* the parent's end, to see it close */
	if (read(fds[2], &c, 1) != 1)
		_exit(1);
	v[0] = ns_become_root(&err);
	v[1] = (int)getuid();
	v[2] = (int)getegid();
	v[3] = getgroups(0, NULL);
	(void)!write(fds[1], v, sizeof(v));
	for (;;)
		pause();
}

static void test_userns(void)
{
	const struct ns_spec hold = { .create = CLONE_NEWNET };
	struct ns_spec spec = { .create = CLONE_NEWUSER | CLONE_NEWUTS | CLONE_NEWPID, .n_join = 1 };
	struct pidref h = PIDREF_NULL, p = PIDREF_NULL;
	int fds[4], v[4] = { 0 }, owner, uts;
	gid_t groups[] = { 5, 6 };
	struct stat a, b;

	setgroups(2, groups);
	is_int(ns_spawn(&hold, -EBADF, proc, fn_pause, NULL, &h, &err), 0, "holder of a net namespace");
	spec.join[0] = (struct ns_join){ CLONE_NEWNET, ns_fd(h.pid, CLONE_NEWNET) };
	ok(pipe2(fds, O_CLOEXEC) == 0 && pipe2(fds + 2, O_CLOEXEC) == 0, "pipes");
	is_int(ns_spawn(&spec, -EBADF, proc, fn_userns, fds, &p, &err), 0,
	       "new user namespace and a joined host net namespace");
	ok(same_ns(p.pid, h.pid, "net"), "net is the holder's");
	ok(!same_ns(p.pid, getpid(), "user") && !same_ns(p.pid, getpid(), "pid"), "user and pid are new");
	is_int(parent_of(p.pid), getpid(), "our child, not the helper's");
	is_int(ns_write_maps(proc, p.pid, &maps, &maps, &err), 0, "write maps");
	is_proc_text(p.pid, "uid_map", "         0     100000       1000\n      1000          0          1\n",
		     "uid_map");
	is_proc_text(p.pid, "setgroups", "allow\n", "setgroups stays allowed");
	test_check_maps(p.pid);
	(void)!write(fds[3], "x", 1);
	ok(read(fds[0], v, sizeof(v)) == sizeof(v), "report");
	is_int(v[0], 0, "become root");
	is_int(v[1], 0, "uid inside");
	is_int(v[2], 0, "gid inside");
	is_int(v[3], 0, "no groups");
	ok(stat("/proc/self", &a) == 0, "stat");
	setgroups(0, NULL);

	/* Owner of the uts namespace that was made in the same clone. */
	uts = ns_fd(p.pid, CLONE_NEWUTS);
	owner = ioctl(uts, NS_GET_USERNS);
	ok(owner >= 0 && fstat(owner, &b) == 0 && b.st_ino == ns_ino(p.pid, "user"),
	   "the new user namespace owns the new uts namespace");

	/* Like exec: everything of it joined, nothing new (one stage). */
	{
		struct ns_spec ex = { .n_join = 4 };
		struct pidref e = PIDREF_NULL;

		ex.join[0] = (struct ns_join){ CLONE_NEWUSER, ns_fd(p.pid, CLONE_NEWUSER) };
		ex.join[1] = (struct ns_join){ CLONE_NEWPID, ns_fd(p.pid, CLONE_NEWPID) };
		ex.join[2] = (struct ns_join){ CLONE_NEWNET, ns_fd(p.pid, CLONE_NEWNET) };
		ex.join[3] = (struct ns_join){ CLONE_NEWUTS, uts };
		is_int(ns_spawn(&ex, -EBADF, proc, fn_pause, NULL, &e, &err), 0, "join a user namespace");
		ok(same_ns(e.pid, p.pid, "user") && same_ns(e.pid, p.pid, "pid") &&
		   same_ns(e.pid, p.pid, "net") && same_ns(e.pid, p.pid, "uts"), "all four");
		is_int(parent_of(e.pid), getpid(), "our child");
		end(&e);

		/* Joined and new together (two stages). */
		ex.create = CLONE_NEWIPC;
		is_int(ns_spawn(&ex, -EBADF, proc, fn_pause, NULL, &e, &err), 0, "join a user namespace, make ipc");
		ok(same_ns(e.pid, p.pid, "user") && same_ns(e.pid, p.pid, "pid"), "joined");
		ok(!same_ns(e.pid, p.pid, "ipc"), "made");
		owner = ioctl(ns_fd(e.pid, CLONE_NEWIPC), NS_GET_USERNS);
		ok(owner >= 0 && fstat(owner, &b) == 0 && b.st_ino == ns_ino(p.pid, "user"),
		   "the joined user namespace owns it");
		is_int(parent_of(e.pid), getpid(), "our child");
		end(&e);
	}
	end(&p);
	end(&h);
	ok(no_children(), "nothing is left");
}

static void test_userns_for_maps(void)
{
	struct id_maps none = { NULL, 0 };
	int fd = -1;

	is_int(ns_userns_for_maps(proc, &maps, &maps, &fd, &err), 0, "user namespace for idmapped mounts");
	is_int(ioctl(fd, NS_GET_NSTYPE), CLONE_NEWUSER, "its type");
	ok(no_children(), "its process is gone");
	close(fd);
	is_int(ns_userns_for_maps(proc, &none, &maps, &fd, &err), -EINVAL, "without maps");
	ok(strstr(err.text, "no id mappings") != NULL, "message: %s", err.text);
	ok(no_children(), "its process is gone");
}

/* In a child, whose checks the parent does not count. */
static void end_quietly(struct pidref *p)
{
	int status;

	pidref_signal(p, SIGKILL);
	pidref_reap(p, &status, &err);
	pidref_done(p);
}

/* As nobody: only the own id without a helper program, and the helper's refusal. */
static int child_rootless(void)
{
	const struct ns_spec spec = { .create = CLONE_NEWUSER };
	const struct id_map own = { 0, 65534, 1 };
	const struct id_maps own_maps = { &own, 1 };
	struct pidref p = PIDREF_NULL;
	char *text = NULL;
	char path[64];
	int r, fds[4], v[4] = { 0 };

	if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
	    setresuid(65534, 65534, 65534) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
		return 77;
	if (pipe2(fds, O_CLOEXEC) < 0 || pipe2(fds + 2, O_CLOEXEC) < 0)
		return 77;
	r = ns_spawn(&spec, -EBADF, proc, fn_userns, fds, &p, &err);
	if (r == -EPERM)
		return 77;
	if (r < 0)
		return 1;
	r = ns_write_maps(proc, p.pid, &own_maps, &own_maps, &err);
	if (r < 0)
		return 2;
	snprintf(path, sizeof(path), "%d/setgroups", p.pid);
	if (procfs_read(proc, path, &text, &err) < 0 || strcmp(text, "deny\n") != 0)
		return 3;
	free(text);
	if (write(fds[3], "x", 1) != 1 || read(fds[0], v, sizeof(v)) != (ssize_t)sizeof(v))
		return 4;
	if (v[0] != 0 || v[1] != 0 || v[2] != 0)
		return 5;
	end_quietly(&p);

	if (ns_spawn(&spec, -EBADF, proc, fn_pause, NULL, &p, &err) < 0)
		return 6;
	r = ns_write_maps(proc, p.pid, &maps, &maps, &err);
	printf("# %d %s\n", r, err.text);
	if (r != -EPERM && r != -ENOENT)
		return 7;
	if (!strstr(err.text, "newgidmap"))
		return 8;
	end_quietly(&p);
	return 0;
}

/* The offsets take effect at the next exec or, as here, fork. */
static int child_time(void)
{
	const struct ns_time_offset off[] = { { "monotonic", 5000, 0 }, { "boottime", 100000, 5 } };
	const struct ns_time_offset bad = { "realtime", 1, 0 };
	struct timespec before, after, mono_before, mono_after;
	int status;
	pid_t pid;

	if (ns_unshare_time(proc, &bad, 1, &err) != -EINVAL)
		return 1;
	clock_gettime(CLOCK_BOOTTIME, &before);
	clock_gettime(CLOCK_MONOTONIC, &mono_before);
	if (ns_unshare_time(proc, off, 2, &err) < 0) {
		printf("# %s\n", err.text);
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		clock_gettime(CLOCK_BOOTTIME, &after);
		clock_gettime(CLOCK_MONOTONIC, &mono_after);
		_exit(after.tv_sec - before.tv_sec >= 100000 && after.tv_sec - before.tv_sec < 100010 &&
		      mono_after.tv_sec - mono_before.tv_sec >= 5000 &&
		      mono_after.tv_sec - mono_before.tv_sec < 5010 ? 0 : 3);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void in_child(int (*fn)(void), const char *name)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int r = fn();

		if (r != 0 && r != 77)
			printf("# %d: %s\n", r, err.text);
		fflush(stdout);
		_exit(r);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "%s # SKIP not possible here", name);
	else
		is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, name);
}

static void test_cgroup(void)
{
	static const char *const roots[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	const struct ns_spec spec = { .create = CLONE_NEWUTS };
	struct pidref p = PIDREF_NULL;
	char dir[128] = "", want[128], path[64];
	char *text = NULL;
	size_t i;
	int fd;

	for (i = 0; i < ELEMENTSOF(roots); i++) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", roots[i]);
		if (access(path, W_OK) == 0 && dir[0] == '\0')
			snprintf(dir, sizeof(dir), "%s/agentrun-test-ns-%d", roots[i], getpid());
	}
	if (dir[0] == '\0' || mkdir(dir, 0755) < 0) {
		ok(true, "clone into a cgroup # SKIP no cgroup2");
		return;
	}
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	is_int(ns_spawn(&spec, fd, proc, fn_pause, NULL, &p, &err), 0, "clone into a cgroup");
	snprintf(path, sizeof(path), "%d/cgroup", p.pid);
	snprintf(want, sizeof(want), "/agentrun-test-ns-%d\n", getpid());
	ok(procfs_read(proc, path, &text, &err) == 0 && strstr(text, want), "it is there");
	free(text);
	end(&p);
	close(fd);
	ok(rmdir(dir) == 0, "the cgroup is empty");
}

static void test_ids(void)
{
	struct ns_join own = { .type = CLONE_NEWNET, .fd = ns_fd(getpid(), CLONE_NEWNET) };
	struct ns_ids host, other;

	is_int(ns_ids_read(proc, &host, &err), 0, "numbers of our namespaces");
	is_int(ns_ids_compare(&host, &host, 0, NULL, 0, &err), 0, "nothing made, nothing changed");
	is_int(ns_ids_compare(&host, &host, CLONE_NEWUTS, NULL, 0, &err), -EPERM, "a new one that is the old one");
	ok(strstr(err.text, "the uts namespace of its creator"), "is named");
	other = host;
	other.ino[2]++;
	is_int(ns_ids_compare(&other, &host, CLONE_NEWNET, NULL, 0, &err), 0, "a new one");
	is_int(ns_ids_compare(&other, &host, 0, NULL, 0, &err), -EPERM, "one that nobody asked for");
	is_int(ns_ids_compare(&host, &host, 0, &own, 1, &err), 0, "a joined one");
	is_int(ns_ids_compare(&other, &host, 0, &own, 1, &err), -EPERM, "another than the one to be joined");
	ok(strstr(err.text, "not in the network namespace that was decided"), "is named as well");
	close(own.fd);
}

int main(void)
{
	if (geteuid() != 0)
		return TAP_SKIP_ALL("needs root");
	TAP_BEGIN();
	is_int(procfs_open(&proc, &err), 0, "open /proc");
	test_names();
	test_ids();
	test_open();
	test_create();
	test_join_own();
	test_join();
	test_join_fails();
	test_userns();
	test_userns_for_maps();
	in_child(child_rootless, "user namespace without privilege");
	in_child(child_time, "time namespace");
	test_cgroup();
	return TAP_END();
}
