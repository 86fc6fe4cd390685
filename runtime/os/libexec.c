/*
 * A helper is trusted as much as agentrun: it is taken from agentrun's own folder, or from
 * the installed place, never from PATH, and its owner and mode are checked.
 */
#include "os/libexec.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/ns.h"
#include "util/str.h"

/* The folder of the running program, or -ENOENT when its name does not lead to it. */
static int own_folder(char path[PATH_MAX])
{
	struct stat named, self;
	char *slash;
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (n <= 0 || n >= PATH_MAX - 1)
		return -ENOENT;
	path[n] = '\0';
	/* A detached mount or a copy in memory shows a name that leads elsewhere or nowhere. */
	if (stat("/proc/self/exe", &self) < 0 || stat(path, &named) < 0 || self.st_ino != named.st_ino ||
	    self.st_dev != named.st_dev)
		return -ENOENT;
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int libexec_remember(struct error *err)
{
	char path[PATH_MAX];

	if (own_folder(path) < 0)
		return 0;
	return setenv(LIBEXEC_SELF_ENV, path, 1) < 0 ? error_oom(err) : 0;
}

static int check_owner(int fd, const char *what, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "examine %s", what);
	if ((st.st_uid != 0 && st.st_uid != geteuid() && !ns_uid_unmapped(st.st_uid)) || (st.st_mode & S_IWOTH))
		return error_text(err, -EPERM, "%s can be changed by others than root: correct its owner and mode", what);
	return 0;
}

/* -ENOENT without a text when it is not there. */
static int open_in(const char *folder, const char *name, int *ret_fd, struct error *err)
{
	_cleanup_close_ int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = -EBADF;
	char what[PATH_MAX + 64];
	int r;

	if (dir < 0)
		return -ENOENT;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	(void)snprintf(what, sizeof(what), "%s/%s", folder, name);
	if (fd < 0)
		return error_set(err, -errno, "open %s", what);
	r = check_owner(dir, folder, err);
	if (r == 0)
		r = check_owner(fd, what, err);
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

int libexec_open(const char *name, int *ret_fd, struct error *err)
{
	char path[PATH_MAX];
	const char *remembered;
	int r = -ENOENT;

	if (own_folder(path) == 0) {
		r = open_in(path, name, ret_fd, err);
	} else {
		remembered = getenv(LIBEXEC_SELF_ENV);
		if (remembered && remembered[0] == '/')
			r = open_in(remembered, name, ret_fd, err);
	}
	if (r == -ENOENT)
		r = open_in(PKGLIBEXECDIR, name, ret_fd, err);
	if (r == -ENOENT)
		return error_text(err, r, "find the helper program %s beside agentrun or in %s: reinstall agentrun", name,
				  PKGLIBEXECDIR);
	return r;
}
