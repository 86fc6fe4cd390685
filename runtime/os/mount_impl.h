/*
 * What the mount*.c and rootfs*.c files share among themselves: the few system calls of
 * the mount API as functions returning negative errno. Not for other files.
 */
#pragma once

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#include "os/mount.h"
#include "os/syscalls.h"
#include "util/error.h"

#define MOUNT_LOCKABLE \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define MOUNT_ATIME ((uint64_t)MOUNT_ATTR__ATIME)

/* "proc" or "cgroup"-like names are compared often. */
static inline bool mount_type_is(const struct mount_op *op, const char *fstype)
{
	return op->fstype && strcmp(op->fstype, fstype) == 0;
}

/* move_mount of a descriptor onto a descriptor. */
static inline int mount_attach(int tree_fd, int target_fd)
{
	return move_mount(tree_fd, "", target_fd, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

/* A detached clone; path "" means dirfd itself. flags: AT_RECURSIVE, AT_SYMLINK_NOFOLLOW. */
static inline int mount_clone(int dirfd, const char *path, unsigned flags, int *ret_fd)
{
	int fd = open_tree(dirfd, path,
			   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags |
				   (*path ? 0 : AT_EMPTY_PATH));

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static inline int mount_setattr_fd(int fd, bool recursive, const struct mount_attr *attr)
{
	struct mount_attr a = *attr;

	return mount_setattr(fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &a,
			     sizeof(a)) < 0
		       ? -errno
		       : 0;
}

/* flags: MS_SHARED and friends, with MS_REC. */
static inline int mount_propagation_fd(int fd, unsigned long flags)
{
	return mount_setattr_fd(
		fd, (flags & MS_REC) != 0,
		&(struct mount_attr){ .propagation = flags & ~(unsigned long)MS_REC });
}

/* mount_fs.c: a detached mount of a new superblock. in_userns allows devpts to go without gid=. */
struct mount_fs {
	const char *fstype, *source, *data, *label;
	uint64_t sb_flags, attrs;
	bool in_userns;
};
int mount_fs_create(const struct mount_fs *fs, int *ret_fd, struct error *err);
/* New options for the superblock mounted at fd. */
int mount_fs_reconfigure(const struct mount_fs *fs, int fd, struct error *err);

/* The op's propagation list, in order. */
static inline int mount_propagation_apply(const struct mount_op *op, int fd, struct error *err)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(op->propagation) && op->propagation[i]; i++) {
		int r = mount_propagation_fd(fd, op->propagation[i]);

		if (r < 0)
			return error_set(err, r, "set the propagation of the mount");
	}
	return 0;
}

/* mount.c: remembers what is mounted at fd, for mount_verify(). */
int mount_id_note(struct mount_op *op, int fd, struct error *err);

/* mount_tree.c: the detached clone of the source, made in this mount namespace. */
int mount_tree_open(const struct mount_op *op, const struct mount_ctx *ctx, int *ret_fd,
		    struct error *err);
/* The op's flags onto a detached clone. */
int mount_tree_flags(const struct mount_op *op, bool locked, int tree_fd, struct error *err);
/* copy-symlink: 1 when the source is a link and was copied, else 0. */
int mount_copy_symlink(const struct mount_op *op, const struct mount_ctx *ctx, const char *dest,
		       struct error *err);

/* mount_target.c: the destination without the root's host path. */
const char *mount_destination(const struct mount_op *op, const struct mount_ctx *ctx);
/*
 * Opens the destination, making it when it is missing (a file when the bind source in
 * tree_fd is one). *ret_existed may be NULL. tree_fd -EBADF: a folder.
 */
int mount_target_open(const struct mount_op *op, const struct mount_ctx *ctx, int tree_fd,
		      int *ret_fd, bool *ret_existed, struct error *err);

/* mount_cgroup.c */
int mount_cgroup_apply(struct mount_op *op, const struct mount_ctx *ctx, struct error *err);

/* mount_copyup.c: the folder's content into the tmpfs, links not followed, other mounts left out.
 */
int mount_copyup(int dir_fd, int tmpfs_fd, bool keep_owner, struct error *err);
