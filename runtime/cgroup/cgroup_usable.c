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

/* 1: ours, 0: not, else negative errno: what cannot be looked at is not taken for somebody else's. */
static int writable(const char *path)
{
	if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0)
		return 1;
	return errno == EACCES || errno == EPERM || errno == EROFS ? 0 : -errno;
}

/* v1: every folder has the files of its hierarchy; it only has to be ours to make. */
static int v1_usable(char *path)
{
	int r;

	while ((r = writable(path)) == -ENOENT)
		if (!up(path))
			return 0;
	return r;
}

/* v2: what the highest folder of ours on the way can hand down. */
static int v2_usable(char *path, char *list, size_t size)
{
	int r;

	list[0] = '\0';
	do {
		_cleanup_close_ int dir = -EBADF;
		char have[CGROUP_CONTROLLERS_MAX];

		r = writable(path);
		if (r == -ENOENT)
			continue;
		if (r <= 0)
			return r;
		dir = cgroup_open_dir(path);
		if (dir < 0)
			return dir;
		r = (int)cgroup_read(dir, "cgroup.controllers", have, sizeof(have));
		/* Above the top of the hierarchy there is no such file. */
		if (r < 0)
			return r == -ENOENT ? 0 : r;
		(void)snprintf(list, size, "%s", have);
	} while (up(path));
	return 0;
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
		r = *h->controllers ? v1_usable(path) : v2_usable(path, list, sizeof(list));
		if (r < 0)
			return error_set(err, r, "look whether cgroup %s can be made", path);
		if (!*h->controllers)
			add_list(&b, list);
		else if (r > 0)
			buf_addf(&b, "%s,", h->controllers);
	}
	return take(&b, ret, err);
}

int cgroup_usable_now(const struct cgroup *cg, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	char list[CGROUP_CONTROLLERS_MAX];
	size_t i;
	int r;

	assert(cg && ret && err);

	buf_adds(&b, "");
	for (i = 0; i < cg->n_dirs; i++) {
		_cleanup_close_ int dir = -EBADF;

		if (*cg->dirs[i].controllers) {
			buf_addf(&b, "%s,", cg->dirs[i].controllers);
			continue;
		}
		dir = cgroup_open_dir(cg->dirs[i].path);
		r = dir < 0 ? dir : (int)cgroup_read(dir, "cgroup.controllers", list, sizeof(list));
		if (r < 0)
			return error_set(err, r, "read the controllers of %s", cg->dirs[i].path);
		add_list(&b, list);
	}
	return take(&b, ret, err);
}
