/*
 * The decision on one mount source: policy file first, then the engine's own mounts, then
 * what the object is (socket, device, filesystem), then each of its names and each thing
 * below it against the tables. Makes no system call and trusts no spelling: it sees
 * canonical names only.
 */
#include "policy/policy_fs.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy_fs_tables.h"
#include "util/str.h"

#define PATH_ROOM 4096

static const char *const traps[] = { ".git/hooks",    ".git/config", ".gitmodules",   ".bashrc",
				     ".bash_profile", ".profile",    ".zshrc",	      ".zprofile",
				     ".envrc",	      ".vscode",     ".idea",	      ".mcp.json",
				     ".claude",	      ".cursor",     ".devcontainer", ".husky" };

/* Rules for a path in text; paths that no buffer holds are longer than the kernel allows. */
static const char *clean(const char *path, char buf[PATH_ROOM])
{
	return policy_fs_clean(path, buf, PATH_ROOM);
}

static _printf_(4, 5) int refuse(const struct policy_fs_fact *fact, struct policy_fs_verdict *v,
				 const char *rule, const char *fmt, ...)
{
	va_list ap;
	int n;

	v->action = POLICY_FS_REFUSE;
	v->rule = rule;
	n = snprintf(v->reason, sizeof(v->reason), "mount source %.160s refused (rule %s): ",
		     fact->source ? fact->source : fact->path, rule);
	if (n > 0 && (size_t)n < sizeof(v->reason)) {
		va_start(ap, fmt);
		(void)vsnprintf(v->reason + n, sizeof(v->reason) - (size_t)n, fmt, ap);
		va_end(ap);
	}
	if (!v->remedy[0])
		(void)snprintf(v->remedy, sizeof(v->remedy),
			       "mount a narrower folder, or add \"%.300s\" to mounts.allow",
			       fact->path);
	return POLICY_FS_REFUSED;
}

/* Keeps an earlier note: the first rule that mattered is the one to name. */
static void note(const struct policy_fs_fact *fact, struct policy_fs_verdict *v,
		 enum policy_fs_action action, const char *rule, const char *name, const char *what)
{
	const bool mask = action == POLICY_FS_MASK;

	if (v->action != POLICY_FS_ALLOW)
		return;
	v->action = action;
	v->rule = rule;
	(void)snprintf(v->reason, sizeof(v->reason),
		       "mount source %.160s %s (rule %s): %.160s is %s",
		       fact->source ? fact->source : fact->path,
		       mask ? "replaced by an empty folder" : "made read-only", rule, name, what);
	(void)snprintf(v->remedy, sizeof(v->remedy),
		       mask ? "mounts.serviceAccountToken: true keeps it"
			    : "ask for it read-only, or add \"%.300s\" to mounts.allow",
		       fact->path);
}

static int refuse_found(const struct policy_fs_fact *fact, struct policy_fs_verdict *v,
			const struct policy_fs_finding *f, const char *name, const char *at)
{
	static const char *const relation[] = {
		[POLICY_FS_APART] = "",
		[POLICY_FS_SAME] = " is ",
		[POLICY_FS_BELOW] = " lies in ",
		[POLICY_FS_ABOVE] = " would expose ",
	};
	const bool same = f->relation == POLICY_FS_SAME;

	return refuse(fact, v, f->class->name, "%s%.160s%s%.160s%s%s%s%s", at ? "it holds " : "",
		      at ? at : "", at ? ", and " : "", name, relation[f->relation],
		      same ? "" : f->pattern, same ? "" : ", ", f->class->what);
}

