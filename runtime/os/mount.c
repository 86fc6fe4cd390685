/*
 * Performs one mount: source as a detached tree, flags on it while nobody sees it, then
 * attached to the opened destination.
 */
#include "os/mount.h"

#include <assert.h>
#include <limits.h>
#include <sys/stat.h>

#include "os/mount_impl.h"
#include "os/rootfs.h"
#include "util/arena.h"
#include "util/str.h"

/* What messages call the source. */
static const char *shown_source(const struct mount_op *op)
{
	if (op->source)
		return op->source;
	return op->fstype ? op->fstype : "";
}

static bool is_dev(const struct mount_op *op, const struct mount_ctx *ctx)
{
	const char *dest = mount_destination(op, ctx);
	size_t len;

	dest += strspn(dest, "/");
	len = strcspn(dest, "/");
	return len == 3 && memcmp(dest, "dev", 3) == 0 && !dest[len + strspn(dest + len, "/")];
}

/* Mount points and device nodes are still to be made inside these. */
static bool readonly_later(const struct mount_op *op, const struct mount_ctx *ctx)
{
	return (op->attr_set & MOUNT_ATTR_RDONLY) &&
	       ((op->kind == MOUNT_FS && mount_type_is(op, "tmpfs")) || is_dev(op, ctx));
}

static int attach(const struct mount_op *op, int tree_fd, int target_fd, struct error *err)
{
	struct stat from, to;
	int r;

	r = mount_attach(tree_fd, target_fd);
	if (r == 0)
		return 0;
	/* The kernel says EINVAL or ENOTDIR, by version, for a folder on a file and the reverse. */
	if ((r == -EINVAL || r == -ENOTDIR) && fstat(tree_fd, &from) == 0 &&
	    fstat(target_fd, &to) == 0 && S_ISDIR(from.st_mode) != S_ISDIR(to.st_mode))
		r = -ENOTDIR;
	return error_set(err, r, "mount %s:%s", shown_source(op), op->destination);
}

int mount_id_note(struct mount_op *op, int fd, struct error *err)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
		return error_set(err, -errno, "ask for the number of the mount");
	op->mount_id = st.stx_mnt_id;
	return 0;
}

/* Attaches the finished tree; keeps its descriptor for mount_finish_readonly() when asked. */
static int finish(struct mount_op *op, int *tree_fd, int target_fd, bool later, struct error *err)
{
	int r;

	r = attach(op, *tree_fd, target_fd, err);
	if (r < 0)
		return r;
	r = mount_propagation_apply(op, *tree_fd, err);
	if (r == 0)
		r = mount_id_note(op, *tree_fd, err);
	if (r < 0)
		return r;
	if (later)
		op->tree_fd = take_fd(tree_fd);
	return 0;
}

