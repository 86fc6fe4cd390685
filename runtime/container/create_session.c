/*
 * The phase that puts overlays over what the policy wants in a session: the root
 * filesystem, and binds by their destination or by the folder of the host they show. The
 * overlay takes the place of the detached clone of the judged source.
 */
#include <assert.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "container/session.h"
#include "os/hostpath.h"
#include "snap/snap.h"
#include "util/str.h"

/* One thing that gets a layer. */
struct pick {
	struct mount_op *op;	 /* NULL = the root */
	const char *destination; /* inside, without doubled slashes */
	const char *source;	 /* canonical path of the host */
	bool mapped;		 /* by the maps of op */
};

struct picks {
	struct create *c;
	struct pick items[SNAP_LAYERS_MAX];
	size_t n;
};

/* Absolute, single slashes, none at the end but of "/" itself. */
static char *plain(struct arena *arena, const char *path)
{
	char *out = arena_alloc(arena, strlen(path) + 2), *p = out;

	while (out && *path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0)
			break;
		*p++ = '/';
		memcpy(p, path, n);
		p += n;
		path += n;
	}
	if (out && p == out)
		*p++ = '/';
	return out;
}

/* path is dir or lies below it. */
static bool within(const char *path, const char *dir)
{
	const char *rest = str_eq(dir, "/") ? path : str_after(path, dir);

	return rest && (*rest == '\0' || *rest == '/');
}

static const struct hostpath *judged(const struct create *c, const struct mount_op *op)
{
	size_t i;

	for (i = 0; i < c->guard.n_sources; i++)
		if (c->guard.sources[i].source == op->source)
			return &c->guard.sources[i].path;
	return NULL;
}

static bool readonly(const struct mount_op *op)
{
	return (op->attr_set | op->rec_set) & MOUNT_ATTR_RDONLY || op->sb_flags & MS_RDONLY;
}

static int refuse(const char *destination, const char *why, struct error *err)
{
	return error_text(err, -EOPNOTSUPP, "policy: session over %s: %s", destination, why);
}

static int add(struct picks *p, struct mount_op *op, const char *destination, const char *source, struct error *err)
{
	if (p->n == SNAP_LAYERS_MAX)
		return error_text(err, -E2BIG, "policy: more than %d folders in a session", SNAP_LAYERS_MAX);
	p->items[p->n++] = (struct pick){ op, destination, source, op && mount_wants_idmap(op) };
	return 0;
}

static int pick_root(struct picks *p, struct error *err)
{
	struct create *c = p->c;
	char *path;

	if (!(c->plan->ns_create & CLONE_NEWNS))
		return refuse("/", "the container has no mount namespace of its own", err);
	path = realpath(c->plan->rootfs, NULL);
	if (path) {
		char *source = arena_strdup(&c->plan->arena, path);

		free(path);
		return source ? add(p, NULL, "/", source, err) : error_oom(err);
	}
	return error_set(err, -errno, "find the container's root %s", c->plan->rootfs);
}

/* Whether the policy, or the request, wants a layer over this bind. Marks the paths that were found. */
static int wanted(const struct create *c, const char *destination, const char *source, bool *found, bool *ret, struct error *err)
{
	const struct policy_grant *g = &c->guard.verdict.grant;
	size_t i;

	*ret = false;
	for (i = 0; i < g->n_session_paths; i++) {
		char *path = plain(&c->plan->arena, g->session_paths[i]);

		if (!path)
			return error_oom(err);
		if (str_eq(path, destination) || (!str_eq(path, "/") && source && within(source, path)))
			*ret = found[i] = true;
	}
	return 0;
}

