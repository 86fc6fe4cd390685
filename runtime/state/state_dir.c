/*
 * Owns the root folder, the container folders and their locks. Works relative to
 * descriptors and follows no link below the root, because a container's folder is
 * removed as root. Must not know what the files inside say.
 */
#include "state/state.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "util/fd.h"
#include "util/str.h"

#define ROOT_DEFAULT "/run/agentrun"
#define ROOT_NAME    "agentrun"
#define LOCK_STEP_MS 5

int state_id_check(const char *id, struct error *err)
{
	static const char good[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
	size_t len = strlen(id);

	if (len == 0)
		return error_text(err, -EINVAL, "container id cannot be empty");
	if (len > STATE_ID_MAX || id[strspn(id, good)] || str_eq(id, ".") || str_eq(id, ".."))
		return error_text(err, -EINVAL, "invalid container ID format: \"%.*s%s\"",
				  STATE_ID_MAX / 4, id, len > STATE_ID_MAX / 4 ? "..." : "");
	/* The id names a folder. */
	if (len > NAME_MAX)
		return error_text(err, -ENAMETOOLONG,
				  "invalid container ID format: %zu characters, %d at most", len,
				  NAME_MAX);
	return 0;
}

/* What $XDG_RUNTIME_DIR would be; fails where no session manager has made it. */
static int runtime_dir_of_user(char **ret, struct error *err)
{
	_cleanup_free_ char *dir = str_printf("/run/user/%lu", (unsigned long)geteuid());
	struct stat st;

	if (!dir)
		return error_oom(err);
	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return error_text(
			err, -ENOENT,
			"XDG_RUNTIME_DIR is not set and %s is not there: set it, or give --root",
			dir);
	*ret = take_ptr(dir);
	return 0;
}

int state_root_default(bool rootless, char **ret, struct error *err)
{
	_cleanup_free_ char *found = NULL;
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char *root;
	int r;

	if (rootless && (!xdg || xdg[0] != '/')) {
		if (geteuid() == 0) { /* root of a user namespace with a /run of its own */
			xdg = NULL;
		} else {
			r = runtime_dir_of_user(&found, err);
			if (r < 0)
				return r;
			xdg = found;
		}
	}
	root = rootless && xdg ? str_printf("%s/" ROOT_NAME, xdg) : strdup(ROOT_DEFAULT);
	if (!root)
		return error_oom(err);
	*ret = root;
	return 0;
}

/* mkdir -p with 0700. */
static int make_path(const char *path, struct error *err)
{
	_cleanup_free_ char *copy = strdup(path);
	char *p;

	if (!copy)
		return error_oom(err);
	for (p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c)
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return error_set(err, -errno, "create state folder %s: mkdir %s", path,
					 copy);
		*p = c;
		if (!c)
			return 0;
	}
}

/* Cleaners of $XDG_RUNTIME_DIR leave what has the sticky bit (XDG base directory spec). */
static void keep_from_cleaners(const char *root, int fd, const struct stat *st)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");

	if (xdg && *xdg && str_after(root, xdg) && st->st_uid == geteuid() &&
	    !(st->st_mode & S_ISVTX))
		(void)fchmod(fd, (st->st_mode & 07777) | S_ISVTX);
}

