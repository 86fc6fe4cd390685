/*
 * Opens mount sources and reads what the object is. Reads only; judges nothing: which
 * path is dangerous is the policy's business.
 */
#include "os/hostpath.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "os/hostpath_tables.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define PASSWD_MAX   ((size_t)4 * 1024 * 1024)
#define HOMES_MAX    64
#define UID_ORDINARY 1000
#define UID_NOBODY   65534

/* Magic numbers without a name in the headers of Debian 12. */
#define MQUEUE_MAGIC	 0x19800202
#define CONFIGFS_MAGIC	 0x62656570
#define FUSECTL_MAGIC	 0x65735543
#define RPC_PIPEFS_MAGIC 0x67596969

static const struct {
	unsigned long magic;
	const char *name;
} kernel_types[] = {
	{ PROC_SUPER_MAGIC, "proc" },
	{ SYSFS_MAGIC, "sysfs" },
	{ CGROUP_SUPER_MAGIC, "cgroup" },
	{ CGROUP2_SUPER_MAGIC, "cgroup2" },
	{ BPF_FS_MAGIC, "bpf" },
	{ DEBUGFS_MAGIC, "debugfs" },
	{ TRACEFS_MAGIC, "tracefs" },
	{ SECURITYFS_MAGIC, "securityfs" },
	{ DEVPTS_SUPER_MAGIC, "devpts" },
	{ MQUEUE_MAGIC, "mqueue" },
	{ NSFS_MAGIC, "nsfs" },
	{ PSTOREFS_MAGIC, "pstore" },
	{ EFIVARFS_MAGIC, "efivarfs" },
	{ CONFIGFS_MAGIC, "configfs" },
	{ SELINUX_MAGIC, "selinuxfs" },
	{ SMACK_MAGIC, "smackfs" },
	{ BINFMTFS_MAGIC, "binfmt_misc" },
	{ FUSECTL_MAGIC, "fusectl" },
	{ AUTOFS_SUPER_MAGIC, "autofs" },
	{ RPC_PIPEFS_MAGIC, "rpc_pipefs" },
	{ HUGETLBFS_MAGIC, "hugetlbfs" },
	{ RDTGROUP_SUPER_MAGIC, "resctrl" },
};

int hostpath_kernel_type(int fd, const char **ret)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	*ret = NULL;
	for (i = 0; i < ELEMENTSOF(kernel_types); i++)
		if ((unsigned long)fs.f_type == kernel_types[i].magic)
			*ret = kernel_types[i].name;
	return 0;
}

bool hostpath_is_absent(int code)
{
	switch (code) {
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
	case -ENAMETOOLONG:
	/* a user's own file system, which not even root may enter; one whose server is gone */
	case -EACCES:
	case -ENOTCONN:
	case -ESTALE:
		return true;
	default:
		return false;
	}
}

/* STATX_MNT_ID: Linux 5.8. */
static int look_at(int dirfd, const char *path, int flags, struct statx *ret)
{
	if (statx(dirfd, path, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, ret) < 0)
		return -errno;
	return 0;
}

/* The kernel's name of an open object, in the arena. No error of this looks like one of open(2). */
static int name_of(const struct hostpath_host *host, int fd, const char **ret)
{
	char number[16], buf[PATH_MAX];
	ssize_t n;

	(void)snprintf(number, sizeof(number), "%d", fd);
	n = readlinkat(host->self_fd_dir, number, buf, sizeof(buf));
	if (n <= 0)
		return -EIO;
	if ((size_t)n >= sizeof(buf))
		return -E2BIG;
	*ret = arena_strndup(host->arena, buf, (size_t)n);
	return *ret ? 0 : -ENOMEM;
}

/*
 * A name of another mount namespace, or with " (deleted)" at its end, looks like one of
 * ours: only a second look-up, without links, tells.
 */
