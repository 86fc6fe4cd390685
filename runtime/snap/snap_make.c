/*
 * A new session: record, image, upper folders, overlays. The record is on the disk before
 * anything else is, and whoever asked for it has noted the path before.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "os/procfs.h"
#include "snap/snap_attrs.h"
#include "snap/snap_private.h"
#include "util/fd.h"
#include "util/str.h"

#define HOST_SPACE_MIN (UINT64_C(64) << 20) /* a host with less must not begin */

/* The image is sparse: a full disk of the host would be an I/O error inside. */
static int check_space(int dir_fd, struct error *err)
{
	struct statvfs st;

	if (fstatvfs(dir_fd, &st) < 0)
		return error_set(err, -errno, "find the free space for the session");
	if ((uint64_t)st.f_bavail * st.f_frsize < HOST_SPACE_MIN)
		return error_text(err, -ENOSPC, "less than %llu MiB are free where sessions are kept (%s)",
				  (unsigned long long)(HOST_SPACE_MIN >> 20), SNAP_DIR);
	return 0;
}

/* A merged folder's top has the attributes of the upper one. */
int snap_upper_make(int mount_fd, size_t index, const struct snap_over *over, const struct snap_layer *layer, struct error *err)
{
	_cleanup_close_ int dir_fd = -EBADF, upper_fd = -EBADF;
	int original_fd = over->plain_fd >= 0 ? over->plain_fd : over->lower_fd;
	struct stat st;
	char name[24];
	int r;

	(void)snprintf(name, sizeof(name), "%zu", index);
	if (mkdirat(mount_fd, name, 0700) < 0)
		return error_set(err, -errno, "make the layer over %s", over->source);
	dir_fd = openat(mount_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd < 0 || mkdirat(dir_fd, "upper", 0700) < 0 || mkdirat(dir_fd, "work", 0700) < 0)
		return error_set(err, -errno, "make the layer over %s", over->source);
	upper_fd = openat(dir_fd, "upper", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper_fd < 0 || fstat(original_fd, &st) < 0)
		return error_set(err, -errno, "make the layer over %s", over->source);
	/* Whom the mapping does not know cannot be the owner of what is reached through it. */
	if (layer->uids.count > 0 && (fchown(dir_fd, layer->uids.items[0].container_id, layer->gids.items[0].container_id) < 0 ||
				      fchownat(dir_fd, "work", layer->uids.items[0].container_id, layer->gids.items[0].container_id,
					       AT_SYMLINK_NOFOLLOW) < 0))
		return error_set(err, -errno, "make the layer over %s", over->source);
	r = snap_attrs_copy(original_fd, &st, upper_fd, err);
	return r < 0 ? error_prefix(err, "make the layer over %s", over->source) : 0;
}

/* What is there belongs to no container any more: the caller has just taken the id. */
static int clear_old(int dir_fd, struct error *err)
{
	_cleanup_snap_record_ struct snap_record *old = NULL;
	int r = snap_record_read(dir_fd, &old, err);

	if (r < 0)
		return r;
	if (r == 0 && old->keep)
		return error_text(err, -EEXIST, "the session of an earlier container with this id is kept: look at it with \"agentrun diff\", "
				  "then \"agentrun commit\" or \"agentrun rollback --discard\" it");
	r = snap_dir_clear(dir_fd);
	return r < 0 ? error_set(err, r, "remove what is left of an earlier session") : 0;
}

static int make_record(int dir_fd, struct snap_record *rec, const struct snap_over *overs, struct error *err)
{
	char boot[37];
	size_t i;
	int r = snap_boot_id(boot, err);

	if (r < 0)
		return r;
	rec->boot = arena_strdup(&rec->arena, boot);
	if (!rec->boot)
		return error_oom(err);
	for (i = 0; i < rec->n_layers; i++) {
		struct stat st;

		if (fstat(overs[i].lower_fd, &st) < 0)
			return error_set(err, -errno, "inspect %s", overs[i].source);
		if (!S_ISDIR(st.st_mode))
			return error_text(err, -ENOTDIR, "session over %s: it is no folder, and only a folder can have one",
					  overs[i].source);
		rec->layers[i].dev = st.st_dev;
		rec->layers[i].ino = st.st_ino;
		rec->layers[i].born = snap_born(overs[i].lower_fd);
	}
	if (clock_gettime(CLOCK_REALTIME, &rec->since) < 0)
		return error_set(err, -errno, "read the clock");
	return snap_record_write(dir_fd, rec, false, err);
}

