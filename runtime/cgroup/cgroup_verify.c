/*
 * Reads limits back from the kernel and compares them with what was written. Another
 * program (an engine's hook, the service manager) may tighten a limit; none may loosen it.
 */
#include "cgroup/cgroup_verify.h"

#include <assert.h>
#include <fcntl.h>

#include "cgroup/cgroup_devices.h"
#include "cgroup/cgroup_io.h"
#include "os/procattr.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define VALUE_MAX 4096
#define LIST_MAX  ((size_t)1024 * 1024)
/* No v1 counter is larger; "-1" reads back as this, rounded to pages. */
#define COUNTER_MAX ((uint64_t)INT64_MAX - 65535)

enum kind { KIND_NONE, KIND_AMOUNT, KIND_QUOTA, KIND_PERIOD, KIND_CPU_MAX, KIND_SET, KIND_DEVICES, KIND_PROGRAM };

/* What keeps a container in its bounds. Weights and reservations do not. */
static enum kind kind_of(const char *file)
{
	static const struct { const char *name; enum kind kind; } table[] = {
		{ "memory.limit_in_bytes", KIND_AMOUNT },
		{ "memory.memsw.limit_in_bytes", KIND_AMOUNT },
		{ "memory.max", KIND_AMOUNT },
		{ "memory.swap.max", KIND_AMOUNT },
		{ "pids.max", KIND_AMOUNT },
		{ "cpu.cfs_quota_us", KIND_QUOTA },
		{ "cpu.cfs_period_us", KIND_PERIOD },
		{ "cpu.max", KIND_CPU_MAX },
		{ "cpuset.cpus", KIND_SET },
		{ "cpuset.mems", KIND_SET },
		{ CGROUP_DEVICES_LIST, KIND_DEVICES },
		{ CGROUP_DEVICES_PROGRAM, KIND_PROGRAM },
	};
	const char *size = str_after(file, "hugetlb.");
	size_t i;

	for (i = 0; i < ELEMENTSOF(table); i++)
		if (str_eq(table[i].name, file))
			return table[i].kind;
	return size && (strstr(size, ".limit_in_bytes") || strstr(size, ".max")) ? KIND_AMOUNT : KIND_NONE;
}

int cgroup_kept_add(const struct cgroup_kept *k, const char *controller, const char *file, const char *value,
		    struct error *err)
{
	struct state_limits *l = k->limits;
	struct state_limit *items;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (str_eq(l->items[i].controller, controller) && str_eq(l->items[i].file, file))
			break;
	if (i == l->count) {
		items = arena_calloc(k->arena, l->count + 1, sizeof(*items));
		if (!items)
			return error_oom(err);
		if (l->count > 0)
			memcpy(items, l->items, l->count * sizeof(*items));
		items[l->count].controller = arena_strdup(k->arena, controller);
		items[l->count].file = arena_strdup(k->arena, file);
		l->items = items;
		l->count++;
	}
	l->items[i].value = arena_strdup(k->arena, value);
	return l->items[i].controller && l->items[i].file && l->items[i].value ? 0 : error_oom(err);
}