static int pick_binds(struct picks *p, struct error *err)
{
	struct create *c = p->c;
	const struct policy_grant *g = &c->guard.verdict.grant;
	bool *found = arena_calloc(&c->plan->arena, g->n_session_paths + 1, sizeof(*found));
	size_t n = c->plan->n_mounts - (c->plan->notify ? 1 : 0), i, first_asked;
	int r = found ? 0 : error_oom(err);

	for (i = 0; i < n && r == 0; i++) {
		struct mount_op *op = &c->plan->mounts[i];
		const struct hostpath *hp = op->kind == MOUNT_BIND ? judged(c, op) : NULL;
		char *destination = plain(&c->plan->arena, op->destination);
		bool want;

		if (!destination)
			return error_oom(err);
		if (op->kind != MOUNT_BIND)
			continue;
		r = wanted(c, destination, hp && hp->reachable ? hp->path : NULL, found, &want, err);
		/* Nothing can be changed through it: no layer is needed. */
		if (r < 0 || !want || readonly(op))
			continue;
		if (!hp || !hp->reachable)
			return refuse(destination, "its source is no folder of this host", err);
		r = add(p, op, destination, hp->path, err);
	}
	/* Those of the annotation stand last. A list in a policy serves many containers; a request means this one. */
	first_asked = g->n_session_paths - MIN(g->n_session_paths, c->guard.request.session_paths.count);
	for (i = first_asked; i < g->n_session_paths && r == 0; i++)
		if (!found[i] && !str_eq(g->session_paths[i], "/"))
			r = refuse(g->session_paths[i], "no bind mount is there or shows that folder (\"true\" is the root filesystem)", err);
	return r;
}

/* A second, writable way to the original would make the layer pointless. */
static int check_other_ways(const struct picks *p, struct error *err)
{
	const struct create *c = p->c;
	size_t n = c->plan->n_mounts - (c->plan->notify ? 1 : 0), i, k;

	for (i = 0; i < n; i++) {
		const struct mount_op *op = &c->plan->mounts[i];
		const struct hostpath *hp = op->kind == MOUNT_BIND ? judged(c, op) : NULL;

		if (!hp || readonly(op))
			continue;
		for (k = 0; k < p->n && p->items[k].op != op; k++)
			;
		if (k < p->n)
			continue;
		for (k = 0; k < p->n; k++) {
			const struct hostpath *own = p->items[k].op ? judged(c, p->items[k].op) : NULL;
			bool same = own && own->dev == hp->dev && own->ino == hp->ino;

			if (same || within(hp->path, p->items[k].source) || within(p->items[k].source, hp->path))
				return error_text(err, -EPERM, "policy: the mount at %s reaches the original of the session at %s: "
						  "make it read-only, or part of the session", op->destination, p->items[k].destination);
		}
	}
	return 0;
}

/* What is written to such a file means something to the kernel; a copy of it means nothing. */
static int check_plain(const char *destination, int fd, struct error *err)
{
	const char *type;
	int r = hostpath_kernel_type(fd, &type);

	if (r < 0)
		return error_set(err, r, "examine the filesystem of %s", destination);
	return type ? error_text(err, -EOPNOTSUPP, "policy: session over %s: it lies on a %s filesystem, whose files are made by the kernel: "
				 "leave the path out of the session", destination, type) : 0;
}

static bool has_id(const struct id_maps *maps, uint32_t id)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		if (id >= maps->items[i].container_id && id - maps->items[i].container_id < maps->items[i].size)
			return true;
	return false;
}

