/*
 * For the tests of mount_apply(): a root in the scratch folder and mounts by their
 * members in the configuration.
 */
#pragma once

#include "mount_helpers.h"
#include "os/mount.h"
#include "os/procfs.h"
#include "os/rootfs.h"

static struct mount_ctx ctx = { .rootfs_fd = -EBADF, .proc_fd = -EBADF };
static struct arena arena;
static struct error err;

/* One mount from its config members; options comma-separated. */
static inline int parse(struct mount_op *op, const char *type, const char *source, const char *dest,
			const char *options)
{
	char copy[256], *words[16], *save = NULL, *w;
	size_t n = 0;

	*op = MOUNT_OP_NULL;
	op->fstype = type;
	op->source = source;
	op->destination = dest;
	if (type && strncmp(type, "cgroup", 6) == 0)
		op->kind = MOUNT_CGROUP;
	snprintf(copy, sizeof(copy), "%s", options);
	for (w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save))
		words[n++] = w;
	return mount_options_parse(&arena, words, n, op, &err);
}

static inline int apply(const char *type, const char *source, const char *dest, const char *options)
{
	struct mount_op op;
	int r;

	memset(&err, 0, sizeof(err));
	r = parse(&op, type, source, dest, options);
	if (r == 0)
		r = mount_apply(&op, &ctx, &err);
	if (r == 0)
		r = mount_finish_readonly(&op, 1, &err);
	mount_op_done(&op);
	return r;
}

static inline const char *rooted(const char *dest)
{
	static char buf[PATH_MAX];

	snprintf(buf, sizeof(buf), "%s/root%s", scratch, dest);
	return buf;
}

static inline mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* Opens the root; false after saying why not. */
static inline bool fixture_begin(void)
{
	put_dir("root");
	put_dir("root/dev");
	if (procfs_open(&ctx.proc_fd, &err) == 0 &&
	    rootfs_prepare(in_scratch("root"), 0, &ctx.rootfs_fd, &err) == 0)
		return true;
	printf("Bail out! %s\n", err.text);
	return false;
}

static inline void fixture_end(void)
{
	close(ctx.rootfs_fd);
	close(ctx.proc_fd);
	arena_done(&arena);
	scratch_end();
}
