/*
 * The walk over a cgroup and all below it, for listing members and for removal.
 */
#pragma once

struct cgroup_visit {
	/* On the way down, for the folder itself, too. Non-zero ends the walk. */
	int (*enter)(void *arg, int dir);
	/* On the way up: all below parent/name was visited; not for the first folder. Non-zero ends the walk. */
	int (*leave)(void *arg, int parent, const char *name);
	void *arg;
};

/*
 * Takes *dir. Either function may be NULL. Folders that vanish on the way are passed over.
 * 0, a negative errno, or what ended the walk.
 */
int cgroup_walk(int *dir, const struct cgroup_visit *visit);
