/*
 * Binds: sources, flags as mount(8) treats them, flags locked in a user namespace, trees
 * made by the parent, id maps. Really mounts, in a namespace of its own.
 */
#include "mount_fixture.h"

static void test_bind(void)
{
	struct stat st;

	put_dir("src");
	put_dir("src/sub");
	put_file("src/f", "data");
	mount("s", in_scratch("src/sub"), "tmpfs", 0, NULL);
	put_file("src/sub/g", "deep");
	is_int(apply("bind", in_scratch("src"), "/b1", "bind"), 0, "bind");
	is_str(get_file("root/b1/f"), "data", "content");
	ok(get_file("root/b1/sub/g") == NULL, "not recursive");
	is_int(apply("bind", in_scratch("src"), "/b2", "rbind,ro,rprivate"), 0, "rbind,ro");
	is_str(get_file("root/b2/sub/g"), "deep", "recursive");
	ok(mount_has(rooted("/b2"), "ro") && !mount_has(rooted("/b2/sub"), "ro"),
	   "ro is for the top only");
	is_int(apply("bind", in_scratch("src"), "/b3", "rbind,rro,rnosuid,rnoatime"), 0,
	       "rbind,rro");
	ok(mount_has(rooted("/b3"), "ro") && mount_has(rooted("/b3/sub"), "ro") &&
		   mount_has(rooted("/b3/sub"), "nosuid") &&
		   mount_has(rooted("/b3/sub"), "noatime"),
	   "r… options reach all mounts");
	is_int(apply("bind", in_scratch("src/f"), "/etc/new/file", "bind"), 0,
	       "file on a missing target");
	is_str(get_file("root/etc/new/file"), "data", "content of the file");

	is_int(apply("bind", in_scratch("src/f"), "/b1", "bind"), -ENOTDIR, "file on a folder");
	ok(strstr(err.text, ": not a directory") && strstr(err.text, "mount ") &&
		   strstr(err.text, "src/f:/b1"),
	   "says so: %s", err.text);
	is_int(apply("bind", in_scratch("src"), "/etc/new/file", "bind"), -ENOTDIR,
	       "folder on a file");
	is_int(apply("bind", "/nonexistent/x", "/b9", "bind"), -ENOENT, "missing source");
	is_str(err.text,
	       "error mounting \"/nonexistent/x\" to rootfs at \"/b9\": stat /nonexistent/x: no "
	       "such file or directory",
	       "its message");
	ok(stat(rooted("/b9"), &st) < 0, "and no target is left");

	put_link("root/link", in_scratch("lower"));
	is_int(apply("bind", in_scratch("src"), "/link/x", "bind"), 0,
	       "target below a link to a host path");
	ok(stat(in_scratch("lower/x"), &st) < 0, "the host's folder is untouched");
	is_int(apply("bind", in_scratch("src"), "/b4", "bind,shared"), 0, "shared");
	ok(strstr(mount_info(rooted("/b4")), "shared:") != NULL, "propagation is applied");
	is_int(apply("bind", in_scratch("src"), "/b5", "rbind,runbindable"), 0, "runbindable");
	ok(strstr(mount_info(rooted("/b5/sub")), "unbindable") != NULL, "recursively");
	/* Locked in the user namespace below, it would keep the whole root from being cloned (before Linux 6.17). */
	is_int(umount2(rooted("/b5"), MNT_DETACH), 0, "taken off");

	ctx.bundle = scratch;
	is_int(apply("bind", "src/f", "/rel", "bind"), 0, "relative source");
	ctx.bundle = NULL;
	is_str(get_file("root/rel"), "data", "is below the bundle");
	ctx.rootfs_path = in_scratch("root");
	is_int(apply("bind", rooted("/b2/sub"), "/inner", "rbind"), 0, "source inside the root");
	is_str(get_file("root/inner/g"), "deep", "sees the mounts made so far");
	is_int(apply("bind", in_scratch("src"), rooted("/stripped"), "bind"), 0,
	       "destination with the root's path");
	is_str(get_file("root/stripped/f"), "data", "is inside the root");
	ctx.rootfs_path = NULL;

	put_link("src/ln", "f");
	is_int(apply("bind", in_scratch("src/ln"), "/ln", "bind,copy-symlink"), 0, "copy-symlink");
	ok(lstat(rooted("/ln"), &st) == 0 && S_ISLNK(st.st_mode), "a link is made");
	is_int(apply("bind", in_scratch("src/ln"), "/ln", "bind,copy-symlink"), 0,
	       "the same again");
}

