/*
 * Owns what checkpoint and restore have in common: the list of what comes from outside the container, and the
 * options that mean the same to both.
 */
#include "container/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/guard.h"
#include "os/rootfs.h"
#include "util/cleanup.h"
#include "util/fd.h"
#include "util/str.h"

static bool path_of(int fd, char buf[PATH_MAX])
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, PATH_MAX - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Where path leads inside the root when its links are followed; path itself where that is not to be seen from the host. */
static const char *resolved(struct arena *arena, int rootfs_fd, const char *path)
{
	_cleanup_close_ int fd = -EBADF;
	char rootfs[PATH_MAX], real[PATH_MAX];
	const char *inside;

	if (rootfs_openat(rootfs_fd, path, O_PATH | O_CLOEXEC, 0, &fd) < 0 || !path_of(rootfs_fd, rootfs) || !path_of(fd, real))
		return path;
	inside = str_after(real, rootfs);
	return inside && *inside == '/' ? arena_strdup(arena, inside) : path;
}

static int add(struct checkpoint_outside *o, const char *destination, const char *value)
{
	const char *text = destination && value ? arena_printf(&o->arena, "mnt[%s]:%s", destination, value) : NULL;

	if (!text)
		return -ENOMEM;
	o->items[o->n++] = text;
	return 0;
}

/* A masked folder is an empty one of its own; a masked file is the host's /dev/null. */
static bool is_masked_file(int rootfs_fd, const char *path)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	/* what lies on a filesystem that the container mounts is to be seen in the host's own */
	if (str_after(path, "/proc/") || str_after(path, "/sys/"))
		return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
	return rootfs_openat(rootfs_fd, path, O_PATH | O_CLOEXEC, 0, &fd) == 0 && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* Every v1 hierarchy, and a v2 one beside them, is a mount of its own below the destination (os/mount_cgroup.c). */
static int add_cgroups(struct checkpoint_outside *o, const char *at, const struct cgroup *cg, bool restore)
{
	const char *name, *inside;
	size_t i;
	int r = 0;

	/* criu knows the v2 hierarchy alone, as its own cgroup namespace sees it */
	if (cg->layout == CGROUP_LAYOUT_UNIFIED)
		return 0;
	for (i = 0; i < cg->n_dirs && r == 0; i++) {
		name = str_after(cg->dirs[i].controllers, "name=");
		name = name ? name : *cg->dirs[i].controllers ? cg->dirs[i].controllers : "unified";
		inside = arena_printf(&o->arena, "%s/%s", at, name);
		r = add(o, inside, restore ? cg->dirs[i].path : inside);
	}
	return r;
}

/* On the host; *arena owns what is made. */
static const char *source_of(const struct plan *plan, const struct mount_op *m, struct arena *arena)
{
	return !m->source || *m->source == '/' ? m->source : arena_printf(arena, "%s/%s", plan->bundle, m->source);
}

static int add_mount(struct checkpoint_outside *o, const struct plan *plan, const struct mount_op *m,
		     const struct cgroup *cg, int rootfs_fd, bool restore)
{
	const char *at = resolved(&o->arena, rootfs_fd, m->destination);

	if (m->kind == MOUNT_CGROUP)
		return add_cgroups(o, at, cg, restore);
	if (m->kind != MOUNT_BIND)
		return 0;
	return add(o, at, restore ? source_of(plan, m, &o->arena) : at);
}

static int fill(const struct plan *plan, const struct cgroup *cg, int rootfs_fd, bool restore, struct checkpoint_outside *o)
{
	size_t i;
	int r = 0;

	for (i = 0; i < plan->n_mounts && r == 0; i++)
		r = add_mount(o, plan, &plan->mounts[i], cg, rootfs_fd, restore);
	for (i = 0; plan->bind_devices && i < plan->n_devices && r == 0; i++)
		r = add(o, plan->devices[i].path, plan->devices[i].path);
	/* with a /dev of its own a container masks by its own node */
	for (i = 0; !plan->dev_setup && i < plan->n_masked_paths && r == 0; i++)
		if (is_masked_file(rootfs_fd, plan->masked_paths[i]))
			r = add(o, plan->masked_paths[i], restore ? "/dev/null" : plan->masked_paths[i]);
	return r;
}

