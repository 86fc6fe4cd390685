/*
 * Owns the ways into a cgroup: at clone, by the process itself, by number, and for `exec`
 * into sub-cgroups. Makes no folder.
 */
#include "cgroup/cgroup.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#include "cgroup/cgroup_host.h"
#include "cgroup/cgroup_io.h"
#include "util/fd.h"
#include "util/str.h"

/* pid_max is 4 million; seven digits and a newline each. */
#define PROCS_MAX ((size_t)40 * 1024 * 1024)

int cgroup_clone_fd(const struct cgroup *cg, int *ret_fd, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	uint64_t pids;
	int fd;

	/* A reused folder may have been killed before: see the header. */
	if (!d || !d->created) {
		*ret_fd = -EBADF;
		return 0;
	}
	fd = open(d->path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_set(err, -errno, "open cgroup %s", d->path);
	/* The one process that keeps the scope counts: a second one can move in but not be born. */
	if (cg->peer && cgroup_read_u64(fd, "pids.max", &pids) == 0 && pids <= 1) {
		(void)close(fd);
		fd = -EBADF;
	}
	*ret_fd = fd;
	return 0;
}

/* The sub-path comes from the command line: it must stay below the container's folder. */
static int sub_check(const char *sub, struct error *err)
{
	const char *p = sub;
	size_t len;

	while (p && *p) {
		len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.')
			return error_text(err, -EINVAL, "sub-cgroup \"%s\" must not contain \"..\"",
					  sub);
		p += len + (p[len] == '/');
	}
	return 0;
}

static int file_path(const struct cgroup_dir *d, const char *sub, const char *file, char **ret,
		     struct error *err)
{
	*ret = sub && *sub ? str_printf("%s/%s/%s", d->path, sub, file)
			   : str_printf("%s/%s", d->path, file);
	return *ret ? 0 : error_oom(err);
}

int cgroup_join_open(const struct cgroup *cg, const char *sub, struct cgroup_join *ret,
		     struct error *err)
{
	size_t i;
	int fd, r;

	r = sub_check(sub, err);
	if (r < 0)
		return r;
	*ret = CGROUP_JOIN_NULL;
	for (i = 0; i < cg->n_dirs; i++) {
		_cleanup_free_ char *path = NULL;

		if (!*cg->dirs[i].controllers)
			continue;
		r = file_path(&cg->dirs[i], sub, "tasks", &path, err);
		if (r < 0)
			break;
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0) {
			r = error_set(err, -errno, "open %s", path);
			break;
		}
		ret->fds[ret->n++] = fd;
	}
	if (r < 0)
		cgroup_join_done(ret);
	return r;
}

int cgroup_join_self(const struct cgroup_join *join, struct error *err)
{
	size_t i;

	for (i = 0; i < join->n; i++)
		/* 0 is the writer itself, in every pid namespace. */
		if (write(join->fds[i], "0", 1) != 1)
			return error_set(err, -errno, "join the container's cgroup");
	return 0;
}

void cgroup_join_done(struct cgroup_join *join)
{
	while (join->n > 0)
		(void)close(join->fds[--join->n]);
}

/* "\nPID\n" in the list. Unreadable counts as no: then the write tells. */
static bool is_member(const char *procs, const char *number)
{
	_cleanup_free_ char *text = NULL;
	struct error ignored = ERROR_NULL;
	size_t len = strlen(number);
	const char *p;

	if (file_read_all(AT_FDCWD, procs, PROCS_MAX, &text, NULL, &ignored) < 0)
		return false;
	for (p = strstr(text, number); p; p = strstr(p + len, number))
		if ((p == text || p[-1] == '\n') && p[len] == '\n')
			return true;
	return false;
}

static int attach_one(const struct cgroup_dir *d, const char *sub, pid_t pid, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	char number[16];
	int r;

	r = file_path(d, sub, "cgroup.procs", &path, err);
	if (r < 0)
		return r;
	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	/* Born there or joined by itself; even a move to the same place would wait for RCU. */
	if (is_member(path, number))
		return 0;
	r = file_write_once(AT_FDCWD, path, number, strlen(number));
	if (r < 0)
		return error_set(err, r, "add process %d to %s", (int)pid, path);
	return 0;
}

