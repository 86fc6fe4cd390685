/*
 * Reads from PROC/PID/task what becomes of a process's threads. No system call tells
 * whether a group exits as a whole; what is seen is that each of its threads has a SIGKILL of
 * its own pending, or has begun to exit.
 */
#include "os/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "os/procfs.h"

#define LOOKS	   20
#define LOOK_NS	   1000000
#define PF_EXITING 0x4u /* include/linux/sched.h; field 9 of stat(5) */

/* State letter and flags follow the name, which ends with the last parenthesis. */
static bool has_begun_to_exit(const char *stat)
{
	const char *s = strrchr(stat, ')');
	unsigned flags = 0;
	char state = 0;

	if (!s || sscanf(s + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return false;
	return state == 'Z' || state == 'X' || (flags & PF_EXITING);
}

static bool is_being_killed(const char *status)
{
	const char *s = strstr(status, "\nSigPnd:");
	unsigned long long pending = 0;

	return s && sscanf(s + strlen("\nSigPnd:"), "%llx", &pending) == 1 && (pending & (1ull << (SIGKILL - 1)));
}

/* A thread that is gone has ended. */
static bool is_ending(int proc_fd, pid_t pid, const char *tid)
{
	_cleanup_free_ char *status = NULL, *stat = NULL;
	struct error gone;
	char path[64];

	/* First what comes first: a pending signal is taken before the exit begins. */
	(void)snprintf(path, sizeof(path), "%d/task/%.20s/status", pid, tid);
	if (procfs_read(proc_fd, path, &status, &gone) < 0 || is_being_killed(status))
		return true;
	(void)snprintf(path, sizeof(path), "%d/task/%.20s/stat", pid, tid);
	return procfs_read(proc_fd, path, &stat, &gone) < 0 || has_begun_to_exit(stat);
}

static int look(int proc_fd, pid_t pid, bool *ret, struct error *err)
{
	_cleanup_closedir_ DIR *tasks = NULL;
	char path[32], own[16];
	struct dirent *e;
	int fd = -EBADF, r;

	(void)snprintf(path, sizeof(path), "%d/task", pid);
	(void)snprintf(own, sizeof(own), "%d", pid);
	r = procfs_openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, &fd, err);
	if (r < 0)
		return r;
	tasks = fdopendir(fd);
	if (!tasks) {
		(void)close(fd);
		return error_set(err, -errno, "list the threads of process %d", pid);
	}
	*ret = true;
	while (*ret && (errno = 0, e = readdir(tasks)))
		if (e->d_name[0] != '.' && strcmp(e->d_name, own) != 0)
			*ret = is_ending(proc_fd, pid, e->d_name);
	if (*ret && errno != 0)
		return error_set(err, -errno, "list the threads of process %d", pid);
	return 0;
}

int threads_all_ending(int proc_fd, pid_t pid, bool *ret, struct error *err)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int i, r = 0;

	*ret = false;
	for (i = 0; i < LOOKS && r == 0 && !*ret; i++) {
		if (i > 0)
			(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		r = look(proc_fd, pid, ret, err);
	}
	return r;
}