/* One name of the source, or (at) of something in it. */
static int check_name(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
		      const char *name, const char *at, bool is_alias, struct policy_fs_verdict *v)
{
	char buf[PATH_ROOM], destination[PATH_ROOM];
	const char *path = clean(name, buf), *entry;
	enum policy_fs_engine_mount engine;
	struct policy_fs_finding f;

	if (!path)
		return refuse(fact, v, "foreign-path", "%.160s is no path of the host", name);
	entry = policy_fs_listed(&rules->deny, path, POLICY_FS_WHOLE);
	if (entry) {
		(void)snprintf(v->remedy, sizeof(v->remedy), "mounts.deny lists %.300s", entry);
		return refuse(fact, v, "mounts.deny", "%.160s meets %.160s", path, entry);
	}
	if (policy_fs_listed(&rules->readonly, path, POLICY_FS_WHOLE) && fact->writable)
		note(fact, v, POLICY_FS_READONLY, "mounts.readonly", path, "listed there");

	engine = policy_fs_engine_lookup(
		fact, path, at ? NULL : clean(fact->destination, destination), is_alias);
	if (engine == POLICY_FS_ENGINE_TOKEN && !rules->service_account_token)
		note(fact, v, POLICY_FS_MASK, "service-account-token", path,
		     "a credential for the cluster");
	if (engine != POLICY_FS_NOT_ENGINE || !policy_fs_classify(fact, path, &f))
		return 0;
	if (f.class->effect == POLICY_FS_REFUSES)
		return refuse_found(fact, v, &f, path, at);
	if (f.class->effect == POLICY_FS_WARNS)
		v->warning = f.class->name;
	else if (fact->writable)
		note(fact, v, POLICY_FS_READONLY, f.class->name, path, f.class->what);
	return 0;
}

static const char *leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int check_part(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
		      const struct policy_fs_part *part, struct policy_fs_verdict *v)
{
	switch (part->kind) {
	case POLICY_FS_PART_NAME:
		return check_name(rules, fact, part->what, part->at, true, v);
	case POLICY_FS_PART_MOUNT:
		if (policy_fs_in_names(policy_fs_kernel_types, part->what))
			return refuse(fact, v, "kernel-files",
				      "it holds %.160s, a %.40s filesystem", part->at, part->what);
		return 0;
	case POLICY_FS_PART_SOCKET_LIVE:
	case POLICY_FS_PART_SOCKET:
		if (policy_fs_in_names(policy_fs_socket_names, leaf_of(part->at)))
			return refuse(fact, v, "engine-socket",
				      "it holds the control socket %.200s", part->at);
		if (part->kind == POLICY_FS_PART_SOCKET_LIVE)
			return refuse(fact, v, "unix-socket",
				      "it holds %.200s, a socket of a program on the host",
				      part->at);
		v->warning = "unix-socket";
		return 0;
	}
	return 0;
}

static bool device_allowed(const struct policy_fs_fact *fact)
{
	const struct policy_fs_device *d;

	if (fact->type != POLICY_FS_CHAR)
		return false;
	for (d = policy_fs_devices; d->path; d++)
		if (d->major == fact->major && d->minor == fact->minor)
			return true;
	return false;
}

/* What the object itself is, whatever its names. */
static int check_object(const struct policy_fs_fact *fact, struct policy_fs_verdict *v)
{
	if (fact->type == POLICY_FS_SOCKET)
		return policy_fs_in_names(policy_fs_socket_names, leaf_of(fact->path))
			       ? refuse(fact, v, "engine-socket", "it is a control socket")
			       : refuse(fact, v, "unix-socket",
					"it is a socket: what answers there no control sees");
	if (fact->type == POLICY_FS_CHAR || fact->type == POLICY_FS_BLOCK) {
		(void)snprintf(v->remedy, sizeof(v->remedy),
			       "ask for it as a device and list it in devices.allow");
		return refuse(fact, v, "device", "it is the %s device %u:%u",
			      fact->type == POLICY_FS_CHAR ? "character" : "block", fact->major,
			      fact->minor);
	}
	if (fact->fstype && policy_fs_in_names(policy_fs_kernel_types, fact->fstype))
		return refuse(fact, v, "kernel-files", "it lies on a %.40s filesystem",
			      fact->fstype);
	if (fact->type == POLICY_FS_FIFO)
		v->warning = "fifo";
	return 0;
}

/* A watched file under another name is judged by the name that is watched. */
static int check_same_file(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
			   struct policy_fs_verdict *v)
{
	char buf[PATH_ROOM];
	const char *path = fact->same_file ? clean(fact->same_file, buf) : NULL;

	if (!path || policy_fs_listed(&rules->allow, path, 1u << POLICY_FS_SAME))
		return 0;
	return check_name(rules, fact, path, NULL, true, v);
}

static bool is_allowed(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact)
{
	char buf[PATH_ROOM];
	const char *path = clean(fact->path, buf);

	return path && policy_fs_listed(&rules->allow, path, 1u << POLICY_FS_SAME);
}

