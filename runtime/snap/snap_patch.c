/*
 * Changes as a patch: git's headers, unified hunks for what is text.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_render.h"
#include "snap/snap_tree.h"
#include "util/fd.h"

#define TEXT_MAX ((size_t)16 << 20) /* larger files are not compared by lines */
#define BINARY_LOOK 8000	    /* a NUL in so many bytes, and a file is no text */

struct side {
	const char *path; /* NULL: there is none */
	mode_t mode;
	char *data; /* NULL: no text */
	size_t len;
};

static void side_done(struct side *s)
{
	free(s->data);
}

/* What git can hold: a file that is executable or not, or a link. */
static mode_t git_mode(mode_t mode)
{
	return S_ISLNK(mode) ? 0120000 : mode & 0100 ? 0100755 : 0100644;
}

static bool shown(mode_t mode)
{
	return S_ISREG(mode) || S_ISLNK(mode);
}

static int side_read(int top_fd, struct side *s)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (S_ISLNK(s->mode)) {
		ssize_t n;

		fd = snap_tree_open(top_fd, s->path, O_PATH);
		s->data = malloc(PATH_MAX);
		n = fd < 0 || !s->data ? -1 : readlinkat(fd, "", s->data, PATH_MAX);
		if (n < 0)
			return fd < 0 ? fd : s->data ? -errno : -ENOMEM;
		s->len = (size_t)n;
		return 0;
	}
	fd = snap_tree_open(top_fd, s->path, O_RDONLY);
	if (fd < 0)
		return fd;
	r = fd_read_all(fd, TEXT_MAX, &s->data, &s->len);
	if (r == -EFBIG)
		return 0;
	if (r == 0 && memchr(s->data, '\0', MIN(s->len, (size_t)BINARY_LOOK)))
		free(take_ptr(s->data));
	return r;
}

static void put_header(struct buf *b, const struct side *old, const struct side *new, bool renamed)
{
	buf_adds(b, "diff --git ");
	snap_quote(b, "a/", old->path ? old->path : new->path);
	buf_adds(b, " ");
	snap_quote(b, "b/", new->path ? new->path : old->path);
	buf_adds(b, "\n");
	if (!old->path)
		buf_addf(b, "new file mode %06o\n", git_mode(new->mode));
	else if (!new->path)
		buf_addf(b, "deleted file mode %06o\n", git_mode(old->mode));
	else if (git_mode(old->mode) != git_mode(new->mode))
		buf_addf(b, "old mode %06o\nnew mode %06o\n", git_mode(old->mode), git_mode(new->mode));
	if (renamed) {
		buf_adds(b, "rename from ");
		snap_quote(b, "", old->path);
		buf_adds(b, "\nrename to ");
		snap_quote(b, "", new->path);
		buf_adds(b, "\n");
	}
}

/* A blank after the name would end it for patch(1): a tab says that it goes on to there. */
static void put_name(struct buf *b, const char *sign, const char *prefix, const char *path)
{
	buf_adds(b, sign);
	if (path)
		snap_quote(b, prefix, path);
	else
		buf_adds(b, "/dev/null");
	buf_adds(b, path && strchr(path, ' ') ? "\t\n" : "\n");
}

static bool is_text(const struct side *old, const struct side *new)
{
	return (!old->path || old->data) && (!new->path || new->data);
}

/* A line that readers of patches skip; "Binary files differ" would make git refuse the whole. */
static void put_binary(struct buf *b, const struct side *old, const struct side *new)
{
	buf_adds(b, "# not text, left out: ");
	snap_quote(b, "", new->path ? new->path : old->path);
	buf_adds(b, old->path && new->path ? " (changed)\n" : new->path ? " (added)\n" : " (deleted)\n");
}

static int put_body(struct buf *b, const struct side *old, const struct side *new)
{
	_cleanup_buf_ struct buf hunks = BUF_NULL;
	int r;

	r = snap_lines_diff(old->data ? old->data : "", old->len, new->data ? new->data : "", new->len, &hunks);
	if (r < 0 || hunks.len == 0)
		return r;
	put_name(b, "--- ", "a/", old->path);
	put_name(b, "+++ ", "b/", new->path);
	buf_add(b, hunks.data, hunks.len);
	return 0;
}

