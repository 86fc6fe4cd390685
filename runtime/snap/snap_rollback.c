/*
 * rollback: the session as it was at a snapshot or at its start. Of a stopped container the whole
 * image is exchanged; a part of it, or a live one, is changed through the overlay itself, which is never
 * given another upper folder.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/mount.h"
#include "snap/snap_commit.h"
#include "snap/snap_ids.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/str.h"

#define NEW_IMAGE ".layer.img.new"

/* A fresh image with the tops of the originals. */
static int make_fresh(const struct snap *s, struct error *err)
{
	_cleanup_close_ int top_fd = -EBADF, image_fd = -EBADF, mount_fd = -EBADF;
	size_t i;
	int r;

	r = snap_top_open(false, &top_fd, err);
	if (r == 0)
		r = snap_image_make(top_fd, s->record->size, s->record->inodes, s->record->keep, s->dir_fd, NEW_IMAGE, err);
	if (r != 0)
		return r < 0 ? r : error_text(err, -ENOENT, "%s is not there", SNAP_DIR);
	image_fd = openat(s->dir_fd, NEW_IMAGE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (image_fd < 0)
		return error_set(err, -errno, "open the new image");
	r = snap_image_mount(image_fd, SNAP_MOUNT_FRESH, &mount_fd, err);
	for (i = 0; i < s->record->n_layers && r == 0; i++) {
		_cleanup_close_ int original_fd = -EBADF;
		struct snap_over over = SNAP_OVER_NULL;

		r = snap_original_open(s->record, i, &original_fd, err);
		over.lower_fd = original_fd;
		over.source = s->record->layers[i].source;
		if (r == 0)
			r = snap_upper_make(mount_fd, i, &over, &s->record->layers[i], err);
	}
	if (r == 0 && syncfs(image_fd) < 0)
		r = error_set(err, -errno, "write the new image");
	return r;
}

static int exchange(const struct snap *s, const char *name, struct error *err)
{
	_cleanup_close_ int from_fd = -EBADF, new_fd = -EBADF;
	int r;

	r = snap_tree_remove(s->dir_fd, NEW_IMAGE);
	if (r < 0)
		return error_set(err, r, "remove an unfinished image");
	if (name) {
		r = snap_taken_image(s, name, &from_fd, err);
		if (r == 0)
			r = snap_image_copy(from_fd, s->dir_fd, NEW_IMAGE, err);
	} else {
		r = make_fresh(s, err);
	}
	if (r == 0) {
		new_fd = openat(s->dir_fd, NEW_IMAGE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (new_fd < 0 || fsync(new_fd) < 0 || renameat(s->dir_fd, NEW_IMAGE, s->dir_fd, SNAP_IMAGE_FILE) < 0)
			r = error_set(err, -errno, "put the image in its place");
	}
	if (r < 0)
		(void)snap_tree_remove(s->dir_fd, NEW_IMAGE);
	return r;
}

/* The original by a mount of its own, with ids mapped as over says. */
static int clone_lower(const struct snap_view *v, struct snap_over *over, struct error *err)
{
	int r = mount_tree_clone(v->lower_fd, &over->lower_fd, err);

	if (r < 0 || over->userns_fd < 0)
		return r;
	r = mount_tree_map(over->lower_fd, over->userns_fd);
	return r < 0 ? error_set(err, r, "map the ids of %s", over->source) : 0;
}

/* An overlay of this layer over a clone of the original's mount: to look at, or the session itself. over: with its mapping, if any. */
static int overlay(const struct snap_view *v, struct snap_over *over, int mount_fd, bool view, int *ret_fd, struct error *err)
{
	int r;

	over->view = view;
	r = clone_lower(v, over, err);
	if (r == 0)
		r = snap_overlays(mount_fd, over, 1, false, err);
	cleanup_closep(&over->lower_fd);
	over->lower_fd = -EBADF;
	if (r == 0) {
		*ret_fd = over->mount_fd;
		over->mount_fd = -EBADF;
	}
	return r;
}

/* What the snapshot changed is to come back, whether or not it differs now. */
static int open_snapshot(struct snap_part *p, struct snap_over *over, int image_fd, const char *below, int *ret_fd, struct error *err)
{
	_cleanup_snap_changes_ struct snap_changes changes = { 0 };
	_cleanup_close_ int mount_fd = -EBADF, upper_fd = -EBADF;
	struct snap_view then = p->view;
	char path[48];
	size_t i;
	int r;

	r = snap_image_mount(image_fd, 0, &mount_fd, err);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%zu/upper", p->layer);
	upper_fd = openat(mount_fd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper_fd < 0)
		return error_set(err, -errno, "open the snapshot");
	then.upper_fd = upper_fd;
	r = snap_walk(&then, below, true, &changes, err);
	if (r == 0)
		r = snap_check_seen(&changes, false, err);
	for (i = 0; i < changes.n && r == 0; i++)
		r = snap_paths_add(&p->paths, changes.items[i].path, err);
	return r < 0 ? r : overlay(&p->view, over, mount_fd, true, ret_fd, err);
}

/* What a live session of a mapped original is given is made with ids of its mapping. */
static int sync_as(struct snap_sync *sync, const struct snap_over *over, const struct snap_paths *paths, struct error *err)
{
	struct error ignored = ERROR_NULL;
	struct snap_ids saved;
	int r = 0, back = 0;

	if (over->userns_fd >= 0)
		r = snap_ids_assume(over->uid, over->gid, &saved, err);
	if (r < 0)
		return r;
	r = snap_sync(sync, paths, err);
	snap_sync_clean(sync->to_fd, paths, sync->temp);
	if (over->userns_fd >= 0)
		back = snap_ids_restore(&saved, r < 0 ? &ignored : err);
	return r < 0 ? r : back;
}

static int roll_layer(const struct snap *s, struct snap_part *p, const char *name, const char *below, int merged_fd, const char *temp,
		      struct snap_report *report, struct error *err)
{
	_cleanup_(snap_over_done) struct snap_over over = SNAP_OVER_NULL;
	_cleanup_close_ int from_fd = -EBADF, own_fd = -EBADF, image_fd = -EBADF;
	struct snap_sync sync = { .temp = temp, .tight = true };
	int r = 0;

	over.source = s->record->layers[p->layer].source;
	over.layer = p->layer;
	r = snap_check_seen(&p->changes, name == NULL, err);
	/* Nobody else sees our own overlay: there ids are as they are. */
	if (r == 0 && merged_fd >= 0)
		r = snap_over_map(&over, &s->record->layers[p->layer], err);
	if (r == 0 && name) {
		r = snap_taken_image(s, name, &image_fd, err);
		if (r == 0)
			r = open_snapshot(p, &over, image_fd, below, &from_fd, err);
	}
	if (r == 0 && merged_fd < 0)
		r = overlay(&p->view, &over, p->view.mount_fd, false, &own_fd, err);
	if (r == 0 && !name)
		r = clone_lower(&p->view, &over, err);
	if (r < 0 || p->paths.n == 0)
		return r;
	sync.from_fd = name ? from_fd : over.lower_fd;
	sync.to_fd = merged_fd < 0 ? own_fd : merged_fd;
	r = snap_paths_add_above(sync.from_fd, sync.to_fd, below, &p->paths, err);
	if (r < 0)
		return r;
	snap_paths_sort(&p->paths);
	r = sync_as(&sync, &over, &p->paths, err);
	report->files += sync.files;
	report->bytes += sync.bytes;
	report->skipped += sync.skipped;
	if (r == -ENOSPC)
		return error_text(err, r, "roll back %s: the layer is full; of a container that has stopped all can be rolled back, which needs no room in it",
				  s->record->layers[p->layer].destination);
	return r < 0 ? error_prefix(err, "roll back %s", s->record->layers[p->layer].destination) : 0;
}

int snap_roll_apply(const struct snap *s, const struct snap_journal *j, const int *merged, struct snap_report *report, struct error *err)
{
	_cleanup_snap_parts_ struct snap_parts parts = { 0 };
	_cleanup_free_ char *below = NULL;
	size_t i;
	int r = snap_parts_open(s, j->path, true, &parts, &below, err);

	for (i = 0; i < parts.n && r == 0; i++)
		r = roll_layer(s, &parts.items[i], j->name, below, merged ? merged[parts.items[i].layer] : -EBADF, j->temp, report, err);
	/* A failure that is seen is no crash: another rollback, or none, is the operator's to choose. */
	if (r < 0) {
		struct error ignored = ERROR_NULL;

		(void)snap_journal_remove(s->dir_fd, &ignored);
		return r;
	}
	return snap_journal_remove(s->dir_fd, err);
}

int snap_rollback(const struct snap *s, const char *name, const char *path, const int *merged, struct snap_report *report, struct error *err)
{
	_cleanup_close_ int image_fd = -EBADF;
	char temp[SNAP_TEMP_SIZE];
	struct snap_journal j = { .operation = SNAP_OP_ROLLBACK, .name = (char *)name, .path = (char *)path, .temp = temp };
	_cleanup_free_ char *below = NULL;
	size_t layer;
	int r = 0;

	/* What can be wrong is found before it is noted down. */
	if (name)
		r = snap_taken_image(s, name, &image_fd, err);
	if (r == 0 && path)
		r = snap_check_text("the path (name a folder above it)", path, err);
	if (r == 0 && path)
		r = snap_locate(s->record, path, &layer, &below, err);
	if (r == 0 && !path && !merged)
		return exchange(s, name, err);
	if (r == 0)
		r = snap_journal_temp(temp, err);
	if (r == 0)
		r = snap_journal_write(s->dir_fd, &j, err);
	if (r == 0)
		r = snap_roll_apply(s, &j, merged, report, err);
	return r;
}