int cgroup_attach(const struct cgroup *cg, const char *sub, pid_t pid, struct error *err)
{
	return cgroup_attach_controller(cg, NULL, sub, pid, err);
}

int cgroup_attach_unified(const struct cgroup *cg, pid_t pid, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");

	assert(pid > 0);

	return d ? attach_one(d, NULL, pid, err) : 0;
}

int cgroup_attach_controller(const struct cgroup *cg, const char *controllers, const char *sub,
			     pid_t pid, struct error *err)
{
	bool all = !controllers || !*controllers;
	size_t i, used = 0;
	int r;

	assert(pid > 0);

	r = sub_check(sub, err);
	if (r < 0)
		return r;
	if (!all && cg->layout == CGROUP_LAYOUT_UNIFIED)
		return error_text(
			err, -EINVAL,
			"cgroup \"%s:%s\": on cgroup v2 all controllers share one cgroup; "
			"give the path alone",
			controllers, sub ? sub : "");
	for (i = 0; i < cg->n_dirs; i++) {
		const char *list = cg->dirs[i].controllers;
		size_t len;

		for (; !all && *list; list += len + (list[len] == ',')) {
			char word[64];

			len = strcspn(list, ",");
			(void)snprintf(word, sizeof(word), "%.*s", (int)len, list);
			if (cgroup_list_has(controllers, word))
				break;
		}
		if (!all && !*list)
			continue;
		r = attach_one(&cg->dirs[i], sub, pid, err);
		if (r < 0)
			return r;
		used++;
	}
	if (used == 0 && !all)
		return error_text(err, -EINVAL, "unknown cgroup controller in \"%s\"", controllers);
	return 0;
}

/* Where /proc/PEER/cgroup says it is in the v2 hierarchy, as an absolute folder. */
static int peer_folder(pid_t peer, char **ret, struct error *err)
{
	_cleanup_cgroup_host_ struct cgroup_host host = CGROUP_HOST_NULL;
	_cleanup_free_ char *text = NULL;
	char file[40], *line, *rest;
	const struct cgroup_hierarchy *h;
	int r;

	r = cgroup_host_read(&host, err);
	if (r < 0)
		return r;
	h = host.n ? &host.hierarchies[host.n - 1] : NULL;
	if (!h || *h->controllers)
		return error_text(err, -ENOENT, "no cgroup v2 hierarchy is mounted");
	(void)snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)peer);
	r = file_read_all(AT_FDCWD, file, (size_t)64 * 1024, &text, NULL, err);
	if (r < 0)
		return r;
	line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
	if (!line)
		return error_text(err, -ENOENT, "process %d is in no cgroup v2", (int)peer);
	line = strstr(line, "0::") + 3;
	line[strcspn(line, "\n")] = '\0';
	rest = str_eq(h->root, "/") ? line : (char *)str_after(line, h->root);
	if (!rest)
		return error_text(err, -ENOENT, "process %d is outside %s", (int)peer, h->mount);
	*ret = str_printf("%s%s", h->mount, str_eq(rest, "/") ? "" : rest);
	return *ret ? 0 : error_oom(err);
}

int cgroup_attach_peer(const struct cgroup *cg, pid_t peer, pid_t pid, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	_cleanup_free_ char *folder = NULL;
	const char *below;
	int r;

	assert(peer > 0 && pid > 0);

	if (!d)
		return error_text(err, -ENOENT, "the container has no cgroup v2");
	r = peer_folder(peer, &folder, err);
	if (r < 0)
		return r;
	/* Init may have been moved anywhere below its own folder, but not out of it. */
	below = str_after(folder, d->path);
	if (!below || (*below != '\0' && *below != '/'))
		return error_text(err, -EXDEV,
				  "the container's init is in %s, outside its cgroup %s", folder,
				  d->path);
	return attach_one(d, *below ? below + 1 : NULL, pid, err);
}
