/*
 * Owns the v1 device files: the way from the present exceptions to the wanted ones.
 */
#include "cgroup/cgroup_devices.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "cgroup/cgroup_io.h"
#include "util/fd.h"
#include "util/str.h"

#define DEVICES_LIST_MAX ((size_t)1024 * 1024)

static void number_print(char *buf, size_t size, int64_t n)
{
	if (n == CGROUP_DEVICE_ANY)
		(void)snprintf(buf, size, "*");
	else
		(void)snprintf(buf, size, "%" PRId64, n);
}

static void write_add(struct cgroup_device_writes *w, bool allow,
		      const struct cgroup_device_rule *r, unsigned access)
{
	struct cgroup_device_write *x = &w->items[w->n++];
	char major[24], minor[24];

	number_print(major, sizeof(major), r->major);
	number_print(minor, sizeof(minor), r->minor);
	x->allow = allow;
	x->implied = r->implied;
	(void)snprintf(x->text, sizeof(x->text), "%c %s:%s %s%s%s", r->type, major, minor,
		       access & CGROUP_DEVICE_READ ? "r" : "",
		       access & CGROUP_DEVICE_WRITE ? "w" : "",
		       access & CGROUP_DEVICE_MKNOD ? "m" : "");
}

static unsigned access_in(const struct cgroup_device_list *list, const struct cgroup_device_rule *r)
{
	unsigned access = 0;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->items[i].type == r->type && list->items[i].major == r->major &&
		    list->items[i].minor == r->minor)
			access |= list->items[i].access;
	return access;
}

int cgroup_devices_transition(const struct cgroup_device_list *from,
			      const struct cgroup_device_list *to, struct arena *arena,
			      struct cgroup_device_writes *ret, struct error *err)
{
	static const struct cgroup_device_list nothing = { 0 };
	struct cgroup_device_writes w = { 0 };
	unsigned access;
	size_t i;

	w.items = arena_calloc(arena, from->n + to->n + 1, sizeof(*w.items));
	if (!w.items)
		return error_oom(err);
	if (from->default_allow != to->default_allow) {
		w.items[0].allow = to->default_allow;
		(void)snprintf(w.items[0].text, sizeof(w.items[0].text), "a");
		w.n = 1;
		from = &nothing;
	}
	/* What stays allowed is never taken away in between; new grants come first. */
	for (i = 0; i < to->n; i++) {
		access = to->items[i].access & ~access_in(from, &to->items[i]);
		if (access)
			write_add(&w, !to->default_allow, &to->items[i], access);
	}
	for (i = 0; i < from->n; i++) {
		access = from->items[i].access & ~access_in(to, &from->items[i]);
		if (access)
			write_add(&w, to->default_allow, &from->items[i], access);
	}
	*ret = w;
	return 0;
}

static int writes_run(int dir, const char *path, const struct cgroup_device_writes *w,
		      struct error *err)
{
	_cleanup_close_ int allow = -EBADF, deny = -EBADF;
	size_t i;

	for (i = 0; i < w->n; i++) {
		const struct cgroup_device_write *x = &w->items[i];
		int *fd = x->allow ? &allow : &deny;
		const char *file = x->allow ? "devices.allow" : "devices.deny";

		if (*fd < 0)
			*fd = openat(dir, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (*fd < 0)
			return error_set(err, -errno, "open %s/%s", path, file);
		if (write(*fd, x->text, strlen(x->text)) >= 0)
			continue;
		/* The parent has less than every container gets: then there is less, which is no
		 * risk. */
		if (errno == EPERM && x->allow && x->implied)
			continue;
		if (errno == EPERM && x->allow)
			return error_text(err, -EPERM,
					  "allow device \"%s\" in %s: the parent cgroup does not "
					  "allow it: operation not permitted",
					  x->text, path);
		return error_set(err, -errno, "write \"%s\" to %s/%s", x->text, path, file);
	}
	return 0;
}

int cgroup_devices_apply_v1(int dir, const char *path, const struct cgroup_device_list *rules,
			    struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct cgroup_device_list from, to;
	struct cgroup_device_writes writes;
	_cleanup_free_ char *text = NULL;
	int r;

	r = cgroup_devices_exceptions(rules, &arena, &to, err);
	if (r < 0)
		return r;
	/* Starting from what is there, a new cgroup below a restricted parent needs no reset, which
	 * the kernel refuses in some places (cgroups with children). */
	r = file_read_all(dir, "devices.list", DEVICES_LIST_MAX, &text, NULL, err);
	if (r < 0)
		return error_prefix(err, "cgroup %s", path);
	r = cgroup_devices_list_parse(text, &arena, &from, err);
	if (r < 0)
		return r;
	r = cgroup_devices_transition(&from, &to, &arena, &writes, err);
	if (r < 0)
		return r;
	return writes_run(dir, path, &writes, err);
}

int cgroup_devices_text(const struct cgroup_device_list *rules, char **ret, struct error *err)
{
	static const struct cgroup_device_list nothing = { 0 };
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct cgroup_device_writes writes = { 0 };
	struct cgroup_device_list to = { 0 };
	size_t i;
	int r;

	r = cgroup_devices_exceptions(rules, &arena, &to, err);
	if (r == 0)
		r = cgroup_devices_transition(&nothing, &to, &arena, &writes, err);
	if (r < 0)
		return r;
	if (to.default_allow)
		buf_adds(&b, "a *:* rwm\n");
	for (i = 0; i < writes.n && !to.default_allow; i++)
		buf_addf(&b, "%s\n", writes.items[i].text);
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = b.data ? buf_take(&b) : strdup("");
	return *ret ? 0 : error_oom(err);
}
