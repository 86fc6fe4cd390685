/*
 * Listing of a cgroup's processes, shared by kill, create and the public list.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct cgroup_pid_list {
	pid_t *items;
	size_t n, cap;
};

#define CGROUP_PID_LIST_NULL ((struct cgroup_pid_list){ 0 })

/* Adds the processes of the folder and of all below; a missing folder has none. 0 or -errno. */
int cgroup_members(const char *path, struct cgroup_pid_list *list);
/* Sorts and removes duplicates (a process that moved during the walk). */
void cgroup_pid_list_sort(struct cgroup_pid_list *list);
void cgroup_pid_list_done(struct cgroup_pid_list *list);
#define _cleanup_cgroup_pids_ _cleanup_(cgroup_pid_list_done)
