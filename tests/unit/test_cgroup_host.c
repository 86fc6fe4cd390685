/*
 * Reading of mountinfo and /proc/self/cgroup, and the rules for paths.
 */
#include "cgroup/cgroup_host.h"
#include "tap.h"

static const char hybrid_mounts[] =
	"22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	"34 31 0:31 / /sys/fs/cgroup/my\\040set rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
	"35 31 0:32 /box /sys/fs/cgroup/memory rw,relatime shared:9 master:1 - cgroup cgroup "
	"rw,memory\n"
	"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
	"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
	"42 31 0:38 / /run/cilium/cgroupv2 rw,relatime - cgroup2 none rw\n";

static const char hybrid_self[] = "9:name=systemd:/user.slice\n"
				  "7:blkio:/not/mounted\n"
				  "4:memory:/box/me/here\n"
				  "3:cpuset:/\n"
				  "1:cpu,cpuacct:/a\n"
				  "0::/u/v\n";

static const struct cgroup_hierarchy *find(const struct cgroup_host *h, const char *controllers)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (strcmp(h->hierarchies[i].controllers, controllers) == 0)
			return &h->hierarchies[i];
	return NULL;
}

static void check_path(const struct cgroup_host *h, const char *controllers, const char *path,
		       const char *want)
{
	_cleanup_free_ char *got = NULL;
	struct error err = ERROR_NULL;
	int r = cgroup_host_path(h, find(h, controllers), path, "my-id", &got, &err);

	if (!tap_is_str(r < 0 ? err.text : got, want, path ? path : "(none)", __FILE__, __LINE__))
		printf("#   in hierarchy \"%s\"\n", controllers);
}

static void test_hybrid(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = CGROUP_HOST_NULL;
	struct error err = ERROR_NULL;

	is_int(cgroup_host_parse(hybrid_mounts, hybrid_self, false, &h, &err), 0, "hybrid parses");
	is_int(h.layout, CGROUP_LAYOUT_HYBRID, "and is hybrid");
	is_int(h.n, 5, "five hierarchies: one has no mount");
	is_str(h.hierarchies[h.n - 1].controllers, "", "v2 is the last");
	is_str(find(&h, "cpuset")->mount, "/sys/fs/cgroup/my set", "escapes are decoded");
	is_str(find(&h, "memory")->own, "/me/here", "own path counts from the mounted folder");
	is_str(find(&h, "")->mount, "/sys/fs/cgroup/unified", "mounts elsewhere are not taken");

	check_path(&h, "cpu,cpuacct", "/docker/x", "/sys/fs/cgroup/cpu,cpuacct/docker/x");
	check_path(&h, "cpu,cpuacct", "rel/x", "/sys/fs/cgroup/cpu,cpuacct/a/rel/x");
	check_path(&h, "cpu,cpuacct", NULL, "/sys/fs/cgroup/cpu,cpuacct/a/my-id");
	check_path(&h, "cpu,cpuacct", "", "/sys/fs/cgroup/cpu,cpuacct/a/my-id");
	check_path(&h, "cpuset", "x", "/sys/fs/cgroup/my set/x");
	check_path(&h, "memory", "/docker/x", "/sys/fs/cgroup/memory/docker/x");
	check_path(&h, "memory", "x", "/sys/fs/cgroup/memory/me/here/x");
	check_path(&h, "", "x", "/sys/fs/cgroup/unified/u/v/x");
	check_path(&h, "cpuset", "//a//./b/", "/sys/fs/cgroup/my set/a/b");
	check_path(&h, "cpuset", "/a..b/..c", "/sys/fs/cgroup/my set/a..b/..c");
	check_path(&h, "cpuset", "/a/../b", "cgroup path \"/a/../b\" must not contain \"..\"");
	check_path(&h, "cpuset", "..", "cgroup path \"..\" must not contain \"..\"");
	check_path(
		&h, "cpuset", "/./",
		"cgroup path \"/./\" is the root of the hierarchy: a container needs a folder of "
		"its own");
}

static void test_unified(void)
{
	static const char mounts[] =
		"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		"50 23 0:40 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
	_cleanup_cgroup_host_ struct cgroup_host h = CGROUP_HOST_NULL;
	struct error err = ERROR_NULL;

	is_int(cgroup_host_parse(mounts, "4:memory:/\n0::/user.slice/session.scope\n", true, &h,
				 &err),
	       0, "v2 over hidden v1 mounts parses");
	is_int(h.layout, CGROUP_LAYOUT_UNIFIED, "and is unified");
	is_int(h.n, 1, "hidden v1 mounts do not count");
	check_path(&h, "", "/x", "/sys/fs/cgroup/x");
	check_path(&h, "", "x", "/sys/fs/cgroup/user.slice/x");
	check_path(&h, "", NULL, "/sys/fs/cgroup/user.slice/my-id");
	cgroup_host_done(&h);
	(void)cgroup_host_parse(mounts, "0::/\n", true, &h, &err);
	check_path(&h, "", "x", "/sys/fs/cgroup/x");
	cgroup_host_done(&h);
	(void)cgroup_host_parse(mounts, "0::/one\n", true, &h, &err);
	check_path(&h, "", "x", "/sys/fs/cgroup/x");
}

static void test_others(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = CGROUP_HOST_NULL;
	struct error err = ERROR_NULL;

	(void)cgroup_host_parse("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
				"4:memory:/\n0::/\n", false, &h, &err);
	is_int(h.layout, CGROUP_LAYOUT_LEGACY, "v1 alone is legacy");
	cgroup_host_done(&h);
	(void)cgroup_host_parse("22 1 254:0 / / rw - ext4 /dev/root rw\n", "0::/\n", false, &h,
				&err);
	is_int(h.layout, CGROUP_LAYOUT_NONE, "no mount, no layout");
	is_int(h.n, 0, "and no hierarchy");
	cgroup_host_done(&h);
	(void)cgroup_host_parse(
		"35 31 0:32 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
		"4:memory:/boxer/x\n", false, &h, &err);
	ok(find(&h, "memory")->own == NULL, "/boxer is not below /box");
	check_path(&h, "memory", "/x", "/sys/fs/cgroup/memory/x");
	check_path(&h, "memory", "x",
		   "cgroup path \"x\" is relative, but this process's cgroup is outside "
		   "/sys/fs/cgroup/memory: give an absolute path");
	cgroup_host_done(&h);
	is_int(cgroup_host_parse("", "garbage\n", false, &h, &err), -EINVAL,
	       "a line without colons is an error");
	ok(cgroup_list_has("cpu,cpuacct", "cpuacct"), "word at the end of a list");
	ok(!cgroup_list_has("cpu,cpuacct", "acct"), "part of a word is no word");
	ok(!cgroup_list_has("cpuset", "cpu"), "prefix is no word");
}

int main(void)
{
	TAP_BEGIN();
	test_hybrid();
	test_unified();
	test_others();
	return TAP_END();
}
