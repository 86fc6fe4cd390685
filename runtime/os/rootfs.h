/*
 * The container's root: making it a mount of its own, the pivot, and what is
 * hidden or made read-only afterwards. Child side only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/mount.h"

/*
 * Sets the propagation of the whole tree (propagation: MS_* | MS_REC, 0 = MS_SLAVE|MS_REC),
 * binds rootfs onto itself and returns an O_PATH descriptor of that mount.
 */
int rootfs_prepare(const char *rootfs, unsigned long propagation, int *ret_rootfs_fd, struct error *err);
/* The same with a detached mount that takes the place of rootfs; it is taken over on success. */
int rootfs_prepare_tree(const char *rootfs, unsigned long propagation, int *tree_fd, int *ret_rootfs_fd, struct error *err);
/* pivot_root(".", ".") into the descriptor, detach the old root. cwd is the new root. */
int rootfs_pivot(int rootfs_fd, struct error *err);
/* --no-pivot: MS_MOVE over / and chroot, after unmounting or overmounting host /proc and /sys seen from inside. */
int rootfs_move(int rootfs_fd, struct error *err);
/* Own mount namespace absent: chroot only. */
int rootfs_chroot(int rootfs_fd, struct error *err);
/* After the pivot: rootfsPropagation as configured (MS_*), and read-only root. */
int rootfs_finish(bool readonly, unsigned long propagation, struct error *err);

/*
 * Masking, after the pivot: files get the null device, folders one shared read-only tmpfs. The
 * device is the container's own node where that, opened without following links, is char 1:3
 * (CVE-2025-31133); else null_fd, which comes from rootfs_null_open() and was made before the
 * container could touch /dev. Missing paths are skipped, repeated ones are masked once.
 */
int rootfs_mask_paths(char *const *paths, size_t count, int null_fd, const char *label, struct error *err);
/* Each path becomes a read-only mount of itself, its other flags kept. Missing paths are skipped. */
int rootfs_readonly_paths(char *const *paths, size_t count, struct error *err);
/*
 * The host's /dev/null (verified char 1:3) for rootfs_mask_paths(): a private detached
 * mount of it, which any later mount namespace can attach; without CAP_SYS_ADMIN only a
 * descriptor of it, and masking then takes the container's own, verified, device.
 */
int rootfs_null_open(int *ret_fd, struct error *err);
/*
 * Standard streams that are the host's /dev/null become the container's, if it has one: a chmod or chown through
 * /proc/self/fd would be the host's, and criu cannot save what lies on a mount of the host. In the process, after the pivot.
 */
int rootfs_own_null(int rootfs_fd, int proc_fd, struct error *err);

/*
 * openat2 below rootfs_fd with RESOLVE_IN_ROOT|RESOLVE_NO_MAGICLINKS; retries EAGAIN a bounded number of times.
 */
int rootfs_openat(int rootfs_fd, const char *path, int flags, mode_t mode, int *ret_fd);
/* As rootfs_openat() with further RESOLVE_* flags. */
int rootfs_openat_resolve(int rootfs_fd, const char *path, int flags, mode_t mode, uint64_t resolve, int *ret_fd);
/*
 * Opens path below the rootfs as O_PATH, making missing folders (0755) and, for
 * is_dir false, an empty file at the end. Never follows a link out of the root and
 * never creates through a path string (CVE-2024-45310). Dangling links are followed
 * inside the root.
 */
int rootfs_make_target(int rootfs_fd, const char *path, bool is_dir, int *ret_fd, struct error *err);
/* The same for a path known to be missing: saves the first look. */
int rootfs_make_missing(int rootfs_fd, const char *path, bool is_dir, int *ret_fd, struct error *err);
/*
 * The folder of path's last component (made when missing) and that component, which
 * points into path. -EINVAL when there is none ("/", ".." at the end).
 */
int rootfs_make_parent(int rootfs_fd, const char *path, int *ret_fd, const char **ret_name, struct error *err);
