/*
 * --no-pivot: the root moved over / and entered with chroot. The host's mounts stay
 * reachable for the kernel's check of "is a full proc visible here", so they are taken
 * away first: else a nested user namespace could mount a proc without masks.
 */
#include "os/rootfs.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/mount_impl.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define MOUNTINFO_MAX ((size_t)16 * 1024 * 1024)

struct mount_line {
	uint64_t id, parent;
	char *root, *point, *fstype;
};

struct mount_table {
	char *text;
	struct mount_line *lines;
	size_t count;
};

static void mount_table_done(struct mount_table *t)
{
	free(t->text);
	free(t->lines);
}

/* "\040" and the like, in place. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAGS…] - FSTYPE SOURCE SUPEROPTIONS */
static int parse_line(char *line, struct mount_line *ret)
{
	char *save = NULL, *fields[5];
	char *tail = strstr(line, " - ");
	size_t i;

	if (!tail)
		return -EINVAL;
	*tail = '\0';
	for (i = 0; i < ELEMENTSOF(fields); i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!fields[i])
			return -EINVAL;
	}
	if (parse_u64(fields[0], &ret->id) < 0 || parse_u64(fields[1], &ret->parent) < 0)
		return -EINVAL;
	ret->root = fields[3];
	ret->point = fields[4];
	unescape(ret->point);
	ret->fstype = tail + strlen(" - ");
	ret->fstype[strcspn(ret->fstype, " ")] = '\0';
	return 0;
}

static int mount_table_read(struct mount_table *t, struct error *err)
{
	_cleanup_close_ int proc_fd = -EBADF, fd = -EBADF;
	char *p, *line;
	size_t lines = 1, len;
	int r;

	r = procfs_open(&proc_fd, err);
	if (r < 0)
		return r;
	r = procfs_openat(proc_fd, "self/mountinfo", O_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, MOUNTINFO_MAX, &t->text, &len);
	if (r < 0)
		return error_set(err, r, "read /proc/self/mountinfo");
	for (p = t->text; *p; p++)
		lines += *p == '\n';
	t->lines = calloc(lines, sizeof(*t->lines));
	if (!t->lines)
		return error_oom(err);
	p = t->text;
	while ((line = strsep(&p, "\n")))
		if (*line && parse_line(line, &t->lines[t->count++]) < 0)
			return error_text(err, -EINVAL, "/proc/self/mountinfo: unexpected line");
	return 0;
}

static const struct mount_line *find_id(const struct mount_table *t, uint64_t id)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->lines[i].id == id)
			return &t->lines[i];
	return NULL;
}

/* Whether the mount is the container's root or lies on it. */
static bool below(const struct mount_table *t, const struct mount_line *line, uint64_t root_id)
{
	size_t steps;

	for (steps = 0; line && steps <= t->count; steps++) {
		if (line->id == root_id)
			return true;
		if (line->parent == line->id)
			return false;
		line = find_id(t, line->parent);
	}
	return false;
}

static int cover(const char *point, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	const struct mount_fs fs = {
		.fstype = "tmpfs",
		.source = "tmpfs",
		.data = "mode=755,size=4k,nr_inodes=1",
		.attrs = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			 MOUNT_ATTR_NOEXEC,
	};
	int r;

	r = mount_fs_create(&fs, &fd, err);
	if (r < 0)
		return r;
	if (move_mount(fd, "", AT_FDCWD, point, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_set(err, -errno, "cover the host's %s", point);
	return 0;
}

static int take_away(const struct mount_line *line, struct error *err)
{
	struct mount_attr attr = { .propagation = MS_SLAVE };

	if (mount_setattr(AT_FDCWD, line->point, AT_RECURSIVE | AT_SYMLINK_NOFOLLOW, &attr,
			  sizeof(attr)) < 0) {
		/* Went away together with a mount above it. */
		if (errno == ENOENT || errno == EINVAL)
			return 0;
		return error_set(err, -errno, "make the host's %s a slave", line->point);
	}
	if (umount2(line->point, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		return 0;
	/* Locked by a user namespace. */
	if (errno == EINVAL || errno == EPERM)
		return cover(line->point, err);
	return error_set(err, -errno, "unmount the host's %s", line->point);
}

int rootfs_move(int rootfs_fd, struct error *err)
{
	_cleanup_(mount_table_done) struct mount_table table = { 0 };
	struct statx stx;
	size_t i;
	int r;

	assert(rootfs_fd >= 0);

	if (statx(rootfs_fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0)
		return error_set(err, -errno, "stat the container's root");
	r = mount_table_read(&table, err);
	if (r < 0)
		return r;
	for (i = 0; i < table.count; i++) {
		const struct mount_line *line = &table.lines[i];

		if (!str_eq(line->root, "/") ||
		    (!str_eq(line->fstype, "proc") && !str_eq(line->fstype, "sysfs")) ||
		    below(&table, line, stx.stx_mnt_id))
			continue;
		r = take_away(line, err);
		if (r < 0)
			return r;
	}
	if (fchdir(rootfs_fd) < 0)
		return error_set(err, -errno, "change to the container's root");
	if (move_mount(rootfs_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_set(err, -errno, "move the container's root over /");
	if (chroot(".") < 0 || chdir("/") < 0)
		return error_set(err, -errno, "change the root to the container's");
	return 0;
}
