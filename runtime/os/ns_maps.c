/*
 * User namespace id maps: comparing them, and writing them: direct writes with privilege, the setuid helpers
 * newuidmap(1) and newgidmap(1) without.
 */
#include "os/ns.h"

#include <assert.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "os/creds.h"
#include "os/procfs.h"
#include "os/spawn.h"
#include "os/syscalls.h"
#include "util/parse.h"
#include "util/str.h"

#define MAP_EXTENTS_MAX	    340 /* UID_GID_MAP_MAX_EXTENTS */
#define MAP_TOOL_TIMEOUT_MS 10000
#define MAP_TOOL_OUTPUT_MAX 512

/* The two kinds differ only in these words. */
struct map_kind {
	const char *file; /* below PROC/PID */
	const char *tool;
	unsigned cap; /* that allows maps of more than one's own id */
};

static const struct map_kind map_uid = { "uid_map", "/usr/bin/newuidmap", CAP_SETUID };
static const struct map_kind map_gid = { "gid_map", "/usr/bin/newgidmap", CAP_SETGID };

static int map_text(const struct id_maps *maps, const char *file, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	if (maps->count == 0)
		return error_text(err, -EINVAL, "%s: no id mappings for the user namespace", file);
	if (maps->count > MAP_EXTENTS_MAX)
		return error_text(err, -E2BIG, "%s: more than %d id mappings", file,
				  MAP_EXTENTS_MAX);
	for (i = 0; i < maps->count; i++)
		buf_addf(&b, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", maps->items[i].container_id,
			 maps->items[i].host_id, maps->items[i].size);
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return 0;
}

static int map_write_direct(int proc_fd, pid_t pid, const struct map_kind *kind,
			    const struct id_maps *maps, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char path[48];
	int r;

	r = map_text(maps, kind->file, &text, err);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%d/%s", pid, kind->file);
	r = procfs_write(proc_fd, path, text, strlen(text), err);
	if (r == -EPERM)
		return error_prefix(err,
				    "id mapping \"%.64s\" is not allowed (ids that this process "
				    "does not have?)",
				    text);
	return r;
}

/* argv of a tool: path, pid, three numbers an extent. */
static char **map_tool_argv(struct arena *arena, pid_t pid, const struct map_kind *kind,
			    const struct id_maps *maps)
{
	char **argv = arena_calloc(arena, 3 + maps->count * 3, sizeof(char *));
	size_t i, n = 0, k;

	if (!argv)
		return NULL;
	argv[n++] = arena_strdup(arena, kind->tool);
	argv[n++] = arena_printf(arena, "%d", pid);
	for (i = 0; i < maps->count; i++) {
		argv[n++] = arena_printf(arena, "%" PRIu32, maps->items[i].container_id);
		argv[n++] = arena_printf(arena, "%" PRIu32, maps->items[i].host_id);
		argv[n++] = arena_printf(arena, "%" PRIu32, maps->items[i].size);
	}
	for (k = 0; k < n; k++)
		if (!argv[k])
			return NULL;
	return argv;
}

static int map_write_tool(pid_t pid, const struct map_kind *kind, const struct id_maps *maps,
			  struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_free_ char *out = NULL;
	_cleanup_free_ char *said = NULL;
	struct spawn s = {
		.path = kind->tool,
		.timeout_ms = MAP_TOOL_TIMEOUT_MS,
		.output_max = MAP_TOOL_OUTPUT_MAX,
	};
	size_t len;
	int status, r;

	if (maps->count == 0)
		return error_text(err, -EINVAL, "%s: no id mappings for the user namespace",
				  kind->file);
	if (maps->count > MAP_EXTENTS_MAX)
		return error_text(err, -E2BIG, "%s: more than %d id mappings", kind->file,
				  MAP_EXTENTS_MAX);
	s.argv = map_tool_argv(&arena, pid, kind, maps);
	if (!s.argv)
		return error_oom(err);
	r = spawn_run(&s, &status, &out, &said, err);
	if (r == SPAWN_E_TIMEOUT)
		return error_text(err, -ETIMEDOUT, "%s did not end", kind->tool);
	if (r < 0)
		return error_prefix(err, "map ids without privilege (package uidmap)");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	len = strlen(said);
	while (len > 0 && said[len - 1] == '\n')
		said[--len] = '\0';
	return error_text(err, -EPERM, "%s failed: %s", kind->tool,
			  len > 0 ? said : "no reason given");
}