static int make_image(int dir_fd, const struct snap_record *rec, const struct snap_over *overs, int *ret_mount_fd,
		      struct error *err)
{
	_cleanup_close_ int top_fd = -EBADF, image_fd = -EBADF, mount_fd = -EBADF;
	size_t i;
	int r;

	r = snap_top_open(true, &top_fd, err);
	if (r == 0)
		r = snap_image_make(top_fd, rec->size, rec->inodes, rec->keep, dir_fd, SNAP_IMAGE_FILE, err);
	if (r < 0)
		return r;
	image_fd = openat(dir_fd, SNAP_IMAGE_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (image_fd < 0)
		return error_set(err, -errno, "open the image of the session");
	r = snap_image_mount(image_fd, SNAP_MOUNT_FRESH | (rec->keep ? 0 : SNAP_MOUNT_VOLATILE), &mount_fd, err);
	for (i = 0; i < rec->n_layers && r == 0; i++)
		r = snap_upper_make(mount_fd, i, &overs[i], &rec->layers[i], err);
	if (r < 0)
		return r;
	*ret_mount_fd = take_fd(&mount_fd);
	return 0;
}

int snap_make(const char *path, struct snap_record *rec, struct snap_over *overs, struct error *err)
{
	_cleanup_close_ int dir_fd = -EBADF, mount_fd = -EBADF;
	size_t i;
	int r;

	assert(rec->n_layers > 0 && rec->n_layers <= SNAP_LAYERS_MAX);

	for (i = 0; i < rec->n_layers; i++) {
		overs[i].source = rec->layers[i].source;
		overs[i].layer = i;
	}
	r = snap_image_caps(&rec->size, &rec->inodes, err);
	for (i = 0; i < rec->n_layers && r == 0; i++) {
		r = snap_check_text("the path of an original", rec->layers[i].source, err);
		if (r == 0)
			r = snap_check_text("the destination of a mount", rec->layers[i].destination, err);
	}
	if (r == 0)
		r = snap_dir_open(path, true, &dir_fd, err);
	if (r == 0)
		r = check_space(dir_fd, err);
	if (r < 0)
		return r;
	r = clear_old(dir_fd, err);
	if (r < 0)
		return r;
	r = make_record(dir_fd, rec, overs, err);
	if (r == 0)
		r = make_image(dir_fd, rec, overs, &mount_fd, err);
	if (r == 0)
		r = snap_overlays(mount_fd, overs, rec->n_layers, false, err);
	for (i = 0; i < rec->n_layers && r == 0; i++) {
		struct stat st;

		if (fstat(overs[i].mount_fd, &st) < 0)
			r = error_set(err, -errno, "inspect the layer over %s", overs[i].source);
		else
			rec->layers[i].merged = st.st_dev;
	}
	if (r == 0)
		r = snap_record_write(dir_fd, rec, false, err);
	if (r < 0) {
		struct error ignored = ERROR_NULL;

		(void)snap_remove(path, &ignored);
	}
	return r;
}

/* Octal escapes of mountinfo are compared as they are: the path is escaped the same way. */
static int escape(const char *path, struct buf *b)
{
	for (; *path; path++)
		if (*path == ' ' || *path == '\t' || *path == '\n' || *path == '\\')
			buf_addf(b, "\\%03o", (unsigned char)*path);
		else
			buf_add(b, path, 1);
	if (b->len == 0 || b->data[b->len - 1] != '/')
		buf_adds(b, "/");
	return buf_ok(b) ? 0 : -ENOMEM;
}

int snap_has_mounts_below(int proc_fd, const char *path, bool *ret, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	_cleanup_buf_ struct buf below = BUF_NULL;
	char *line, *rest;
	int r;

	if (escape(path, &below) < 0)
		return error_oom(err);
	r = procfs_openat(proc_fd, "self/mountinfo", O_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, (size_t)64 << 20, &text, NULL);
	if (r < 0)
		return error_set(err, r, "read the table of mounts");
	*ret = false;
	for (rest = text; (line = strsep(&rest, "\n")) && !*ret;) {
		int i;

		/* 36 35 98:0 /root /mount/point ... */
		for (i = 0; i < 4 && line; i++)
			line = (line = strchr(line, ' ')) ? line + 1 : NULL;
		*ret = line && str_after(line, below.data);
	}
	return 0;
}
