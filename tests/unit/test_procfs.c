/* The procfs handle: verification, what it refuses to follow, reading and writing. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/procfs.h"
#include "os/syscalls.h"
#include "tests/unit/tap.h"

static struct error err;

static void test_read_write(int proc)
{
	char *text = NULL;
	char want[32];
	struct stat st;
	int fd = -1;

	is_int(procfs_read(proc, "self/comm", &text, &err), 0, "read self/comm");
	is_str(text, "test_procfs\n", "content of self/comm");
	free(text);

	is_int(procfs_write(proc, "self/comm", "renamed", 7, &err), 0, "write self/comm");
	text = NULL;
	(void)procfs_read(proc, "thread-self/comm", &text, &err);
	is_str(text, "renamed\n", "written name is seen");
	free(text);

	is_int(procfs_write(proc, "self/no-such", "x", 1, &err), -ENOENT, "write to a missing file");
	is_str(err.text, "open /proc/self/no-such: no such file or directory", "its message");

	is_int(procfs_openat(proc, "self", O_PATH | O_DIRECTORY, &fd, &err), 0, "open self");
	snprintf(want, sizeof(want), "/proc/%d", getpid());
	ok(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode), "self is a folder");
	close(fd);
}

static void test_refusals(int proc)
{
	int fd = -1;

	is_int(procfs_openat(proc, "self/root/etc", O_PATH, &fd, &err), -ELOOP, "no magic link: root");
	is_int(procfs_openat(proc, "self/fd/0", O_RDONLY, &fd, &err), -ELOOP, "no magic link: fd");
	is_int(procfs_openat(proc, "self/ns/net", O_RDONLY, &fd, &err), -ELOOP, "no magic link: ns");
	is_int(procfs_openat(proc, "../etc/passwd", O_RDONLY, &fd, &err), -EXDEV, "no way up");
	is_int(procfs_openat(proc, "/etc/passwd", O_RDONLY, &fd, &err), -EXDEV, "no absolute path");
}

/* In a mount namespace of its own: a mount over a leaf, over the folder, over /proc. */
static int child_overmount(int outer)
{
	int fd = -1, proc = -1, bad = 0;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	bad += procfs_open(&proc, &err) != 0;
	if (mount("/etc/hostname", "/proc/self/oom_score_adj", NULL, MS_BIND, NULL) < 0)
		return 77;
	bad += procfs_write(proc, "self/oom_score_adj", "0", 1, &err) != -EXDEV;
	bad += strstr(err.text, "mounted over") == NULL;
	if (mount("none", "/proc/self/fd", "tmpfs", 0, NULL) < 0)
		return 77;
	bad += procfs_reopen(proc, 0, O_RDONLY, &fd, &err) != -EXDEV;
	if (mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		return 77;
	bad += procfs_open(&fd, &err) != -EXDEV;
	bad += strstr(err.text, "not the root of a proc filesystem") == NULL;
	if (mount("/etc", "/proc", NULL, MS_BIND, NULL) < 0)
		return 77;
	bad += procfs_open(&fd, &err) != -EXDEV;
	/* The handles from before still work, and one of another mount namespace saw nothing of it. */
	bad += procfs_write(proc, "self/comm", "y", 1, &err) != 0;
	bad += procfs_write(outer, "self/oom_score_adj", "0", 1, &err) != 0;
	return bad;
}

/* A non-root process that is not dumpable does not own its own files. */
static int child_not_dumpable(int proc)
{
	char *text = NULL;

	if (prctl(PR_SET_DUMPABLE, 1) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 77;
	if (prctl(PR_GET_DUMPABLE) == 1)
		return 77;
	if (procfs_write(proc, "self/oom_score_adj", "900", 3, &err) != -EACCES)
		return 1;
	if (procfs_write_self(proc, "oom_score_adj", "900", 3, &err) != 0)
		return 2;
	if (prctl(PR_GET_DUMPABLE) != 0)
		return 3;
	if (procfs_read(proc, "self/oom_score_adj", &text, &err) != 0)
		return 4;
	return strcmp(text, "900\n") == 0 ? 0 : 5;
}

static void in_child(int (*fn)(int), int proc, const char *name)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fn(proc));
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "%s # SKIP needs privilege", name);
	else
		is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, name);
}