/* The policy file opened the path: its own deny list and disguised sockets still count. */
static int check_allowed(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
			 struct policy_fs_verdict *v)
{
	char buf[PATH_ROOM];
	const char *path, *entry;
	size_t i;

	for (i = 0; i <= fact->n_aliases; i++) {
		path = clean(i == 0 ? fact->path : fact->aliases[i - 1], buf);
		entry = path ? policy_fs_listed(&rules->deny, path, POLICY_FS_WHOLE) : NULL;
		if (!entry)
			continue;
		(void)snprintf(v->remedy, sizeof(v->remedy), "mounts.deny lists %.300s", entry);
		return refuse(fact, v, "mounts.deny", "%.160s meets %.160s", path, entry);
	}
	path = clean(fact->path, buf);
	if (path && fact->writable && policy_fs_listed(&rules->readonly, path, POLICY_FS_WHOLE))
		note(fact, v, POLICY_FS_READONLY, "mounts.readonly", path, "listed there");
	return check_same_file(rules, fact, v);
}

static int check_names(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
		       struct policy_fs_verdict *v)
{
	char buf[PATH_ROOM];
	const char *text = clean(fact->source, buf), *entry;
	size_t i;
	int r;

	/* The operator may have denied the spelling that was asked, a link. */
	entry = text ? policy_fs_listed(&rules->deny, text, POLICY_FS_WHOLE) : NULL;
	if (entry) {
		(void)snprintf(v->remedy, sizeof(v->remedy), "mounts.deny lists %.300s", entry);
		return refuse(fact, v, "mounts.deny", "it meets %.160s", entry);
	}
	r = check_name(rules, fact, fact->path, NULL, false, v);
	for (i = 0; i < fact->n_aliases && r == 0; i++)
		r = check_name(rules, fact, fact->aliases[i], NULL, true, v);
	for (i = 0; i < fact->n_parts && r == 0; i++)
		r = check_part(rules, fact, &fact->parts[i], v);
	return r == 0 ? check_same_file(rules, fact, v) : r;
}

bool policy_fs_needs_tree(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact)
{
	char buf[PATH_ROOM], destination[PATH_ROOM];
	const char *path;
	struct policy_fs_finding f;
	enum policy_fs_engine_mount engine;

	assert(rules && fact && fact->path);

	path = clean(fact->path, buf);
	if (!fact->reachable || !path || device_allowed(fact))
		return false;
	if (is_allowed(rules, fact))
		return rules->deny.count > 0 || fact->type != POLICY_FS_DIR;
	engine = policy_fs_engine_lookup(fact, path, clean(fact->destination, destination), false);
	if (engine == POLICY_FS_ENGINE_FILE)
		return false;
	if (engine == POLICY_FS_ENGINE_DATA || engine == POLICY_FS_ENGINE_TOKEN)
		return true;
	return !policy_fs_classify(fact, path, &f) || f.class->effect != POLICY_FS_REFUSES;
}

int policy_fs_check(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
		    struct policy_fs_verdict *ret)
{
	char buf[PATH_ROOM];
	const char *path;
	int r;

	assert(rules && fact && fact->path && ret);

	*ret = (struct policy_fs_verdict){ .action = POLICY_FS_ALLOW };
	path = fact->reachable ? clean(fact->path, buf) : NULL;
	if (!path) {
		(void)snprintf(ret->remedy, sizeof(ret->remedy),
			       "name a path of the host's own file tree");
		return refuse(fact, ret, "foreign-path",
			      "what it names was removed or belongs to another mount namespace");
	}
	if (is_allowed(rules, fact))
		return check_allowed(rules, fact, ret);
	if (device_allowed(fact) && !policy_fs_listed(&rules->deny, path, POLICY_FS_WHOLE))
		return 0;
	/* A socket's names tell more than that it is one. */
	r = fact->type == POLICY_FS_SOCKET ? 0 : check_object(fact, ret);
	if (r == 0)
		r = check_names(rules, fact, ret);
	if (r == 0 && fact->type == POLICY_FS_SOCKET)
		r = check_object(fact, ret);
	if (r == 0 && ret->action == POLICY_FS_ALLOW && fact->writable &&
	    fact->type == POLICY_FS_DIR)
		ret->traps = fact->traps;
	return r;
}

const char *policy_fs_trap(size_t i)
{
	return i < ELEMENTSOF(traps) ? traps[i] : NULL;
}