/* Flags as runc's suite wants them: mount(8) with any flag clears the others. */
static void test_bind_flags(void)
{
	const char *p = rooted("/m");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", p);
	put_dir("flags");
	mount("f", in_scratch("flags"), "tmpfs", 0, NULL);
	mount(NULL, in_scratch("flags"), NULL,
	      MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOEXEC | MS_NODIRATIME | MS_NOATIME, NULL);
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,rprivate"), 0, "no flag");
	ok(mount_has(path, "ro") && mount_has(path, "noexec") && mount_has(path, "noatime") &&
		   mount_has(path, "nodiratime"),
	   "keeps all: %s", mount_info(path));
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,dev"), 0,
	       "an unrelated clearing flag");
	ok(mount_has(path, "rw") && !mount_has(path, "noexec") && mount_has(path, "noatime"),
	   "clears the others, but not atime: %s", mount_info(path));
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,nosuid"), 0, "nosuid");
	ok(mount_has(path, "rw") && mount_has(path, "nosuid"), "implied rw");
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,atime"), 0, "atime");
	ok(mount_has(path, "noatime"), "as with mount(8) it undoes nothing");
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,relatime"), 0, "relatime");
	ok(mount_has(path, "relatime") && !mount_has(path, "nodiratime"),
	   "replaces the atime mode");
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,nodiratime"), 0, "nodiratime");
	ok(mount_has(path, "relatime") && mount_has(path, "nodiratime"), "implies relatime");
	is_int(apply("bind", in_scratch("flags"), "/m", "bind,nodiratime,strictatime"), 0,
	       "strictatime");
	ok(!mount_has(path, "relatime") && !mount_has(path, "noatime") &&
		   mount_has(path, "nodiratime"),
	   "both");
}

