/*
 * The state folder: ids, roots, container folders, locks and removal, also of
 * folders that somebody has tampered with.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "state/state.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

static char folder[] = "/tmp/agentrun-test-state-XXXXXX";
static struct error err;

static void put(int dirfd, const char *name, const char *text)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		ok(false, "cannot write %s", name);
}

static bool there(int dirfd, const char *name)
{
	return faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_ids(void)
{
	static const char *const good[] = {
		"a", "A-b_c.d+9", "...", ".a", "-x", "0123456789abcdef"
	};
	static const char *const bad[] = { "../x", "a/b", ".",	      "..", "a b",
					   "a\n",  "a:b", "\xc3\xa9", "a*" };
	char longid[2000];
	size_t i;

	for (i = 0; i < ELEMENTSOF(good); i++)
		is_int(state_id_check(good[i], &err), 0, good[i]);
	for (i = 0; i < ELEMENTSOF(bad); i++) {
		char want[128];

		(void)snprintf(want, sizeof(want), "invalid container ID format: \"%s\"", bad[i]);
		is_int(state_id_check(bad[i], &err), -EINVAL, "a bad id");
		is_str(err.text, want, "its text");
	}
	is_int(state_id_check("", &err), -EINVAL, "an empty id");
	is_str(err.text, "container id cannot be empty", "its text");
	memset(longid, 'a', sizeof(longid) - 1);
	longid[sizeof(longid) - 1] = '\0';
	is_int(state_id_check(longid, &err), -EINVAL, "1999 characters");
	ok(str_after(err.text, "invalid container ID format: \"aaaa"), "is a bad format");
	longid[256] = '\0';
	is_int(state_id_check(longid, &err), -ENAMETOOLONG, "256 characters");
	is_str(err.text, "invalid container ID format: 256 characters, 255 at most",
	       "say the limit");
	longid[255] = '\0';
	is_int(state_id_check(longid, &err), 0, "255 characters");
}

static void is_root(bool rootless, const char *xdg, const char *want)
{
	_cleanup_free_ char *root = NULL;

	if (xdg)
		(void)setenv("XDG_RUNTIME_DIR", xdg, 1);
	else
		(void)unsetenv("XDG_RUNTIME_DIR");
	(void)state_root_default(rootless, &root, &err);
	is_str(root, want, "default root");
}

static void test_default_root(void)
{
	pid_t pid;
	int status;

	is_root(false, "/run/user/5", "/run/agentrun");
	is_root(false, "", "/run/agentrun");
	is_root(true, "/run/user/5", "/run/user/5/agentrun");
	if (geteuid() == 0) {
		is_root(true, "", "/run/agentrun");
		is_root(true, NULL, "/run/agentrun");
		is_root(true, "relative", "/run/agentrun");
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			_cleanup_free_ char *root = NULL;

			(void)setenv("XDG_RUNTIME_DIR", "", 1);
			if (setuid(54321) < 0 || state_root_default(true, &root, &err) != -ENOENT)
				_exit(1);
			_exit(!str_eq(err.text,
				      "XDG_RUNTIME_DIR is not set and /run/user/54321 is not "
				      "there: set it, or give --root"));
		}
		ok(waitpid(pid, &status, 0) == pid && status == 0,
		   "no default for a user without a session");
	}
	(void)unsetenv("XDG_RUNTIME_DIR");
}

static int test_root_open(void)
{
	_cleanup_close_ int fd = -EBADF, again = -EBADF;
	char path[128], file[128];
	struct stat st;

	(void)umask(0022);
	(void)snprintf(path, sizeof(path), "%s/one//two/", folder);
	is_int(state_root_open(path, false, &fd, &err), STATE_E_NOT_FOUND, "a missing root");
	is_int(state_root_open(path, true, &fd, &err), 0, "is made with its parents");
	ok(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0700, "mode 0700");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "close-on-exec");
	is_int(state_root_open(path, true, &again, &err), 0, "and found again");

	(void)setenv("XDG_RUNTIME_DIR", folder, 1);
	(void)close(take_fd(&again));
	is_int(state_root_open(path, true, &again, &err), 0, "below XDG_RUNTIME_DIR");
	ok(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 01700,
	   "the sticky bit keeps it from cleaners");
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)close(take_fd(&again));

	(void)fchmod(fd, 0777);
	is_int(state_root_open(path, true, &again, &err), -EPERM, "a root that all may change");
	ok(strstr(err.text, "mode 0777) can be changed by others") != NULL, "is refused");
	(void)fchmod(fd, 0770);
	is_int(state_root_open(path, true, &again, &err), 0, "a group may");
	(void)fchmod(fd, 0700);

	(void)snprintf(file, sizeof(file), "%s/file", folder);
	put(AT_FDCWD, file, "");
	is_int(state_root_open(file, true, &again, &err), -ENOTDIR, "a file in the way");
	is_int(state_root_open("", true, &again, &err), -EINVAL, "an empty --root");
	(void)unlink(file);
	return take_fd(&fd);
}

static void test_dirs(int root)
{
	_cleanup_close_ int fd = -EBADF, fd2 = -EBADF;
	struct stat st;

	(void)umask(0077);
	is_int(state_dir_open(root, "c1", &fd, &err), STATE_E_NOT_FOUND, "no folder yet");
	is_int(state_dir_create(root, "c1", &fd, &err), 0, "create");
	ok(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0711, "mode 0711 whatever the umask");
	is_int(state_dir_create(root, "c1", &fd2, &err), STATE_E_EXISTS, "create again");
	is_int(state_dir_open(root, "c1", &fd2, &err), 0, "open");
	is_int(state_dir_create(root, "../c1", &fd2, &err), -EINVAL,
	       "a bad id does not reach the disk");
	is_int(state_dir_remove(root, "../c1", &err), -EINVAL, "neither for removal");

	/* Half made: whatever order a killed create and its writers got to. */
	put(fd, STATE_CONFIG_FILE, "{}");
	put(fd, STATE_GATE_FILE, "");
	put(fd, FILE_TEMP_PREFIX "0123", "{");
	is_int(state_dir_remove(root, "c1", &err), 0, "a half made container can be removed");
	ok(!there(root, "c1"), "it is gone");
	is_int(state_dir_remove(root, "c1", &err), 0, "a missing one is done");
}

