/*
 * Reads mounts back from the kernel's table and compares them with what was asked: flags,
 * propagation, masked and read-only paths. Each mount is found by the number it got when it
 * was attached, so neither a symbolic link nor a mount on top of it can stand for it.
 */
#include "os/mount_verify.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/mount_impl.h"
#include "os/procfs.h"
#include "os/rootfs.h"
#include "util/fd.h"
#include "util/str.h"

#define TABLE_MAX ((size_t)64 * 1024 * 1024)

struct row {
	uint64_t id, parent;
	uint64_t attrs; /* MOUNT_LOCKABLE bits */
	bool shared, slave, tmpfs;
};

struct table {
	struct row *rows; /* as the kernel lists them */
	size_t count;
};

static void table_done(struct table *t)
{
	free(t->rows);
}

static uint64_t attrs_of(const char *options, size_t len)
{
	static const struct { const char *word; uint64_t bit; } words[] = {
		{ "ro", MOUNT_ATTR_RDONLY },
		{ "nosuid", MOUNT_ATTR_NOSUID },
		{ "nodev", MOUNT_ATTR_NODEV },
		{ "noexec", MOUNT_ATTR_NOEXEC },
	};
	uint64_t attrs = 0;
	size_t i, n;

	for (; len > 0; options += n, len -= n) {
		n = strcspn(options, ", ");
		for (i = 0; i < ELEMENTSOF(words); i++)
			if (strlen(words[i].word) == n && strncmp(options, words[i].word, n) == 0)
				attrs |= words[i].bit;
		n = MIN(n + 1, len);
	}
	return attrs;
}

/* One of the numbers at the start of a line. */
static const char *number(const char *s, uint64_t *ret)
{
	const char *start = s;

	for (*ret = 0; *s >= '0' && *s <= '9'; s++)
		*ret = *ret * 10 + (uint64_t)(*s - '0');
	return s > start && *s == ' ' ? s + 1 : NULL;
}

static const char *next_field(const char *s)
{
	s += strcspn(s, " \n");
	return *s == ' ' ? s + 1 : s;
}

/* "id parent dev root point options [tags] - type source super" */
static bool row_parse(const char *line, struct row *ret)
{
	const char *at;
	int i;

	*ret = (struct row){ 0 };
	at = number(line, &ret->id);
	at = at ? number(at, &ret->parent) : NULL;
	if (!at)
		return false;
	for (i = 0; i < 3; i++)
		at = next_field(at);
	ret->attrs = attrs_of(at, strcspn(at, " \n"));
	for (at = next_field(at); *at && *at != '\n' && *at != '-'; at = next_field(at)) {
		ret->shared |= str_after(at, "shared:") != NULL;
		ret->slave |= str_after(at, "master:") != NULL;
	}
	if (*at != '-')
		return false;
	ret->tmpfs = str_after(next_field(at), "tmpfs ") != NULL;
	return true;
}

static int table_read(int proc_fd, struct table *ret, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len, lines = 0, i;
	const char *line;
	int r;

	r = procfs_openat(proc_fd, "self/mountinfo", O_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, TABLE_MAX, &text, &len);
	if (r < 0)
		return error_set(err, r, "read the mount table");
	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	ret->rows = calloc(lines + 1, sizeof(*ret->rows));
	if (!ret->rows)
		return error_oom(err);
	for (line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!row_parse(line, &ret->rows[ret->count++]))
			return error_text(err, -EPROTO, "unexpected line in the mount table: %.100s", line);
	return 0;
}

static const struct row *table_find(const struct table *t, uint64_t id)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->rows[i].id == id)
			return &t->rows[i];
	return NULL;
}

static const char *flag_name(uint64_t missing)
{
	return missing & MOUNT_ATTR_RDONLY ? "read-only" :
	       missing & MOUNT_ATTR_NOSUID ? "nosuid" :
	       missing & MOUNT_ATTR_NODEV  ? "nodev" :
					     "noexec";
}

static int differs(const char *where, const char *what, struct error *err)
{
	return error_text(err, -EPERM, "verification of mounts failed: the mount on %.200s is not %s", where, what);
}

static int flags_compare(const struct row *row, uint64_t want, const char *where, struct error *err)
{
	uint64_t missing = want & MOUNT_LOCKABLE & ~row->attrs;

	return missing ? differs(where, flag_name(missing), err) : 0;
}

static unsigned long asked_propagation(const struct mount_op *op)
{
	unsigned long last = 0;
	size_t i;

	for (i = 0; i < ELEMENTSOF(op->propagation) && op->propagation[i]; i++)
		last = op->propagation[i];
	return last;
}

static int propagation_compare(const struct row *row, unsigned long asked, const char *where, struct error *err)
{
	if (asked & MS_SHARED)
		return 0;
	if (row->shared)
		return differs(where, "private: what is mounted there would show elsewhere", err);
	return (asked & (MS_PRIVATE | MS_UNBINDABLE)) && row->slave ? differs(where, "private", err) : 0;
}

/* A later remount of the same mount has the last word. */
static bool is_last(const struct mount_op *ops, size_t n, size_t i)
{
	size_t k;

	for (k = i + 1; k < n; k++)
		if (ops[k].mount_id == ops[i].mount_id)
			return false;
	return true;
}