static bool has_option(const char *data, const char *key)
{
	const char *p = data;
	size_t len = strlen(key);

	while (p && *p) {
		if (strncmp(p, key, len) == 0)
			return true;
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	return false;
}

/* A tmpfs over an existing folder takes its mode, as runc does; over a new one the default 1777. */
static int tmpfs_data(struct arena *arena, const struct mount_op *op, int target_fd,
		      struct mount_fs *fs, struct error *err)
{
	struct stat st;

	if (has_option(op->data, "mode="))
		return 0;
	if (fstat(target_fd, &st) < 0)
		return error_set(err, -errno, "stat %s", op->destination);
	fs->data = arena_printf(arena, "mode=%04o%s%s", (unsigned)(st.st_mode & 07777),
				op->data ? "," : "", op->data ? op->data : "");
	return fs->data ? 0 : error_oom(err);
}

/* A network namespace of another user namespace has no sysfs for us: the host's, as it is. */
static int host_sysfs(const struct mount_op *op, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct mount_attr attr = { 0 };
	int r;

	r = mount_clone(AT_FDCWD, "/sys", AT_RECURSIVE, &fd);
	if (r < 0)
		return error_set(err, r, "clone the host's /sys");
	/* Cgroups below it are the host's (CVE-2023-25809): the flags go all the way down. */
	attr.attr_set = op->attr_set & (MOUNT_LOCKABLE | MOUNT_ATTR_NOSYMFOLLOW);
	if (attr.attr_set) {
		r = mount_setattr_fd(fd, true, &attr);
		if (r < 0)
			return error_set(err, r, "set the flags of the host's /sys");
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Flags of a new superblock's only mount: the recursive words mean the same as the plain ones. */
static uint64_t fs_attrs(const struct mount_op *op)
{
	uint64_t attrs = op->attr_set;

	if (op->rec_clr & MOUNT_ATIME)
		attrs &= ~MOUNT_ATIME;
	return (attrs & ~(op->rec_clr & ~MOUNT_ATIME)) | op->rec_set;
}

static bool labels_files(const struct mount_op *op)
{
	return !mount_type_is(op, "proc") && !mount_type_is(op, "sysfs") &&
	       !mount_type_is(op, "mqueue");
}

static int apply_fs(struct mount_op *op, const struct mount_ctx *ctx, struct error *err)
{
	_cleanup_close_ int target_fd = -EBADF, fd = -EBADF;
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	bool existed, later = readonly_later(op, ctx), tmpfs = mount_type_is(op, "tmpfs");
	struct mount_fs fs = {
		.fstype = op->fstype,
		.source = op->source,
		.data = op->data,
		.label = labels_files(op) ? op->label : NULL,
		.sb_flags = later ? op->sb_flags & ~(uint64_t)MS_RDONLY : op->sb_flags,
		.attrs = fs_attrs(op) & ~(later ? (uint64_t)MOUNT_ATTR_RDONLY : 0),
		.in_userns = ctx->in_userns,
	};
	int r;

	if (!op->fstype || !*op->fstype)
		return error_text(err, -EINVAL, "the mount has no type");
	r = mount_target_open(op, ctx, -EBADF, &target_fd, &existed, err);
	if (r < 0)
		return r;
	if (tmpfs && existed) {
		r = tmpfs_data(&arena, op, target_fd, &fs, err);
		if (r < 0)
			return r;
	}
	r = mount_fs_create(&fs, &fd, err);
	if (r == -EPERM && ctx->in_userns && mount_type_is(op, "sysfs"))
		r = host_sysfs(op, &fd, err);
	if (r < 0)
		return r;
	if (tmpfs && op->tmpcopyup && existed) {
		r = mount_copyup(target_fd, fd,
				 !has_option(op->data, "uid=") && !has_option(op->data, "gid="),
				 err);
		if (r < 0)
			return error_prefix(err, "tmpcopyup");
	}
	return finish(op, &fd, target_fd, later, err);
}

static int apply_bind(struct mount_op *op, const struct mount_ctx *ctx, struct error *err)
{
	_cleanup_close_ int tree_fd = take_fd(&op->tree_fd), target_fd = -EBADF;
	bool later = readonly_later(op, ctx), from_parent = tree_fd >= 0;
	struct mount_op flags = *op;
	int r;

	if (op->copy_symlink && !from_parent) {
		r = mount_copy_symlink(op, ctx, mount_destination(op, ctx), err);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (!from_parent) {
		r = mount_tree_open(op, ctx, &tree_fd, err);
		if (r < 0)
			return r;
	} else if (ctx->in_userns) {
		/* Asked to be shared, but never with a more privileged namespace. */
		r = mount_propagation_fd(tree_fd, MS_SLAVE | MS_REC);
		if (r < 0)
			return error_set(err, r, "make the source a slave");
	}
	r = mount_target_open(op, ctx, tree_fd, &target_fd, NULL, err);
	if (r < 0)
		return r;
	if (later) {
		flags.attr_set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
		flags.sb_flags |= MS_RDONLY; /* a flag was asked, even if it comes later */
	}
	r = mount_tree_flags(&flags, ctx->in_userns, tree_fd, err);
	if (r < 0)
		return r;
	return finish(op, &tree_fd, target_fd, later, err);
}

static int apply_remount(struct mount_op *op, const struct mount_ctx *ctx, struct error *err)
{
	const uint64_t sb_flags = op->sb_flags & ~(uint64_t)(MS_RDONLY | MS_SILENT | MS_I_VERSION);
	_cleanup_close_ int fd = -EBADF;
	bool later = readonly_later(op, ctx);
	struct mount_attr attr = {
		.attr_set = op->attr_set & ~(later ? (uint64_t)MOUNT_ATTR_RDONLY : 0),
		.attr_clr = op->attr_clr,
	};
	int r;

	r = mount_target_open(op, ctx, -EBADF, &fd, NULL, err);
	if (r < 0)
		return r;
	if (op->data || sb_flags) {
		const struct mount_fs fs = {
			.fstype = op->fstype && *op->fstype ? op->fstype : "mounted",
			.data = op->data,
			.sb_flags = sb_flags,
		};

		r = mount_fs_reconfigure(&fs, fd, err);
		if (r < 0)
			return r;
	}
	if (attr.attr_set | attr.attr_clr) {
		r = mount_setattr_fd(fd, false, &attr);
		if (r == -EINVAL)
			return error_set(err, r, "remount %s (it must be a mount point)",
					 op->destination);
		if (r < 0)
			return error_set(err, r, "remount %s", op->destination);
	}
	if (op->rec_set | op->rec_clr) {
		attr = (struct mount_attr){ .attr_set = op->rec_set, .attr_clr = op->rec_clr };
		r = mount_setattr_fd(fd, true, &attr);
		if (r < 0)
			return error_set(err, r, "remount %s recursively", op->destination);
	}
	r = mount_propagation_apply(op, fd, err);
	if (r == 0)
		r = mount_id_note(op, fd, err);
	if (r == 0 && later)
		op->tree_fd = take_fd(&fd);
	return r;
}

int mount_apply(struct mount_op *op, const struct mount_ctx *ctx, struct error *err)
{
	int r;

	assert(op && op->destination);
	assert(ctx && ctx->rootfs_fd >= 0);

	switch (op->kind) {
	case MOUNT_FS:
		r = apply_fs(op, ctx, err);
		break;
	case MOUNT_BIND:
		r = apply_bind(op, ctx, err);
		break;
	case MOUNT_REMOUNT:
		r = apply_remount(op, ctx, err);
		break;
	default:
		r = mount_cgroup_apply(op, ctx, err);
	}
	cleanup_closep(&op->source_fd);
	op->source_fd = -EBADF;
	if (r < 0)
		(void)error_prefix(err, "error mounting \"%s\" to rootfs at \"%s\"",
				   shown_source(op), op->destination);
	return r;
}

int mount_finish_readonly(struct mount_op *ops, size_t count, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		_cleanup_close_ int fd = take_fd(&ops[i].tree_fd);

		if (fd < 0)
			continue;
		r = mount_setattr_fd(fd, false,
				     &(struct mount_attr){ .attr_set = MOUNT_ATTR_RDONLY });
		if (r < 0)
			return error_set(err, r, "make the mount at \"%s\" read-only",
					 ops[i].destination);
	}
	return 0;
}
