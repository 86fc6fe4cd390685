/*
 * New superblocks as a container gets them: targets, data, what /proc and /sys allow,
 * remounts, tmpcopyup. Really mounts, in a namespace of its own.
 */
#include "mount_fixture.h"

static void test_fs(void)
{
	is_int(apply("tmpfs", "tmpfs", "/new/t", "nosuid,noexec,nodev,size=64k"), 0, "tmpfs");
	is_int(mode_of(rooted("/new/t")), 01777, "1777 on a new mount point");
	ok(strstr(mount_info(rooted("/new/t")), "mode=") == NULL, "and no mode option");
	ok(strstr(mount_info(rooted("/new/t")), "size=64k") != NULL, "data reaches the filesystem");
	ok(mount_has(rooted("/new/t"), "nosuid") && mount_has(rooted("/new/t"), "noexec") &&
		   mount_has(rooted("/new/t"), "nodev"),
	   "flags are set");
	put_dir("root/old");
	ok(chmod(rooted("/old"), 0710) == 0, "folder with a mode");
	is_int(apply("tmpfs", "tmpfs", "/old", "ro,strictatime"), 0, "tmpfs on an existing folder");
	is_int(mode_of(rooted("/old")), 0710, "takes its mode");
	ok(strstr(mount_info(rooted("/old")), "mode=710") != NULL, "and shows it");
	ok(mount_has(rooted("/old"), "ro"), "ro after mount_finish_readonly");
	ok(!mount_has(rooted("/old"), "relatime") && !mount_has(rooted("/old"), "noatime"),
	   "strictatime");
	is_int(apply("tmpfs", "tmpfs", "/old", "mode=1500,private"), 0, "tmpfs with a mode");
	is_int(mode_of(rooted("/old")), 01500, "mode= wins");
	is_int(apply("tmpfs", "tmpfs", "/sync", "sync,dirsync,mand,iversion,lazytime,silent"), 0,
	       "superblock flags");
	ok(strstr(mount_info(rooted("/sync")), "sync,dirsync") != NULL,
	   "sync and dirsync are in force");
	is_int(apply("devpts", "devpts", "/dev/pts",
		     "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5"),
	       0, "devpts as engines ask for it");
	ok(strstr(mount_info(rooted("/dev/pts")), "gid=5,mode=620,ptmxmode=666") != NULL,
	   "with its options");
	is_int(apply("mqueue", "mqueue", "/dev/mqueue", "nosuid,noexec,nodev"), 0, "mqueue");
	is_int(apply("sysfs", "sysfs", "/sys", "nosuid,noexec,nodev,ro"), 0, "sysfs");
	ok(mount_has(rooted("/sys"), "ro"), "read-only");
	is_int(apply("proc", "proc", "/proc", "nosuid,noexec,nodev"), 0, "proc");
	is_int(apply("proc", NULL, "/proc", ""), 0, "proc again, without source");

	is_int(apply("tmpfs", "tmpfs", "/bad", "size=nonsense"), -EINVAL, "bad data");
	ok(strstr(err.text, "error mounting \"tmpfs\" to rootfs at \"/bad\": ") == err.text &&
		   strstr(err.text, "Bad value for 'size'"),
	   "the kernel's message is passed on: %s", err.text);
	is_int(apply("nosuchfs", "x", "/bad", ""), -ENODEV, "unknown type");
	is_int(apply(NULL, "x", "/bad", ""), -EINVAL, "no type");
	is_int(apply("tmpfs", "x", "/", ""), -EINVAL, "not over the root");
	is_int(apply("tmpfs", "x", "/new/..", ""), -EINVAL, "not over the root by ..");
}

static void test_overlay(void)
{
	char data[2048];
	size_t used = 0, i;

	put_dir("lower");
	put_file("lower/f", "low");
	put_dir("upper");
	put_dir("work");
	snprintf(data, sizeof(data), "lowerdir=%s,upperdir=%s,workdir=%s", in_scratch("lower"),
		 in_scratch("upper"), in_scratch("work"));
	is_int(apply("overlay", "overlay", "/ov", data), 0, "overlay");
	is_str(get_file("root/ov/f"), "low", "shows the lower layer");
	used = (size_t)snprintf(data, sizeof(data), "lowerdir=");
	for (i = 0; i < 12; i++)
		used += (size_t)snprintf(data + used, sizeof(data) - used, "%s%s/%.*s%s",
					 i ? ":" : "", scratch, (int)i, "............", "lower");
	/* Twelve layers need folders of these names. */
	for (i = 0; i < 12; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%.*slower", (int)i, "............");
		put_dir(name);
	}
	{
		struct mount_op op = MOUNT_OP_NULL;

		op.fstype = op.source = "overlay";
		op.destination = "/ov2";
		op.data = data;
		is_int(mount_apply(&op, &ctx, &err), 0, "layers longer than fsconfig takes");
		is_str(get_file("root/ov2/f"), "low", "all layers are there");
	}
}

