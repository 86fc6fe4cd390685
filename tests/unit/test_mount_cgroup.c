/*
 * /sys/fs/cgroup of a container for each layout of the host. Really mounts, in a namespace
 * of its own.
 */
#include <linux/magic.h>
#include <sys/statfs.h>

#include "mount_fixture.h"

static bool is_cgroupfs(const char *path, long magic)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == magic;
}

static char paths[24][PATH_MAX];
static const char *list[25];
static bool hybrid;

/* The host's own folders of whatever hierarchies there are stand in for a container's. */
static size_t collect(void)
{
	char line[1024], point[512];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	size_t n = 0;

	while (f && n < ELEMENTSOF(paths) && fgets(line, sizeof(line), f)) {
		char *tail = strstr(line, " - cgroup");
		const char *base, *prefix = "";

		if (!tail || sscanf(line, "%*s %*s %*s %*s %511s", point) != 1 ||
		    strncmp(point, "/sys/fs/cgroup/", 15) != 0)
			continue;
		base = strrchr(point, '/') + 1;
		if (strncmp(tail, " - cgroup2 ", 11) == 0) {
			hybrid = true;
			base = "";
		} else if (strcmp(base, "systemd") == 0) {
			prefix = "name=";
		}
		snprintf(paths[n], sizeof(paths[n]), "%s%s:%s", prefix, base, point);
		list[n] = paths[n];
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

static void test_v1(size_t n, const char *top, bool cgroupns)
{
	char dir[PATH_MAX];
	size_t k, good = 0, readonly = 0;

	ctx.cgroupns = cgroupns;
	is_int(apply("cgroup", "cgroup", top, "nosuid,noexec,nodev,relatime,ro"), 0,
	       cgroupns ? "v1 in a cgroup namespace" : "v1 without its namespace");
	for (k = 0; k < n; k++) {
		const char *base = strrchr(list[k], '/') + 1;

		snprintf(dir, sizeof(dir), "%s/root%s/%.200s", scratch, top, base);
		good += is_cgroupfs(dir,
				    list[k][0] == ':' ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC);
		readonly += mount_has(dir, "ro");
	}
	is_int(good, n, "every hierarchy is there");
	is_int(readonly, n, "every hierarchy is read-only");
	snprintf(dir, sizeof(dir), "%s/root%s", scratch, top);
	ok(mount_has(dir, "ro"), "the folder of them is read-only");
}

static void test_unified(void)
{
	ctx.cgroup_layout = 3;
	ctx.cgroupns = true;
	is_int(apply("cgroup2", "cgroup", "/cg2", "nosuid,noexec,nodev,ro"), 0,
	       "unified, new mount");
	ok(is_cgroupfs(rooted("/cg2"), CGROUP2_SUPER_MAGIC) && mount_has(rooted("/cg2"), "ro"),
	   "read-only cgroup2");
	ctx.cgroupns = false;
	is_int(apply("cgroup", "cgroup", "/cg3", "nosuid,noexec,nodev"), 0, "unified, bind");
	/* The host's tree, which on this host need not be the unified one. */
	ok(mount_has(rooted("/cg3"), "nodev") && access(rooted("/cg3/unified"), F_OK) == access("/sys/fs/cgroup/unified", F_OK),
	   "the host's tree");
}

static void test_entries(void)
{
	char link[64] = "";

	ctx.cgroup_paths = list;
	ctx.cgroup_layout = 0;
	is_int(apply("cgroup", "cgroup", "/cg4", ""), -ENOENT, "no layout, no mount");
	ctx.cgroup_layout = 1;
	list[0] = "bad";
	is_int(apply("cgroup", "cgroup", "/cg5", ""), -EINVAL, "malformed entry");
	list[0] = "name=..:/sys/fs/cgroup";
	is_int(apply("cgroup", "cgroup", "/cg5", ""), -EINVAL, "a name that leaves the folder");
	/* Joined controllers get links; what is bound does not matter here. */
	list[0] = "cpu,cpuacct:/sys/fs/cgroup";
	list[1] = NULL;
	is_int(apply("cgroup", "cgroup", "/cg6", ""), 0, "joined controllers");
	ok(readlink(rooted("/cg6/cpuacct"), link, sizeof(link) - 1) > 0, "have links");
	is_str(link, "cpu,cpuacct", "to their folder");
}

static void test_cgroup(void)
{
	size_t n = collect();

	ctx.cgroup_paths = list;
	ctx.cgroup_layout = hybrid ? 2 : 1;
	if (n > 0) {
		test_v1(n, "/cg", false);
		test_v1(n, "/cg-ns", true);
		ctx.cgroupns = false;
		is_int(apply("cgroup", "cgroup", "/cg-rw", "nosuid,noexec,nodev"), 0, "writable");
		ok(mount_has(rooted("/cg-rw"), "rw"), "stays writable");
	}
	if (hybrid)
		test_unified();
	test_entries();
}

int main(void)
{
	if (!scratch_begin())
		return TAP_SKIP_ALL("mounting needs root");
	TAP_BEGIN();
	if (!fixture_begin())
		return 1;
	test_cgroup();
	fixture_end();
	return TAP_END();
}
