/*
 * What must not reach an original unasked: changes over somebody else's, and objects that
 * give whoever finds them on the host more than the container had.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "snap/snap_commit.h"
#include "snap/snap_tree.h"
#include "util/str.h"

static bool later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* The change time cannot be set by anybody. Folders have a new one for each name in them: theirs says nothing. */
static bool changed_since(const struct snap *s, const struct snap_part *p, const struct snap_change *c, const struct snap_ours *ours)
{
	return !S_ISDIR(c->old.st_mode) && later(&c->old.st_ctim, &s->record->since) && !snap_ours_has(ours, p->layer, c->path, &c->old);
}

/*
 * The folder that it is in has been exchanged for another one, whose files may be older than the session. A folder of the
 * original cannot be renamed inside: where one was copied up from is where it still is.
 */
static bool folder_changed(const struct snap_part *p, const struct snap_change *c, const struct snap_ours *ours)
{
	unsigned char then[SNAP_HANDLE_MAX + 1], now[SNAP_HANDLE_MAX + 1];
	_cleanup_close_ int up_fd = -EBADF, low_fd = -EBADF;
	const char *name, *slash = strrchr(c->path, '/');
	_cleanup_free_ char *folder = slash ? strndup(c->path, (size_t)(slash - c->path)) : NULL;
	struct stat st;
	size_t len;

	if (!folder || snap_tree_parent(p->view.upper_fd, c->path, &up_fd, &name) < 0 ||
	    snap_tree_parent(p->view.lower_fd, c->path, &low_fd, &name) < 0 || fstat(low_fd, &st) < 0)
		return false;
	len = snap_handle_origin(up_fd, then);
	return len > 0 && (snap_handle_of(low_fd, now) != len || memcmp(then, now, len) != 0) && !snap_ours_made(ours, p->layer, folder, &st);
}

/* It was copied up from an original that is nowhere any more. */
static bool lost_since(const struct snap_part *p, const struct snap_change *c)
{
	struct { struct file_handle head; unsigned char bytes[SNAP_HANDLE_MAX]; } h;
	const unsigned char *handle = c->handle;
	_cleanup_close_ int top_fd = -EBADF, fd = -EBADF;
	struct stat st;

	if (!c->handle || c->handle_len <= 1 || c->handle_len - 1 > SNAP_HANDLE_MAX)
		return false;
	top_fd = snap_tree_open(p->view.lower_fd, "", O_RDONLY | O_DIRECTORY);
	if (top_fd < 0)
		return false;
	h.head.handle_type = handle[0];
	h.head.handle_bytes = (unsigned)c->handle_len - 1;
	memcpy(h.head.f_handle, handle + 1, c->handle_len - 1);
	fd = open_by_handle_at(top_fd, &h.head, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ESTALE;
	/* Kept alive by the overlay alone. */
	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

static bool has_capability(int fd)
{
	char value[64];

	return fd >= 0 && snap_attr_get(fd, "security.capability", value, sizeof(value)) > 0;
}

const char *snap_conflict(const struct snap *s, const struct snap_part *p, const struct snap_change *c, const struct snap_ours *ours)
{
	const struct stat *new = &c->new;
	_cleanup_close_ int fd = -EBADF;

	if (c->kind != SNAP_ADDED && changed_since(s, p, c, ours))
		return "the original has changed since the session began";
	if (c->kind != SNAP_ADDED && folder_changed(p, c, ours))
		return "its folder in the original is another one since the session began";
	if (c->kind == SNAP_ADDED && lost_since(p, c))
		return "the original was deleted since the session began";
	if (c->kind == SNAP_DELETED || (c->kind == SNAP_MODIFIED && c->attrs == 0))
		return NULL;
	if (S_ISCHR(new->st_mode) || S_ISBLK(new->st_mode))
		return "a device node";
	fd = snap_tree_open(p->view.upper_fd, c->path, O_PATH);
	/* In an overlay that a user mounts such attributes are its own: a folder that hides others, a file that is none. */
	if ((c->kind != SNAP_MODIFIED || (c->attrs & SNAP_ATTR_XATTR)) && fd >= 0 && snap_attr_any(fd, "user.overlay."))
		return "attributes for an overlay";
	if (!S_ISREG(new->st_mode))
		return NULL;
	/* As it was is nothing new, as long as the content is. */
	if ((new->st_mode & (S_ISUID | S_ISGID)) && (c->kind != SNAP_MODIFIED || (c->attrs & (SNAP_ATTR_CONTENT | SNAP_ATTR_MODE | SNAP_ATTR_OWNER))))
		return "a set-id program";
	if ((c->kind != SNAP_MODIFIED || (c->attrs & (SNAP_ATTR_CONTENT | SNAP_ATTR_XATTR))) && has_capability(fd))
		return "a program with capabilities";
	return NULL;
}
