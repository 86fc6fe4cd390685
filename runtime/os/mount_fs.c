/*
 * A new superblock with fsopen(2) and fsconfig(2), and what its context has to say when
 * it fails. Knows nothing of destinations.
 */
#include <assert.h>
#include <string.h>

#include "os/mount_impl.h"
#include "util/str.h"

/* fsconfig(2) copies at most this much of a string value (strndup_user(…, 256)). */
#define FSCONFIG_VALUE_MAX 255
#define FS_LOG_LINES_MAX   8

struct sb_flag {
	uint64_t flag;
	const char *name;
	bool lenient; /* filesystems without such an option ignored the flag of mount(2) */
};

/* clang-format off */
static const struct sb_flag sb_flags[] = {
	{ MS_RDONLY, "ro", false },
	{ MS_SYNCHRONOUS, "sync", false },
	{ MS_DIRSYNC, "dirsync", false },
	{ MS_LAZYTIME, "lazytime", false },
	{ MS_MANDLOCK, "mand", true }, /* gone from the kernel with 5.15 */
	{ MS_I_VERSION, "iversion", true },
	/* MS_SILENT only quiets the kernel log at probing. */
};
/* clang-format on */

/*
 * These have one superblock for many mounts, or none that outlives the mount: read-only
 * belongs to the mount alone. A read-only sysfs or mqueue superblock would also hit the
 * other containers of the same network or ipc namespace.
 */
static bool fs_readonly_by_mount(const char *fstype)
{
	static const char *const names[] = { "proc",   "sysfs",	 "tmpfs",   "mqueue",
					     "devpts", "cgroup", "cgroup2", "ramfs" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(names); i++)
		if (str_eq(names[i], fstype))
			return true;
	return false;
}

/* The context gives one message ("e tmpfs: Bad value for 'size'") for each read. */
static void fs_log(int fs_fd, char *text, size_t size)
{
	size_t used = 0, lines;

	text[0] = '\0';
	for (lines = 0; lines < FS_LOG_LINES_MAX; lines++) {
		char line[256], *start = line;
		ssize_t n = read(fs_fd, line, sizeof(line) - 1);
		int added;

		if (n <= 0)
			return;
		line[n] = '\0';
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[1] == ' ')
			start = line + 2;
		added = snprintf(text + used, size - used, "%s%s", used ? "; " : ": ", start);
		if (added < 0 || (size_t)added >= size - used)
			return;
		used += (size_t)added;
	}
}

static int fs_error(int fs_fd, const struct mount_fs *fs, const char *step, const char *what,
		    struct error *err)
{
	int code = -errno;
	char log[512];

	fs_log(fs_fd, log, sizeof(log));
	return error_set(err, code, "%s filesystem: %s%s%s", fs->fstype, step, what ? what : "",
			 log);
}

static int fs_set_string(int fs_fd, const struct mount_fs *fs, const char *key, const char *value,
			 struct error *err)
{
	if (strlen(value) > FSCONFIG_VALUE_MAX)
		return error_text(
			err, -E2BIG,
			"%s filesystem: option \"%s\" is longer than the %d bytes of fsconfig",
			fs->fstype, key, FSCONFIG_VALUE_MAX);
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, key, value, 0) < 0)
		return fs_error(fs_fd, fs, "option ", key, err);
	return 0;
}

/* Overlay takes long layer lists one by one (Linux 6.7). */
static int fs_set_lowerdirs(int fs_fd, const struct mount_fs *fs, char *value, struct error *err)
{
	char *next = value, *layer;
	int r = 0;

	while (r == 0 && (layer = strsep(&next, ":")))
		r = fs_set_string(fs_fd, fs, "lowerdir+", layer, err);
	return r;
}

static int fs_set_option(int fs_fd, const struct mount_fs *fs, char *option, struct error *err)
{
	char *value = strchr(option, '=');
	size_t len;

	if (!value) {
		if (fsconfig(fs_fd, FSCONFIG_SET_FLAG, option, NULL, 0) < 0)
			return fs_error(fs_fd, fs, "option ", option, err);
		return 0;
	}
	*value++ = '\0';
	len = strlen(value);
	/* context="…,…": the quotes kept the comma, the security module wants them gone. */
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value[len - 1] = '\0';
		value++;
	}
	if (len > FSCONFIG_VALUE_MAX && str_eq(fs->fstype, "overlay") &&
	    str_eq(option, "lowerdir") && !strchr(value, '\\'))
		return fs_set_lowerdirs(fs_fd, fs, value, err);
	return fs_set_string(fs_fd, fs, option, value, err);
}