static int leads_to(const char *path, const struct statx *st, bool *ret)
{
	struct statx again;
	int r = *path == '/' ? look_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &again) : -ENOENT;

	*ret = r == 0 && again.stx_ino == st->stx_ino && again.stx_dev_major == st->stx_dev_major &&
	       again.stx_dev_minor == st->stx_dev_minor && again.stx_mnt_id == st->stx_mnt_id;
	return hostpath_is_absent(r) ? 0 : r;
}

int hostpath_host_open(int proc_fd, struct arena *arena, struct hostpath_host *ret,
		       struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	assert(proc_fd >= 0 && arena && ret);

	r = procfs_openat(proc_fd, "self/fd", O_PATH | O_DIRECTORY, &fd, err);
	if (r < 0)
		return r;
	*ret = (struct hostpath_host){ .arena = arena,
				       .proc_fd = proc_fd,
				       .self_fd_dir = take_fd(&fd) };
	return 0;
}

void hostpath_host_done(struct hostpath_host *host)
{
	cleanup_closep(&host->self_fd_dir);
	*host = HOSTPATH_HOST_NULL;
}

int hostpath_open(struct hostpath_host *host, int dirfd, const char *source, bool follow,
		  struct hostpath *ret, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	const char *path, *fstype;
	struct statx st;
	bool reachable;
	int r;

	assert(host && host->arena && source && ret);

	fd = openat(dirfd, source, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return error_set(err, -errno, "open mount source %s", source);
	r = look_at(fd, "", AT_EMPTY_PATH, &st);
	if (r < 0)
		return error_set(err, r, "stat mount source %s", source);
	r = name_of(host, fd, &path);
	if (r < 0)
		return error_set(err, r, "find the canonical path of mount source %s", source);
	/* What cannot be looked at is not taken for harmless. */
	r = leads_to(path, &st, &reachable);
	if (r == 0)
		r = hostpath_kernel_type(fd, &fstype);
	if (r < 0)
		return error_set(err, r, "examine mount source %s", source);
	*ret = (struct hostpath){
		.source = source,
		.path = path,
		.reachable = reachable,
		.mode = st.stx_mode,
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor),
		.ino = (ino_t)st.stx_ino,
		.nlink = st.stx_nlink,
		.mount_id = st.stx_mnt_id,
		.fstype = fstype,
		.fd = take_fd(&fd),
	};
	return 0;
}

int hostpath_look(struct hostpath_host *host, struct hostpath *hp, bool recursive,
		  struct error *err)
{
	struct hostpath_parts parts = { .arena = host->arena };
	size_t i, mounted;
	int r;

	assert(hp && hp->fd >= 0);

	r = host->mounts ? 0 : hostpath_mounts_read(host, err);
	if (r < 0)
		return r;
	r = hostpath_mounts_apply(host, hp, recursive, &parts, err);
	if (r < 0)
		return r;
	if (S_ISDIR(hp->mode) && hp->reachable) {
		r = host->sockets ? 0 : hostpath_sockets_read(host, err);
		if (r < 0)
			return r;
		hostpath_sockets_apply(host, hp->path, &parts);
		for (i = 0; i < hp->n_aliases; i++)
			hostpath_sockets_apply(host, hp->aliases[i], &parts);
		mounted = parts.count;
		for (i = 0; i < mounted && !parts.failed; i++)
			if (parts.items[i].kind == HOSTPATH_PART_NAME)
				hostpath_sockets_apply(host, parts.items[i].what, &parts);
		hostpath_sockets_walk(hp, &parts);
	}
	if (parts.failed)
		return error_text(err, -ENOMEM, "mount source %s: too much below it to judge, or it cannot be read",
				  hp->source);
	hp->parts = parts.items;
	hp->n_parts = parts.count;
	return 0;
}

void hostpath_done(struct hostpath *hp)
{
	cleanup_closep(&hp->fd);
	*hp = HOSTPATH_NULL;
}