int state_root_open(const char *root, bool create, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	assert(root && ret_fd && err);

	if (!*root)
		return error_text(err, -EINVAL, "the state folder (--root) cannot be empty");
	if (create) {
		r = make_path(root, err);
		if (r < 0)
			return r;
	}
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !create)
		return STATE_E_NOT_FOUND;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open state folder %s", root);
	/* Records say what is killed and which cgroups are removed: not for others to write. */
	if ((st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH)
		return error_text(
			err, -EPERM,
			"state folder %s (owner %lu, mode %04o) can be changed by others: "
			"give another --root, or correct owner and mode",
			root, (unsigned long)st.st_uid, (unsigned)st.st_mode & 07777);
	keep_from_cleaners(root, fd, &st);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int open_folder(int root_fd, const char *id)
{
	int fd = openat(root_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int state_dir_create(int root_fd, const char *id, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = state_id_check(id, err);
	if (r < 0)
		return r;
	if (mkdirat(root_fd, id, 0711) < 0) {
		if (errno == EEXIST)
			return STATE_E_EXISTS;
		return error_set(err, -errno, "create folder of container %s", id);
	}
	fd = open_folder(root_fd, id);
	/* Exact mode whatever the umask: others must be able to reach sockets by name. */
	r = fd < 0 ? fd : fchmod(fd, 0711) < 0 ? -errno : 0;
	if (r < 0) {
		(void)unlinkat(root_fd, id, AT_REMOVEDIR);
		return error_set(err, r, "open folder of container %s", id);
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

int state_dir_open(int root_fd, const char *id, int *ret_fd, struct error *err)
{
	int fd, r;

	r = state_id_check(id, err);
	if (r < 0)
		return r;
	fd = open_folder(root_fd, id);
	if (fd == -ENOENT)
		return STATE_E_NOT_FOUND;
	if (fd < 0)
		return error_set(err, fd, "open folder of container %s", id);
	*ret_fd = fd;
	return 0;
}

static bool is_ours(const char *name)
{
	return str_eq(name, STATE_FILE) || str_eq(name, STATE_CONFIG_FILE) ||
	       str_eq(name, STATE_GATE_FILE) || str_eq(name, STATE_POLICY_FILE) ||
	       str_eq(name, STATE_VERDICT_FILE) || str_eq(name, STATE_NOTIFY_DIR) ||
	       str_eq(name, STATE_LATER_FILE) || str_eq(name, STATE_CONTROL_FILE) || str_eq(name, STATE_MONITOR_FILE) ||
	       str_eq(name, STATE_EXIT_FILE) ||
	       str_after(name, FILE_TEMP_PREFIX);
}

static DIR *open_entries(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int saved = errno;

	if (!d && fd >= 0)
		(void)close(fd);
	errno = saved;
	return d;
}

/*
 * A privileged container may have made its mount of the folder writable and left there what it
 * likes; that must not keep it from being deleted.
 */
static int remove_notify(int dir_fd, const char *id, struct error *err)
{
	_cleanup_closedir_ DIR *d = open_entries(dir_fd, STATE_NOTIFY_DIR);
	struct dirent *e;

	if (!d)
		return error_set(err, -errno, "read %s of container %s", STATE_NOTIFY_DIR, id);
	while ((errno = 0, e = readdir(d))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) < 0 && errno != ENOENT &&
		    unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR) < 0)
			return error_set(err, -errno, "remove %s/%s of container %s", STATE_NOTIFY_DIR, e->d_name, id);
	}
	if (errno != 0)
		return error_set(err, -errno, "read %s of container %s", STATE_NOTIFY_DIR, id);
	if (unlinkat(dir_fd, STATE_NOTIFY_DIR, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set(err, -errno, "remove %s of container %s", STATE_NOTIFY_DIR, id);
	return 0;
}

static int remove_entry(int dir_fd, const char *name, const char *id, struct error *err)
{
	if (str_eq(name, STATE_NOTIFY_DIR))
		return remove_notify(dir_fd, id, err);
	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return error_set(err, -errno, "remove %s of container %s", name, id);
	return 0;
}

/*
 * Deletes what is ours, the record last, so that an interrupted removal leaves a
 * container that can still be found. Looks first, deletes then: a folder with a
 * foreign file stays whole.
 */
static int empty_folder(int dir_fd, const char *id, struct error *err)
{
	_cleanup_closedir_ DIR *d = open_entries(dir_fd, ".");
	struct dirent *e;
	bool act;
	int r;

	if (!d)
		return error_set(err, -errno, "read folder of container %s", id);
	for (act = false;; act = true) {
		rewinddir(d);
		while ((errno = 0, e = readdir(d))) {
			if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
				continue;
			if (!is_ours(e->d_name))
				return error_text(
					err, -ENOTEMPTY,
					"remove folder of container %s: \"%s\" in it is not ours",
					id, e->d_name);
			if (!act || str_eq(e->d_name, STATE_FILE))
				continue;
			r = remove_entry(dir_fd, e->d_name, id, err);
			if (r < 0)
				return r;
		}
		if (errno != 0)
			return error_set(err, -errno, "read folder of container %s", id);
		if (act)
			break;
	}
	if (unlinkat(dir_fd, STATE_FILE, 0) < 0 && errno != ENOENT)
		return error_set(err, -errno, "remove %s of container %s", STATE_FILE, id);
	return 0;
}

int state_dir_remove(int root_fd, const char *id, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = state_id_check(id, err);
	if (r < 0)
		return r;
	fd = open_folder(root_fd, id);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return error_set(err, fd, "open folder of container %s", id);
	r = empty_folder(fd, id, err);
	if (r < 0)
		return r;
	if (unlinkat(root_fd, id, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set(err, -errno, "remove folder of container %s", id);
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* flock(2) has no timeout of its own, and a timer signal would be seen by the whole process. */
static int wait_for_lock(int fd, int timeout_ms)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000L };
	int64_t end = now_ms() + timeout_ms;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (timeout_ms >= 0 && now_ms() >= end)
			return STATE_E_BUSY;
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
	}
	return 0;
}

int state_dir_lock(int dir_fd, int timeout_ms, int *ret_lock_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	/* An open file of its own: the lock ends with it, not with dir_fd or its copies. */
	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? STATE_E_NOT_FOUND
				       : error_set(err, -errno, "open the container's folder");
	r = wait_for_lock(fd, timeout_ms);
	if (r < 0)
		return error_set(err, r, "lock the container's folder");
	if (r > 0)
		return r;
	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "inspect the container's folder");
	/* Removed by the one we waited for. */
	if (st.st_nlink == 0)
		return STATE_E_NOT_FOUND;
	*ret_lock_fd = take_fd(&fd);
	return 0;
}
