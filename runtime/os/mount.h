/*
 * One mount of a container as plain data, and the executor that performs it on
 * descriptors with the new mount API (Linux 5.12: mount_setattr). Targets are
 * resolved below the rootfs descriptor with openat2(RESOLVE_IN_ROOT) and never by
 * path text again (CVE-2021-30465).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/arena.h"
#include "util/error.h"

struct id_map { uint32_t container_id, host_id, size; };
struct id_maps { const struct id_map *items; size_t count; };

enum mount_kind {
	MOUNT_FS, /* new superblock of fstype */
	MOUNT_BIND, /* bind of source */
	MOUNT_REMOUNT, /* change flags of what is mounted at the destination */
	MOUNT_CGROUP, /* fstype cgroup or cgroup2: whatever this host's layout needs */
};

struct mount_op {
	enum mount_kind kind;
	const char *source; /* as in the config; bind: host path (relative: below the bundle) */
	const char *destination; /* path inside the container, absolute or taken as below / */
	const char *fstype;
	const char *data; /* remaining options, comma-separated, NULL = none */
	bool recursive; /* rbind */
	bool optional_create; /* create the missing mount point (always true for now) */
	uint64_t sb_flags; /* MS_RDONLY MS_SYNCHRONOUS MS_DIRSYNC MS_LAZYTIME MS_MANDLOCK MS_I_VERSION MS_SILENT for MOUNT_FS */
	uint64_t attr_set, attr_clr; /* MOUNT_ATTR_* of this mount: asked on, asked off */
	uint64_t rec_set, rec_clr; /* the recursive (r…) options */
	unsigned long propagation[4]; /* MS_SHARED… | MS_REC in order, 0-terminated */
	bool tmpcopyup;
	bool copy_symlink, src_nofollow, dest_nofollow; /* crun's options */
	bool idmap, idmap_recursive; /* idmap, ridmap */
	struct id_maps uid_maps, gid_maps; /* idmap without maps: the container's own */
	int source_fd; /* O_PATH of the bind source, opened by the facts stage; -EBADF = not opened */
	/*
	 * Detached clone of the source made by the parent; -EBADF = make it here. After
	 * mount_apply(): the mount itself when it is still to become read-only
	 * (mount_finish_readonly()), else -EBADF.
	 */
	int tree_fd;
	const char *label; /* SELinux mount label or NULL */
	uint64_t mount_id; /* the kernel's number of what mount_apply() attached or changed; 0 = nothing */
};

#define MOUNT_OP_NULL ((struct mount_op){ .source_fd = -EBADF, .tree_fd = -EBADF, .optional_create = true })

/* What a mount needs to know about its surroundings. */
struct mount_ctx {
	int rootfs_fd; /* O_PATH of the container's root, already a mount of its own */
	int proc_fd;
	bool in_userns; /* not the initial user namespace: devices and some flags differ */
	bool cgroupns; /* the container has its own cgroup namespace */
	int cgroup_layout; /* enum cgroup_layout as int: 1 legacy, 2 hybrid, 3 unified */
	const char *const *cgroup_paths; /* NULL-terminated "controller-list:absolute dir on the host" of the container's cgroup */
	/*
	 * Host path of the root, or NULL. Destinations that begin with it lose it, and
	 * sources below it are looked up inside the root, mounts made so far included.
	 */
	const char *rootfs_path;
	const char *bundle; /* folder of relative sources, NULL = working directory */
};

/*
 * Option words into op (spec_mount options in order); words that are no known
 * option are joined into op->data. -EINVAL names the word.
 */
int mount_options_parse(struct arena *arena, char *const *options, size_t count, struct mount_op *op,
			struct error *err);
/* The i-th option word agentrun understands (for `features`), NULL at the end. */
const char *mount_option_name(size_t i);

/*
 * Parent side, before clone, with CAP_SYS_ADMIN over the host's mounts: turns
 * op->source_fd into op->tree_fd (a detached clone, out of the host's peer groups unless
 * shared was asked) with the id mapping applied, so that the child needs no access to
 * the source. Flags are applied by mount_apply(). userns_fd: the namespace for idmap
 * without own maps, or -EBADF. A source_fd that is a link to be copied stays as it is.
 */
int mount_tree_prepare(struct mount_op *op, int proc_fd, int userns_fd, struct error *err);
/* A detached clone of the mount at dir_fd alone, without those below it. */
int mount_tree_clone(int dir_fd, int *ret_fd, struct error *err);
/* Maps the ids of a detached mount, once. -errno: its filesystem may not be able to. */
int mount_tree_map(int tree_fd, int userns_fd);
/* Opens the bind source (O_PATH, follows links) into op->source_fd; bundle_fd for relative ones. */
int mount_source_open(struct mount_op *op, int bundle_fd, struct error *err);
/*
 * Whether the source lies below the root by its text: such a source may only come to be
 * by earlier mounts of the list, so the parent must not open it.
 */
bool mount_source_in_rootfs(const struct mount_op *op, const char *rootfs);
/* Whether the mount wants an id mapping (idmap, ridmap, or maps of its own). */
bool mount_wants_idmap(const struct mount_op *op);
/* Closes what the operation still holds. */
void mount_op_done(struct mount_op *op);

/*
 * Child side, in the container's mount namespace, before pivot_root.
 * Message: error mounting "SRC" to rootfs at "DST": …
 *
 * Bind flags follow mount(8): without any flag those of the source are kept; with one,
 * flags that are not asked are cleared, except that in a user namespace the source's
 * flags count as locked: kept when not mentioned, -EPERM when to be cleared. A tmpfs, and
 * whatever is mounted at /dev, stays writable until mount_finish_readonly().
 */
int mount_apply(struct mount_op *op, const struct mount_ctx *ctx, struct error *err);
/* After mounts and device nodes: applies "ro" where mount_apply() put it off, and closes the descriptors. */
int mount_finish_readonly(struct mount_op *ops, size_t count, struct error *err);