/* Cuts the next option off *s at a comma outside double quotes. */
static char *next_option(char **s)
{
	char *start = *s, *p;
	bool quoted = false;

	if (!start || !*start)
		return NULL;
	for (p = start; *p && (quoted || *p != ','); p++)
		if (*p == '"')
			quoted = !quoted;
	*s = *p ? p + 1 : NULL;
	*p = '\0';
	return start;
}

static int fs_set_data(int fs_fd, const struct mount_fs *fs, bool skip_gid, struct error *err)
{
	_cleanup_free_ char *copy = NULL;
	char *rest, *option;
	int r;

	if (!fs->data)
		return 0;
	rest = copy = strdup(fs->data);
	if (!copy)
		return error_oom(err);
	while ((option = next_option(&rest))) {
		if (!*option || (skip_gid && str_after(option, "gid=")))
			continue;
		r = fs_set_option(fs_fd, fs, option, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fs_set_flags(int fs_fd, const struct mount_fs *fs, uint64_t flags, struct error *err)
{
	size_t i;

	if (fs_readonly_by_mount(fs->fstype))
		flags &= ~(uint64_t)MS_RDONLY;
	for (i = 0; flags && i < ELEMENTSOF(sb_flags); i++) {
		if (!(flags & sb_flags[i].flag))
			continue;
		if (fsconfig(fs_fd, FSCONFIG_SET_FLAG, sb_flags[i].name, NULL, 0) < 0 &&
		    !(sb_flags[i].lenient && errno == EINVAL))
			return fs_error(fs_fd, fs, "flag ", sb_flags[i].name, err);
	}
	return 0;
}

static int fs_try_create(const struct mount_fs *fs, bool skip_gid, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fs_fd = -EBADF;
	int fd, r;

	fs_fd = fsopen(fs->fstype, FSOPEN_CLOEXEC);
	if (fs_fd < 0)
		return error_set(err, -errno, "open filesystem type \"%s\"", fs->fstype);
	if (fs->source && *fs->source) {
		r = fs_set_string(fs_fd, fs, "source", fs->source, err);
		if (r < 0)
			return r;
	}
	r = fs_set_flags(fs_fd, fs, fs->sb_flags, err);
	if (r < 0)
		return r;
	r = fs_set_data(fs_fd, fs, skip_gid, err);
	if (r < 0)
		return r;
	if (fs->label && *fs->label) {
		r = fs_set_string(fs_fd, fs, "context", fs->label, err);
		if (r < 0)
			return r;
	}
	if (fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return fs_error(fs_fd, fs, "create", NULL, err);
	fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, (unsigned)fs->attrs);
	if (fd < 0)
		return fs_error(fs_fd, fs, "mount", NULL, err);
	*ret_fd = fd;
	return 0;
}

int mount_fs_create(const struct mount_fs *fs, int *ret_fd, struct error *err)
{
	int r;

	assert(fs && fs->fstype && ret_fd);

	r = fs_try_create(fs, false, ret_fd, err);
	/* Engines always ask for the tty group 5, which a small id map does not have. */
	if (r == -EINVAL && fs->in_userns && fs->data && str_eq(fs->fstype, "devpts") &&
	    strstr(fs->data, "gid="))
		r = fs_try_create(fs, true, ret_fd, err);
	return r;
}

int mount_fs_reconfigure(const struct mount_fs *fs, int fd, struct error *err)
{
	_cleanup_close_ int fs_fd = -EBADF;
	int r;

	assert(fs && fs->fstype && fd >= 0);

	fs_fd = fspick(fd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
	if (fs_fd < 0)
		return error_set(err, -errno, "pick the superblock to remount");
	r = fs_set_flags(fs_fd, fs, fs->sb_flags, err);
	if (r < 0)
		return r;
	r = fs_set_data(fs_fd, fs, false, err);
	if (r < 0)
		return r;
	if (fsconfig(fs_fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return fs_error(fs_fd, fs, "remount", NULL, err);
	return 0;
}
