/*
 * Population of /dev below the rootfs descriptor, before the pivot.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/mount.h"
#include "util/error.h"

struct devnode {
	const char *path; /* inside the container, anywhere */
	char type; /* c b p */
	unsigned major, minor;
	mode_t mode; /* permission bits */
	uid_t uid;
	gid_t gid;
	int tree_fd; /* > 2: a mount of the node, made by devnodes_trees(), borrowed; else none */
};

/* Makes the nodes; in a user namespace, or where mknod is refused with EPERM, binds the host's node of the same path. An existing different node is an error. */
int devnodes_create(int rootfs_fd, const struct devnode *nodes, size_t count, bool bind, struct error *err);
/*
 * Parent's side, for a new user namespace, in which no node can be made: nodes that the host
 * does not have at their path are made here, for the ids that the maps give, and attached by
 * devnodes_create(). Where this process may not make them either nothing is done.
 */
int devnodes_trees(struct devnode *nodes, size_t count, const struct id_maps *uids, const struct id_maps *gids,
		   int proc_fd, struct error *err);
void devnodes_trees_done(struct devnode *nodes, size_t count);
/* The six defaults (null zero full random urandom tty). */
extern const struct devnode devnodes_default[];
extern const size_t devnodes_default_count;
/* /dev/fd stdin stdout stderr core and ptmx → pts/ptmx. Only where /dev is inside the rootfs's own mounts or missing links can be made; existing ones stay. */
int devnodes_links(int rootfs_fd, struct error *err);
/* Binds the pty slave (descriptor) on /dev/console, making the target. */
int devnodes_console(int rootfs_fd, int pty_fd, struct error *err);
