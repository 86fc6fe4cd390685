/*
 * The folder that becomes a container's root: judged by the rules on mount sources, since a
 * whole host tree as the root shows the same as a mount of it.
 */
#include <assert.h>
#include <stdio.h>

#include "policy/policy_fs_tables.h"
#include "util/str.h"

#define PATH_ROOM 4096

static int refuse(const struct policy_fs_fact *fact, struct policy_fs_verdict *v, const char *rule,
		  const char *why)
{
	v->action = POLICY_FS_REFUSE;
	v->rule = rule;
	(void)snprintf(v->reason, sizeof(v->reason), "root.path %.160s refused (rule %s): it is %s",
		       fact->source ? fact->source : fact->path, rule, why);
	(void)snprintf(v->remedy, sizeof(v->remedy),
		       "use a folder with the container's own files, or add \"%.300s\" to mounts.allow",
		       fact->path);
	return POLICY_FS_REFUSED;
}

/* Engines make roots below their own state, and agentrun those of sessions. */
static bool may_hold_roots(const struct policy_fs_finding *f)
{
	return f->relation == POLICY_FS_BELOW &&
	       (str_eq(f->class->name, "engine-state") || str_eq(f->class->name, "agentrun-files"));
}

static int check_path(const struct policy_fs_fact *fact, const char *path, struct policy_fs_verdict *v)
{
	struct policy_fs_finding f;

	if (!policy_fs_classify(fact, path, &f) || f.class->effect == POLICY_FS_WARNS || may_hold_roots(&f))
		return 0;
	return refuse(fact, v, f.class->name, f.class->what);
}

int policy_fs_check_root(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
			 struct policy_fs_verdict *ret)
{
	char buf[PATH_ROOM];
	const char *path;

	assert(rules && fact && fact->path && ret);

	*ret = (struct policy_fs_verdict){ .action = POLICY_FS_ALLOW };
	path = fact->reachable ? policy_fs_clean(fact->path, buf, sizeof(buf)) : NULL;
	if (!path)
		return refuse(fact, ret, "foreign-path", "no folder of the host's own file tree");
	if (policy_fs_listed(&rules->allow, path, 1u << POLICY_FS_SAME))
		return 0;
	/* Bound to another place, a tree keeps its inode. */
	return check_path(fact, fact->same_file ? fact->same_file : path, ret);
}

const char *policy_fs_root_tree(size_t i)
{
	const struct policy_fs_class *c;

	for (c = policy_fs_classes; c->name; c++)
		if (str_eq(c->name, "host-tree"))
			return c->patterns[i];
	return NULL;
}
