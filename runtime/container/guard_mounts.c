/*
 * Bind sources against the policy: facts from the opened object (os/hostpath), verdict
 * from the rules (policy/policy_fs). The descriptor that was judged is the one mounted.
 */
#include "container/guard_mounts.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/mount.h"
#include "policy/policy_fs.h"
#include "util/str.h"

static bool has_option(const struct spec_mount *m, const char *word)
{
	size_t i;

	for (i = 0; i < m->options.count; i++)
		if (str_eq(m->options.items[i], word))
			return true;
	return false;
}

static bool is_bind(const struct spec_mount *m)
{
	return (m->type && str_eq(m->type, "bind")) || has_option(m, "bind") || has_option(m, "rbind");
}

/*
 * What lies below the root is the container's own: it is looked up inside the root by the
 * executor, whose predicate this is.
 */
static bool in_rootfs(const char *source, const char *rootfs)
{
	struct mount_op op = MOUNT_OP_NULL;

	op.source = source;
	return mount_source_in_rootfs(&op, rootfs);
}

static int add_option(struct spec_mount *m, struct arena *arena, const char *word, struct error *err)
{
	char **items = arena_calloc(arena, m->options.count + 2, sizeof(char *));

	if (!items)
		return error_oom(err);
	if (m->options.count > 0)
		memcpy(items, m->options.items, m->options.count * sizeof(char *));
	items[m->options.count] = arena_strdup(arena, word);
	if (!items[m->options.count])
		return error_oom(err);
	m->options.items = items;
	m->options.count++;
	m->options.set = true;
	return 0;
}

static enum policy_fs_type type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return POLICY_FS_FILE;
	case S_IFDIR:
		return POLICY_FS_DIR;
	case S_IFSOCK:
		return POLICY_FS_SOCKET;
	case S_IFIFO:
		return POLICY_FS_FIFO;
	case S_IFCHR:
		return POLICY_FS_CHAR;
	case S_IFBLK:
		return POLICY_FS_BLOCK;
	default:
		return POLICY_FS_OTHER;
	}
}

/* The rules, with the canonical names of listed paths that are links on this host. */
static int make_rules(const struct guard *g, struct hostpath_host *hh, struct arena *arena, struct policy_fs_rules *ret,
		      struct error *err)
{
	const struct strv *from[] = { &g->profile.mounts.allow.list, &g->profile.mounts.deny.list,
				      &g->profile.mounts.readonly.list };
	struct strv *to[] = { &ret->allow, &ret->deny, &ret->readonly };
	size_t i, j;
	int r;

	for (i = 0; i < ELEMENTSOF(from); i++) {
		to[i]->items = arena_calloc(arena, 2 * from[i]->count + 1, sizeof(char *));
		if (!to[i]->items)
			return error_oom(err);
		for (j = 0; j < from[i]->count; j++) {
			const char *canonical = NULL;

			to[i]->items[to[i]->count++] = from[i]->items[j];
			r = strchr(from[i]->items[j], '*') ? 0 : hostpath_canonical(hh, from[i]->items[j], &canonical, err);
			if (r < 0)
				return r;
			if (canonical && !str_eq(canonical, from[i]->items[j]))
				to[i]->items[to[i]->count++] = (char *)canonical;
		}
	}
	ret->service_account_token = g->profile.mounts.service_account_token.n != 0;
	return 0;
}

struct judge {
	struct guard *g;
	const struct guard_host *host;
	struct hostpath_host hh;
	struct policy_fs_rules rules;
	const char *const *homes;
	size_t n_homes;
	const char *pod;
};

/* The second depth of facts: other names of the object, and what lies below it. */
static int complete_facts(struct judge *j, struct hostpath *hp, struct policy_fs_fact *fact, struct error *err)
{
	struct arena *arena = &j->g->arena;
	struct policy_fs_part *parts;
	const char *const *watched;
	size_t n_watched, i;
	int r;

	r = hostpath_look(&j->hh, hp, fact->recursive, err);
	if (r < 0)
		return r;
	parts = arena_calloc(arena, hp->n_parts + 1, sizeof(*parts));
	watched = policy_fs_watched(arena, j->homes, j->n_homes, &n_watched);
	if (!parts || !watched)
		return error_oom(err);
	for (i = 0; i < hp->n_parts; i++) {
		static const enum policy_fs_part_kind kinds[] = {
			[HOSTPATH_PART_NAME] = POLICY_FS_PART_NAME,
			[HOSTPATH_PART_MOUNT] = POLICY_FS_PART_MOUNT,
			[HOSTPATH_PART_SOCKET_LIVE] = POLICY_FS_PART_SOCKET_LIVE,
			[HOSTPATH_PART_SOCKET] = POLICY_FS_PART_SOCKET,
		};

		parts[i] = (struct policy_fs_part){ kinds[hp->parts[i].kind], hp->parts[i].at, hp->parts[i].what };
	}
	fact->fstype = hp->fstype;
	fact->aliases = hp->aliases;
	fact->n_aliases = hp->n_aliases;
	fact->parts = parts;
	fact->n_parts = hp->n_parts;
	fact->same_file = hostpath_same_file(hp, watched, n_watched);
	fact->traps = fact->writable && fact->type == POLICY_FS_DIR ? hostpath_probe(hp, policy_fs_trap) : 0;
	return 0;
}

/* What became of the mount, as a decision that names the rule. */
static int carry_out(struct judge *j, struct spec *spec, struct spec_mount *m, const struct policy_fs_verdict *v,
		     struct error *err)
{
	const struct policy_profile *p = &j->g->profile;
	int r = 0;

