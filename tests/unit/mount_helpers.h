/*
 * For the tests that really mount: a mount namespace of their own, a scratch folder that
 * goes away with it, and what /proc/self/mountinfo says of a path.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/cleanup.h"

static char scratch[] = "/tmp/agentrun-test-XXXXXX";

/* False when mounts are not possible here. The scratch folder is a tmpfs of this namespace. */
static inline bool scratch_begin(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0 || !mkdtemp(scratch))
		return false;
	return mount("scratch", scratch, "tmpfs", 0, "mode=755") == 0;
}

static inline void scratch_end(void)
{
	(void)umount2(scratch, MNT_DETACH);
	(void)rmdir(scratch);
}

/* scratch/PATH in one of a few rotating buffers. */
static inline const char *in_scratch(const char *path)
{
	static char bufs[8][PATH_MAX];
	static unsigned next;
	char *b = bufs[next++ % 8];

	snprintf(b, PATH_MAX, "%s/%s", scratch, path);
	return b;
}

static inline void put_dir(const char *path)
{
	(void)mkdir(in_scratch(path), 0755);
}

static inline void put_file(const char *path, const char *text)
{
	FILE *f = fopen(in_scratch(path), "we");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* A step of the set-up: the test is void without it. */
static inline void must(int result)
{
	if (result < 0) {
		printf("Bail out! set-up of the test: %s\n", strerror(errno));
		exit(1);
	}
}

static inline void put_link(const char *path, const char *target)
{
	must(symlink(target, in_scratch(path)));
}

static inline const char *get_file(const char *path)
{
	static char text[256];
	FILE *f = fopen(in_scratch(path), "re");
	size_t n = 0;

	if (!f)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

/* "OPTIONS TAGS - FSTYPE SOURCE SUPEROPTIONS" of the topmost mount at the absolute path, or "". */
static inline const char *mount_info(const char *path)
{
	static char found[1024];
	char line[2048], point[1024];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int at;

	found[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %*s %*s %1023s %n", point, &at) == 1 &&
		    strcmp(point, path) == 0)
			snprintf(found, sizeof(found), "%.1000s", line + at);
	}
	if (f)
		fclose(f);
	return found;
}

/* Whether the per-mount options of path have the word. */
static inline bool mount_has(const char *path, const char *word)
{
	char options[1024], *save = NULL, *w;

	snprintf(options, sizeof(options), "%s", mount_info(path));
	options[strcspn(options, " ")] = '\0';
	for (w = strtok_r(options, ",", &save); w; w = strtok_r(NULL, ",", &save))
		if (strcmp(w, word) == 0)
			return true;
	return false;
}

/* Runs fn in a child process; its exit status is the number of failed checks. */
static inline int in_child(int (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(fn());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Inside in_child(): prints what failed, counts it. */
#define check(failed, cond)                                                 \
	do {                                                                \
		if (!(cond)) {                                              \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond); \
			fflush(stdout);                                     \
			(failed)++;                                         \
		}                                                           \
	} while (0)
