/*
 * The changes of a session as a layer of an OCI image: a tar archive with pax headers for what
 * ustar cannot say, and whiteout files for what was deleted.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "snap/snap_commit.h"
#include "snap/snap_tree.h"
#include "util/fd.h"
#include "util/str.h"

#define BLOCK	   512
#define NAMES_MAX  ((size_t)64 * 1024)
#define VALUE_MAX  ((size_t)64 * 1024)
#define OCTAL7_MAX 07777777
#define SIZE_OCTAL_MAX 077777777777LL

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2], uname[32],
		gname[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

struct tar {
	int fd;
	const struct snap_part *part;
	const char *prefix; /* of all names: the destination without its first slash, and a slash */
	const char *last;   /* the path before, whose parents are there */
	uint64_t files;
};

struct entry {
	const char *name, *link; /* link NULL = none */
	char type;
	struct stat st;
	int fd; /* O_PATH, for attributes; -EBADF = none */
};

static void octal(char *field, size_t size, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%0*llo", (int)size - 1, (unsigned long long)value);
	memcpy(field, text, MIN(strlen(text), size - 1));
}

/* "LENGTH KEY=VALUE\n", whose length counts itself. */
static void pax(struct buf *b, const char *key, const void *value, size_t len)
{
	size_t rest = strlen(key) + len + 3, total = rest + 1;
	char digits[24];

	while (total != rest + (size_t)snprintf(digits, sizeof(digits), "%zu", total))
		total = rest + strlen(digits);
	buf_addf(b, "%s %s=", digits, key);
	buf_add(b, value, len);
	buf_adds(b, "\n");
}

static int pax_attributes(struct buf *b, int fd)
{
	_cleanup_free_ char *names = malloc(NAMES_MAX), *value = malloc(VALUE_MAX);
	char path[32];
	const char *p;
	ssize_t n;

	if (!names || !value)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = listxattr(path, names, NAMES_MAX);
	if (n < 0)
		return errno == ENOTSUP ? 0 : -errno;
	for (p = names; p < names + n; p += strlen(p) + 1) {
		_cleanup_free_ char *key = NULL;
		ssize_t len;

		/* In the layers of a rootless engine the second would be overlay's own. */
		if (str_after(p, "trusted.overlay.") || str_after(p, "user.overlay.") || str_eq(p, "security.selinux"))
			continue;
		len = getxattr(path, p, value, VALUE_MAX);
		key = str_printf("SCHILY.xattr.%s", p);
		if (len < 0 || !key)
			return len < 0 ? -errno : -ENOMEM;
		pax(b, key, value, (size_t)len);
	}
	return 0;
}

static void seal(struct header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	unsigned sum = 0;
	size_t i;

	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	memset(h->checksum, ' ', sizeof(h->checksum));
	for (i = 0; i < sizeof(*h); i++)
		sum += p[i];
	(void)snprintf(h->checksum, sizeof(h->checksum), "%06o", sum);
}

static int put_padding(int fd, uint64_t written)
{
	static const char zeros[BLOCK];
	size_t over = (size_t)(written % BLOCK);

	return over ? fd_write_all(fd, zeros, BLOCK - over) : 0;
}

/* What does not fit, and always the exact time. */
static int make_pax(const struct entry *e, struct buf *b)
{
	char text[64];
	int n;

	if (strlen(e->name) > 100)
		pax(b, "path", e->name, strlen(e->name));
	if (e->link && strlen(e->link) > 100)
		pax(b, "linkpath", e->link, strlen(e->link));
	if (e->type == '0' && (long long)e->st.st_size > SIZE_OCTAL_MAX) {
		n = snprintf(text, sizeof(text), "%lld", (long long)e->st.st_size);
		pax(b, "size", text, (size_t)n);
	}
	if (e->st.st_uid > OCTAL7_MAX) {
		n = snprintf(text, sizeof(text), "%u", e->st.st_uid);
		pax(b, "uid", text, (size_t)n);
	}
	if (e->st.st_gid > OCTAL7_MAX) {
		n = snprintf(text, sizeof(text), "%u", e->st.st_gid);
		pax(b, "gid", text, (size_t)n);
	}
	if (e->fd < 0)
		return 0;
	n = snprintf(text, sizeof(text), "%lld.%09ld", (long long)e->st.st_mtim.tv_sec, e->st.st_mtim.tv_nsec);
	pax(b, "mtime", text, (size_t)n);
	return S_ISLNK(e->st.st_mode) ? 0 : pax_attributes(b, e->fd);
}

