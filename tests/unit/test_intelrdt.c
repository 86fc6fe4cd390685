/*
 * resctrl rules on a folder that stands for the mount: which group is used, what is
 * compared, what is left behind. (An ordinary folder has no files in a new group, so a
 * group that must be made and written fails here: the undo is what is tested.)
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "os/intelrdt.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

static char root[] = "/tmp/agentrun-rdt-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		printf("# cannot write %s\n", path);
	(void)close(fd);
}

static char *get(const char *name)
{
	struct error err = ERROR_NULL;
	char *text = NULL;
	size_t len;
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)file_read_all(fd, name, 65536, &text, &len, &err);
	(void)close(fd);
	return text;
}

static void make_dir(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	(void)mkdir(path, 0755);
}

static bool there(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	return access(path, F_OK) == 0;
}

static int create(const struct rdt_config *c, struct rdt_group *g, struct error *err)
{
	*g = RDT_GROUP_NULL;
	*err = ERROR_NULL;
	return rdt_create(root, "c1", c, g, err);
}

static void compare(const char *l3, const char *mb, bool want, const char *what)
{
	struct rdt_config c = { .clos_id = "gold", .l3_cache_schema = l3, .mem_bw_schema = mb };
	struct rdt_group g;
	struct error err;
	int r = create(&c, &g, &err);

	is_int(r, want ? 0 : -EINVAL, what);
	if (!want)
		ok(strstr(err.text, "/gold differ from the configured ones") != NULL, "%s",
		   err.text);
	ok(!g.made_path, "nothing was made");
	rdt_group_done(&g);
}

static void test_existing(void)
{
	char *lines[] = { "L3:0=7f0", "MB:0=20\n" };
	struct rdt_config c = { .clos_id = "gold", .schemata = lines, .n_schemata = 2 };
	struct rdt_group g;
	struct error err;
	char *text;

	make_dir("gold");
	put("gold/tasks", "");
	put("gold/schemata", "    L3:0=07f0;1=1f\n    MB:0=20;1=70\n");
	compare("L3:0=7f0;1=1f", "MB:0=20;1=70", true, "equal schemata");
	compare("L3:1=1F", NULL, true, "a part of them, other digits' case");
	compare("L3:0=0x7f0", NULL, true, "with a prefix");
	compare("L3:0=7f0\nMB:0=99", "MB:0=20", true, "an MB line in l3CacheSchema gives way");
	compare("L3:0=7f", NULL, false, "another value");
	compare("L3:2=7f0", NULL, false, "another domain");
	compare("L2:0=7f0", NULL, false, "another resource");
	compare("L3:0=7f0", "MB:0=2", false, "another bandwidth");
	compare("nonsense", NULL, false, "no schema");
	is_int(create(&c, &g, &err), 0, "schemata lines");
	is_int(rdt_attach(&g, 4242, &err), 0, "a process");
	text = get("gold/tasks");
	is_str(text, "4242\n", "goes into tasks");
	free(text);
	rdt_group_done(&g);
}

static void test_names(void)
{
	struct rdt_config c = { .clos_id = "silver" };
	struct rdt_group g;
	struct error err;
	const char *const bad[] = { "..", ".", "", "a/b", "info", "mon_groups" };
	size_t i;

	is_int(create(&c, &g, &err), -ENOENT, "a closID without schemata must exist");
	ok(strstr(err.text, "closID") != NULL, "%s", err.text);
	ok(!there("silver"), "and is not made");
	for (i = 0; i < ELEMENTSOF(bad); i++) {
		c.clos_id = bad[i];
		is_int(create(&c, &g, &err), -EINVAL, "no name for a group");
	}
	c.clos_id = "/";
	is_int(create(&c, &g, &err), 0, "the default group");
	is_str(g.path, root, "is the mount itself");
	rdt_group_done(&g);
}

static void test_made(void)
{
	struct rdt_config c = { .clos_id = "new", .l3_cache_schema = "L3:0=f" };
	struct rdt_group g;
	struct error err;

	make_dir("info");
	put("info/last_cmd_status", "mask f has non-consecutive 1-bits\nmore\n");
	is_int(create(&c, &g, &err), -ENOENT, "schemata that cannot be written");
	ok(strstr(err.text, "(mask f has non-consecutive 1-bits)") != NULL, "%s", err.text);
	ok(!there("new"), "the group is removed again");

	c = (struct rdt_config){ .monitoring = false };
	is_int(create(&c, &g, &err), 0, "no closID, no schemata");
	ok(there("c1"), "a group named like the container");
	ok(g.made_path && str_eq(g.made_path, g.path), "is ours to remove");
	is_int(rdt_remove(g.made_path, &err), 0, "removed");
	ok(!there("c1"), "gone");
	is_int(rdt_remove(g.made_path, &err), 0, "again: no failure");
	is_int(rdt_remove(NULL, &err), 0, "nothing to remove");
	rdt_group_done(&g);
}

static void test_monitoring(void)
{
	struct rdt_config c = { .clos_id = "gold", .monitoring = true };
	struct rdt_group g;
	struct error err;
	char *text;

	is_int(create(&c, &g, &err), -ENOENT, "a group without mon_groups");
	make_dir("gold/mon_groups");
	is_int(create(&c, &g, &err), 0, "monitoring in an existing group");
	ok(there("gold/mon_groups/c1"), "a monitoring group named like the container");
	ok(g.made_path && str_eq(g.made_path, g.mon_path), "only that is ours");
	put("gold/mon_groups/c1/tasks", "");
	is_int(rdt_attach(&g, 77, &err), 0, "a process");
	text = get("gold/mon_groups/c1/tasks");
	is_str(text, "77\n", "goes into both");
	free(text);
	rdt_group_done(&g);
	g.path = (char *)"/nowhere";
	is_int(rdt_attach(&g, 77, &err), -ENOENT, "a group that has gone");
	is_str(err.text, "intelRdt: put process 77 into /nowhere: no such file or directory",
	       "named");
}

static void test_mount(void)
{
	struct error err = ERROR_NULL;
	char *path = NULL;
	int r = rdt_mount_find(&path, &err);

	if (r == 0)
		ok(path && path[0] == '/', "resctrl is mounted at %s", path);
	else
		ok(r == -ENODEV && strstr(err.text, "mount -t resctrl"), "%s", err.text);
	free(path);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

int main(void)
{
	if (!mkdtemp(root))
		return TAP_SKIP_ALL("no temporary folder");
	TAP_BEGIN();
	test_existing();
	test_names();
	test_made();
	test_monitoring();
	test_mount();
	(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return TAP_END();
}
