/*
 * What runs inside containers that want more than their share: one static program with a verb for each
 * thing. Prints what it got; says nothing about whether that is bad.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE "/tmp/hierarchy"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int r = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static void lift_one(const char *type, const char *options, const char *file, const char *value)
{
	char path[128];
	int r;

	if (mount("none", PLACE, type, 0, options) < 0)
		return;
	snprintf(path, sizeof(path), PLACE "/%s", file);
	r = write_file(path, value);
	if (r == 0)
		printf("LIFTED %s\n", file);
	snprintf(path, sizeof(path), PLACE "/deeper");
	if (mkdir(path, 0700) == 0)
		printf("MADE %s\n", path);
	umount2(PLACE, MNT_DETACH);
}

/* lift: its own limits, by the files of its cgroup, in a cgroup namespace of its own. */
static int lift(void)
{
	int uid = (int)getuid(), r;
	char map[64];

	mkdir(PLACE, 0700);
	r = unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP);
	printf("unshare: %s\n", r < 0 ? strerror(errno) : "done");
	if (r < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return 0;
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %d 1", uid);
	write_file("/proc/self/uid_map", map);
	lift_one("cgroup", "memory", "memory.limit_in_bytes", "9223372036854771712");
	lift_one("cgroup", "pids", "pids.max", "max");
	lift_one("cgroup", "cpu", "cpu.cfs_quota_us", "-1");
	lift_one("cgroup", "freezer", "notify_on_release", "1");
	lift_one("cgroup2", NULL, "memory.max", "max");
	lift_one("cgroup2", NULL, "cgroup.freeze", "0");
	return 0;
}

static void all_files(void)
{
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

/* terminals: opens all that it can get, then waits. */
static int terminals(void)
{
	int n = 0;

	all_files();
	while (open("/dev/ptmx", O_RDWR | O_NOCTTY) >= 0)
		n++;
	printf("%d\n", n);
	return pause();
}

/* timers: of which each is a signal that may be pending. */
static int timers(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	int n = 0, id;

	while (syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id) == 0)
		n++;
	printf("%d\n", n);
	return pause();
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*fn)(void); } verbs[] = {
		{ "lift", lift }, { "terminals", terminals }, { "timers", timers },
	};
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; argc == 2 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, argv[1]) == 0)
			return verbs[i].fn();
	return 2;
}