static bool map_is_own_id(const struct id_maps *maps, uint32_t own)
{
	return maps->count == 1 && maps->items[0].size == 1 && maps->items[0].host_id == own;
}

/* Unprivileged gid maps are accepted only once the namespace has given up setgroups(2). */
static int deny_setgroups(int proc_fd, pid_t pid, struct error *err)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "%d/setgroups", pid);
	return procfs_write(proc_fd, path, "deny", 4, err);
}

int ns_write_maps(int proc_fd, pid_t pid, const struct id_maps *uids, const struct id_maps *gids,
		  struct error *err)
{
	struct caps_sets have;
	int r;

	assert(pid > 0);
	assert(uids && gids);

	r = caps_held(&have, err);
	if (r < 0)
		return r;

	if (have.effective & (UINT64_C(1) << map_gid.cap)) {
		r = map_write_direct(proc_fd, pid, &map_gid, gids, err);
	} else if (map_is_own_id(gids, getegid())) {
		r = deny_setgroups(proc_fd, pid, err);
		if (r == 0)
			r = map_write_direct(proc_fd, pid, &map_gid, gids, err);
	} else {
		r = map_write_tool(pid, &map_gid, gids, err);
	}
	if (r < 0)
		return r;

	if ((have.effective & (UINT64_C(1) << map_uid.cap)) || map_is_own_id(uids, geteuid()))
		return map_write_direct(proc_fd, pid, &map_uid, uids, err);
	return map_write_tool(pid, &map_uid, uids, err);
}

static int map_malformed(const struct map_kind *kind, struct error *err)
{
	return error_text(err, -EBADMSG, "%s of a user namespace is malformed", kind->file);
}

/* The extents of PROC/PID/uid_map or gid_map. */
static int map_read(int proc_fd, pid_t pid, const struct map_kind *kind, struct arena *arena,
		    struct id_maps *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	struct id_map *items;
	char path[48], *word, *save = NULL;
	uint32_t number[3];
	size_t n = 0, k = 0;
	int r;

	(void)snprintf(path, sizeof(path), "%d/%s", pid, kind->file);
	r = procfs_read(proc_fd, path, &text, err);
	if (r < 0)
		return r;
	items = arena_calloc(arena, MAP_EXTENTS_MAX, sizeof(*items));
	if (!items)
		return error_oom(err);
	for (word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (n == MAP_EXTENTS_MAX || parse_u32(word, &number[k]) < 0)
			return map_malformed(kind, err);
		if (++k < ELEMENTSOF(number))
			continue;
		items[n++] = (struct id_map){ number[0], number[1], number[2] };
		k = 0;
	}
	if (k != 0)
		return map_malformed(kind, err);
	*ret = (struct id_maps){ .items = items, .count = n };
	return 0;
}

static int map_order(const void *a, const void *b)
{
	const struct id_map *x = a, *y = b;

	return x->container_id < y->container_id ? -1 : x->container_id > y->container_id;
}

/* One form for what means the same: sorted, and what continues joined. In the arena. */
static int map_canonical(const struct id_maps *maps, struct arena *arena, struct id_maps *ret,
			 struct error *err)
{
	struct id_map *items = arena_calloc(arena, maps->count + 1, sizeof(*items));
	size_t i, n = 0;

	if (!items)
		return error_oom(err);
	for (i = 0; i < maps->count; i++)
		items[i] = maps->items[i];
	qsort(items, maps->count, sizeof(*items), map_order);
	for (i = 0; i < maps->count; i++) {
		struct id_map *last = n > 0 ? &items[n - 1] : NULL;

		if (last && items[i].container_id - last->container_id == last->size &&
		    items[i].host_id - last->host_id == last->size)
			last->size += items[i].size;
		else
			items[n++] = items[i];
	}
	*ret = (struct id_maps){ .items = items, .count = n };
	return 0;
}

static bool map_same(const struct id_maps *a, const struct id_maps *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (a->items[i].container_id != b->items[i].container_id ||
		    a->items[i].host_id != b->items[i].host_id ||
		    a->items[i].size != b->items[i].size)
			return false;
	return a->count == b->count;
}