	switch (v->action) {
	case POLICY_FS_ALLOW:
		break;
	case POLICY_FS_READONLY:
		policy_note(&j->g->verdict, "mounts", POLICY_CLAMPED, &p->mounts.readonly, m->source, "read-only");
		r = add_option(m, &spec->arena, "rro", err);
		break;
	case POLICY_FS_MASK:
		policy_note(&j->g->verdict, "mounts", POLICY_DROPPED, &p->mounts.service_account_token, m->destination,
			    "an empty folder in its place");
		m->type = m->source = arena_strdup(&spec->arena, "tmpfs");
		m->options = (struct strv){ 0 };
		if (!m->type)
			return error_oom(err);
		r = add_option(m, &spec->arena, "ro", err);
		break;
	case POLICY_FS_REFUSE:
		policy_refuse(&j->g->verdict, "mounts", &p->mounts.allow, m->source, "%s; %s", v->reason, v->remedy);
		r = error_text(err, -EPERM, "policy: %s; %s", v->reason, v->remedy);
		break;
	}
	return r;
}

static int judge_mount(struct judge *j, struct spec *spec, struct spec_mount *m, struct error *err)
{
	struct guard_source *s = &j->g->sources[j->g->n_sources];
	struct policy_fs_fact fact;
	struct policy_fs_verdict verdict = { 0 };
	int r;

	s->path = HOSTPATH_NULL;
	s->source = m->source;
	r = hostpath_open(&j->hh, j->host->bundle_fd, m->source, !has_option(m, "src-nofollow") && !has_option(m, "copy-symlink"),
			  &s->path, err);
	if (r < 0)
		return error_text(err, r, "error mounting \"%s\" to rootfs at \"%s\": stat %s: %s", m->source,
				  m->destination, m->source, error_errno_text(r));
	j->g->n_sources++;
	fact = (struct policy_fs_fact){
		.id = j->host->id,
		.pod = j->pod,
		.source = m->source,
		.destination = m->destination,
		.recursive = has_option(m, "rbind"),
		.writable = !has_option(m, "ro") && !has_option(m, "rro"),
		.path = s->path.path,
		.reachable = s->path.reachable,
		.type = type_of(s->path.mode),
		.major = major(s->path.rdev),
		.minor = minor(s->path.rdev),
		.fstype = s->path.fstype,
		.homes = j->homes,
		.n_homes = j->n_homes,
	};
	if (policy_fs_needs_tree(&j->rules, &fact)) {
		r = complete_facts(j, &s->path, &fact, err);
		if (r < 0)
			return r;
	}
	(void)policy_fs_check(&j->rules, &fact, &verdict);
	return carry_out(j, spec, m, &verdict, err);
}

static bool same_inode(const struct hostpath *hp, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_dev == hp->dev && st.st_ino == hp->ino : !hostpath_is_absent(-errno);
}

/* As a whole tree of the host it would void every rule about mounts, whatever path leads there. */
static int judge_root(struct judge *j, struct error *err)
{
	_cleanup_hostpath_ struct hostpath root = HOSTPATH_NULL;
	struct policy_fs_verdict verdict;
	struct policy_fs_fact fact;
	const char *tree;
	size_t i;
	int r;

	r = hostpath_open(&j->hh, AT_FDCWD, j->host->rootfs, true, &root, err);
	/* A missing one is the plan's to report. */
	if (r < 0)
		return hostpath_is_absent(r) ? 0 : error_prefix(err, "root filesystem");
	fact = (struct policy_fs_fact){
		.source = j->host->rootfs,
		.path = root.path,
		.reachable = root.reachable,
		.homes = j->homes,
		.n_homes = j->n_homes,
	};
	for (i = 0; !fact.same_file && (tree = policy_fs_root_tree(i)); i++)
		if (same_inode(&root, tree))
			fact.same_file = tree;
	if (policy_fs_check_root(&j->rules, &fact, &verdict) == 0)
		return 0;
	policy_refuse(&j->g->verdict, "root", &j->g->profile.mounts.allow, j->host->rootfs, "%s; %s", verdict.reason,
		      verdict.remedy);
	return error_text(err, -EPERM, "policy: %s; %s", verdict.reason, verdict.remedy);
}

static const char *pod_of(const struct spec *spec)
{
	const char *uid = spec_annotation(spec, "io.kubernetes.cri.sandbox-uid");

	return uid ? uid : spec_annotation(spec, "io.kubernetes.pod.uid");
}

int guard_narrow_mounts(struct guard *g, struct spec *spec, const struct guard_host *host, struct error *err)
{
	struct judge j = { .g = g, .host = host, .hh = HOSTPATH_HOST_NULL, .pod = pod_of(spec) };
	size_t i;
	int r;

	assert(!g->sources);

	g->sources = arena_calloc(&g->arena, spec->mounts.count + 1, sizeof(*g->sources));
	if (!g->sources)
		return error_oom(err);
	r = hostpath_host_open(host->proc_fd, &g->arena, &j.hh, err);
	if (r < 0)
		return r;
	r = hostpath_homes(&g->arena, &j.homes, &j.n_homes, err);
	if (r == 0)
		r = make_rules(g, &j.hh, &g->arena, &j.rules, err);
	if (r == 0)
		r = judge_root(&j, err);
	for (i = 0; i < spec->mounts.count && r == 0; i++) {
		struct spec_mount *m = &spec->mounts.items[i];

		if (is_bind(m) && m->source && *m->source && !in_rootfs(m->source, host->rootfs))
			r = judge_mount(&j, spec, m, err);
	}
	hostpath_host_done(&j.hh);
	return r;
}
