/*
 * A layer opened from outside: the image is mounted once more, the original is opened by the
 * path it had and must be the same folder.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/syscalls.h"
#include "snap/snap_commit.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/str.h"

uint64_t snap_born(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) < 0 || !(stx.stx_mask & STATX_BTIME))
		return 0;
	return (uint64_t)stx.stx_btime.tv_sec * 1000000000 + stx.stx_btime.tv_nsec;
}

#define LOCKS_FILE ".originals"

static int by_offset(const void *a, const void *b)
{
	const off_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Each original has a byte of one file; two that share one only wait for each other. In order, so that nobody waits in a circle. */
int snap_originals_lock(const struct snap *s, int *ret_fd, struct error *err)
{
	_cleanup_close_ int top_fd = -EBADF, fd = -EBADF;
	const struct snap_record *rec = s->record;
	off_t at[SNAP_LAYERS_MAX];
	size_t i;
	int r = snap_top_open(true, &top_fd, err);

	if (r < 0)
		return r;
	fd = openat(top_fd, LOCKS_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, -errno, "open the locks of originals");
	for (i = 0; i < rec->n_layers; i++)
		at[i] = (off_t)(rec->layers[i].ino & (INT64_MAX >> 1)); /* device numbers are others after a boot */
	qsort(at, rec->n_layers, sizeof(at[0]), by_offset);
	for (i = 0; i < rec->n_layers; i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at[i], .l_len = 1 };

		while (fcntl(fd, F_OFD_SETLKW, &lock) < 0)
			if (errno != EINTR)
				return error_set(err, -errno, "wait for commits of other sessions");
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Its path was canonical: a link on it now was put there since. */
int snap_original_open(const struct snap_record *rec, size_t index, int *ret_fd, struct error *err)
{
	const struct snap_layer *layer = &rec->layers[index];
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int fd = sys_openat2(AT_FDCWD, layer->source, &how);
	char boot[37];
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open the original %s of %s", layer->source, layer->destination);
	r = snap_boot_id(boot, err);
	if (r < 0)
		return r;
	/* Device numbers of some filesystems are others after a boot. */
	if (st.st_ino != layer->ino || snap_born(fd) != layer->born || (str_eq(boot, rec->boot) && st.st_dev != layer->dev))
		return error_text(err, -ESTALE, "the original of %s is not there any more: %s is another folder now (or not mounted)",
				  layer->destination, layer->source);
	*ret_fd = take_fd(&fd);
	return 0;
}

int snap_view_open(const struct snap *s, size_t layer, bool writable, struct snap_view *ret, struct error *err)
{
	_cleanup_snap_view_ struct snap_view v = SNAP_VIEW_NULL;
	_cleanup_close_ int image_fd = -EBADF;
	char path[48];
	int r;

	assert(layer < s->record->n_layers);

	image_fd = openat(s->dir_fd, SNAP_IMAGE_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (image_fd < 0 && errno == ENOENT && !s->record->keep)
		return error_text(err, -ENOENT, "the session was committed, and its layer is gone");
	if (image_fd < 0)
		return error_set(err, -errno, "open the image of the session");
	r = snap_image_mount(image_fd, writable ? 0 : SNAP_MOUNT_READONLY, &v.mount_fd, err);
	if (r == 0)
		r = snap_original_open(s->record, layer, &v.lower_fd, err);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%zu/upper", layer);
	v.upper_fd = openat(v.mount_fd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (v.upper_fd < 0)
		return error_set(err, -errno, "open the layer over %s", s->record->layers[layer].source);
	v.layer = layer;
	*ret = v;
	v = SNAP_VIEW_NULL;
	return 0;
}

void snap_write_out(const struct snap *s)
{
	_cleanup_close_ int image_fd = openat(s->dir_fd, SNAP_IMAGE_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int mount_fd = -EBADF, top_fd = -EBADF;
	struct error ignored = ERROR_NULL;

	if (image_fd < 0 || snap_image_mount(image_fd, SNAP_MOUNT_READONLY, &mount_fd, &ignored) < 0)
		return;
	top_fd = openat(mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top_fd >= 0 && syncfs(top_fd) == 0)
		(void)fsync(image_fd);
}

void snap_view_done(struct snap_view *v)
{
	cleanup_closep(&v->upper_fd);
	cleanup_closep(&v->lower_fd);
	cleanup_closep(&v->mount_fd);
	*v = SNAP_VIEW_NULL;
}
