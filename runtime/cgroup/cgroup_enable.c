/*
 * Owns cgroup.subtree_control: on v2 a folder has a controller's files only when every
 * ancestor hands the controller down.
 */
#include "cgroup/cgroup_driver.h"

#include <fcntl.h>

#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_limits.h"
#include "util/str.h"

#define DEPTH_MAX 64

static bool word_in(const char *list, const char *word, size_t len)
{
	const char *p = list;
	size_t n;

	while (*p) {
		n = strcspn(p, " ");
		if (n == len && memcmp(p, word, len) == 0)
			return true;
		p += n;
		p += strspn(p, " ");
	}
	return false;
}

/* The words of a that are (keep) or are not (!keep) in b. out has room for all of a. */
static void words_filter(const char *a, const char *b, bool keep, char out[CGROUP_CONTROLLERS_MAX])
{
	size_t len, used = 0;

	for (; *a; a += len, a += strspn(a, " ")) {
		len = strcspn(a, " ");
		if (word_in(b, a, len) != keep || used + len + 2 > CGROUP_CONTROLLERS_MAX)
			continue;
		if (used)
			out[used++] = ' ';
		memcpy(out + used, a, len);
		used += len;
	}
	out[used] = '\0';
}

static bool parent_of(const char *path, char **ret)
{
	char *slash;

	*ret = strdup(path);
	slash = *ret ? strrchr(*ret, '/') : NULL;
	if (!slash || slash == *ret)
		return false;
	*slash = '\0';
	return true;
}

int cgroup_top_controllers(const char *path, char *buf, size_t size)
{
	_cleanup_free_ char *at = strdup(path);
	char *slash;

	if (!at)
		return -ENOMEM;
	buf[0] = '\0';
	while (*at) {
		_cleanup_close_ int dir = cgroup_open_dir(at);
		char have[CGROUP_CONTROLLERS_MAX];
		int r = dir < 0 ? dir : cgroup_read(dir, "cgroup.controllers", have, sizeof(have));

		/* Folders that are still to be made are skipped; above the top there is no such file. */
		if (dir >= 0 && r == -ENOENT)
			return 0;
		if (r < 0 && r != -ENOENT)
			return r;
		if (r >= 0)
			(void)snprintf(buf, size, "%s", have);
		slash = strrchr(at, '/');
		if (!slash)
			return 0;
		*slash = '\0';
	}
	return 0;
}

static int enable_failed(const char *parent, const char *controller, int r, struct error *err)
{
	if (r == -EBUSY)
		return error_text(
			err, r,
			"cannot enable the %s cgroup controller below %s: that cgroup has "
			"processes of its own; choose a cgroupsPath below one without",
			controller, parent);
	if (r == -EOPNOTSUPP)
		return error_text(err, r,
				  "cannot enable the %s cgroup controller below %s: that cgroup is "
				  "threaded; choose a cgroupsPath outside of it",
				  controller, parent);
	if (r == -ENOENT)
		return error_text(
			err, r,
			"the %s cgroup controller is not available in %s: it is disabled, "
			"not delegated, or mounted as cgroup v1",
			controller, parent);
	return error_set(err, r, "enable the %s cgroup controller below %s", controller, parent);
}

/* One write for all; where that is refused each on its own, and only needed ones are missed. */
static int hand_down(int dir, const char *parent, const char *list, const char *need,
		     struct error *err)
{
	char text[2 * CGROUP_CONTROLLERS_MAX], one[72];
	size_t len, used = 0;
	const char *p;
	int r;

	for (p = list; *p; p += len, p += strspn(p, " ")) {
		len = strcspn(p, " ");
		used += (size_t)snprintf(text + used, sizeof(text) - used, "+%.*s ", (int)len, p);
	}
	if (used == 0)
		return 0;
	text[used - 1] = '\0';
	if (cgroup_write(dir, "cgroup.subtree_control", text) == 0)
		return 0;
	for (p = list; *p; p += len, p += strspn(p, " ")) {
		len = strcspn(p, " ");
		(void)snprintf(one, sizeof(one), "+%.*s", (int)MIN(len, 64), p);
		r = cgroup_write(dir, "cgroup.subtree_control", one);
		if (r < 0 && word_in(need, p, len))
			return enable_failed(parent, one + 1, r, err);
	}
	return 0;
}