static int map_check(int proc_fd, pid_t pid, const struct map_kind *kind, const struct id_maps *want,
		     struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct id_maps have = { 0 }, have_form = { 0 }, want_form = { 0 };
	int r;

	r = map_read(proc_fd, pid, kind, &arena, &have, err);
	if (r == 0)
		r = map_canonical(&have, &arena, &have_form, err);
	if (r == 0)
		r = map_canonical(want, &arena, &want_form, err);
	if (r < 0 || map_same(&have_form, &want_form))
		return r;
	if (have_form.count == 0)
		return error_text(err, -EINVAL, "its %s is empty", kind->file);
	return error_text(err, -EINVAL, "its %s is another: %zu ranges, from %" PRIu32 " %" PRIu32 " %" PRIu32,
			  kind->file, have_form.count, have_form.items[0].container_id,
			  have_form.items[0].host_id, have_form.items[0].size);
}

int ns_check_maps(int proc_fd, pid_t pid, const struct id_maps *uids, const struct id_maps *gids,
		  struct error *err)
{
	int r;

	assert(pid > 0);
	assert(uids && gids);

	r = map_check(proc_fd, pid, &map_uid, uids, err);
	return r < 0 ? r : map_check(proc_fd, pid, &map_gid, gids, err);
}

static int map_id(int proc_fd, pid_t pid, const struct map_kind *kind, uint32_t id, uint32_t *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct id_maps maps;
	size_t i;
	int r;

	assert(pid > 0 && ret);

	r = map_read(proc_fd, pid, kind, &arena, &maps, err);
	if (r < 0)
		return r;
	for (i = 0; i < maps.count; i++) {
		const struct id_map *m = &maps.items[i];

		if (id < m->container_id || id - m->container_id >= m->size)
			continue;
		*ret = m->host_id + (id - m->container_id);
		return 0;
	}
	return NS_E_UNMAPPED;
}

int ns_map_uid(int proc_fd, pid_t pid, uint32_t uid, uint32_t *ret, struct error *err)
{
	return map_id(proc_fd, pid, &map_uid, uid, ret, err);
}

int ns_map_gid(int proc_fd, pid_t pid, uint32_t gid, uint32_t *ret, struct error *err)
{
	return map_id(proc_fd, pid, &map_gid, gid, ret, err);
}

int ns_become_root(struct error *err)
{
	if (setresgid(0, 0, 0) < 0)
		return error_set(err, -errno,
				 "become group 0 of the user namespace (is it mapped?)");
	/* EPERM: "deny" was written to setgroups, the price of an unprivileged gid map. */
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return error_set(err, -errno, "drop supplementary groups");
	if (setresuid(0, 0, 0) < 0)
		return error_set(err, -errno,
				 "become user 0 of the user namespace (is it mapped?)");
	return 0;
}

static _noreturn_ void idle_forever(void *arg)
{
	for (;;)
		(void)pause();
}

int ns_userns_for_maps(int proc_fd, const struct id_maps *uids, const struct id_maps *gids,
		       int *ret_fd, struct error *err)
{
	const struct ns_spec spec = { .create = CLONE_NEWUSER };
	_cleanup_(pidref_done) struct pidref child = PIDREF_NULL;
	struct error reap_err = ERROR_NULL;
	int fd = -EBADF, status, r;
	pid_t pid = 0;

	assert(ret_fd);

	r = ns_spawn(&spec, -EBADF, proc_fd, idle_forever, NULL, &child, err);
	if (r < 0)
		return error_prefix(err, "user namespace for id-mapped mounts");
	/* Sources inside the container's root are mapped by its first process, whose procfs is the host's. */
	r = procfs_pid_of(proc_fd, child.fd, &pid, err);
	if (r == 0)
		r = ns_write_maps(proc_fd, pid, uids, gids, err);
	if (r == 0)
		r = procfs_open_ns(proc_fd, pid, "user", &fd, err);
	(void)pidref_signal(&child, SIGKILL);
	(void)pidref_reap(&child, &status, &reap_err);
	if (r < 0)
		return error_prefix(err, "user namespace for id-mapped mounts");
	*ret_fd = fd;
	return 0;
}
