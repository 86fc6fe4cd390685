/*
 * What a crash left: finished by whoever opens the session next to change it.
 */
#include <unistd.h>

#include "snap/snap_commit.h"
#include "snap/snap_private.h"
#include "util/str.h"

bool snap_interrupted(const struct snap *s)
{
	struct snap_journal j = { 0 };
	struct error ignored = ERROR_NULL;
	int r = snap_journal_read(s->dir_fd, &j, &ignored);

	arena_done(&j.arena);
	return r != SNAP_E_NOT_FOUND;
}

int snap_recover(const struct snap *s, const int *merged, bool force, struct snap_report *report, struct error *err)
{
	_cleanup_close_ int lock_fd = -EBADF;
	struct snap_journal j = { 0 };
	int r = snap_journal_read(s->dir_fd, &j, err);

	if (r == 0 && j.operation != SNAP_OP_ROLLBACK)
		r = snap_originals_lock(s, &lock_fd, err);
	if (r == 0) {
		switch ((enum snap_operation)j.operation) {
		case SNAP_OP_COMMIT:
			r = snap_commit_apply(s, j.number, j.temp, NULL, force, report, err);
			break;
		case SNAP_OP_UNDO:
			/* What it had not reached is as the commit left it, what it had reached is as before. */
			r = snap_undo_apply(s, j.number, j.temp, report, err);
			break;
		case SNAP_OP_ROLLBACK:
			r = snap_roll_apply(s, &j, merged, report, err);
			break;
		}
		if (r < 0)
			(void)error_prefix(err, "finish what was interrupted");
	}
	arena_done(&j.arena);
	return r == SNAP_E_NOT_FOUND ? 0 : r;
}

int snap_outlive(struct snap *s, const char *log, struct error *err)
{
	s->record->keep = true;
	s->record->outlived = true;
	s->record->log = log ? arena_strdup(&s->record->arena, log) : NULL;
	return log && !s->record->log ? error_oom(err) : snap_record_write(s->dir_fd, s->record, true, err);
}

int snap_finish(struct snap *s, struct error *err)
{
	int r;

	s->record->keep = false;
	r = snap_record_write(s->dir_fd, s->record, true, err);
	if (r == 0)
		r = snap_tree_remove(s->dir_fd, SNAP_IMAGE_FILE);
	if (r == 0)
		r = snap_tree_remove(s->dir_fd, "snap");
	return r < 0 && !err->code ? error_set(err, r, "remove the layer of the committed session") : r;
}

void snap_report_done(struct snap_report *r)
{
	buf_done(&r->text);
}
