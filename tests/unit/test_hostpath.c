/*
 * Facts about mount sources on a real file tree, by what the object is, and their cost.
 * Needs root.
 */
#include <time.h>

#include "hostpath_world.h"

static void test_types(void)
{
	static const char *const types[] = { "proc",   "sysfs",	  "devtmpfs", "devpts",
					     "mqueue", "cgroup2", "tmpfs" };
	char name[64];
	size_t i;

	put_dir("t");
	put_dir("t/a b\\c");
	for (i = 0; i < ELEMENTSOF(types); i++) {
		const char *want = str_eq(types[i], "tmpfs") ? "allow" : "refuse kernel-files";

		if (mount(types[i], in_scratch("t/a b\\c"), types[i], 0, NULL) < 0) {
			ok(true, "%s # SKIP %s", types[i], strerror(errno));
			continue;
		}
		snprintf(name, sizeof(name), "%s by type", types[i]);
		refused_as(in_scratch("t/a b\\c"), true, want, name);
		snprintf(name, sizeof(name), "a folder that holds %s", types[i]);
		refused_as(in_scratch("t"), true, want, name);
		refused_as(in_scratch("t"), false, "allow", "the same without recursion");
		(void)umount2(in_scratch("t/a b\\c"), MNT_DETACH);
	}
	put_file("t/file", "x");
	refused_as(in_scratch("t/file"), true, "allow", "a plain file");
	(void)mkfifo(in_scratch("t/fifo"), 0600);
	refused_as(in_scratch("t/fifo"), true, "allow", "a fifo");
	refused_as("/dev/null", true, "shallow allow", "/dev/null");
	if (mknod(in_scratch("t/null"), S_IFCHR | 0666, makedev(1, 3)) == 0)
		refused_as(in_scratch("t/null"), true, "shallow allow",
			   "the same device elsewhere");
	if (mknod(in_scratch("t/mem"), S_IFCHR | 0600, makedev(1, 1)) == 0)
		refused_as(in_scratch("t/mem"), true, "refuse device", "memory");
	if (mknod(in_scratch("t/disk"), S_IFBLK | 0600, makedev(8, 0)) == 0)
		refused_as(in_scratch("t/disk"), true, "refuse device", "a disk");
	refused_as("/proc/self/ns/net", true, "refuse foreign-path", "a namespace");
}

static void test_links(void)
{
	FILE *f;

	(void)mkdir("/run/hl", 0755);
	must(link("/run/secrets/key", "/run/hl/innocent"));
	f = fopen("/run/hl/one", "we");
	if (f)
		fclose(f);
	must(link("/run/hl/one", "/run/hl/two"));
	refused_as("/run/hl/innocent", true, "refuse host-secrets", "a hard link of a secret");
	refused_as("/run/hl/two", true, "allow", "a hard link of something else");
}

/* A child in its own mount namespace holds a tree that looks like an engine's. */
static void test_foreign(void)
{
	char path[PATH_MAX], byte;
	int up[2], hold[2], fd;
	pid_t pid;

	(void)mkdir("/run/gone", 0755);
	fd = open("/run/gone", O_PATH | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)rmdir("/run/gone");
	refused_as(path, true, "refuse foreign-path", "a removed folder");
	if (pipe2(up, O_CLOEXEC) < 0 || pipe2(hold, O_CLOEXEC) < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", up[0]);
	refused_as(path, true, "refuse foreign-path", "a pipe");
	pid = fork();
	if (pid == 0) {
		close(hold[1]);
		if (unshare(CLONE_NEWNS) == 0 &&
		    mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) == 0 &&
		    mount("x", "/mnt", "tmpfs", 0, NULL) == 0 && mkdir("/mnt/look", 0755) == 0)
			(void)!write(up[1], "x", 1);
		(void)!read(hold[0], &byte, 1);
		_exit(0);
	}
	if (read(up[0], &byte, 1) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/root/mnt/look", pid);
		refused_as(path, true, "refuse foreign-path", "a path of another mount namespace");
		snprintf(path, sizeof(path), "/proc/%d/root/run", pid);
		refused(path, "the same place in another mount namespace");
	}
	close(hold[1]);
	(void)waitpid(pid, NULL, 0);
	close(fd);
}