int checkpoint_outside(const struct plan *plan, const struct cgroup *cgroup, bool restore, struct checkpoint_outside *ret,
		       struct error *err)
{
	_cleanup_close_ int rootfs_fd = open(plan->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct checkpoint_outside o = { .arena = ARENA_NULL };
	/* one more for the network namespace */
	size_t room = plan->n_mounts * CGROUP_DIRS_MAX + plan->n_devices + plan->n_masked_paths + 1;
	int r;

	if (rootfs_fd < 0)
		return error_set(err, -errno, "open the root filesystem %s", plan->rootfs);
	o.items = arena_calloc(&o.arena, room, sizeof(*o.items));
	r = o.items ? fill(plan, cgroup, rootfs_fd, restore, &o) : -ENOMEM;
	if (r < 0) {
		arena_done(&o.arena);
		return error_oom(err);
	}
	*ret = o;
	return 0;
}

void checkpoint_outside_done(struct checkpoint_outside *o)
{
	arena_done(&o->arena);
	*o = (struct checkpoint_outside){ .arena = ARENA_NULL };
}

/* The mount that the destination of mount i lies on: the last earlier one above it, NULL = the root. */
static const struct mount_op *below(const struct plan *plan, size_t i, const char **ret_rest)
{
	const char *rest;

	*ret_rest = plan->mounts[i].destination;
	for (size_t k = i; k-- > 0;) {
		rest = str_after(plan->mounts[i].destination, plan->mounts[k].destination);
		if (!rest || *rest != '/')
			continue;
		*ret_rest = rest;
		return &plan->mounts[k];
	}
	return NULL;
}

static int make_point(const struct plan *plan, size_t i, struct arena *arena, struct error *err)
{
	_cleanup_close_ int base_fd = -EBADF, fd = -EBADF;
	const struct mount_op *m = &plan->mounts[i], *on;
	const char *rest, *base, *source;
	struct stat st;

	on = below(plan, i, &rest);
	/* what lies on a filesystem of the container's own is in the images */
	if (m->kind != MOUNT_BIND || (on && on->kind != MOUNT_BIND))
		return 0;
	source = source_of(plan, m, arena);
	base = on ? source_of(plan, on, arena) : plan->rootfs;
	if (!source || !base)
		return error_oom(err);
	if (stat(source, &st) < 0)
		return error_set(err, -errno, "look for the mount source %s", source);
	base_fd = open(base, O_PATH | O_CLOEXEC);
	if (base_fd < 0)
		return error_set(err, -errno, "open %s", base);
	return rootfs_make_target(base_fd, rest, S_ISDIR(st.st_mode), &fd, err);
}

int checkpoint_mount_points(const struct plan *plan, struct error *err)
{
	struct arena arena = ARENA_NULL;
	size_t i;
	int r = 0;

	for (i = 0; i < plan->n_mounts && r == 0; i++)
		r = make_point(plan, i, &arena, err);
	arena_done(&arena);
	return r;
}

int checkpoint_cgroups(const char *mode, enum criu_cgroups *ret, struct error *err)
{
	static const struct { const char *name; enum criu_cgroups mode; } modes[] = {
		{ "soft", CRIU_CG_SOFT }, { "full", CRIU_CG_FULL }, { "strict", CRIU_CG_STRICT }, { "ignore", CRIU_CG_IGNORE },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(modes); i++)
		if (str_eq(mode ? mode : "soft", modes[i].name)) {
			*ret = modes[i].mode;
			return 0;
		}
	return error_text(err, -EINVAL, "--manage-cgroups-mode: \"%s\" is none of soft, full, strict, ignore", mode);
}

int checkpoint_empty_ns(const char *const *names, size_t n, uint32_t *ret, struct error *err)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!str_eq(names[i], "network"))
			return error_text(err, -EINVAL, "--empty-ns: \"%s\" cannot be left out, only \"network\" can", names[i]);
		*ret |= CLONE_NEWNET;
	}
	return 0;
}

int checkpoint_config(const struct spec *spec, const char **ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	/* those of crun and runc hold what their users found out about the host */
	static const char *const defaults[] = { "/etc/criu/agentrun.conf", "/etc/criu/crun.conf", "/etc/criu/runc.conf" };
	const char *named = spec_annotation(spec, "org.criu.config");
	size_t i, len;

	for (i = 0; !named && i < ELEMENTSOF(defaults); i++)
		if (access(defaults[i], R_OK) == 0)
			named = defaults[i];
	*ret = named;
	if (named && guard_file_read(named, &text, &len, err) < 0)
		return error_prefix(err, "options for criu");
	return 0;
}

int checkpoint_folder(const char *path, bool make, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make the folder %s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open the folder %s", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022))
		return error_text(err, -EPERM,
				  "the folder %s belongs to uid %u and has mode %04o: only root may own and write it (chown root, chmod go-w)",
				  path, st.st_uid, st.st_mode & 07777);
	*ret_fd = take_fd(&fd);
	return 0;
}

int checkpoint_may(const char *what, const char *id, const char *profile, struct error *err)
{
	if (profile && str_eq(profile, "passthrough"))
		return 0;
	return error_text(err, -EOPNOTSUPP,
			  "%s: container %s is under profile \"%s\": its first process is traced and its filters report to the monitor, which criu can neither save nor bring back in force; only profile \"passthrough\", which adds nothing to the specification, can",
			  what, id, profile ? profile : "");
}
