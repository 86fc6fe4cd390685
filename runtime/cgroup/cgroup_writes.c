/*
 * Owns the list of limit writes and its application. Does not know what a value means.
 */
#include "cgroup/cgroup_writes.h"

#include <assert.h>
#include <stdarg.h>

#include "cgroup/cgroup_io.h"
#include "util/str.h"

/* The most files that one controller can have deferred: cpu has four. */
#define DEFERRED_MAX 8

static const char *value_format(struct cgroup_writes *w, const char *fmt, va_list ap)
{
	va_list measure;
	char *text;
	int n;

	va_copy(measure, ap);
	n = vsnprintf(NULL, 0, fmt, measure);
	va_end(measure);
	if (n < 0)
		return NULL;
	text = arena_alloc(&w->arena, (size_t)n + 1);
	if (text)
		(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	return text;
}

void cgroup_writes_add(struct cgroup_writes *w, const char *controller, unsigned flags,
		       const char *file, const char *fmt, ...)
{
	struct cgroup_write *items;
	size_t cap = w->cap ? w->cap * 2 : 16;
	va_list ap;

	if (w->n == w->cap) {
		items = arena_calloc(&w->arena, cap, sizeof(*items));
		if (!items) {
			w->failed = true;
			return;
		}
		if (w->n)
			memcpy(items, w->items, w->n * sizeof(*items));
		w->items = items;
		w->cap = cap;
	}
	va_start(ap, fmt);
	w->items[w->n] = (struct cgroup_write){
		.controller = controller,
		.flags = flags,
		.file = arena_strdup(&w->arena, file),
		.value = value_format(w, fmt, ap),
	};
	va_end(ap);
	if (!w->items[w->n].file || !w->items[w->n].value)
		w->failed = true;
	else
		w->n++;
}

void cgroup_writes_alt(struct cgroup_writes *w, const char *file, const char *fmt, ...)
{
	struct cgroup_write *last;
	va_list ap;

	if (w->failed)
		return;
	assert(w->n > 0);
	last = &w->items[w->n - 1];
	va_start(ap, fmt);
	last->alt_file = arena_strdup(&w->arena, file);
	last->alt_value = value_format(w, fmt, ap);
	va_end(ap);
	if (!last->alt_file || !last->alt_value)
		w->failed = true;
}

void cgroup_writes_done(struct cgroup_writes *w)
{
	arena_done(&w->arena);
	*w = CGROUP_WRITES_NULL;
}

static const struct cgroup_dir *write_dir(const struct cgroup *cg, const struct cgroup_write *x)
{
	return cgroup_dir_find(cg, x->flags & CGROUP_WRITE_V2 ? "" : x->controller);
}

int cgroup_writes_check(const struct cgroup *cg, const struct cgroup_writes *w, struct error *err)
{
	size_t i;

	if (w->failed)
		return error_oom(err);
	for (i = 0; i < w->n; i++) {
		if (write_dir(cg, &w->items[i]))
			continue;
		if (cg->manager == CGROUP_MANAGER_DISABLED)
			return error_text(err, -EOPNOTSUPP,
					  "cannot set %s to %s: cgroups are disabled for this "
					  "container; remove the limit or choose a cgroup manager",
					  w->items[i].file, w->items[i].value);
		return error_text(err, -EOPNOTSUPP,
				  "cannot set %s to %s: the %s cgroup controller is not available "
				  "here (not mounted, or no permission to make a cgroup in it)",
				  w->items[i].file, w->items[i].value, w->items[i].controller);
	}
	return 0;
}

static int write_one(int dirfd, const struct cgroup_write *x)
{
	int r = cgroup_write(dirfd, x->file, x->value);

	if (r == -ENOENT && x->alt_file)
		r = cgroup_write(dirfd, x->alt_file, x->alt_value);
	if (r == -ENOENT && (x->flags & CGROUP_WRITE_OPTIONAL))
		r = 0;
	return r;
}

static int write_failed(const struct cgroup_dir *d, const struct cgroup_write *x, int r,
			struct error *err)
{
	const char *hint = "";

	if (r == -ENOENT)
		hint = x->flags & CGROUP_WRITE_V2
			       ? " (is the controller enabled and supported by this kernel?)"
			       : " (not supported by this kernel)";
	else if (r == -EBUSY && str_eq(x->controller, "memory"))
		hint = " (more memory than that is in use and cannot be reclaimed)";
	return error_set(err, r, "cannot set the %s limit: write \"%s\" to %s/%s%s", x->controller,
			 x->value, d->path, x->file, hint);
}

/* items[0..n) belong to one controller. */
static int group_apply(const struct cgroup_dir *d, const struct cgroup_write *items, size_t n,
		       struct error *err)
{
	const struct cgroup_write *deferred[DEFERRED_MAX];
	_cleanup_close_ int dirfd = -EBADF;
	size_t i, n_deferred = 0;
	int r;

	dirfd = cgroup_open_dir(d->path);
	if (dirfd < 0)
		return error_set(err, dirfd, "open cgroup %s", d->path);
	for (i = 0; i < n; i++) {
		r = write_one(dirfd, &items[i]);
		if (r == -EINVAL && (items[i].flags & CGROUP_WRITE_DEFER) &&
		    n_deferred < DEFERRED_MAX) {
			deferred[n_deferred++] = &items[i];
			continue;
		}
		if (r < 0)
			return write_failed(d, &items[i], r, err);
	}
	for (i = 0; i < n_deferred; i++) {
		r = write_one(dirfd, deferred[i]);
		if (r < 0)
			return write_failed(d, deferred[i], r, err);
	}
	return 0;
}

int cgroup_writes_apply(const struct cgroup *cg, const struct cgroup_writes *w, struct error *err)
{
	size_t i, n;
	int r;

	r = cgroup_writes_check(cg, w, err);
	if (r < 0)
		return r;
	for (i = 0; i < w->n; i += n) {
		for (n = 1; i + n < w->n; n++)
			if (!str_eq(w->items[i].controller, w->items[i + n].controller))
				break;
		r = group_apply(write_dir(cg, &w->items[i]), &w->items[i], n, err);
		if (r < 0)
			return r;
	}
	return 0;
}
