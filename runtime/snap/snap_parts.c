/*
 * The layers an operation is about.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "snap/snap_commit.h"
#include "snap/snap_tree.h"
#include "util/str.h"

static void part_done(struct snap_part *p)
{
	snap_view_done(&p->view);
	snap_changes_done(&p->changes);
	snap_paths_done(&p->paths);
}

void snap_parts_done(struct snap_parts *p)
{
	while (p->n > 0)
		part_done(&p->items[--p->n]);
	free(p->items);
	p->items = NULL;
}

int snap_parts_open(const struct snap *s, const char *path, bool writable, struct snap_parts *ret, char **ret_below, struct error *err)
{
	size_t first = 0, end = s->record->n_layers, i, k;
	int r;

	if (path) {
		r = snap_locate(s->record, path, &first, ret_below, err);
		if (r < 0)
			return r;
		end = first + 1;
	} else {
		*ret_below = strdup("");
		if (!*ret_below)
			return error_oom(err);
	}
	ret->items = calloc(end - first, sizeof(*ret->items));
	if (!ret->items)
		return error_oom(err);
	for (i = first; i < end; i++) {
		struct snap_part *p = &ret->items[ret->n++];

		*p = (struct snap_part){ .layer = i, .view = SNAP_VIEW_NULL };
		r = snap_view_open(s, i, writable, &p->view, err);
		if (r == 0)
			r = snap_walk(&p->view, *ret_below, true, &p->changes, err);
		for (k = 0; k < p->changes.n && r == 0; k++)
			r = snap_paths_add(&p->paths, p->changes.items[k].path, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int snap_check_seen(const struct snap_changes *c, bool removing, struct error *err)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->items[i].unseen && !(removing && (c->items[i].kind == SNAP_ADDED || c->items[i].kind == SNAP_REPLACED)))
			return error_text(err, -ENAMETOOLONG, "a folder in the session holds paths of more than %zu bytes, or too many: %.200s%s "
					  "(delete it in the container, name others by --path, or roll back the whole session when the "
					  "container has stopped)", SNAP_PATH_MAX, c->items[i].path, strlen(c->items[i].path) > 200 ? "..." : "");
	return 0;
}

int snap_paths_add_above(int from_fd, int to_fd, const char *below, struct snap_paths *paths, struct error *err)
{
	_cleanup_free_ char *above = strdup(below);
	char *slash;
	int r = above ? 0 : error_oom(err);

	for (slash = r == 0 ? strchr(above, '/') : NULL; slash && r == 0; slash = strchr(slash + 1, '/')) {
		struct stat from, to;
		int there;

		*slash = '\0';
		there = snap_tree_stat(to_fd, above, &to);
		if (there == 0 && snap_is_whiteout(&to))
			there = -ENOENT;
		if (there == -ENOENT && snap_tree_stat(from_fd, above, &from) == 0 && S_ISDIR(from.st_mode))
			r = snap_paths_add(paths, above, err);
		else if (there == 0 && !S_ISDIR(to.st_mode))
			r = error_text(err, -EEXIST, "%s is no folder there: name it, instead of what is below it", above);
		*slash = '/';
	}
	return r;
}