/* An id-mapped mount is of the very folder that was judged; its owner is read without the mapping. */
static int open_mapped(const struct pick *pick, struct snap_over *over, struct error *err)
{
	struct stat mapped, st;

	if (pick->op->uid_maps.count == 0 || pick->op->gid_maps.count == 0)
		return refuse(pick->destination, "its id mapping is that of a user namespace made by somebody else: give the mount "
			      "uidMappings and gidMappings of its own", err);
	over->plain_fd = open(pick->source, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (over->plain_fd < 0 || fstat(over->plain_fd, &st) < 0 || fstat(over->lower_fd, &mapped) < 0)
		return error_set(err, -errno, "open %s", pick->source);
	if (st.st_dev != mapped.st_dev || st.st_ino != mapped.st_ino)
		return error_text(err, -ESTALE, "%s was replaced while the container was made", pick->source);
	/* The kernel lets nobody write to a folder whose owner has no id: nothing could be brought into the layer. */
	if (!has_id(&pick->op->uid_maps, st.st_uid) || !has_id(&pick->op->gid_maps, st.st_gid))
		return error_text(err, -EOVERFLOW, "policy: session over %s: the owner %u:%u of %s has no id in the mount's mapping, so nothing "
				  "in it could be changed", pick->destination, st.st_uid, st.st_gid, pick->source);
	return 0;
}

static int open_lower(const struct picks *p, const struct pick *pick, struct snap_over *over, struct error *err)
{
	_cleanup_close_ int root_fd = -EBADF;
	bool below;
	int r;

	r = snap_has_mounts_below(p->c->proc_fd, pick->source, &below, err);
	if (r < 0)
		return r;
	if (below)
		return refuse(pick->destination, "other mounts lie below the original, and an overlay would not show them", err);
	if (pick->op) {
		assert(pick->op->tree_fd >= 0);
		over->lower_fd = take_fd(&pick->op->tree_fd);
		r = check_plain(pick->destination, over->lower_fd, err);
		return r == 0 && pick->mapped ? open_mapped(pick, over, err) : r;
	}
	root_fd = open(p->c->plan->rootfs, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root_fd < 0)
		return error_set(err, -errno, "open the container's root %s", p->c->plan->rootfs);
	return mount_tree_clone(root_fd, &over->lower_fd, err);
}

static int make(const struct picks *p, struct snap_record *rec, struct snap_over *overs, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	struct create *c = p->c;
	size_t i;
	int r = 0;

	for (i = 0; i < p->n && r == 0; i++) {
		overs[i].label = c->spec->linux_cfg->mount_label;
		r = open_lower(p, &p->items[i], &overs[i], err);
		if (r == 0)
			r = snap_over_map(&overs[i], &rec->layers[i], err);
	}
	if (r < 0)
		return r;
	/* Said before it is made, so that `delete --force` finds it if we are killed in between. */
	r = snap_path(c->root, c->opt->id, &path, err);
	if (r < 0)
		return r;
	c->record->session = arena_strdup(&c->record->arena, path);
	if (!c->record->session)
		return error_oom(err);
	r = state_write(c->dir_fd, c->record, err);
	if (r < 0)
		return r;
	rec->id = (char *)c->opt->id;
	r = snap_make(c->record->session, rec, overs, err);
	c->session_made = r == 0;
	for (i = 0; i < p->n && r == 0; i++)
		*(p->items[i].op ? &p->items[i].op->tree_fd : &c->session_root_fd) = take_fd(&overs[i].mount_fd);
	return r;
}

int create_session(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct policy_grant *g = &c->guard.verdict.grant;
	struct picks p = { .c = c };
	_cleanup_free_ char *root = NULL;
	struct snap_over overs[SNAP_LAYERS_MAX];
	struct snap_layer layers[SNAP_LAYERS_MAX];
	struct snap_record rec = { .size = g->session_size, .inodes = g->session_inodes, .keep = g->session_keep, .layers = layers };
	size_t i;
	int r = 0;

	if (g->passthrough || (!g->session_rootfs && g->n_session_paths == 0))
		return 0;
	if (g->session_rootfs)
		r = pick_root(&p, err);
	if (r == 0)
		r = pick_binds(&p, err);
	if (r < 0 || p.n == 0)
		return r;
	if (c->rootless || c->in_userns)
		return refuse(p.items[0].destination, "without the host's root its size could not be capped: that takes an image on a loop "
			      "device, and a tmpfs, which a user can cap, would end with the container before anybody had looked at it; take "
			      "mounts.session out of the profile, or start the container as root", err);
	r = check_other_ways(&p, err);
	if (r < 0)
		return r;
	root = realpath(c->root, NULL);
	if (!root)
		return error_set(err, -errno, "state folder %s", c->root);
	rec.root = root;
	rec.n_layers = p.n;
	for (i = 0; i < p.n; i++) {
		overs[i] = SNAP_OVER_NULL;
		layers[i] = (struct snap_layer){ .destination = (char *)p.items[i].destination,
						 .source = (char *)p.items[i].source };
		if (p.items[i].mapped) {
			layers[i].uids = p.items[i].op->uid_maps;
			layers[i].gids = p.items[i].op->gid_maps;
		}
	}
	r = make(&p, &rec, overs, err);
	for (i = 0; i < p.n; i++)
		snap_over_done(&overs[i]);
	arena_done(&rec.arena);
	return r;
}
