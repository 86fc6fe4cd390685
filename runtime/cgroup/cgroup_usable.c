/*
 * Which limits a process of this user could set at all: asked before the policy decides, so that
 * a limit that cannot be had is refused or accepted by name, and not found out halfway.
 */
#include "cgroup/cgroup_driver.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "cgroup/cgroup_host.h"
#include "cgroup/cgroup_io.h"
#include "util/str.h"

static bool up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static bool writable(const char *path)
{
	return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

/* v1: every folder has the files of its hierarchy; it only has to be ours to make. */
static bool v1_usable(char *path)
{
	while (access(path, F_OK) < 0)
		if (errno != ENOENT || !up(path))
			return false;
	return writable(path);
}

/* v2: what the highest folder of ours on the way can hand down. */
static void v2_usable(char *path, char *list, size_t size)
{
	list[0] = '\0';
	do {
		_cleanup_close_ int dir = cgroup_open_dir(path);
		char have[CGROUP_CONTROLLERS_MAX];

		if (dir == -ENOENT)
			continue;
		/* Above the top of the hierarchy there is no such file. */
		if (dir < 0 || !writable(path) ||
		    cgroup_read(dir, "cgroup.controllers", have, sizeof(have)) < 0)
			return;
		(void)snprintf(list, size, "%s", have);
	} while (up(path));
}

/* A user's scopes are below her own manager's cgroup: /user.slice/user-N.slice/user@N.service. */
static char *manager_folder(const struct cgroup_hierarchy *h)
{
	static const char slice[] = "/user.slice/user-";
	const char *uid = h->own ? str_after(h->own, slice) : NULL;
	int len = uid ? (int)strspn(uid, "0123456789") : 0;

	if (len == 0)
		return strdup(h->mount);
	return str_printf("%s%s%.*s.slice/user@%.*s.service", h->mount, slice, len, uid, len, uid);
}

static int folder_of(const struct cgroup_host *host, const struct cgroup_hierarchy *h,
		     const struct cgroup_request *req, char **ret, struct error *err)
{
	if (req->manager == CGROUP_MANAGER_CGROUPFS)
		return cgroup_host_path(host, h, req->path, req->id, ret, err);
	*ret = req->rootless ? manager_folder(h) : strdup(h->mount);
	return *ret ? 0 : error_oom(err);
}

static void add_list(struct buf *b, char *blank_separated)
{
	char *p;

	for (p = blank_separated; *p; p++)
		if (*p == ' ')
			*p = ',';
	buf_addf(b, "%s,", blank_separated);
}

static int take(struct buf *b, char **ret, struct error *err)
{
	if (!buf_ok(b))
		return error_oom(err);
	*ret = buf_take(b);
	return 0;
}

int cgroup_usable(const struct cgroup_request *req, char **ret, struct error *err)
{
	_cleanup_cgroup_host_ struct cgroup_host host = CGROUP_HOST_NULL;
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;
	int r;

	assert(req && ret && err);

	buf_adds(&b, "");
	r = req->manager == CGROUP_MANAGER_DISABLED ? 0 : cgroup_host_read(&host, err);
	if (r < 0)
		return r;
	for (i = 0; i < host.n; i++) {
		const struct cgroup_hierarchy *h = &host.hierarchies[i];
		_cleanup_free_ char *path = NULL;
		char list[CGROUP_CONTROLLERS_MAX];

		r = folder_of(&host, h, req, &path, err);
		if (r < 0)
			return r;
		if (!*h->controllers) {
			v2_usable(path, list, sizeof(list));
			add_list(&b, list);
		} else if (v1_usable(path)) {
			buf_addf(&b, "%s,", h->controllers);
		}
	}
	return take(&b, ret, err);
}

int cgroup_usable_now(const struct cgroup *cg, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	char list[CGROUP_CONTROLLERS_MAX];
	size_t i;

	assert(cg && ret && err);

	buf_adds(&b, "");
	for (i = 0; i < cg->n_dirs; i++) {
		_cleanup_close_ int dir = -EBADF;

		if (*cg->dirs[i].controllers) {
			buf_addf(&b, "%s,", cg->dirs[i].controllers);
			continue;
		}
		dir = cgroup_open_dir(cg->dirs[i].path);
		if (dir >= 0 && cgroup_read(dir, "cgroup.controllers", list, sizeof(list)) >= 0)
			add_list(&b, list);
	}
	return take(&b, ret, err);
}
