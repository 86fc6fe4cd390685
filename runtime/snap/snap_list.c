/*
 * All sessions of this host, whatever --root their containers were made with: engines have
 * roots of their own, and people know containers by the beginning of an id.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/str.h"

#define SESSIONS_MAX 100000

static int add(struct snap_list *l, int dir_fd, const char *id, const char *path, struct error *err)
{
	struct snap_record *rec = NULL;
	struct snap_listed *item;
	struct stat st;

	/* Half made, or unreadable: not one that could be used. */
	if (snap_record_read(dir_fd, &rec, err) != 0)
		return 0;
	if (l->n == l->room) {
		size_t more = l->room ? l->room * 2 : 16;
		struct snap_listed *items = more > SESSIONS_MAX ? NULL : reallocarray(l->items, more, sizeof(*items));

		if (!items) {
			(void)snap_record_free(rec);
			return error_oom(err);
		}
		l->items = items;
		l->room = more;
	}
	item = &l->items[l->n++];
	*item = (struct snap_listed){ .record = rec };
	item->path = strdup(path);
	item->id = strdup(id);
	if (fstatat(dir_fd, SNAP_IMAGE_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0)
		item->bytes = (uint64_t)st.st_blocks * 512;
	return item->path && item->id ? 0 : error_oom(err);
}

static int list_root(struct snap_list *l, int top_fd, const char *hash, struct error *err)
{
	_cleanup_snap_names_ struct snap_names ids = { 0 };
	size_t i;
	int r = snap_names_read(top_fd, hash, &ids, err);

	/* Removed meanwhile. */
	if (r == -ENOENT)
		return 0;
	for (i = 0; i < ids.n && r == 0; i++) {
		_cleanup_free_ char *below = str_printf("%s/%s", hash, ids.items[i]);
		_cleanup_free_ char *path = str_printf(SNAP_DIR "/%s/%s", hash, ids.items[i]);
		_cleanup_close_ int fd = -EBADF;

		if (!below || !path)
			return error_oom(err);
		fd = snap_tree_open(top_fd, below, O_RDONLY | O_DIRECTORY);
		if (fd >= 0)
			r = add(l, fd, ids.items[i], path, err);
	}
	return r;
}

int snap_list(struct snap_list *ret, struct error *err)
{
	_cleanup_snap_names_ struct snap_names hashes = { 0 };
	_cleanup_close_ int top_fd = -EBADF;
	size_t i;
	int r = snap_top_open(false, &top_fd, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = snap_names_read(top_fd, "", &hashes, err);
	for (i = 0; i < hashes.n && r == 0; i++)
		if (hashes.items[i][0] != '.')
			r = list_root(ret, top_fd, hashes.items[i], err);
	return r;
}

void snap_list_done(struct snap_list *l)
{
	while (l->n > 0) {
		struct snap_listed *item = &l->items[--l->n];

		item->record = snap_record_free(item->record);
		free(item->path);
		free(item->id);
	}
	free(l->items);
	*l = (struct snap_list){ 0 };
}

int snap_find(const char *id, char **ret_id, char **ret_root, struct error *err)
{
	_cleanup_(snap_list_done) struct snap_list l = { 0 };
	const struct snap_listed *found = NULL;
	size_t i;
	int r = *id ? snap_list(&l, err) : 0;

	for (i = 0; i < l.n && r == 0; i++) {
		const char *rest = str_after(l.items[i].id, id);

		if (!rest)
			continue;
		if (found && *rest)
			return error_text(err, -ENOTUNIQ, "more than one session has an id that begins with %s", id);
		found = &l.items[i];
		if (!*rest)
			break;
	}
	if (r < 0 || !found)
		return r < 0 ? r : SNAP_E_NOT_FOUND;
	*ret_id = strdup(found->id);
	*ret_root = strdup(found->record->root);
	return *ret_id && *ret_root ? 0 : error_oom(err);
}
