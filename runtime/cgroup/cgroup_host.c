/*
 * Owns the reading of mountinfo and of this process's cgroup, and the rules for paths.
 * Makes nothing and writes nothing.
 */
#include "cgroup/cgroup_host.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "util/fd.h"
#include "util/str.h"

/* A host with ten thousand mounts has some 2 MiB of mountinfo. */
#define MOUNTINFO_MAX	((size_t)32 * 1024 * 1024)
#define SELF_CGROUP_MAX ((size_t)256 * 1024)

/* Fields of a mountinfo line, numbered as in proc(5). */
struct mount_line {
	char *root, *point, *fstype, *super;
};

bool cgroup_list_has(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *p = list;

	while (p && *p) {
		if (strncmp(p, word, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
		p = strchr(p, ',');
		if (p)
			p++;
	}
	return false;
}

/* Blanks and the like are written as \ooo in mountinfo. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

static bool mount_line_split(char *line, struct mount_line *ret)
{
	char *word, *save = NULL;
	int field = 0;
	bool after = false;

	*ret = (struct mount_line){ 0 };
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!after) {
			if (field == 3)
				ret->root = word;
			else if (field == 4)
				ret->point = word;
			else if (str_eq(word, "-"))
				after = true, field = -1;
		} else if (field == 0) {
			ret->fstype = word;
		} else if (field == 2) {
			ret->super = word;
		}
		field++;
	}
	if (!ret->super)
		return false;
	unescape(ret->root);
	unescape(ret->point);
	return true;
}

/* Every name of the hierarchy's list is an option of the mount. */
static bool mount_has_all(const char *super, const char *controllers)
{
	char word[64];
	const char *p = controllers;
	size_t len;

	for (;;) {
		len = strcspn(p, ",");
		if (len >= sizeof(word))
			return false;
		memcpy(word, p, len);
		word[len] = '\0';
		if (!cgroup_list_has(super, word))
			return false;
		if (!p[len])
			return true;
		p += len + 1;
	}
}

static bool mount_wanted(const struct mount_line *m, bool v2_on_top)
{
	if (v2_on_top)
		return str_eq(m->fstype, "cgroup2") && str_eq(m->point, CGROUP_MOUNT_POINT);
	/* Mounts elsewhere belong to others (Cilium mounts a cgroup2 of its own). */
	return (str_eq(m->fstype, "cgroup") || str_eq(m->fstype, "cgroup2")) &&
	       str_after(m->point, CGROUP_MOUNT_POINT "/");
}

/* The part of the process's path that lies below the mounted folder, or NULL. */
static const char *own_below(const char *root, const char *own)
{
	const char *rest;

	if (str_after(own, "/.."))
		return NULL;
	if (str_eq(root, "/"))
		return own;
	rest = str_after(own, root);
	if (!rest)
		return NULL;
	if (*rest == '\0')
		return "/";
	return *rest == '/' ? rest : NULL;
}

static int hierarchy_add(struct cgroup_host *host, const char *controllers, const char *own,
			 const struct mount_line *m, struct error *err)
{
	struct cgroup_hierarchy *h;
	const char *below = own_below(m->root, own);

	if (host->n == ELEMENTSOF(host->hierarchies))
		return error_text(err, -E2BIG, "more than %d cgroup hierarchies are mounted",
				  CGROUP_DIRS_MAX);
	h = &host->hierarchies[host->n];
	*h = (struct cgroup_hierarchy){
		.controllers = arena_strdup(&host->arena, controllers),
		.mount = arena_strdup(&host->arena, m->point),
		.root = arena_strdup(&host->arena, m->root),
		.own = below ? arena_strdup(&host->arena, below) : NULL,
	};
	if (!h->controllers || !h->mount || !h->root || (below && !h->own))
		return error_oom(err);
	host->n++;
	return 0;
}

static size_t mounts_collect(char *mountinfo, bool v2_on_top, struct mount_line *mounts, size_t max)
{
	char *line, *save = NULL;
	size_t n = 0;

	for (line = strtok_r(mountinfo, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* Cheap refusal first: a container host has thousands of overlay lines. */
		if (!strstr(line, " - cgroup"))
			continue;
		if (!mount_line_split(line, &mounts[n]) || !mount_wanted(&mounts[n], v2_on_top))
			continue;
		if (n + 1 < max)
			n++;
	}
	return n;
}

/* The line "N:controllers:path" of /proc/self/cgroup meets its mount. */
static int self_line(struct cgroup_host *host, char *line, const struct mount_line *mounts,
		     size_t n_mounts, struct error *err)
{
	const struct mount_line *found = NULL;
	char *controllers, *own;
	bool v2;
	size_t i;

	controllers = strchr(line, ':');
	own = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!own)
		return error_text(err, -EINVAL, "unexpected line in /proc/self/cgroup: %s", line);
	controllers++;
	*own++ = '\0';
	v2 = *controllers == '\0';

	for (i = 0; i < n_mounts; i++) {
		if (v2 != str_eq(mounts[i].fstype, "cgroup2"))
			continue;
		if (!v2 && !mount_has_all(mounts[i].super, controllers))
			continue;
		found = &mounts[i];
		/* The last mount at one place covers the others; at several places any will do. */
		if (!v2)
			break;
	}
	return found ? hierarchy_add(host, controllers, own, found, err) : 0;
}

static enum cgroup_layout layout_of(const struct cgroup_host *host, bool v2_on_top)
{
	bool v1 = false, v2 = false;
	size_t i;

	for (i = 0; i < host->n; i++) {
		if (*host->hierarchies[i].controllers)
			v1 = true;
		else
			v2 = true;
	}
	if (v2_on_top && v2)
		return CGROUP_LAYOUT_UNIFIED;
	if (v1)
		return v2 ? CGROUP_LAYOUT_HYBRID : CGROUP_LAYOUT_LEGACY;
	return CGROUP_LAYOUT_NONE;
}

int cgroup_host_parse(const char *mountinfo, const char *self_cgroup, bool v2_on_top,
		      struct cgroup_host *ret, struct error *err)
{
	struct mount_line mounts[2 * CGROUP_DIRS_MAX];
	_cleanup_free_ char *info = NULL, *self = NULL;
	char *line, *save = NULL;
	size_t n;
	int r;

	assert(mountinfo && self_cgroup && ret && err);

	info = strdup(mountinfo);
	self = strdup(self_cgroup);
	if (!info || !self)
		return error_oom(err);
	*ret = CGROUP_HOST_NULL;
	n = mounts_collect(info, v2_on_top, mounts, ELEMENTSOF(mounts));
	for (line = strtok_r(self, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		r = self_line(ret, line, mounts, n, err);
		if (r < 0) {
			cgroup_host_done(ret);
			return r;
		}
	}
	ret->layout = layout_of(ret, v2_on_top);
	return 0;
}

int cgroup_host_read(struct cgroup_host *ret, struct error *err)
{
	_cleanup_free_ char *info = NULL, *self = NULL;
	struct statfs st;
	int r;

	if (statfs(CGROUP_MOUNT_POINT, &st) < 0) {
		if (errno != ENOENT)
			return error_set(err, -errno, "stat %s", CGROUP_MOUNT_POINT);
		*ret = CGROUP_HOST_NULL;
		return 0;
	}
	r = file_read_all(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &info, NULL, err);
	if (r < 0)
		return r;
	r = file_read_all(AT_FDCWD, "/proc/self/cgroup", SELF_CGROUP_MAX, &self, NULL, err);
	if (r < 0)
		return r;
	return cgroup_host_parse(info, self, st.f_type == CGROUP2_SUPER_MAGIC, ret, err);
}

void cgroup_host_done(struct cgroup_host *host)
{
	arena_done(&host->arena);
	*host = CGROUP_HOST_NULL;
}

/* "/a/b" or "" from any spelling; ".." could leave the subtree that the caller was given. */
static int path_normalise(const char *path, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf out = BUF_NULL;
	const char *p = path;
	size_t len;

	buf_adds(&out, "");
	while (*p) {
		len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.')
			return error_text(err, -EINVAL,
					  "cgroup path \"%s\" must not contain \"..\"", path);
		if (len > 0 && !(len == 1 && p[0] == '.')) {
			buf_adds(&out, "/");
			buf_add(&out, p, len);
		}
		p += len;
		if (*p == '/')
			p++;
	}
	if (!buf_ok(&out))
		return error_oom(err);
	*ret = buf_take(&out);
	return 0;
}

int cgroup_host_path(const struct cgroup_host *host, const struct cgroup_hierarchy *h,
		     const char *path, const char *id, char **ret, struct error *err)
{
	_cleanup_free_ char *clean = NULL;
	const char *asked = path && *path ? path : id;
	const char *slash;
	size_t base = 0;
	int r;

	r = path_normalise(asked, &clean, err);
	if (r < 0)
		return r;
	if (!*clean)
		return error_text(err, -EINVAL,
				  "cgroup path \"%s\" is the root of the hierarchy: "
				  "a container needs a folder of its own",
				  asked);
	if (asked[0] != '/') {
		if (!h->own)
			return error_text(
				err, -EINVAL,
				"cgroup path \"%s\" is relative, but this process's cgroup "
				"is outside %s: give an absolute path",
				asked, h->mount);
		base = strlen(h->own);
		if (host->layout == CGROUP_LAYOUT_UNIFIED) {
			slash = strrchr(h->own, '/');
			base = slash ? (size_t)(slash - h->own) : 0;
		}
		if (base == 1) /* "/" */
			base = 0;
	}
	*ret = str_printf("%s%.*s%s", h->mount, (int)base, base ? h->own : "", clean);
	return *ret ? 0 : error_oom(err);
}