static void test_reopen(int proc)
{
	char name[] = "/tmp/test_procfs.XXXXXX", text[8] = "";
	int fd = mkstemp(name), path_fd, again = -1;

	ok(write(fd, "hello", 5) == 5, "temporary file");
	path_fd = open(name, O_PATH | O_CLOEXEC);
	is_int(procfs_reopen(proc, path_fd, O_RDONLY, &again, &err), 0, "open an O_PATH descriptor again");
	ok(read(again, text, 7) == 5, "it is readable");
	is_str(text, "hello", "and is the same file");
	ok(fcntl(again, F_GETFD) & FD_CLOEXEC, "it is close-on-exec");
	close(again);
	close(path_fd);
	close(fd);
	unlink(name);
	is_int(procfs_reopen(proc, 1000, O_RDONLY, &again, &err), -ENOENT, "a descriptor that is not open");
}

static void test_stat(int proc)
{
	unsigned long long start = 0, other = 0;
	char state = '?';
	int status;
	pid_t pid;

	/* A name meant to confuse the parser. */
	prctl(PR_SET_NAME, "a) R 1 (b");
	is_int(procfs_stat(proc, getpid(), &start, &state, &err), 0, "stat of this process");
	ok(state == 'R', "this process is running");
	ok(start > 0, "it has a start time");
	prctl(PR_SET_NAME, "plain");
	(void)procfs_stat(proc, getpid(), &other, &state, &err);
	ok(start == other, "which does not depend on the name");

	pid = fork();
	if (pid == 0)
		_exit(0);
	do
		usleep(1000);
	while (procfs_stat(proc, pid, &start, &state, &err) == 0 && state != 'Z');
	ok(state == 'Z', "a child that has ended is a zombie");
	waitpid(pid, &status, 0);
	is_int(procfs_stat(proc, pid, &start, &state, &err), -ESRCH, "and is gone when reaped");
	is_int(procfs_stat(proc, 0, &start, &state, &err), -ESRCH, "pid 0");
}

/* In a new pid namespace, with the procfs of the old one: a child's number there is not ours. */
static int in_pid_namespace(void *arg)
{
	int proc = *(int *)arg, pidfd = -1, status;
	pid_t pid, there = 0;

	pid = sys_clone_pidfd(&pidfd);
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	if (pid != 2)
		return 1;
	if (procfs_pid_of(proc, pidfd, &there, &err) < 0)
		return 2;
	if (there == pid)
		return 3;
	/* It is the process: the signal goes through the descriptor, and the number shows its end. */
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return procfs_pid_of(proc, pidfd, &there, &err) == -ESRCH ? 0 : 4;
}

static void test_pid_of(int proc)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), status = -1;
	pid_t pid = 0, child;

	is_int(procfs_pid_of(proc, pidfd, &pid, &err), 0, "number of a descriptor's process");
	is_int(pid, getpid(), "in our own namespace it is the usual one");
	is_int(procfs_pid_of(proc, proc, &pid, &err), -EBADMSG, "another kind of descriptor");
	close(pidfd);
	child = clone(in_pid_namespace, stack + sizeof(stack), CLONE_NEWPID | SIGCHLD, &proc);
	if (child < 0) {
		ok(true, "no new pid namespace here # SKIP");
		return;
	}
	waitpid(child, &status, 0);
	is_int(WEXITSTATUS(status), 0, "in a new one it is the outer number, and -ESRCH after the end");
}

static void test_ns(int proc)
{
	struct stat a, b;
	int fd = -1;

	is_int(procfs_open_ns(proc, 0, "uts", &fd, &err), 0, "open own uts namespace");
	ok(fstat(fd, &a) == 0 && stat("/proc/self/ns/uts", &b) == 0 && a.st_ino == b.st_ino,
	   "it is the right one");
	close(fd);
	is_int(procfs_open_ns(proc, getpid(), "net", &fd, &err), 0, "open net namespace by pid");
	ok(fstat(fd, &a) == 0 && stat("/proc/self/ns/net", &b) == 0 && a.st_ino == b.st_ino,
	   "it is the right one, too");
	close(fd);
}

int main(void)
{
	int proc = -1;

	TAP_BEGIN();
	prctl(PR_SET_NAME, "test_procfs");
	is_int(procfs_open(&proc, &err), 0, "open /proc");
	ok(fcntl(proc, F_GETFD) & FD_CLOEXEC, "close-on-exec");
	test_read_write(proc);
	test_refusals(proc);
	in_child(child_overmount, proc, "mounts over /proc are refused");
	in_child(child_not_dumpable, proc, "write to own file while not dumpable");
	test_reopen(proc);
	test_stat(proc);
	test_pid_of(proc);
	test_ns(proc);
	return TAP_END();
}
