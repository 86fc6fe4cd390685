/*
 * Small reads and writes of cgroup files, shared by the files of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cgroup/cgroup.h"

/* The folder in the hierarchy with that controller ("" = v2), or NULL. */
const struct cgroup_dir *cgroup_dir_find(const struct cgroup *cg, const char *controller);
/* The folder whose cgroup.procs is asked for members: the v2 one on unified, else a v1 one. */
const struct cgroup_dir *cgroup_dir_main(const struct cgroup *cg);
/* Where the processes are frozen: *ret_v2 tells which files. NULL when nowhere. */
const struct cgroup_dir *cgroup_dir_freezer(const struct cgroup *cg, bool *ret_v2);

/*
 * A process that entered now would stop at once: the folder or one above it is frozen.
 * 0 or negative errno; no freezer counts as not frozen.
 */
int cgroup_would_freeze(const struct cgroup *cg, bool *ret);

/* Opens a folder for *at calls; fd or negative errno. */
int cgroup_open_dir(const char *path);
/* Reads a file of at most size - 1 bytes and cuts the last newline; length or negative errno. */
ssize_t cgroup_read(int dirfd, const char *file, char *buf, size_t size);
/* A file with one number; "max" gives UINT64_MAX. */
int cgroup_read_u64(int dirfd, const char *file, uint64_t *ret);
/* As file_write_once() for a string. */
int cgroup_write(int dirfd, const char *file, const char *value);
/* The value after "KEY " at the start of a line in text, or def. */
uint64_t cgroup_key_value(const char *text, const char *key, uint64_t def);
/* The folder vanished (ENOENT at open, ENODEV for an open file). */
static inline bool cgroup_is_gone(int r)
{
	return r == -ENOENT || r == -ENODEV;
}
/* Sleeps that grow: step starts at 0; false when total_us have been slept. */
struct cgroup_pause {
	unsigned step_us, slept_us;
};
bool cgroup_pause(struct cgroup_pause *p, unsigned max_step_us, unsigned total_us);