int cgroup_kept_writes(const struct cgroup_kept *k, const struct cgroup_writes *w, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < w->n; i++) {
		const struct cgroup_write *x = &w->items[i];

		if (kind_of(x->file) == KIND_NONE)
			continue;
		r = cgroup_kept_add(k, x->flags & CGROUP_WRITE_V2 ? "" : x->controller, x->file, x->value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void cgroup_kept_present(const struct cgroup_kept *k, const struct cgroup *cg, const struct cgroup_writes *w)
{
	struct error ignored = ERROR_NULL;
	size_t i;

	for (i = 0; i < w->n; i++) {
		const char *controller = w->items[i].flags & CGROUP_WRITE_V2 ? "" : w->items[i].controller;
		const struct cgroup_dir *d = cgroup_dir_find(cg, controller);
		_cleanup_close_ int dir = d ? cgroup_open_dir(d->path) : -EBADF;
		char now[VALUE_MAX];

		if (kind_of(w->items[i].file) != KIND_NONE && dir >= 0 &&
		    cgroup_read(dir, w->items[i].file, now, sizeof(now)) >= 0)
			(void)cgroup_kept_add(k, controller, w->items[i].file, now, &ignored);
	}
}

/* "max" and -1 are no limit at all. */
static int amount_parse(const char *text, uint64_t *ret)
{
	if (str_eq(text, "max") || str_eq(text, "-1")) {
		*ret = UINT64_MAX;
		return 0;
	}
	return parse_u64(text, ret);
}

/* "QUOTA PERIOD"; the period may be missing: then the kernel's own. */
static int cpu_max_parse(const char *text, uint64_t *ret_quota, uint64_t *ret_period)
{
	char quota[32];
	size_t len = strcspn(text, " ");

	if (len >= sizeof(quota))
		return -EINVAL;
	memcpy(quota, text, len);
	quota[len] = '\0';
	*ret_period = 0;
	if (text[len] && parse_u64(text + len + 1, ret_period) < 0)
		return -EINVAL;
	return amount_parse(quota, ret_quota);
}

static bool cpu_max_within(const char *now, const char *want)
{
	uint64_t now_quota, now_period, quota, period;

	if (cpu_max_parse(now, &now_quota, &now_period) < 0 || cpu_max_parse(want, &quota, &period) < 0)
		return false;
	if (quota == UINT64_MAX)
		return true;
	if (!period)
		period = now_period;
	return now_quota != UINT64_MAX && (unsigned __int128)now_quota * period <= (unsigned __int128)quota * now_period;
}

/*
 * systemd keeps processor time in whole percents, of what we ask the next greater one (cgroup_scope_limits.c).
 * When it is executed anew it may write that into the scope (252 does, 257 does not).
 */
static bool rounded_by_systemd(enum kind kind, int dir, const char *now, const char *want)
{
	uint64_t now_quota, now_period, quota, period;
	unsigned __int128 percents;
	char text[VALUE_MAX];

	if (kind == KIND_CPU_MAX) {
		if (cpu_max_parse(now, &now_quota, &now_period) < 0 || cpu_max_parse(want, &quota, &period) < 0)
			return false;
		period = period ? period : now_period;
	} else {
		if (kind != KIND_QUOTA || amount_parse(now, &now_quota) < 0 || amount_parse(want, &quota) < 0 ||
		    cgroup_read(dir, "cpu.cfs_period_us", text, sizeof(text)) < 0 || parse_u64(text, &period) < 0)
			return false;
		now_period = period;
	}
	if (now_quota == UINT64_MAX || period == 0)
		return false;
	percents = ((unsigned __int128)quota * 100 + period - 1) / period;
	return (unsigned __int128)now_quota * 100 <= percents * now_period;
}

static bool amount_within(enum kind kind, const char *now, const char *want)
{
	uint64_t a, b;

	if (amount_parse(now, &a) < 0 || amount_parse(want, &b) < 0)
		return false;
	if (kind == KIND_PERIOD)
		return a >= b;
	return a <= b || (b >= COUNTER_MAX && a >= COUNTER_MAX);
}

static int devices_within(const char *now, const char *want, bool *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct cgroup_device_list from = { .default_allow = true }, to = { 0 };
	struct cgroup_device_writes writes = { 0 };
	size_t i;
	int r;

	r = cgroup_devices_list_parse(now, &arena, &from, err);
	if (r == 0)
		r = cgroup_devices_list_parse(want, &arena, &to, err);
	if (r < 0)
		return r;
	*ret = to.default_allow || !from.default_allow;
	if (to.default_allow || from.default_allow)
		return 0;
	r = cgroup_devices_transition(&from, &to, &arena, &writes, err);
	for (i = 0; r == 0 && i < writes.n; i++)
		if (!writes.items[i].allow)
			*ret = false;
	return r;
}

static int within(enum kind kind, const char *now, const char *want, bool *ret, struct error *err)
{
	switch (kind) {
	case KIND_CPU_MAX:
		*ret = cpu_max_within(now, want);
		return 0;
	case KIND_SET:
		*ret = cpu_list_within(now, want);
		return 0;
	case KIND_DEVICES:
		return devices_within(now, want, ret, err);
	default:
		*ret = amount_within(kind, now, want);
		return 0;
	}
}

static int differs(const struct state_limit *l, const char *path, const char *now, struct error *err)
{
	/* The one hierarchy of v2 has no name; there the file's begins with the controller's. */
	const char *name = *l->controller ? l->controller : l->file;

	return error_text(err, -EPERM, "verification of %.*s failed: %s/%s is \"%.200s\", decided was \"%.200s\"",
			  (int)strcspn(name, "."), name, path, l->file, now, l->value);
}

static int verify_program(int dir, const struct state_limit *l, const char *path, struct error *err)
{
	uint32_t id;
	bool there = false;
	int r = parse_u32(l->value, &id);

	if (r == 0)
		r = cgroup_devices_attached(dir, id, &there);
	if (r < 0)
		return error_set(err, r, "verification of devices: ask for the device filter of cgroup %s", path);
	return there ? 0 : differs(l, path, "not attached any more", err);
}

static int read_now(int dir, const struct state_limit *l, const char *path, enum kind kind, char *buf, char **ret_long,
		    struct error *err)
{
	ssize_t n;

	if (kind == KIND_DEVICES)
		return file_read_all(dir, l->file, LIST_MAX, ret_long, NULL, err);
	n = cgroup_read(dir, l->file, buf, VALUE_MAX);
	return n < 0 ? error_set(err, (int)n, "verification: read %s/%s", path, l->file) : 0;
}

static int verify_one(int dir, const struct state_limit *l, const char *path, bool scope, struct error *err)
{
	_cleanup_free_ char *list = NULL;
	enum kind kind = kind_of(l->file);
	char buf[VALUE_MAX];
	bool ok = false;
	int r;

	if (kind == KIND_PROGRAM)
		return verify_program(dir, l, path, err);
	r = read_now(dir, l, path, kind, buf, &list, err);
	if (r == -ENOENT) {
		/* Such a write was optional: where the kernel has no such file, the value is in force already. */
		*err = ERROR_NULL;
		return 0;
	}
	if (r == 0)
		r = within(kind, list ? list : buf, l->value, &ok, err);
	if (r < 0)
		return r;
	if (ok || (scope && rounded_by_systemd(kind, dir, list ? list : buf, l->value)))
		return 0;
	return differs(l, path, list ? list : buf, err);
}

int cgroup_verify(const struct cgroup *cg, const struct state_limits *limits, struct error *err)
{
	const struct cgroup_dir *open_dir = NULL;
	_cleanup_close_ int dir = -EBADF;
	size_t i;
	int r;

	for (i = 0; i < limits->count; i++) {
		const struct state_limit *l = &limits->items[i];
		const struct cgroup_dir *d = cgroup_dir_find(cg, l->controller);

		if (!d)
			return error_text(err, -EPERM, "verification of %s failed: the container has no such cgroup",
					  l->controller);
		if (d != open_dir) {
			cleanup_closep(&dir);
			dir = cgroup_open_dir(d->path);
			if (dir < 0)
				return error_set(err, dir, "verification of %s: open cgroup %s", l->controller, d->path);
			open_dir = d;
		}
		r = verify_one(dir, l, d->path, cg->scope != NULL, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The folder as the hierarchy calls it is the end of its path below the mount point. */
static bool is_below(const char *name, const char *folder)
{
	const char *last = strrchr(folder, '/');
	size_t len = strlen(folder), end;
	const char *p;

	/* Seen from a cgroup namespace that does not contain it. */
	if (!last || str_after(name, "/.."))
		return true;
	for (p = strstr(name, last); p; p = strstr(p + 1, last)) {
		end = (size_t)(p - name) + strlen(last);
		if ((name[end] == '/' || !name[end]) && end <= len && strncmp(folder + len - end, name, end) == 0)
			return true;
	}
	return false;
}

int cgroup_verify_member(const struct cgroup *cg, int proc_fd, pid_t pid, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char path[32], *line, *save = NULL;
	int r;

	if (cg->n_dirs == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "%d/cgroup", pid);
	r = procfs_read(proc_fd, path, &text, err);
	if (r < 0)
		return r;
	/* "ID:CONTROLLERS:PATH" */
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':'), *name = controllers ? strchr(controllers + 1, ':') : NULL;
		size_t i;

		if (!name)
			continue;
		controllers++;
		*name++ = '\0';
		for (i = 0; i < cg->n_dirs; i++)
			if (str_eq(cg->dirs[i].controllers, controllers) && !is_below(name, cg->dirs[i].path))
				return error_text(err, -EPERM,
						  "verification of the cgroup failed: the process is in %s of %s, not in %s",
						  name, *controllers ? controllers : "cgroup2", cg->dirs[i].path);
	}
	return 0;
}