static int put_header(struct tar *t, const struct entry *e)
{
	struct header h = { .type = e->type }, x = { .type = 'x', .name = "PaxHeader" };
	_cleanup_buf_ struct buf b = BUF_NULL;
	int r = make_pax(e, &b);

	if (r == 0 && !buf_ok(&b))
		r = -ENOMEM;
	if (r == 0 && b.len > 0) {
		octal(x.mode, sizeof(x.mode), 0600);
		octal(x.size, sizeof(x.size), b.len);
		seal(&x);
		r = fd_write_all(t->fd, &x, sizeof(x));
		if (r == 0)
			r = fd_write_all(t->fd, b.data, b.len);
		if (r == 0)
			r = put_padding(t->fd, b.len);
	}
	if (r < 0)
		return r;
	memcpy(h.name, e->name, MIN(strlen(e->name), sizeof(h.name)));
	if (e->link)
		memcpy(h.link, e->link, MIN(strlen(e->link), sizeof(h.link)));
	octal(h.mode, sizeof(h.mode), e->st.st_mode & 07777);
	octal(h.uid, sizeof(h.uid), MIN(e->st.st_uid, (uid_t)OCTAL7_MAX));
	octal(h.gid, sizeof(h.gid), MIN(e->st.st_gid, (gid_t)OCTAL7_MAX));
	octal(h.size, sizeof(h.size), e->type == '0' ? (uint64_t)MIN((long long)e->st.st_size, SIZE_OCTAL_MAX) : 0);
	octal(h.mtime, sizeof(h.mtime), (uint64_t)MAX(e->st.st_mtim.tv_sec, (time_t)0));
	if (e->type == '3' || e->type == '4') {
		octal(h.major, sizeof(h.major), major(e->st.st_rdev));
		octal(h.minor, sizeof(h.minor), minor(e->st.st_rdev));
	}
	seal(&h);
	t->files++;
	return fd_write_all(t->fd, &h, sizeof(h));
}

/* Exactly as many bytes as the header says. */
static int put_content(const struct tar *t, const char *path, off_t size)
{
	_cleanup_close_ int fd = snap_tree_open(t->part->view.upper_fd, path, O_RDONLY);
	_cleanup_free_ char *buffer = malloc(VALUE_MAX);
	off_t left = size;
	int r = fd < 0 ? fd : buffer ? 0 : -ENOMEM;

	while (left > 0 && r == 0) {
		ssize_t n = read(fd, buffer, MIN((size_t)left, VALUE_MAX));

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = fd_write_all(t->fd, buffer, (size_t)n);
		left -= n;
	}
	return r < 0 ? r : put_padding(t->fd, (uint64_t)size);
}

static int put_object(struct tar *t, const char *path, const char *link)
{
	static const struct { mode_t mode; char type; } types[] = {
		{ S_IFREG, '0' }, { S_IFLNK, '2' }, { S_IFCHR, '3' }, { S_IFBLK, '4' }, { S_IFDIR, '5' }, { S_IFIFO, '6' },
	};
	_cleanup_close_ int fd = snap_tree_open(t->part->view.upper_fd, path, O_PATH);
	_cleanup_free_ char *name = NULL, *link_name = NULL;
	struct entry e = { .fd = fd };
	char target[PATH_MAX];
	size_t i;
	int r;

	if (fd < 0 || fstat(fd, &e.st) < 0)
		return fd == -ENOENT ? 0 : fd < 0 ? fd : -errno;
	for (i = 0; i < ELEMENTSOF(types); i++)
		if ((e.st.st_mode & S_IFMT) == types[i].mode)
			e.type = types[i].type;
	/* A socket has no place in an archive, and no use without its program. */
	if (!e.type)
		return 0;
	name = str_printf("%s%s%s", t->prefix, path, e.type == '5' ? "/" : "");
	link_name = link ? str_printf("%s%s", t->prefix, link) : NULL;
	if (!name || (link && !link_name))
		return -ENOMEM;
	e.name = name;
	if (link) {
		e.type = '1';
		e.link = link_name;
	} else if (e.type == '2') {
		ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

		if (n < 0)
			return -errno;
		target[n] = '\0';
		e.link = target;
	}
	r = put_header(t, &e);
	return r == 0 && e.type == '0' ? put_content(t, path, e.st.st_size) : r;
}