static void test_facts(void)
{
	_cleanup_hostpath_host_ struct hostpath_host host = HOSTPATH_HOST_NULL;
	_cleanup_hostpath_ struct hostpath hp = HOSTPATH_NULL;
	struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	size_t n = 9;
	const char *const *homes = NULL;
	const char *name = NULL;
	uint64_t traps;
	struct stat st;

	put_dir("f");
	put_dir("f/.git");
	put_dir("f/.git/hooks");
	put_file("f/.bashrc", "");
	must(symlink("f", in_scratch("fl")));
	ok(hostpath_host_open(proc_fd, &arena, &host, &err) == 0, "open the host: %s", err.text);
	ok(hostpath_open(&host, AT_FDCWD, in_scratch("fl"), true, &hp, &err) == 0, "open: %s",
	   err.text);
	is_str(hp.path, in_scratch("f"), "canonical path");
	(void)stat(in_scratch("f"), &st);
	ok(hp.dev == st.st_dev && hp.ino == st.st_ino && hp.reachable && S_ISDIR(hp.mode),
	   "identity");
	traps = hostpath_probe(&hp, policy_fs_trap);
	ok(traps == 9, "traps: .git/hooks and .bashrc, got %llx", (unsigned long long)traps);
	ok(hostpath_look(&host, &hp, true, &err) == 0, "look: %s", err.text);
	is_str(hp.fstype, "tmpfs", "filesystem type");
	ok(hp.n_aliases == 0 && hp.n_parts == 0, "no other names");
	hostpath_done(&hp);
	ok(hp.fd < 0, "closed");
	ok(hostpath_open(&host, AT_FDCWD, in_scratch("fl"), false, &hp, &err) == 0 &&
		   S_ISLNK(hp.mode),
	   "a link as such");
	is_str(hp.path, in_scratch("fl"), "its own path");
	hostpath_done(&hp);
	is_int(hostpath_open(&host, AT_FDCWD, in_scratch("nothing"), true, &hp, &err), -ENOENT,
	       "a missing source");
	ok(strstr(err.text, "nothing: no such file or directory") != NULL, "its message: %s",
	   err.text);
	ok(hostpath_canonical(&host, in_scratch("fl"), &name, &err) == 0, "canonical name: %s", err.text);
	is_str(name, in_scratch("f"), "canonical name");
	ok(hostpath_canonical(&host, in_scratch("nothing"), &name, &err) == 0 && !name, "of nothing");
	put_file("passwd", "root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n"
			   "d:x:100:100::/srv/d:/bin/sh\ne:x:1001:1:,,:/srv/people/e:/bin/sh\n"
			   "bad\nnobody:x:65534:1::/nonexistent:/x\nt:x:0:0::/toor:/bin/"
			   "sh\nq:x:1002:1::/home/x/y:/z");
	bind_mount(in_scratch("passwd"), "/etc/passwd");
	ok(hostpath_homes(&arena, &homes, &n, &err) == 0, "homes: %s", err.text);
	ok(n == 3 && str_eq(homes[0], "/srv/people/e") && str_eq(homes[1], "/toor") &&
		   str_eq(homes[2], "/home/x/y"),
	   "homes: %zu", n);
	(void)umount2("/etc/passwd", MNT_DETACH);
	arena_done(&arena);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* All that `create` spends on the mounts of one configuration. */
static double cost_of(const char *const *sources, const char *const *destinations, size_t n)
{
	static const struct policy_fs_rules rules;
	_cleanup_hostpath_host_ struct hostpath_host host = HOSTPATH_HOST_NULL;
	struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	double start = now_us(), spent;
	size_t i, n_homes = 0;
	const char *const *homes = NULL;

	(void)hostpath_host_open(proc_fd, &arena, &host, &err);
	for (i = 0; i < n; i++) {
		_cleanup_hostpath_ struct hostpath hp = HOSTPATH_NULL;
		struct policy_fs_verdict v;
		struct policy_fs_fact f;

		if (hostpath_open(&host, AT_FDCWD, sources[i], true, &hp, &err) < 0)
			continue;
		f = facts_shallow(&hp);
		f.id = ID;
		f.destination = destinations[i];
		if (policy_fs_needs_tree(&rules, &f)) {
			if (!homes)
				(void)hostpath_homes(&arena, &homes, &n_homes, &err);
			f.homes = homes;
			f.n_homes = n_homes;
			(void)hostpath_look(&host, &hp, true, &err);
			facts_deep(&hp, &arena, &f);
		}
		(void)policy_fs_check(&rules, &f, &v);
	}
	spent = now_us() - start;
	hostpath_host_done(&host);
	arena_done(&arena);
	return spent;
}

static double best_cost(const char *const *sources, const char *const *destinations)
{
	double best = 1e9, spent;
	int i;

	for (i = 0; i < 200; i++) {
		spent = cost_of(sources, destinations, 3);
		best = MIN(best, spent);
	}
	return best;
}

/* Every folder of a path that ends in a slash. */
static void make_folders(const char *path)
{
	char part[PATH_MAX];
	const char *p;

	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		(void)mkdir(part, 0755);
	}
}

static void test_cost(void)
{
	static const char dir[] = "/run/containers/storage/overlay-containers/" ID "/userdata/";
	static const char *const destinations[] = { "/etc/hosts", "/etc/resolv.conf",
						    "/etc/passwd" };
	const char *engine[3], *user[] = { in_scratch("f"), in_scratch("s/ws"), "/opt" };
	char path[3][PATH_MAX];
	double e, u;
	size_t i;
	FILE *f;

	make_folders(dir);
	make_folders(in_scratch("s/ws/"));
	for (i = 0; i < 3; i++) {
		snprintf(path[i], PATH_MAX, "%s%s", dir, destinations[i] + strlen("/etc/"));
		f = fopen(path[i], "we");
		if (f)
			fclose(f);
		engine[i] = path[i];
	}
	e = best_cost(engine, destinations);
	u = best_cost(user, (const char *const[]){ "/a", "/b", "/c" });
	/* Twenty times the plain figures, for sanitizers and slow machines. */
	ok(e < 1000, "three engine files cost %.1f us", e);
	ok(u < 6000, "three folders of the user cost %.1f us", u);
}

int main(void)
{
	TAP_BEGIN();
	if (!world_begin())
		return TAP_SKIP_ALL("needs root and mount namespaces");
	test_types();
	test_links();
	test_foreign();
	test_facts();
	test_cost();
	world_end();
	return TAP_END();
}
