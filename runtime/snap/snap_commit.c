/*
 * commit: the changes of a session into the originals. First everything is looked at, then what
 * will be replaced is saved, then the journal says so, then each object takes its place at once.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_commit.h"
#include "snap/snap_private.h"
#include "snap/snap_render.h"
#include "snap/snap_tree.h"
#include "util/str.h"

/* Each path must be as it was, as it will be, or gone between the two; else somebody else was there. */
static int check_between(int before_fd, int after_fd, int original_fd, const struct snap_paths *paths, struct error *err)
{
	size_t i;

	for (i = 0; i < paths->n; i++) {
		_cleanup_close_ int now = snap_tree_open(original_fd, paths->items[i], O_PATH);
		const int sides[] = { before_fd, after_fd };
		struct stat now_st, st;
		bool same = false;
		size_t k;
		int r = 0;

		if (now < 0 || fstat(now, &now_st) < 0 || S_ISDIR(now_st.st_mode))
			continue;
		for (k = 0; k < ELEMENTSOF(sides) && !same && r == 0; k++) {
			_cleanup_close_ int fd = snap_tree_open(sides[k], paths->items[i], O_PATH);

			if (fd >= 0 && fstat(fd, &st) == 0)
				r = snap_same_object(fd, &st, now, &now_st, &same, err);
		}
		if (r < 0)
			return r;
		if (!same)
			return error_text(err, -EBUSY, "a commit was interrupted, and %s was changed by somebody else since: "
					  "--force finishes the commit over it, --undo --force takes the commit back", paths->items[i]);
	}
	return 0;
}

static int apply_layer(const struct snap *s, size_t layer, int undo_fd, const char *temp, const struct snap_stage *stage, bool force,
		       struct snap_report *report, struct error *err)
{
	_cleanup_snap_paths_ struct snap_paths paths = { 0 };
	_cleanup_snap_view_ struct snap_view v = SNAP_VIEW_NULL;
	_cleanup_close_ int tree_fd = -EBADF, top_fd = -EBADF;
	struct snap_sync sync = { .temp = temp, .stage = stage, .layer = layer };
	int r = snap_undo_load(undo_fd, layer, &paths, &tree_fd, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = snap_view_open(s, layer, false, &v, err);
	if (r == 0 && !force)
		r = check_between(tree_fd, v.upper_fd, v.lower_fd, &paths, err);
	if (r < 0)
		return r;
	sync.from_fd = v.upper_fd;
	sync.to_fd = v.lower_fd;
	r = snap_sync(&sync, &paths, err);
	snap_sync_clean(v.lower_fd, &paths, temp);
	if (r < 0)
		return error_prefix(err, "commit to %s", s->record->layers[layer].source);
	report->files += sync.files;
	report->bytes += sync.bytes;
	top_fd = snap_tree_open(v.lower_fd, "", O_RDONLY | O_DIRECTORY);
	if (top_fd < 0 || syncfs(top_fd) < 0)
		return error_set(err, top_fd < 0 ? top_fd : -errno, "write %s to the disk", s->record->layers[layer].source);
	return snap_ours_add(s->dir_fd, layer, v.lower_fd, &paths, err);
}

int snap_commit_apply(const struct snap *s, uint64_t number, const char *temp, const struct snap_stage *stage, bool force,
		      struct snap_report *report, struct error *err)
{
	_cleanup_close_ int undo_fd = -EBADF;
	size_t i;
	int r = snap_undo_open(s->dir_fd, number, &undo_fd, err);