static int put_whiteout(struct tar *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *name = str_printf("%s%.*s.wh.%s", t->prefix, slash ? (int)(slash + 1 - path) : 0, path, slash ? slash + 1 : path);
	struct entry e = { .name = name, .type = '0', .fd = -EBADF, .st = { .st_mode = S_IFREG | 0600 } };

	return name ? put_header(t, &e) : -ENOMEM;
}

/* The folders above, once: the list is in the order of a walk. */
static int put_above(struct tar *t, const char *path)
{
	_cleanup_free_ char *above = strdup(path);
	char *slash;
	int r = 0;

	if (!above)
		return -ENOMEM;
	for (slash = strchr(above, '/'); slash && r == 0; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!t->last || !snap_tree_within(t->last, above))
			r = put_object(t, above, NULL);
		*slash = '/';
	}
	return r;
}

static int put_part(struct tar *t, const struct snap_part *p, const struct snap_layer *l, struct error *err)
{
	_cleanup_free_ char *prefix = str_printf("%s%s", l->destination + 1, str_eq(l->destination, "/") ? "" : "/");
	size_t i;
	int r = prefix ? 0 : -ENOMEM;

	t->part = p;
	t->prefix = prefix;
	t->last = NULL;
	for (i = 0; i < p->changes.n && r == 0; i++) {
		const struct snap_change *c = &p->changes.items[i];

		if (c->implied)
			continue;
		r = put_above(t, c->path);
		if (r == 0)
			r = c->kind == SNAP_DELETED ? put_whiteout(t, c->path) : put_object(t, c->path, c->link);
		t->last = c->path;
		if (r < 0)
			(void)error_set(err, r, "archive %s", *c->path ? c->path : ".");
	}
	return r < 0 && !err->code ? error_oom(err) : r;
}

/* A name that says in a layer that something else is deleted, or that all of a folder is. */
static bool looks_deleted(const char *path)
{
	return str_after(path, ".wh.") || strstr(path, "/.wh.");
}

/*
 * An archive has no holes: a file that is nothing else would fill the disk of the host; what the session can hold fits. And
 * in a layer of an image some names are not names.
 */
static int check_changes(const struct snap_parts *parts, uint64_t max, struct error *err)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < parts->n; i++)
		for (k = 0; k < parts->items[i].changes.n; k++) {
			const struct snap_change *c = &parts->items[i].changes.items[k];

			if (looks_deleted(c->path))
				return error_text(err, -EINVAL, "%s: in a layer of an image a name with \".wh.\" stands for a deletion: name other paths",
						  c->path);
			if (c->kind == SNAP_DELETED || c->implied || c->link || !S_ISREG(c->new.st_mode))
				continue;
			sum += MIN((uint64_t)c->new.st_size, UINT64_MAX - sum);
			if (sum > max)
				return error_text(err, -EFBIG, "with %s the archive would be larger than the session may be (%llu bytes), since it has no "
						  "holes: name other paths", c->path, (unsigned long long)max);
		}
	return 0;
}

int snap_export(const struct snap *s, const char *path, const char *file, struct snap_report *report, struct error *err)
{
	_cleanup_snap_parts_ struct snap_parts parts = { 0 };
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *below = NULL;
	static const char end[2 * BLOCK];
	struct tar t = { 0 };
	size_t i;
	int r = snap_parts_open(s, path, false, &parts, &below, err);

	for (i = 0; i < parts.n && r == 0; i++)
		r = snap_check_seen(&parts.items[i].changes, false, err);
	if (r == 0)
		r = check_changes(&parts, s->record->size, err);
	if (r < 0)
		return r;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, -errno, "make the archive %s", file);
	t.fd = fd;
	for (i = 0; i < parts.n && r == 0; i++)
		r = put_part(&t, &parts.items[i], &s->record->layers[parts.items[i].layer], err);
	if (r == 0 && (fd_write_all(fd, end, sizeof(end)) < 0 || fsync(fd) < 0))
		r = error_set(err, -errno, "write the archive %s", file);
	if (r < 0)
		(void)unlink(file);
	report->files = t.files;
	return r;
}
