/*
 * Look-ups and creation below a hostile root, the pivot, masks. Really mounts, in a
 * namespace of its own.
 */
#include <sys/sysmacros.h>

#include "mount_helpers.h"
#include "os/rootfs.h"

static int root_fd;

static const char *fd_path(int fd)
{
	static char text[PATH_MAX];
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static void test_lookup(void)
{
	struct stat st;
	int fd = -EBADF;

	put_dir("root");
	put_dir("root/etc");
	put_dir("outside");
	put_file("outside/secret", "host");
	put_file("root/etc/passwd", "inside");
	put_link("root/abs", "/etc/passwd");
	put_link("root/up", "../../../../../../etc/passwd");
	put_link("root/out", in_scratch("outside/secret"));
	root_fd = open(in_scratch("root"), O_PATH | O_CLOEXEC);

	is_int(rootfs_openat(root_fd, "/abs", O_PATH, 0, &fd), 0, "absolute link opens");
	is_str(fd_path(fd), in_scratch("root/etc/passwd"), "inside the root");
	close(fd);
	is_int(rootfs_openat(root_fd, "up", O_PATH, 0, &fd), 0, "link with many .. opens");
	is_str(fd_path(fd), in_scratch("root/etc/passwd"), "inside the root too");
	close(fd);
	is_int(rootfs_openat(root_fd, "out", O_PATH, 0, &fd), -ENOENT,
	       "a host path is not found inside");
	is_int(rootfs_openat_resolve(root_fd, "abs", O_PATH, 0, 0x04, &fd), -ELOOP,
	       "RESOLVE_NO_SYMLINKS is passed on");
	ok(stat(in_scratch("outside/secret"), &st) == 0, "the host's file is there");
}

static void test_make(void)
{
	struct error err = ERROR_NULL;
	struct stat st;
	const char *name;
	int fd = -EBADF;
	mode_t old = umask(077);

	is_int(rootfs_make_target(root_fd, "/a/b/c", true, &fd, &err), 0, "mkdir -p");
	is_str(fd_path(fd), in_scratch("root/a/b/c"), "right place");
	close(fd);
	ok(stat(in_scratch("root/a/b"), &st) == 0 && S_ISDIR(st.st_mode) &&
		   (st.st_mode & 07777) == 0755,
	   "0755 whatever the umask");
	is_int(umask(old), 077, "the umask is restored");
	is_int(rootfs_make_target(root_fd, "new/file", false, &fd, &err), 0,
	       "file with its folder");
	close(fd);
	ok(stat(in_scratch("root/new/file"), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0,
	   "an empty file");
	is_int(rootfs_make_target(root_fd, "new/file", true, &fd, &err), 0,
	       "an existing file is opened");
	close(fd);
	is_int(rootfs_make_target(root_fd, "new/file/x", true, &fd, &err), -ENOTDIR,
	       "a file is no folder");

	put_dir("root/setgid");
	ok(chmod(in_scratch("root/setgid"), 07755) == 0, "setgid folder");
	is_int(rootfs_make_target(root_fd, "/setgid/x/y", true, &fd, &err), 0, "made below it");
	close(fd);
	ok(stat(in_scratch("root/setgid/x/y"), &st) == 0 && (st.st_mode & 07777) == 02755,
	   "setgid is inherited");

	is_int(rootfs_make_parent(root_fd, "/p/q/node", &fd, &name, &err), 0, "parent");
	is_str(name, "node", "last component");
	is_str(fd_path(fd), in_scratch("root/p/q"), "its folder");
	close(fd);
	is_int(rootfs_make_parent(root_fd, "/", &fd, &name, &err), -EINVAL,
	       "the root has no parent");
}

static void test_make_through_links(void)
{
	struct error err = ERROR_NULL;
	struct stat st;
	int fd = -EBADF;

	put_dir("root/tmp");
	put_link("root/jump", "/tmp/foo/bar");
	put_link("root/etc/hosts", "/jump/baz/hosts");
	is_int(rootfs_make_target(root_fd, "/etc/hosts", false, &fd, &err), 0,
	       "through two dangling links");
	is_str(fd_path(fd), in_scratch("root/tmp/foo/bar/baz/hosts"),
	       "made where they lead, inside");
	close(fd);
	put_link("root/last", "tmp/there");
	is_int(rootfs_make_target(root_fd, "/last", true, &fd, &err), 0,
	       "dangling link at the end");
	is_str(fd_path(fd), in_scratch("root/tmp/there"), "made where it leads");
	close(fd);
	put_link("root/escape", in_scratch("outside"));
	is_int(rootfs_make_target(root_fd, "/escape/canary", false, &fd, &err), 0,
	       "link to a host folder");
	close(fd);
	ok(stat(in_scratch("outside/canary"), &st) < 0, "nothing is made in the host's folder");
	put_link("root/dots", "../../../../../outside/x");
	is_int(rootfs_make_target(root_fd, "/dots/y", true, &fd, &err), 0, "link with ..");
	is_str(fd_path(fd), in_scratch("root/outside/x/y"), "clamped at the root");
	close(fd);
	put_link("root/loop1", "loop2/x");
	put_link("root/loop2", "loop1/y");
	is_int(rootfs_make_missing(root_fd, "/loop1/z", true, &fd, &err), -ELOOP, "link loop");
}

static bool is_null(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* errno of mounting proc in new user, pid and mount namespaces; 0 = it worked. */
static int nested_proc(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0)
			_exit(200);
		pid = fork();
		if (pid == 0)
			_exit(mount("proc", "/proc", "proc", 0, NULL) < 0 ? errno : 0);
		_exit(waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 201);
	}
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

/* The whole sequence in a child: prepare, pivot, mask, read-only, finish. */
static int container(bool move, bool early_null)
{
	char *masks[] = { "/etc/passwd", "/d1",	  "/missing/x", "/d2",
			  "/etc/passwd", "/link", "/f3",	"/proc/sys" };
	char *ro[] = { "/rodir", "/none", "/rodir" };
	struct error err = ERROR_NULL;
	int fd = -EBADF, null_fd = -EBADF, failed = 0;
	struct stat a, b;
	char cwd[64];

	check(failed, !early_null || rootfs_null_open(&null_fd, &err) == 0);
	check(failed, unshare(CLONE_NEWNS) == 0);
	check(failed, rootfs_prepare(in_scratch("root"), 0, &fd, &err) == 0);
	check(failed, early_null || rootfs_null_open(&null_fd, &err) == 0);
	check(failed, mkdirat(fd, "proc", 0755) == 0 || errno == EEXIST);
	check(failed, mount("proc", in_scratch("root/proc"), "proc", 0, NULL) == 0);
	check(failed, (move ? rootfs_move(fd, &err) : rootfs_pivot(fd, &err)) == 0);
	check(failed, getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/") == 0);
	check(failed, access("/outside", F_OK) < 0 || access("/outside/secret", F_OK) < 0);
	check(failed, access("/usr/bin", F_OK) < 0);
	check(failed, rootfs_mask_paths(masks, ELEMENTSOF(masks), null_fd, NULL, &err) == 0);
	/* A second call must not move the first one's mounts away. */
	check(failed, rootfs_mask_paths(masks + 6, 1, null_fd, NULL, &err) == 0);
	check(failed, is_null("/etc/passwd"));
	check(failed, is_null("/f3"));
	check(failed, stat("/d1", &a) == 0 && stat("/d2", &b) == 0 && a.st_dev == b.st_dev);
	check(failed, access("/d1/file", F_OK) < 0);
	check(failed, mkdir("/d1/x", 0755) < 0 && errno == EROFS);
	check(failed, is_null("/tmp/linked"));
	check(failed, rootfs_readonly_paths(ro, ELEMENTSOF(ro), &err) == 0);
	check(failed, mkdir("/rodir/x", 0755) < 0 && errno == EROFS);
	check(failed, mount_has("/rodir", "nosuid"));
	check(failed, mkdir("/still-rw", 0755) == 0 || errno == EEXIST);
	check(failed, rootfs_finish(true, MS_SHARED, &err) == 0);
	check(failed, mkdir("/now-ro", 0755) < 0 && errno == EROFS);
	check(failed, mount_has("/", "ro"));
	check(failed, strstr(mount_info("/"), "shared:") != NULL);
	if (move)
		check(failed, nested_proc() == EPERM);
	if (failed)
		printf("# last error: %s\n", err.text);
	return failed;
}

static int container_pivot(void)
{
	return container(false, true);
}

static int container_late_null(void)
{
	return container(false, false);
}

static int container_move(void)
{
	return container(true, true);
}

static int container_foreign_null(void)
{
	char *masks[] = { "/f3" };
	struct error err = ERROR_NULL;
	int fd = -EBADF, null_fd, failed = 0;

	/* As an unprivileged parent has it: a descriptor in a mount of another namespace. */
	null_fd = open("/dev/null", O_PATH | O_CLOEXEC);
	check(failed, unshare(CLONE_NEWNS) == 0);
	check(failed, rootfs_prepare(in_scratch("root"), 0, &fd, &err) == 0);
	check(failed, rootfs_pivot(fd, &err) == 0);
	check(failed, rootfs_mask_paths(masks, 1, null_fd, NULL, &err) < 0);
	check(failed, mkdir("/dev", 0755) == 0);
	check(failed, symlink("/f3", "/dev/null") == 0);
	check(failed, rootfs_mask_paths(masks, 1, null_fd, NULL, &err) == -EINVAL);
	check(failed, unlink("/dev/null") == 0);
	check(failed, mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3)) == 0);
	check(failed, rootfs_mask_paths(masks, 1, null_fd, NULL, &err) == 0);
	check(failed, is_null("/f3"));
	return failed;
}

static int container_shared(void)
{
	struct error err = ERROR_NULL;
	int fd = -EBADF, failed = 0;
	char before[1024];

	check(failed, unshare(CLONE_NEWNS) == 0);
	snprintf(before, sizeof(before), "%s", mount_info(in_scratch("root")));
	check(failed, rootfs_prepare(in_scratch("root"), MS_SHARED | MS_REC, &fd, &err) == 0);
	check(failed, !*before);
	/* The bind must not be shared before the pivot, which would be refused. */
	check(failed, *mount_info(in_scratch("root")) &&
			      !strstr(mount_info(in_scratch("root")), "shared:"));
	check(failed, rootfs_pivot(fd, &err) == 0);
	return failed;
}

static void test_container(void)
{
	int fd;

	put_dir("root/d1");
	put_dir("root/d2");
	put_dir("root/rodir");
	put_file("root/d1/file", "x");
	put_file("root/f3", "x");
	put_file("root/tmp/linked", "x");
	put_link("root/link", "/tmp/linked");
	mount("x", in_scratch("root/rodir"), "tmpfs", MS_NOSUID, NULL);
	is_int(in_child(container_pivot), 0, "pivot, masks, read-only paths, finish");
	is_int(in_child(container_late_null), 0, "the same with /dev/null opened in the child");
	is_int(in_child(container_move), 0, "the same without pivot_root");
	is_int(in_child(container_foreign_null), 0,
	       "a foreign /dev/null falls back to a verified one");
	is_int(in_child(container_shared), 0, "shared propagation is held off the new root");
	ok(access("/proc/self/stat", F_OK) == 0, "our own /proc is untouched");
	fd = open(in_scratch("root/etc/passwd"), O_RDONLY | O_CLOEXEC);
	ok(fd >= 0 && !is_null(in_scratch("root/etc/passwd")), "our view of the root has no mask");
	close(fd);
}

int main(void)
{
	if (!scratch_begin())
		return TAP_SKIP_ALL("mounting needs root");
	TAP_BEGIN();
	test_lookup();
	test_make();
	test_make_through_links();
	test_container();
	close(root_fd);
	scratch_end();
	return TAP_END();
}