	for (i = 0; i < s->record->n_layers && r == 0; i++)
		r = apply_layer(s, i, undo_fd, temp, stage, force, report, err);
	if (r == 0)
		r = snap_journal_remove(s->dir_fd, err);
	if (r == 0)
		snap_undo_prune(s->dir_fd, number);
	return r;
}

/*
 * A folder that is new in the layer has no original below it; once it has been committed it would have one, and a
 * file deleted from it later would show again. Opaque, it stays what it is.
 */
static int make_opaque(const struct snap_part *p, struct error *err)
{
	size_t i;

	for (i = 0; i < p->changes.n; i++) {
		const struct snap_change *c = &p->changes.items[i];
		_cleanup_close_ int fd = -EBADF;
		int r;

		if ((c->kind != SNAP_ADDED && c->kind != SNAP_REPLACED) || !S_ISDIR(c->new.st_mode))
			continue;
		fd = snap_tree_open(p->view.upper_fd, c->path, O_PATH);
		r = fd < 0 ? fd : snap_attr_set(fd, "trusted.overlay.opaque", "y", 1);
		if (r < 0 && r != -ENOENT)
			return error_set(err, r, "mark the folder %s of the layer", c->path);
	}
	return 0;
}

static size_t put_conflicts(const struct snap *s, const struct snap_parts *parts, const struct snap_ours *ours, struct buf *b)
{
	size_t i, k, n = 0;

	for (i = 0; i < parts->n; i++)
		for (k = 0; k < parts->items[i].changes.n; k++) {
			const struct snap_part *p = &parts->items[i];
			const struct snap_change *c = &p->changes.items[k];
			const char *why = snap_conflict(s, p, c, ours);

			if (!why)
				continue;
			n++;
			buf_adds(b, "  conflict:   ");
			snap_quote(b, "", *c->path ? c->path : ".");
			buf_addf(b, " (%s)\n", why);
		}
	return n;
}

static int save(const struct snap *s, const struct snap_parts *parts, uint64_t *ret_number, struct error *err)
{
	_cleanup_close_ int undo_fd = -EBADF;
	struct error ignored = ERROR_NULL;
	size_t i;
	int r = snap_undo_make(s->dir_fd, ret_number, &undo_fd, err);

	if (r < 0)
		return r;
	for (i = 0; i < parts->n && r == 0; i++)
		if (parts->items[i].paths.n > 0)
			r = snap_undo_save(undo_fd, parts->items[i].layer, parts->items[i].view.lower_fd, &parts->items[i].paths, err);
	if (r == 0 && syncfs(undo_fd) < 0)
		r = error_set(err, -errno, "write what the commit replaces to the disk");
	if (r < 0)
		(void)snap_undo_remove(s->dir_fd, *ret_number, &ignored);
	return r;
}

/* After a crash of the host the rest is taken from the layer: it must be on the disk before the journal says so. */
static int settle_layer(const struct snap *s, const struct snap_view *v, struct error *err)
{
	_cleanup_close_ int top_fd = openat(v->mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int image_fd = openat(s->dir_fd, SNAP_IMAGE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	/* The second where the first makes no barriers. */
	if (top_fd < 0 || image_fd < 0 || syncfs(top_fd) < 0 || fsync(image_fd) < 0)
		return error_set(err, -errno, "write the session to its image");
	return 0;
}

static int do_commit(const struct snap *s, const struct snap_commit_options *opt, const struct snap_parts *parts,
		     struct snap_report *report, struct error *err)
{
	struct snap_journal j = { .operation = SNAP_OP_COMMIT };
	char temp[SNAP_TEMP_SIZE];
	uint64_t files = 0;
	size_t i;
	int r = snap_journal_temp(temp, err);

	j.temp = temp;
	for (i = 0; i < parts->n && r == 0; i++) {
		files += parts->items[i].paths.n;
		r = make_opaque(&parts->items[i], err);
	}
	if (r == 0)
		r = settle_layer(s, &parts->items[0].view, err);
	if (r == 0)
		r = save(s, parts, &j.number, err);
	if (r == 0 && opt->log) {
		r = opt->log(opt->log_arg, files, err);
		if (r < 0) {
			struct error ignored = ERROR_NULL;

			(void)snap_undo_remove(s->dir_fd, j.number, &ignored);
		}
	}
	if (r == 0)
		r = snap_journal_write(s->dir_fd, &j, err);
	/* Nobody was there since we looked, or it is no more than if he had been there before. */
	return r < 0 ? r : snap_commit_apply(s, j.number, temp, opt->stage, true, report, err);
}

int snap_commit(const struct snap *s, const struct snap_commit_options *opt, struct snap_report *report, struct error *err)
{
	_cleanup_snap_parts_ struct snap_parts parts = { 0 };
	_cleanup_snap_ours_ struct snap_ours *ours = NULL;
	_cleanup_close_ int lock_fd = -EBADF;
	_cleanup_free_ char *below = NULL;
	size_t i, k, n = 0;
	int r;

	r = snap_ours_read(s->dir_fd, &ours, err);
	if (r == 0 && !opt->dry_run)
		r = snap_originals_lock(s, &lock_fd, err);
	if (r == 0)
		r = snap_parts_open(s, opt->path, !opt->dry_run, &parts, &below, err);
	for (i = 0; i < parts.n && r == 0; i++) {
		struct snap_part *p = &parts.items[i];

		r = snap_check_seen(&p->changes, false, err);
		if (r == 0 && p->paths.n > 0)
			r = snap_paths_add_above(p->view.upper_fd, p->view.lower_fd, below, &p->paths, err);
		snap_paths_sort(&p->paths);
		for (k = 0; k < p->changes.n; k++)
			n += p->changes.items[k].kind != SNAP_MODIFIED || p->changes.items[k].attrs;
		if (opt->dry_run)
			snap_render_text(&report->text, &s->record->layers[p->layer], &p->changes);
	}
	if (r < 0)
		return r;
	report->conflicts = put_conflicts(s, &parts, ours, &report->text);
	if (!buf_ok(&report->text))
		return error_oom(err);
	if (opt->dry_run || n == 0)
		return 0;
	if (report->conflicts > 0 && !opt->force)
		return SNAP_E_CONFLICT;
	return do_commit(s, opt, &parts, report, err);
}

/* Each file must be as the commit left it. */
static int check_undo(const struct snap *s, size_t layer, int original_fd, const struct snap_paths *paths, struct error *err)
{
	_cleanup_snap_ours_ struct snap_ours *ours = NULL;
	struct stat st;
	size_t i;
	int r = snap_ours_read(s->dir_fd, &ours, err);

	for (i = 0; i < paths->n && r == 0; i++) {
		if (snap_tree_stat(original_fd, paths->items[i], &st) < 0 || S_ISDIR(st.st_mode))
			continue;
		if (!snap_ours_has(ours, layer, paths->items[i], &st))
			r = error_text(err, -EBUSY, "%s was changed since it was committed: --force takes the commit back over it", paths->items[i]);
	}
	return r;
}

int snap_undo_apply(const struct snap *s, uint64_t number, const char *temp, struct snap_report *report, struct error *err)
{
	_cleanup_close_ int undo_fd = -EBADF;
	size_t i;
	int r = snap_undo_open(s->dir_fd, number, &undo_fd, err);

	/* It went last: all was done but for the end of the journal. */
	if (r == -ENOENT) {
		*err = ERROR_NULL;
		return snap_journal_remove(s->dir_fd, err);
	}
	for (i = 0; i < s->record->n_layers && r == 0; i++) {
		_cleanup_snap_paths_ struct snap_paths paths = { 0 };
		_cleanup_close_ int tree_fd = -EBADF, original_fd = -EBADF, top_fd = -EBADF;
		struct snap_sync sync = { .temp = temp };

		r = snap_undo_load(undo_fd, i, &paths, &tree_fd, err);
		if (r == SNAP_E_NOT_FOUND) {
			r = 0;
			continue;
		}
		if (r == 0)
			r = snap_original_open(s->record, i, &original_fd, err);
		if (r < 0)
			return r;
		sync.from_fd = tree_fd;
		sync.to_fd = original_fd;
		r = snap_sync(&sync, &paths, err);
		snap_sync_clean(original_fd, &paths, temp);
		report->files += sync.files;
		report->bytes += sync.bytes;
		top_fd = snap_tree_open(original_fd, "", O_RDONLY | O_DIRECTORY);
		if (r == 0 && (top_fd < 0 || syncfs(top_fd) < 0))
			r = error_set(err, top_fd < 0 ? top_fd : -errno, "write %s to the disk", s->record->layers[i].source);
		if (r == 0)
			r = snap_ours_add(s->dir_fd, i, original_fd, &paths, err);
	}
	if (r == 0)
		r = snap_undo_remove(s->dir_fd, number, err);
	return r < 0 ? r : snap_journal_remove(s->dir_fd, err);
}

/* In all layers, before the first is touched. */
static int check_all(const struct snap *s, uint64_t number, bool interrupted, struct error *err)
{
	_cleanup_close_ int undo_fd = -EBADF;
	size_t i;
	int r = snap_undo_open(s->dir_fd, number, &undo_fd, err);

	for (i = 0; i < s->record->n_layers && r == 0; i++) {
		_cleanup_snap_paths_ struct snap_paths paths = { 0 };
		_cleanup_snap_view_ struct snap_view v = SNAP_VIEW_NULL;
		_cleanup_close_ int tree_fd = -EBADF, original_fd = -EBADF;

		r = snap_undo_load(undo_fd, i, &paths, &tree_fd, err);
		if (r == SNAP_E_NOT_FOUND) {
			r = 0;
		} else if (r == 0 && interrupted) {
			r = snap_view_open(s, i, false, &v, err);
			if (r == 0)
				r = check_between(tree_fd, v.upper_fd, v.lower_fd, &paths, err);
		} else if (r == 0) {
			r = snap_original_open(s->record, i, &original_fd, err);
			if (r == 0)
				r = check_undo(s, i, original_fd, &paths, err);
		}
	}
	return r;
}

int snap_undo(const struct snap *s, bool force, struct snap_report *report, struct error *err)
{
	struct snap_journal j = { .operation = SNAP_OP_UNDO };
	_cleanup_close_ int lock_fd = -EBADF;
	char temp[SNAP_TEMP_SIZE];
	int r = snap_originals_lock(s, &lock_fd, err);

	if (r == 0)
		r = snap_undo_last(s->dir_fd, &j.number, err);
	if (r == 0 && j.number == 0)
		return error_text(err, -ENOENT, "there is no commit to take back");
	j.temp = temp;
	if (r == 0)
		r = snap_journal_temp(temp, err);
	if (r == 0 && !force)
		r = check_all(s, j.number, snap_interrupted(s), err);
	if (r == 0)
		r = snap_journal_write(s->dir_fd, &j, err);
	return r < 0 ? r : snap_undo_apply(s, j.number, temp, report, err);
}
