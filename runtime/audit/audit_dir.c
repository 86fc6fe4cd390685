/*
 * Owns where logs and index lie. A folder that others could change proves nothing, so it
 * is refused rather than used.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_store.h"
#include "state/state.h"
#include "util/str.h"

#define INDEX_BELOW "/index/audit"

/* mkdir -p; the last folder gets exactly 0700, those before it only when they are made here. */
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
			return error_set(err, -errno, "create audit folder %s: mkdir %s", path, copy);
		*p = c;
		if (!c)
			return 0;
	}
}

static int open_folder(const char *path, bool create, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (create) {
		r = make_path(path, err);
		if (r < 0)
			return r;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !create)
		return AUDIT_E_NOT_FOUND;
	if (fd < 0 && errno == EACCES)
		return error_set(err, -errno, "open audit folder %s: only its owner may read the audit log", path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open audit folder %s", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_text(err, -EPERM,
				  "audit folder %s (owner %lu, mode %04o) can be changed by others: correct "
				  "owner and mode (0700)",
				  path, (unsigned long)st.st_uid, (unsigned)st.st_mode & 07777);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int default_folder(bool rootless, char **ret, struct error *err)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (!rootless)
		*ret = strdup(AUDIT_DIR);
	else if (xdg && xdg[0] == '/')
		*ret = str_printf("%s/agentrun/log", xdg);
	else if (home && home[0] == '/')
		*ret = str_printf("%s/.local/state/agentrun/log", home);
	else
		return error_text(err, -ENOENT,
				  "neither XDG_STATE_HOME nor HOME is set: no place for the audit log");
	return *ret ? 0 : error_oom(err);
}

int audit_store_open(const char *dir, bool rootless, bool create, int *ret_dirfd, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	int r;

	assert(ret_dirfd && err);
	if (!dir) {
		r = default_folder(rootless, &path, err);
		if (r < 0)
			return r;
		dir = path;
	}
	return open_folder(dir, create, ret_dirfd, err);
}

int audit_index_open(bool rootless, bool create, int *ret_fd, struct error *err)
{
	_cleanup_free_ char *root = NULL, *path = NULL;
	int r;

	assert(ret_fd && err);
	r = state_root_default(rootless, &root, err);
	if (r < 0)
		return r;
	path = str_printf("%s" INDEX_BELOW, root);
	return path ? open_folder(path, create, ret_fd, err) : error_oom(err);
}