uint64_t hostpath_probe(const struct hostpath *hp, const char *(*name)(size_t i))
{
	struct stat st;
	uint64_t found = 0;
	const char *n;
	size_t i;

	assert(hp->fd >= 0);

	for (i = 0; i < 64; i++) {
		n = name(i);
		if (!n)
			break;
		if (fstatat(hp->fd, n, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 || !hostpath_is_absent(-errno))
			found |= UINT64_C(1) << i;
	}
	return found;
}

/*
 * Links share a filesystem, so d_ino is enough once the folder's device is known. A folder that
 * cannot be read may hold it.
 */
static bool folder_holds(const char *path, ino_t ino)
{
	_cleanup_closedir_ DIR *d = NULL;
	const struct dirent *e;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return !hostpath_is_absent(-errno);
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return true;
	}
	while ((errno = 0, e = readdir(d)) != NULL)
		if (e->d_ino == ino)
			return true;
	return errno != 0;
}

const char *hostpath_same_file(const struct hostpath *hp, const char *const *paths, size_t n)
{
	struct stat st;
	size_t i;

	assert(hp->fd >= 0);

	if (S_ISDIR(hp->mode) || (S_ISREG(hp->mode) && hp->nlink < 2))
		return NULL;
	for (i = 0; i < n; i++) {
		if (stat(paths[i], &st) < 0) {
			if (hostpath_is_absent(-errno))
				continue;
			return paths[i];
		}
		if (st.st_dev != hp->dev)
			continue;
		if (st.st_ino == hp->ino ||
		    (S_ISDIR(st.st_mode) && folder_holds(paths[i], hp->ino)))
			return paths[i];
	}
	return NULL;
}

/* Cuts the next field off a line of /etc/passwd. */
static char *field(char **at)
{
	char *start = *at, *colon;

	if (!start)
		return NULL;
	colon = strchr(start, ':');
	if (colon)
		*colon = '\0';
	*at = colon ? colon + 1 : NULL;
	return start;
}

static bool is_covered_home(const char *home)
{
	const char *below = str_after(home, "/home/");

	return *home != '/' || str_eq(home, "/root") || str_eq(home, "/") ||
	       (below && *below && !strchr(below, '/'));
}

/* The home folder of a line when it is one to know about. */
static char *home_of(char *line)
{
	char *at = line, *number, *home;
	uint32_t uid;
	size_t i;

	(void)field(&at);
	(void)field(&at);
	number = field(&at);
	for (i = 0; i < 2; i++)
		(void)field(&at);
	home = field(&at);
	if (!number || !home || parse_u32(number, &uid) < 0)
		return NULL;
	if ((uid != 0 && uid < UID_ORDINARY) || uid == UID_NOBODY || is_covered_home(home))
		return NULL;
	return home;
}

int hostpath_homes(struct arena *arena, const char *const **ret, size_t *ret_n, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	const char **homes = arena_calloc(arena, HOMES_MAX, sizeof(*homes));
	char *line, *end, *home;
	size_t n = 0;
	int r;

	if (!homes)
		return error_oom(err);
	/* A host without the file has no accounts to protect. */
	r = file_read_all(AT_FDCWD, "/etc/passwd", PASSWD_MAX, &text, NULL, err);
	if (r < 0 && !hostpath_is_absent(r))
		return r;
	for (line = text; line && n < HOMES_MAX; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		home = home_of(line);
		if (!home)
			continue;
		homes[n] = arena_strdup(arena, home);
		if (!homes[n++])
			return error_oom(err);
	}
	*ret = homes;
	*ret_n = n;
	return 0;
}

int hostpath_canonical(struct hostpath_host *host, const char *path, const char **ret, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	int r;

	*ret = NULL;
	if (fd < 0)
		return hostpath_is_absent(-errno) ? 0 : error_set(err, -errno, "open %s", path);
	r = name_of(host, fd, ret);
	return r < 0 ? error_set(err, r, "find the canonical name of %s", path) : 0;
}