/* As less(1) does: a patch that rewrote the screen would show another one. */
static int write_shown(const struct snap_out *out, const struct buf *b)
{
	_cleanup_buf_ struct buf shown = BUF_NULL;
	size_t i;

	for (i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			buf_addf(&shown, "^%c", c ^ 0x40);
		else
			buf_add(&shown, &b->data[i], 1);
	}
	return buf_ok(&shown) ? out->write(out->arg, shown.data, shown.len) : -ENOMEM;
}

enum emit_flags {
	EMIT_RENAMED = 1u << 0,
	EMIT_SAME = 1u << 1, /* the content: whether it is text does not matter */
};

static int emit(const struct snap_view *v, const char *old_path, mode_t old_mode, const char *new_path, mode_t new_mode, unsigned flags,
		const struct snap_out *out, struct error *err)
{
	_cleanup_(side_done) struct side old = { .path = old_path, .mode = old_mode };
	_cleanup_(side_done) struct side new = { .path = new_path, .mode = new_mode };
	_cleanup_buf_ struct buf b = BUF_NULL;
	const char *name = new_path ? new_path : old_path;
	int r = 0;

	if (old_path && !(flags & EMIT_SAME))
		r = side_read(v->lower_fd, &old);
	if (r == 0 && new_path && !(flags & EMIT_SAME))
		r = side_read(v->upper_fd, &new);
	if (r == -ENOENT)
		return 0; /* gone while we look */
	if (r < 0)
		return error_set(err, r, "read %s", name);
	if (flags & EMIT_SAME) {
		put_header(&b, &old, &new, flags & EMIT_RENAMED);
	} else if (is_text(&old, &new)) {
		put_header(&b, &old, &new, flags & EMIT_RENAMED);
		r = put_body(&b, &old, &new);
	} else {
		put_binary(&b, &old, &new);
	}
	if (r < 0 || !buf_ok(&b))
		return error_set(err, r < 0 ? r : -ENOMEM, "compare %s", name);
	r = out->terminal ? write_shown(out, &b) : out->write(out->arg, b.data, b.len);
	return r < 0 ? error_set(err, r, "write the patch") : 0;
}

static int emit_change(const struct snap_view *v, const struct snap_change *x, bool gone, const struct snap_out *out, struct error *err)
{
	bool old = x->kind != SNAP_ADDED && shown(x->old.st_mode), new = x->kind != SNAP_DELETED && shown(x->new.st_mode);

	if (gone) {
		if (old && (x->kind == SNAP_DELETED || x->kind == SNAP_REPLACED))
			return emit(v, x->path, x->old.st_mode, NULL, 0, 0, out, err);
		return 0;
	}
	if (!new)
		return 0;
	if (x->kind == SNAP_REPLACED || !old)
		return emit(v, NULL, 0, x->path, x->new.st_mode, 0, out, err);
	/* Owners and times have no place in a patch. */
	if (x->kind == SNAP_MODIFIED && !(x->attrs & SNAP_ATTR_CONTENT) && git_mode(x->old.st_mode) == git_mode(x->new.st_mode))
		return 0;
	return emit(v, x->from ? x->from : x->path, x->old.st_mode, x->path, x->new.st_mode,
		    (x->kind == SNAP_RENAMED ? EMIT_RENAMED : 0) | (x->attrs & SNAP_ATTR_CONTENT ? 0 : EMIT_SAME), out, err);
}

int snap_render_patch(const struct snap_view *v, const struct snap_changes *c, const struct snap_out *out, struct error *err)
{
	size_t i, pass;
	int r = 0;

	/* What goes, first: a folder may make place for a file, and a file for a folder. */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < c->n && r == 0; i++)
			r = emit_change(v, &c->items[i], pass == 0, out, err);
	return r;
}
