/*
 * The whole of `diff`: which layers are meant, what changed in each, and how it is shown.
 */
#include <assert.h>
#include <string.h>

#include "snap/snap_change.h"
#include "snap/snap_render.h"
#include "snap/snap_tree.h"
#include "util/str.h"

/* path without doubled and trailing slashes and "."; -EINVAL for "..". */
static int clean(const char *path, char **ret)
{
	char *out = malloc(strlen(path) + 2), *p = out;

	if (!out)
		return -ENOMEM;
	while (*(path += strspn(path, "/"))) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			free(out);
			return -EINVAL;
		}
		if (n != 1 || path[0] != '.') {
			*p++ = '/';
			memcpy(p, path, n);
			p += n;
		}
		path += n;
	}
	if (p == out)
		*p++ = '/';
	*p = '\0';
	*ret = out;
	return 0;
}

int snap_locate(const struct snap_record *rec, const char *path, size_t *ret_layer, char **ret_below, struct error *err)
{
	_cleanup_free_ char *whole = NULL;
	size_t i, best = rec->n_layers, best_len = 0;
	int r;

	if (*path != '/')
		return error_text(err, -EINVAL, "path %s: it must be absolute, as the container sees it", path);
	r = clean(path, &whole);
	if (r == -EINVAL)
		return error_text(err, r, "path %s: \"..\" is not understood", path);
	if (r < 0)
		return error_oom(err);
	for (i = 0; i < rec->n_layers; i++) {
		const char *at = rec->layers[i].destination;
		size_t len = str_eq(at, "/") ? 0 : strlen(at);

		if (strncmp(whole, at, len) == 0 && (whole[len] == '/' || !whole[len]) && (best == rec->n_layers || len > best_len)) {
			best = i;
			best_len = len;
		}
	}
	if (best == rec->n_layers)
		return error_text(err, -ENOENT, "path %s is not part of the session (it covers %s%s)", path, rec->layers[0].destination,
				  rec->n_layers > 1 ? " and others" : "");
	*ret_layer = best;
	*ret_below = strdup(whole[best_len] == '/' ? whole + best_len + 1 : "");
	return *ret_below ? 0 : error_oom(err);
}

struct diff {
	const struct snap *s;
	enum snap_diff_form form;
	const struct snap_out *out;
	struct buf text;
	struct json_writer *json;
};

static int diff_layer(struct diff *d, size_t layer, const char *below, struct error *err)
{
	_cleanup_snap_changes_ struct snap_changes changes = { 0 };
	_cleanup_snap_view_ struct snap_view v = SNAP_VIEW_NULL;
	const struct snap_layer *l = &d->s->record->layers[layer];
	int r;

	r = snap_view_open(d->s, layer, false, &v, err);
	if (r == 0)
		r = snap_walk(&v, below, d->form == SNAP_DIFF_PATCH, &changes, err);
	if (r == 0)
		r = snap_find_renames(&v, &changes, err);
	if (r < 0)
		return r;
	switch (d->form) {
	case SNAP_DIFF_TEXT:
		snap_render_text(&d->text, l, &changes);
		break;
	case SNAP_DIFF_JSON:
		snap_render_json(d->json, l, &changes);
		break;
	case SNAP_DIFF_PATCH:
		r = snap_render_patch(&v, &changes, d->out, err);
		break;
	}
	return r;
}

static int diff_all(struct diff *d, const char *path, struct error *err)
{
	_cleanup_free_ char *below = NULL;
	size_t i, layer;
	int r = 0;

	if (path) {
		r = snap_locate(d->s->record, path, &layer, &below, err);
		return r < 0 ? r : diff_layer(d, layer, below, err);
	}
	for (i = 0; i < d->s->record->n_layers && r == 0; i++)
		r = diff_layer(d, i, "", err);
	return r;
}

int snap_diff(const struct snap *s, const char *path, enum snap_diff_form form, const struct snap_out *out, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = form == SNAP_DIFF_JSON ? json_writer_new(2) : NULL;
	struct diff d = { .s = s, .form = form, .out = out, .json = w };
	_cleanup_free_ char *json = NULL;
	int r;

	if (form == SNAP_DIFF_JSON) {
		if (!w)
			return error_oom(err);
		json_object_begin(w, NULL);
		json_string(w, "id", s->record->id);
		json_array_begin(w, "layers");
	}
	r = diff_all(&d, path, err);
	if (r == 0 && form == SNAP_DIFF_JSON) {
		json_array_end(w);
		json_object_end(w);
		r = json_take(w, &json, err);
		if (r == 0) {
			buf_adds(&d.text, json);
			buf_adds(&d.text, "\n");
		}
	}
	if (r == 0 && !buf_ok(&d.text))
		r = error_oom(err);
	if (r == 0 && d.text.len > 0) {
		r = out->write(out->arg, d.text.data, d.text.len);
		if (r < 0)
			(void)error_set(err, r, "write to standard output");
	}
	buf_done(&d.text);
	return r;
}