/*
 * A cgroup with processes of its own, which must not hand controllers down: the kernel would
 * refuse some, and with the others make its children invalid as homes of processes. The top is exempt.
 */
static bool populated(int dir)
{
	char type[32], one[16];

	return cgroup_read(dir, "cgroup.type", type, sizeof(type)) >= 0 &&
	       cgroup_read(dir, "cgroup.procs", one, sizeof(one)) != 0;
}

static int enable_in(const char *path, const char *want, const char *need, unsigned depth,
		     struct error *err)
{
	_cleanup_close_ int dir = -EBADF, up = -EBADF;
	_cleanup_free_ char *parent = NULL;
	char have[CGROUP_CONTROLLERS_MAX], missing[CGROUP_CONTROLLERS_MAX], offered[CGROUP_CONTROLLERS_MAX];
	char absent[CGROUP_CONTROLLERS_MAX];
	int r;

	dir = cgroup_open_dir(path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", path);
	if (cgroup_read(dir, "cgroup.controllers", have, sizeof(have)) < 0)
		have[0] = '\0';
	words_filter(want, have, false, missing);
	if (!missing[0])
		return 0;

	if (depth < DEPTH_MAX && parent_of(path, &parent))
		up = cgroup_open_dir(parent);
	if (up >= 0 && cgroup_read(up, "cgroup.controllers", offered, sizeof(offered)) >= 0) {
		if (populated(up)) {
			words_filter(missing, need, true, absent);
			absent[strcspn(absent, " ")] = '\0';
			return absent[0] ? enable_failed(parent, absent, -EBUSY, err) : 0;
		}
		r = enable_in(parent, missing, need, depth + 1, err);
		if (r < 0)
			return r;
		(void)cgroup_read(up, "cgroup.controllers", offered, sizeof(offered));
		words_filter(missing, offered, true, have);
		return hand_down(up, parent, have, need, err);
	}
	/* This is the top: what is missing here is missing on the host. */
	words_filter(missing, need, true, absent);
	if (absent[0]) {
		absent[strcspn(absent, " ")] = '\0';
		return enable_failed(path, absent, -ENOENT, err);
	}
	return 0;
}

int cgroup_enable(const char *path, const char *want, const char *need, struct error *err)
{
	_cleanup_close_ int dir = -EBADF;
	char type[32];

	dir = cgroup_open_dir(path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", path);
	/* The top of the hierarchy has no type. */
	if (cgroup_read(dir, "cgroup.type", type, sizeof(type)) > 0 &&
	    (str_eq(type, "domain invalid") || str_eq(type, "threaded")))
		return error_text(err, -EOPNOTSUPP,
				  "cgroup %s is %s, because it is below a threaded cgroup: no "
				  "process can be put there; choose another cgroupsPath",
				  path,
				  str_eq(type, "threaded") ? "threaded" : "an invalid domain");
	return enable_in(path, want, need, 0, err);
}

int cgroup_limits_for_host(const struct cgroup *cg, const struct cgroup_limits *in,
			   struct cgroup_writes *w, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	char top[CGROUP_CONTROLLERS_MAX];
	int r;

	r = cgroup_limits_build(cg, in, NULL, w, err);
	if (r == 0)
		r = cgroup_writes_check(cg, w, err);
	if (r == 0 || cg->layout != CGROUP_LAYOUT_HYBRID || !d)
		return r;
	/* Rare, so only now: a controller without a v1 mount may be the v2 hierarchy's. */
	r = cgroup_top_controllers(d->path, top, sizeof(top));
	if (r < 0)
		return error_set(err, r, "read the controllers of %s", d->path);
	cgroup_writes_done(w);
	*err = ERROR_NULL;
	r = cgroup_limits_build(cg, in, top, w, err);
	return r < 0 ? r : cgroup_writes_check(cg, w, err);
}