static void test_unsafe_removal(int root)
{
	_cleanup_close_ int fd = -EBADF, fd2 = -EBADF;

	ok(mkdirat(root, "victim", 0700) == 0, "a folder that is not a container");
	fd = openat(root, "victim", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(fd, STATE_FILE, "precious");
	put(fd, "other", "precious");
	is_int(state_dir_remove(root, "victim", &err), -ENOTEMPTY,
	       "foreign content stops the removal");
	is_str(err.text, "remove folder of container victim: \"other\" in it is not ours",
	       "by name");
	ok(there(fd, STATE_FILE) && there(fd, "other"), "before anything is deleted");

	ok(symlinkat("victim", root, "link") == 0, "a link as container folder");
	is_int(state_dir_remove(root, "link", &err), -ENOTDIR, "is not followed");
	is_int(state_dir_open(root, "link", &fd2, &err), -ENOTDIR, "nor opened");
	ok(there(fd, STATE_FILE), "its target is whole");
	(void)unlinkat(root, "link", 0);

	is_int(state_dir_create(root, "c2", &fd2, &err), 0, "a container");
	ok(symlinkat("../victim/other", fd2, STATE_CONFIG_FILE) == 0, "with a link inside");
	is_int(state_dir_remove(root, "c2", &err), 0, "is removed");
	ok(there(fd, "other"), "without the link's target");
	(void)close(take_fd(&fd2));

	is_int(state_dir_create(root, "c3", &fd2, &err), 0, "a container");
	ok(mkdirat(fd2, STATE_CONFIG_FILE, 0700) == 0, "with a folder where a file should be");
	is_int(state_dir_remove(root, "c3", &err), -EISDIR, "is an error");
	(void)unlinkat(fd2, STATE_CONFIG_FILE, AT_REMOVEDIR);
	is_int(state_dir_remove(root, "c3", &err), 0, "until it is gone");

	(void)unlinkat(fd, STATE_FILE, 0);
	(void)unlinkat(fd, "other", 0);
	(void)unlinkat(root, "victim", AT_REMOVEDIR);
}

/* The one folder that a container sees: whatever is in it goes, and nothing outside of it. */
static void test_notify_removal(int root)
{
	_cleanup_close_ int fd = -EBADF, notify = -EBADF;

	put(root, "outside", "precious");
	is_int(state_dir_create(root, "n1", &fd, &err), 0, "a container");
	put(fd, STATE_FILE, "{}");
	ok(mkdirat(fd, STATE_NOTIFY_DIR, 0755) == 0, "with a folder for notifications");
	notify = openat(fd, STATE_NOTIFY_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(notify, "notify.sock", "");
	put(notify, "foreign", "x");
	ok(symlinkat("../../outside", notify, "link") == 0 && mkdirat(notify, "empty", 0) == 0, "and foreign things in it");
	is_int(state_dir_remove(root, "n1", &err), 0, "is removed");
	ok(!there(root, "n1") && there(root, "outside"), "and nothing else");
	(void)close(take_fd(&fd));
	(void)close(take_fd(&notify));

	is_int(state_dir_create(root, "n2", &fd, &err), 0, "a container");
	put(fd, STATE_FILE, "{}");
	ok(mkdirat(fd, STATE_NOTIFY_DIR, 0755) == 0 && mkdirat(fd, STATE_NOTIFY_DIR "/deep", 0755) == 0 &&
	   mkdirat(fd, STATE_NOTIFY_DIR "/deep/er", 0755) == 0, "with a tree");
	is_int(state_dir_remove(root, "n2", &err), -ENOTEMPTY, "is not removed");
	is_str(err.text, "remove notify/deep of container n2: directory not empty", "and says why");
	ok(there(fd, STATE_FILE), "and can be found again");
	(void)unlinkat(fd, STATE_NOTIFY_DIR "/deep/er", AT_REMOVEDIR);
	is_int(state_dir_remove(root, "n2", &err), 0, "until it is cut");
	(void)close(take_fd(&fd));

	is_int(state_dir_create(root, "n3", &fd, &err), 0, "a container");
	ok(symlinkat("..", fd, STATE_NOTIFY_DIR) == 0, "with a link of that name");
	ok(state_dir_remove(root, "n3", &err) < 0, "is not followed: %s", err.text);
	ok(there(root, "outside"), "nothing else is removed");
	(void)unlinkat(fd, STATE_NOTIFY_DIR, 0);
	is_int(state_dir_remove(root, "n3", &err), 0, "removed without it");
	(void)unlinkat(root, "outside", 0);
}

static long elapsed_ms(const struct timespec *from)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000 + (now.tv_nsec - from->tv_nsec) / 1000000;
}

static void test_lock(int root)
{
	_cleanup_close_ int dir = -EBADF, lock = -EBADF, second = -EBADF;
	struct timespec start;
	int status = -1, p[2];
	pid_t pid;
	char c;

	is_int(state_dir_create(root, "locked", &dir, &err), 0, "a container");
	is_int(state_dir_lock(dir, 0, &lock, &err), 0, "lock");
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	is_int(state_dir_lock(dir, 60, &second, &err), STATE_E_BUSY, "a second lock is busy");
	ok(elapsed_ms(&start) >= 50 && elapsed_ms(&start) < 30000, "after its time");
	(void)close(take_fd(&lock));
	is_int(state_dir_lock(dir, 0, &lock, &err), 0, "free when the descriptor is closed");
	(void)close(take_fd(&lock));

	/* The holder removes the container while another waits for the lock. */
	if (pipe2(p, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (state_dir_lock(dir, 0, &lock, &err) != 0 || write(p[1], "x", 1) != 1)
			_exit(1);
		(void)usleep(50000);
		_exit(state_dir_remove(root, "locked", &err) == 0 ? 0 : 2);
	}
	ok(read(p[0], &c, 1) == 1, "another process has the lock");
	is_int(state_dir_lock(dir, 10000, &lock, &err), STATE_E_NOT_FOUND,
	       "the folder went while waiting");
	ok(waitpid(pid, &status, 0) == pid && status == 0, "as the other process meant it");
	is_int(state_dir_lock(dir, 0, &second, &err), STATE_E_NOT_FOUND,
	       "a removed folder has no lock");
	(void)close(p[0]);
	(void)close(p[1]);
}

int main(void)
{
	_cleanup_close_ int root = -EBADF;
	char path[128];

	if (!mkdtemp(folder))
		return TAP_SKIP_ALL("no temporary folder");
	TAP_BEGIN();
	test_ids();
	test_default_root();
	root = test_root_open();
	test_dirs(root);
	test_unsafe_removal(root);
	test_notify_removal(root);
	test_lock(root);
	(void)snprintf(path, sizeof(path), "%s/one/two", folder);
	ok(rmdir(path) == 0, "the root is empty at the end");
	(void)snprintf(path, sizeof(path), "%s/one", folder);
	(void)rmdir(path);
	(void)rmdir(folder);
	return TAP_END();
}
