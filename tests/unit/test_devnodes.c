/*
 * /dev: nodes, links, console, and a hostile /dev. Really mounts, in a namespace of its own.
 */
#include <sys/sysmacros.h>

#include "mount_helpers.h"
#include "os/devnodes.h"

static struct error err;

static int open_root(const char *name)
{
	put_dir(name);
	return open(in_scratch(name), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_node(const char *path, mode_t type, unsigned maj, unsigned min, mode_t mode,
		    uid_t uid, gid_t gid)
{
	struct stat st;

	return lstat(in_scratch(path), &st) == 0 && st.st_mode == (type | mode) &&
	       st.st_rdev == makedev(maj, min) && st.st_uid == uid && st.st_gid == gid;
}

static void test_nodes(int root)
{
	const struct devnode nodes[] = {
		{ "/dev/sub/disk", 'b', 7, 1, S_IFBLK | 0640, 3, 4, 0 },
		{ "/dev/fuse", 'u', 10, 229, 0600, 0, 0, 0 },
		{ "/opt/pipe", 'p', 0, 0, 0666, 0, 0, 0 },
		{ "/dev/ptmx", 'c', 5, 2, 0666, 0, 0, 0 },
	};
	struct devnode changed = devnodes_default[0], other = devnodes_default[0];
	mode_t old = umask(077);
	struct stat st;

	is_int(devnodes_create(root, devnodes_default, devnodes_default_count, false, &err), 0,
	       "defaults");
	is_int(devnodes_create(root, nodes, ELEMENTSOF(nodes), false, &err), 0, "others");
	is_int(umask(old), 077, "the umask is restored");
	ok(is_node("r1/dev/null", S_IFCHR, 1, 3, 0666, 0, 0), "null");
	ok(is_node("r1/dev/zero", S_IFCHR, 1, 5, 0666, 0, 0), "zero");
	ok(is_node("r1/dev/full", S_IFCHR, 1, 7, 0666, 0, 0), "full");
	ok(is_node("r1/dev/random", S_IFCHR, 1, 8, 0666, 0, 0), "random");
	ok(is_node("r1/dev/urandom", S_IFCHR, 1, 9, 0666, 0, 0), "urandom");
	ok(is_node("r1/dev/tty", S_IFCHR, 5, 0, 0666, 0, 0), "tty");
	ok(is_node("r1/dev/sub/disk", S_IFBLK, 7, 1, 0640, 3, 4),
	   "block device; type bits of the mode are ignored");
	ok(is_node("r1/dev/fuse", S_IFCHR, 10, 229, 0600, 0, 0), "type u is a character device");
	ok(is_node("r1/opt/pipe", S_IFIFO, 0, 0, 0666, 0, 0), "fifo");
	ok(lstat(in_scratch("r1/dev/ptmx"), &st) < 0, "ptmx is no node");

	is_int(devnodes_create(root, devnodes_default, devnodes_default_count, false, &err), 0,
	       "again: kept");
	changed.mode = 0600;
	changed.uid = 9;
	is_int(devnodes_create(root, &changed, 1, false, &err), 0, "same device, other mode");
	ok(is_node("r1/dev/null", S_IFCHR, 1, 3, 0600, 9, 0), "is adjusted");
	changed.gid = 8;
	is_int(devnodes_create(root, &changed, 1, false, &err), 0, "same device, other owner");
	ok(is_node("r1/dev/null", S_IFCHR, 1, 3, 0600, 9, 8), "is adjusted too");
	other.minor = 5;
	is_int(devnodes_create(root, &other, 1, false, &err), -EEXIST,
	       "another device is an error");
	ok(strstr(err.text, "/dev/null") != NULL, "that names it: %s", err.text);
	other.type = 'x';
	is_int(devnodes_create(root, &other, 1, false, &err), -EINVAL, "unknown type");
}

static void test_links(int root)
{
	char text[64] = "";
	struct stat st;

	put_file("r1/dev/stdin", "mine");
	is_int(devnodes_links(root, &err), 0, "links");
	ok(readlink(in_scratch("r1/dev/fd"), text, sizeof(text) - 1) == 13 &&
		   strcmp(text, "/proc/self/fd") == 0,
	   "fd");
	memset(text, 0, sizeof(text));
	ok(readlink(in_scratch("r1/dev/ptmx"), text, sizeof(text) - 1) > 0 &&
		   strcmp(text, "pts/ptmx") == 0,
	   "ptmx");
	memset(text, 0, sizeof(text));
	ok(readlink(in_scratch("r1/dev/stderr"), text, sizeof(text) - 1) > 0 &&
		   strcmp(text, "/proc/self/fd/2") == 0,
	   "stderr");
	is_str(get_file("r1/dev/stdin"), "mine", "an existing file stays");
	is_int(lstat(in_scratch("r1/dev/core"), &st) == 0, access("/proc/kcore", F_OK) == 0,
	       "core where kcore is");
	is_int(devnodes_links(root, &err), 0, "again");
}

/* CVE-2026-41579: an image whose /dev leads to the host. */
static void test_hostile_dev(void)
{
	struct stat st;
	int root = open_root("r2");

	put_dir("canary");
	put_file("canary/ptmx", "decoy");
	put_link("r2/dev", in_scratch("canary"));
	is_int(devnodes_create(root, devnodes_default, devnodes_default_count, false, &err), 0,
	       "absolute link: nodes");
	is_int(devnodes_links(root, &err), 0, "absolute link: links");
	ok(lstat(in_scratch("canary/null"), &st) < 0 && lstat(in_scratch("canary/fd"), &st) < 0,
	   "nothing on the host");
	is_str(get_file("canary/ptmx"), "decoy", "the decoy is unchanged");
	ok(lstat(in_scratch("r2/dev"), &st) == 0 && S_ISLNK(st.st_mode),
	   "the image's link is still one");
	close(root);
	root = open_root("r3");
	put_link("r3/dev", "../canary");
	is_int(devnodes_create(root, devnodes_default, 1, false, &err), 0, "relative link");
	ok(is_node("r3/canary/null", S_IFCHR, 1, 3, 0666, 0, 0), "is clamped at the root");
	ok(lstat(in_scratch("canary/null"), &st) < 0, "still nothing on the host");
	close(root);
}

static void test_bind_mode(void)
{
	struct devnode wrong = { "/dev/null", 'c', 1, 5, 0666, 0, 0, 0 };
	struct devnode missing = { "/dev/no-such-device", 'c', 1, 3, 0666, 0, 0, 0 };
	struct stat st;
	int root = open_root("r4");

	is_int(devnodes_create(root, devnodes_default, devnodes_default_count, true, &err), 0,
	       "bind mode");
	ok(stat(in_scratch("r4/dev/urandom"), &st) == 0 && S_ISCHR(st.st_mode) &&
		   st.st_rdev == makedev(1, 9),
	   "is the host's device");
	ok(*mount_info(in_scratch("r4/dev/urandom")), "as a mount");
	is_int(devnodes_create(root, &wrong, 1, true, &err), -ENODEV,
	       "the host's node must be the device asked");
	is_int(devnodes_create(root, &missing, 1, true, &err), -ENOENT, "the host must have it");
	close(root);

	root = open_root("r5");
	put_dir("r5/dev");
	put_file("victim", "v");
	put_link("r5/dev/null", in_scratch("victim"));
	is_int(devnodes_create(root, devnodes_default, 1, true, &err), -EEXIST,
	       "a link in the place is refused");
	ok(!*mount_info(in_scratch("victim")), "and not followed");
	is_int(devnodes_create(root, devnodes_default, 1, false, &err), -EEXIST, "by mknod too");
	close(root);
}

static int userns_child(void)
{
	int failed = 0, root;
	struct stat st;

	/* Without maps: mknod is refused, binds need a namespace copy of our own. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return 0;
	root = open(in_scratch("r6"), O_PATH | O_CLOEXEC);
	check(failed,
	      devnodes_create(root, devnodes_default, devnodes_default_count, false, &err) == 0);
	check(failed, stat(in_scratch("r6/dev/full"), &st) == 0 && st.st_rdev == makedev(1, 7));
	if (failed)
		printf("# %s\n", err.text);
	return failed;
}

static void test_console(void)
{
	int root = open_root("r7"), pty = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int slave;
	struct stat a, b;

	if (pty < 0 || unlockpt(pty) < 0 || ptsname(pty) == NULL) {
		printf("# no pty here\n");
		close(root);
		return;
	}
	slave = open(ptsname(pty), O_RDWR | O_NOCTTY | O_CLOEXEC);
	is_int(devnodes_console(root, slave, &err), 0, "console");
	ok(fstat(slave, &a) == 0 && stat(in_scratch("r7/dev/console"), &b) == 0 &&
		   a.st_rdev == b.st_rdev && a.st_ino == b.st_ino,
	   "is the terminal");
	close(root);
	root = open_root("r8");
	put_dir("r8/dev");
	put_link("r8/dev/console", in_scratch("victim"));
	is_int(devnodes_console(root, slave, &err), -EINVAL, "a link at /dev/console is refused");
	close(slave);
	close(pty);
	close(root);
}

/* A node that the host has not got, for a user namespace: made by the parent. */
static void test_trees(void)
{
	static const struct id_map map = { .container_id = 0, .host_id = 5000, .size = 10 };
	const struct id_maps maps = { .items = &map, .count = 1 };
	struct devnode nodes[] = {
		{ "/dev/null", 'c', 1, 3, 0666, 0, 0, 0 },
		{ "/dev/agentrun-none", 'b', 1, 5, 0157, 2, 3, 0 },
		{ "/dev/agentrun-other", 'c', 1, 5, 0600, 11, 3, 0 },
	};
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int root = open_root("r9");

	is_int(devnodes_trees(nodes, ELEMENTSOF(nodes), &maps, &maps, proc_fd, &err), 0, "trees");
	is_int(nodes[0].tree_fd, 0, "not of what the host has");
	ok(nodes[1].tree_fd > 2 && nodes[2].tree_fd > 2, "of the others");
	is_int(devnodes_create(root, nodes, ELEMENTSOF(nodes), true, &err), 0, "attached");
	ok(is_node("r9/dev/agentrun-none", S_IFBLK, 1, 5, 0157, 5002, 5003), "block device, mapped owner");
	ok(is_node("r9/dev/agentrun-other", S_IFCHR, 1, 5, 0600, 0, 5003), "an owner without a map is left");
	devnodes_trees_done(nodes, ELEMENTSOF(nodes));
	is_int(nodes[1].tree_fd, 0, "released");
	is_int(devnodes_trees(nodes, 1, &maps, &maps, -EBADF, &err), 0, "nothing to make");
	close(root);
	close(proc_fd);
}

int main(void)
{
	int root;

	if (!scratch_begin())
		return TAP_SKIP_ALL("mounting needs root");
	TAP_BEGIN();
	root = open_root("r1");
	test_nodes(root);
	test_links(root);
	close(root);
	test_hostile_dev();
	test_bind_mode();
	put_dir("r6");
	(void)chmod(in_scratch("r6"), 0777);
	put_dir("r6/dev");
	(void)chmod(in_scratch("r6/dev"), 0777);
	is_int(in_child(userns_child), 0, "mknod refused: bound instead");
	test_trees();
	test_console();
	scratch_end();
	return TAP_END();
}