static bool is_planned(const struct mount_op *ops, size_t n, uint64_t id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ops[i].mount_id == id)
			return true;
	return false;
}

/* Whether row came with the recursive bind of top: no mount of the plan lies between. */
static bool came_with(const struct table *t, const struct mount_op *ops, size_t n, const struct row *row, uint64_t top)
{
	size_t steps;

	for (steps = 0; row && steps < t->count; steps++) {
		if (is_planned(ops, n, row->id))
			return false;
		if (row->parent == top)
			return true;
		row = table_find(t, row->parent);
	}
	return false;
}

static int below_compare(const struct table *t, const struct mount_op *ops, size_t n, const struct mount_op *op,
			 struct error *err)
{
	uint64_t want = op->rec_set & MOUNT_LOCKABLE;
	size_t i;
	int r = 0;

	if (!op->recursive || op->kind != MOUNT_BIND || !want)
		return 0;
	for (i = 0; i < t->count && r == 0; i++)
		if (t->rows[i].id != op->mount_id && came_with(t, ops, n, &t->rows[i], op->mount_id))
			r = flags_compare(&t->rows[i], want, op->destination, err);
	return r < 0 ? error_prefix(err, "a mount below it") : 0;
}

static int op_verify(const struct table *t, const struct mount_verify *v, size_t i, struct error *err)
{
	const struct mount_op *op = &v->ops[i];
	const struct row *row = table_find(t, op->mount_id);
	int r;

	if (!row)
		return error_text(err, -EPERM, "verification of mounts failed: what was mounted on %.200s is gone",
				  op->destination);
	r = flags_compare(row, op->attr_set | op->rec_set, op->destination, err);
	/* Root propagation set in the end reaches all of them. */
	if (r == 0 && !(v->root_propagation & MS_SHARED))
		r = propagation_compare(row, asked_propagation(op), op->destination, err);
	if (r == 0 && !v->hooked)
		r = below_compare(t, v->ops, v->n_ops, op, err);
	return r;
}

static int look(int root_fd, const char *path, struct statx *ret, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = rootfs_openat(root_fd, path, O_PATH, 0, &fd);
	if (r == -ENOENT || r == -ENOTDIR)
		return 1;
	if (r == 0 && statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MNT_ID, ret) < 0)
		r = -errno;
	return r < 0 ? error_set(err, r, "verification of paths: look at %s", path) : 0;
}

static int masked_verify(const struct table *t, int root_fd, const char *path, struct error *err)
{
	const struct row *row;
	struct statx st = { 0 };
	int r = look(root_fd, path, &st, err);

	if (r != 0)
		return r < 0 ? r : 0;
	row = table_find(t, st.stx_mnt_id);
	if ((st.stx_attributes & STATX_ATTR_MOUNT_ROOT) &&
	    (S_ISDIR(st.stx_mode) ? row && row->tmpfs && (row->attrs & MOUNT_ATTR_RDONLY) :
				    S_ISCHR(st.stx_mode) && st.stx_rdev_major == 1 && st.stx_rdev_minor == 3))
		return 0;
	return error_text(err, -EPERM, "verification of masked paths failed: %s shows its content", path);
}

static int readonly_verify(const struct table *t, int root_fd, const char *path, struct error *err)
{
	const struct row *row;
	struct statx st = { 0 };
	int r = look(root_fd, path, &st, err);

	if (r != 0)
		return r < 0 ? r : 0;
	row = table_find(t, st.stx_mnt_id);
	if (row && (row->attrs & MOUNT_ATTR_RDONLY))
		return 0;
	return error_text(err, -EPERM, "verification of read-only paths failed: %s can be written", path);
}

static int root_verify(const struct table *t, const struct mount_verify *v, struct error *err)
{
	const struct row *row;
	struct statx st;

	if (statx(v->root_fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
		return error_set(err, -errno, "verification of mounts: look at the container's root");
	row = table_find(t, st.stx_mnt_id);
	if (!row)
		return error_text(err, -EPERM, "verification of mounts failed: the root is not in the mount table");
	if (v->root_readonly && !(row->attrs & MOUNT_ATTR_RDONLY))
		return differs("/", "read-only", err);
	return propagation_compare(row, v->root_propagation, "/", err);
}

int mount_verify(const struct mount_verify *v, struct error *err)
{
	_cleanup_(table_done) struct table t = { 0 };
	size_t i;
	int r;

	assert(v->root_fd >= 0 && v->proc_fd >= 0);

	r = table_read(v->proc_fd, &t, err);
	if (r == 0)
		r = root_verify(&t, v, err);
	for (i = 0; i < v->n_ops && r == 0; i++)
		if (v->ops[i].mount_id && is_last(v->ops, v->n_ops, i))
			r = op_verify(&t, v, i, err);
	for (i = 0; i < v->n_masked && r == 0; i++)
		r = masked_verify(&t, v->root_fd, v->masked[i], err);
	for (i = 0; i < v->n_readonly && r == 0; i++)
		r = readonly_verify(&t, v->root_fd, v->readonly[i], err);
	return r;
}
