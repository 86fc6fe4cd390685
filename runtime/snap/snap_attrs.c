/*
 * Attributes of objects through /proc/self/fd, the one way that works for each type of
 * object by a descriptor without opening it for reading.
 */
#include "snap/snap_attrs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/str.h"

#define NAMES_MAX  ((size_t)64 * 1024) /* XATTR_LIST_MAX */
#define VALUE_MAX  ((size_t)64 * 1024) /* XATTR_SIZE_MAX */
#define NAME_COUNT 512

/* Names as they are listed, without those that mean nothing elsewhere. */
struct names {
	char *text;
	const char *items[NAME_COUNT];
	size_t n;
};

static void names_done(struct names *n)
{
	free(n->text);
}

static void fd_path(int fd, char path[32])
{
	(void)snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* Labels follow from the place; the others are signatures over it. */
static bool is_local(const char *name)
{
	return str_after(name, "trusted.overlay.") || str_eq(name, "security.selinux") || str_eq(name, "security.ima") ||
	       str_eq(name, "security.evm") || str_eq(name, "system.nfs4_acl");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int names_read(const char *path, struct names *ret)
{
	const char *p;
	ssize_t len;

	len = listxattr(path, NULL, 0);
	if (len < 0)
		return errno == ENOTSUP ? 0 : -errno;
	if (len == 0)
		return 0;
	ret->text = malloc(NAMES_MAX);
	if (!ret->text)
		return -ENOMEM;
	len = listxattr(path, ret->text, NAMES_MAX);
	if (len < 0)
		return -errno;
	for (p = ret->text; p < ret->text + len; p += strlen(p) + 1) {
		if (is_local(p))
			continue;
		if (ret->n == NAME_COUNT)
			return -E2BIG;
		ret->items[ret->n++] = p;
	}
	qsort(ret->items, ret->n, sizeof(ret->items[0]), by_text);
	return 0;
}

static bool has(const struct names *n, const char *name)
{
	return bsearch(&name, n->items, n->n, sizeof(n->items[0]), by_text) != NULL;
}

static int copy_xattrs(int from_fd, int to_fd)
{
	_cleanup_(names_done) struct names want = { 0 }, have = { 0 };
	_cleanup_free_ char *value = NULL;
	char from[32], to[32];
	size_t i;
	int r;

	fd_path(from_fd, from);
	fd_path(to_fd, to);
	r = names_read(from, &want);
	if (r == 0)
		r = names_read(to, &have);
	if (r < 0 || want.n + have.n == 0)
		return r;
	value = malloc(VALUE_MAX);
	if (!value)
		return -ENOMEM;
	for (i = 0; i < have.n; i++)
		if (!has(&want, have.items[i]) && removexattr(to, have.items[i]) < 0 && errno != ENODATA)
			return -errno;
	for (i = 0; i < want.n; i++) {
		ssize_t len = getxattr(from, want.items[i], value, VALUE_MAX);

		if (len < 0 || setxattr(to, want.items[i], value, (size_t)len, 0) < 0)
			return -errno;
	}
	return 0;
}

int snap_attrs_copy(int from_fd, const struct stat *from, int to_fd, struct error *err)
{
	const struct timespec times[2] = { from->st_atim, from->st_mtim };
	char path[32];
	int r;

	fd_path(to_fd, path);
	if (fchownat(to_fd, "", from->st_uid, from->st_gid, AT_EMPTY_PATH) < 0)
		return error_set(err, -errno, "set the owner");
	if (!S_ISLNK(from->st_mode) && chmod(path, from->st_mode & 07777) < 0)
		return error_set(err, -errno, "set the mode");
	r = copy_xattrs(from_fd, to_fd);
	if (r < 0)
		return error_set(err, r, "copy extended attributes");
	if (utimensat(AT_FDCWD, path, times, 0) < 0)
		return error_set(err, -errno, "set the times");
	return 0;
}

static int differ_xattrs(int a_fd, int b_fd, bool *ret)
{
	_cleanup_(names_done) struct names a = { 0 }, b = { 0 };
	_cleanup_free_ char *value = NULL;
	char a_path[32], b_path[32];
	size_t i;
	int r;

	*ret = false;
	fd_path(a_fd, a_path);
	fd_path(b_fd, b_path);
	r = names_read(a_path, &a);
	if (r == 0)
		r = names_read(b_path, &b);
	if (r < 0)
		return r;
	*ret = a.n != b.n;
	if (*ret || a.n == 0)
		return 0;
	value = malloc(2 * VALUE_MAX);
	if (!value)
		return -ENOMEM;
	for (i = 0; i < a.n && !*ret; i++) {
		ssize_t a_len, b_len;

		if (!str_eq(a.items[i], b.items[i])) {
			*ret = true;
			break;
		}
		a_len = getxattr(a_path, a.items[i], value, VALUE_MAX);
		b_len = getxattr(b_path, b.items[i], value + VALUE_MAX, VALUE_MAX);
		if (a_len < 0 || b_len < 0)
			return -errno;
		*ret = a_len != b_len || memcmp(value, value + VALUE_MAX, (size_t)a_len) != 0;
	}
	return 0;
}

int snap_attrs_compare(int a_fd, const struct stat *a, int b_fd, const struct stat *b, unsigned *ret, struct error *err)
{
	bool xattrs;
	int r = differ_xattrs(a_fd, b_fd, &xattrs);

	if (r < 0)
		return error_set(err, r, "compare extended attributes");
	*ret = xattrs ? SNAP_ATTR_XATTR : 0;
	if ((a->st_mode ^ b->st_mode) & 07777)
		*ret |= SNAP_ATTR_MODE;
	if (a->st_uid != b->st_uid || a->st_gid != b->st_gid)
		*ret |= SNAP_ATTR_OWNER;
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec)
		*ret |= SNAP_ATTR_TIME;
	return 0;
}

int snap_attr_get(int fd, const char *name, void *value, size_t room)
{
	char path[32];
	ssize_t n;

	fd_path(fd, path);
	n = getxattr(path, name, value, room);
	return n < 0 ? -errno : (int)n;
}

bool snap_attr_any(int fd, const char *prefix)
{
	_cleanup_(names_done) struct names names = { 0 };
	char path[32];
	size_t i;

	fd_path(fd, path);
	/* What cannot be read is not passed on either. */
	if (names_read(path, &names) < 0)
		return true;
	for (i = 0; i < names.n; i++)
		if (str_after(names.items[i], prefix))
			return true;
	return false;
}

int snap_attr_set(int fd, const char *name, const void *value, size_t len)
{
	char path[32];

	fd_path(fd, path);
	return setxattr(path, name, value, len, 0) < 0 ? -errno : 0;
}