static void test_prepared(void)
{
	struct mount_op op;
	struct stat st;
	struct id_map map = { 0, 100000, 65536 };

	mount(NULL, in_scratch("src/sub"), NULL, MS_SHARED, NULL);
	parse(&op, "bind", in_scratch("src/sub"), "/prep", "bind");
	is_int(mount_source_open(&op, -EBADF, &err), 0, "source opened");
	is_int(mount_tree_prepare(&op, ctx.proc_fd, -EBADF, &err), 0, "tree prepared");
	ok(op.tree_fd >= 0 && op.source_fd < 0, "the tree replaces the source");
	is_int(mount_apply(&op, &ctx, &err), 0, "applied");
	ok(strstr(mount_info(rooted("/prep")), "master:") &&
		   !strstr(mount_info(rooted("/prep")), "shared:"),
	   "a slave of the host's mount, no peer: %s", mount_info(rooted("/prep")));
	mount(NULL, in_scratch("src/sub"), NULL, MS_PRIVATE, NULL);

	parse(&op, "bind", in_scratch("src/sub"), "/idm", "bind,idmap");
	op.uid_maps = op.gid_maps = (struct id_maps){ &map, 1 };
	is_int(mount_source_open(&op, -EBADF, &err), 0, "source of an idmapped mount");
	if (ok(mount_tree_prepare(&op, ctx.proc_fd, -EBADF, &err) == 0, "id map: %s", err.text)) {
		is_int(mount_apply(&op, &ctx, &err), 0, "applied with an id map");
		ok(stat(rooted("/idm/g"), &st) == 0 && st.st_uid == 100000, "root is 100000 there");
	}
	parse(&op, "bind", in_scratch("src/sub"), "/idm2", "bind,idmap");
	(void)mount_source_open(&op, -EBADF, &err);
	is_int(mount_tree_prepare(&op, ctx.proc_fd, -EBADF, &err), -EINVAL,
	       "idmap without any map");
	mount_op_done(&op);
	parse(&op, "bind", "/nonexistent", "/n", "bind");
	is_int(mount_source_open(&op, -EBADF, &err), -ENOENT,
	       "missing source on the parent's side");
	is_str(err.text,
	       "error mounting \"/nonexistent\" to rootfs at \"/n\": stat /nonexistent: no such "
	       "file or directory",
	       "its message");

	parse(&op, "bind", in_scratch("src/f"), "/judged", "bind");
	(void)mount_source_open(&op, -EBADF, &err);
	ok(rename(in_scratch("src/f"), in_scratch("src/f.old")) == 0,
	   "source replaced after it was opened");
	put_file("src/f", "other");
	is_int(mount_apply(&op, &ctx, &err), -ESTALE, "is not mounted");
	ok(mount_source_in_rootfs(&(struct mount_op){ .source = "/r/x" }, "/r") &&
		   !mount_source_in_rootfs(&(struct mount_op){ .source = "/rx" }, "/r") &&
		   !mount_source_in_rootfs(&(struct mount_op){ .source = "/x" }, "/"),
	   "source below the root");
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Without a network namespace of its own, and with locked flags on the sources. */
static int userns_child(void)
{
	int failed = 0;
	char m[PATH_MAX], sys[PATH_MAX];

	snprintf(m, sizeof(m), "%s", rooted("/u"));
	snprintf(sys, sizeof(sys), "%s", rooted("/sys"));
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return 0;
	check(failed, write_text("/proc/self/uid_map", "0 0 1"));
	check(failed, write_text("/proc/self/setgroups", "deny"));
	check(failed, write_text("/proc/self/gid_map", "0 0 1"));
	check(failed, rootfs_prepare(in_scratch("root"), 0, &ctx.rootfs_fd, &err) == 0);
	ctx.in_userns = true;
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind") == 0);
	check(failed, mount_has(m, "ro") && mount_has(m, "noexec") && mount_has(m, "noatime"));
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind,nosuid,nodev") == 0);
	check(failed, mount_has(m, "ro") && mount_has(m, "noexec") && mount_has(m, "nosuid"));
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind,rw") == -EPERM);
	check(failed, strstr(err.text, "operation not permitted") != NULL);
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind,exec") == -EPERM);
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind,relatime") == -EPERM);
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind,atime") == 0);
	check(failed, apply("bind", in_scratch("flags"), "/u", "bind,noatime,nodiratime") == 0);
	check(failed, apply("devpts", "devpts", "/dev/pts",
			    "newinstance,ptmxmode=0666,mode=0620,gid=5") == 0);
	check(failed, apply("tmpfs", "tmpfs", "/ut", "nosuid,tmpcopyup") == 0);
	/* Owners without a map become the namespace's root. */
	check(failed, apply("tmpfs", "tmpfs", "/foreign", "tmpcopyup") == 0);
	check(failed, mode_of(rooted("/foreign/f")) == 0644);
	check(failed,
	      get_file("root/foreign/f") && strcmp(get_file("root/foreign/f"), "alien") == 0);
	check(failed, apply("sysfs", "sysfs", "/sys", "nosuid,noexec,nodev,ro") == 0);
	check(failed, access(rooted("/sys/kernel"), F_OK) == 0);
	check(failed, mount_has(sys, "ro"));
	if (failed)
		printf("# last error: %s\n", err.text);
	return failed;
}

/* Flags of a tree the parent made count as locked although the kernel did not lock them. */
static int userns_tree_child(void)
{
	struct mount_op op;
	int failed = 0;

	parse(&op, "bind", in_scratch("flags"), "/u2", "bind,rw");
	check(failed, mount_source_open(&op, -EBADF, &err) == 0);
	check(failed, mount_tree_prepare(&op, ctx.proc_fd, -EBADF, &err) == 0);
	ctx.in_userns = true;
	check(failed, mount_apply(&op, &ctx, &err) == -EPERM);
	parse(&op, "bind", in_scratch("flags"), "/u2", "bind,nodev");
	check(failed, mount_source_open(&op, -EBADF, &err) == 0);
	check(failed, mount_tree_prepare(&op, ctx.proc_fd, -EBADF, &err) == 0);
	check(failed, mount_apply(&op, &ctx, &err) == 0);
	check(failed, mount_has(rooted("/u2"), "ro") && mount_has(rooted("/u2"), "nodev"));
	return failed;
}

int main(void)
{
	if (!scratch_begin())
		return TAP_SKIP_ALL("mounting needs root");
	TAP_BEGIN();
	if (!fixture_begin())
		return 1;
	put_dir("lower");
	put_dir("root/etc");
	put_dir("root/foreign");
	put_file("root/foreign/f", "alien");
	ok(chown(rooted("/foreign/f"), 7, 8) == 0, "a file of another owner");
	test_bind();
	test_bind_flags();
	test_prepared();
	is_int(in_child(userns_child), 0,
	       "in a user namespace: locked flags, devpts, sysfs, tmpcopyup");
	is_int(in_child(userns_tree_child), 0, "the same rules for a tree made by the parent");
	fixture_end();
	return TAP_END();
}