static void test_proc_rules(void)
{
	put_file("cpuinfo", "fake");
	is_int(apply("bind", in_scratch("cpuinfo"), "/proc/cpuinfo", "bind"), 0, "lxcfs file");
	is_str(get_file("root/proc/cpuinfo"), "fake", "is in place");
	is_int(apply("bind", in_scratch("cpuinfo"), "/proc/self/attr/exec", "bind"), -EPERM,
	       "inside /proc");
	ok(strstr(err.text, "cannot be mounted because it is inside /proc") != NULL, "says so: %s",
	   err.text);
	put_link("root/alias", "proc/sys");
	is_int(apply("tmpfs", "tmpfs", "/alias", ""), -EPERM, "inside /proc by a link");
	is_int(apply("tmpfs", "tmpfs", "/x/../proc/sys", ""), -EPERM, "inside /proc by ..");
	is_int(apply("tmpfs", "tmpfs", "/proc", ""), -EPERM, "tmpfs on /proc");
	is_int(apply("bind", "/proc", "/proc", "rbind"), 0, "the host's proc on /proc");

	(void)umount2(rooted("/sys"), MNT_DETACH);
	ok(rmdir(rooted("/sys")) == 0, "no folder at /sys");
	put_link("root/sys", "/old");
	is_int(apply("sysfs", "sysfs", "/sys", ""), -ENOTDIR, "/sys as a link is refused");
	ok(strstr(err.text, "must be mounted on ordinary directory") &&
		   strstr(err.text, "must be a directory, is a symlink"),
	   "says so: %s", err.text);
	is_int(apply("bind", in_scratch("lower"), "/sys", "bind"), -ENOTDIR, "for a bind too");
	ok(unlink(rooted("/sys")) == 0, "link removed");
}

static void test_remount(void)
{
	is_int(apply("tmpfs", "tmpfs", "/re", "nosuid,size=32k"), 0, "tmpfs to remount");
	is_int(apply(NULL, NULL, "/re", "remount,bind,ro,nodev"), 0, "remount");
	ok(mount_has(rooted("/re"), "ro") && mount_has(rooted("/re"), "nodev") &&
		   mount_has(rooted("/re"), "nosuid"),
	   "adds flags, keeps the others");
	is_int(apply("tmpfs", NULL, "/re", "remount,rw,size=128k"), 0, "remount with data");
	ok(mount_has(rooted("/re"), "rw") && strstr(mount_info(rooted("/re")), "size=128k"),
	   "both levels: %s", mount_info(rooted("/re")));
	put_dir("root/plain");
	is_int(apply(NULL, NULL, "/plain", "remount,ro"), -EINVAL, "no mount point");
	is_int(apply(NULL, NULL, "/absent", "remount,ro"), -ENOENT, "missing");
}

static void test_dev_readonly(void)
{
	struct mount_op op;

	is_int(parse(&op, "tmpfs", "tmpfs", "/dev/", "ro,nosuid,mode=755"), 0, "read-only /dev");
	is_int(mount_apply(&op, &ctx, &err), 0, "mounted");
	ok(op.tree_fd >= 0 && mkdir(rooted("/dev/pts"), 0755) == 0, "still writable");
	is_int(mount_finish_readonly(&op, 1, &err), 0, "finished");
	ok(mkdir(rooted("/dev/x"), 0755) < 0 && errno == EROFS, "read-only now");
	is_int(op.tree_fd, -EBADF, "nothing is left open");
	(void)umount2(rooted("/dev"), MNT_DETACH);
}

static void test_copyup(void)
{
	struct stat st;
	char target[16] = "";

	put_dir("root/up");
	put_dir("root/up/d");
	put_file("root/up/d/f", "copied");
	(void)chmod(rooted("/up/d"), 0777);
	(void)chmod(rooted("/up/d/f"), 04751);
	if (chown(rooted("/up/d/f"), 7, 8) < 0 || chmod(rooted("/up/d/f"), 04751) < 0 ||
	    chown(rooted("/up"), 5, 6) < 0 || chmod(rooted("/up"), 0750) < 0)
		printf("# chown failed\n");
	put_link("root/up/out", in_scratch("src"));
	put_dir("root/up/m");
	mount("m", rooted("/up/m"), "tmpfs", 0, "mode=700");
	put_file("root/up/m/other", "x");
	put_dir("root/up/m/deep");
	is_int(apply("tmpfs", "tmpfs", "/up", "tmpcopyup,nosuid,size=1m"), 0, "tmpcopyup");
	is_str(get_file("root/up/d/f"), "copied", "content");
	ok(stat(rooted("/up/d/f"), &st) == 0 && (st.st_mode & 07777) == 04751 && st.st_uid == 7 &&
		   st.st_gid == 8,
	   "mode and owner of a file");
	is_int(mode_of(rooted("/up/d")), 0777, "mode of a folder");
	ok(stat(rooted("/up"), &st) == 0 && (st.st_mode & 07777) == 0750 && st.st_uid == 5 &&
		   st.st_gid == 6,
	   "mode and owner of the top");
	ok(lstat(rooted("/up/out"), &st) == 0 && S_ISLNK(st.st_mode) &&
		   readlink(rooted("/up/out"), target, sizeof(target) - 1) > 0 && target[0] == '/',
	   "a link stays a link");
	ok(stat(rooted("/up/m"), &st) == 0 && get_file("root/up/m/other") == NULL &&
		   access(rooted("/up/m/deep"), F_OK) < 0,
	   "other mounts are not copied");
	put_dir("root/big");
	put_file("root/big/f", "");
	ok(truncate(rooted("/big/f"), 1024 * 1024) == 0, "a file larger than the tmpfs");
	is_int(apply("tmpfs", "tmpfs", "/big", "tmpcopyup,size=64k"), -ENOSPC, "is an error");
	ok(!*mount_info(rooted("/big")), "and nothing is mounted");
}

int main(void)
{
	if (!scratch_begin())
		return TAP_SKIP_ALL("mounting needs root");
	TAP_BEGIN();
	if (!fixture_begin())
		return 1;
	test_fs();
	test_overlay();
	test_proc_rules();
	test_remount();
	test_dev_readonly();
	test_copyup();
	fixture_end();
	return TAP_END();
}
