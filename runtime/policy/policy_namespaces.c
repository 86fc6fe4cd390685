/*
 * Namespaces of the host, kernel settings that belong to namespaces, the actions of the
 * specification's seccomp filter, and annotations that act on the host.
 */
#include <linux/sched.h>

#include "policy/policy_internal.h"

static bool listed(const struct policy_value *host, uint64_t type)
{
	return host->n & type;
}

static void refuse_host(struct policy_work *w, uint64_t type, const char *how)
{
	const struct policy_value *host = &w->profile->namespaces.host;
	const char *name = enum_to_name(&policy_namespace_table, type);
	char asked[160];

	(void)snprintf(asked, sizeof(asked), "the host's %s namespace%s", name, how);
	policy_refuse(w->v, "namespaces", host, asked, "add \"%s\" to %s", name,
		      policy_place(w->v, host));
}

static void note_host(struct policy_work *w, uint64_t type)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "the host's %s namespace",
		       enum_to_name(&policy_namespace_table, type));
	policy_note(w->v, "namespaces", POLICY_KEPT, &w->profile->namespaces.host, text, text);
}

static enum policy_ns_owner owner_of(const struct policy_work *w, size_t i)
{
	return w->facts->namespaces ? w->facts->namespaces[i] : POLICY_NS_UNKNOWN;
}

static void add_cgroup_namespace(struct policy_work *w, struct spec_namespaces *list)
{
	struct spec_namespace *items = policy_alloc(w, list->count + 1, sizeof(*items));

	if (!items)
		return;
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	items[list->count] = (struct spec_namespace){ .type = CLONE_NEWCGROUP };
	list->items = items;
	list->count++;
	policy_note(w->v, "namespaces", POLICY_ADDED, &w->profile->namespaces.host,
		    "no cgroup namespace", "a new cgroup namespace");
}

void policy_do_namespaces(struct policy_work *w, struct spec_linux *l)
{
	const struct policy_value *host = &w->profile->namespaces.host;
	size_t i, k;

	for (i = 0; i < policy_namespace_table.count; i++) {
		uint64_t type = policy_namespace_table.entries[i].value;

		for (k = 0; k < l->namespaces.count; k++)
			if (l->namespaces.items[k].type == type)
				break;
		if (k == l->namespaces.count) {
			if (listed(host, type))
				note_host(w, type);
			else if (type != CLONE_NEWCGROUP)
				refuse_host(w, type, "");
			continue;
		}
		if (!l->namespaces.items[k].path || owner_of(w, k) == POLICY_NS_OTHER)
			continue;
		/* Whose it is decides its inode, not its path; unknown is not "another". */
		if (listed(host, type))
			note_host(w, type);
		else
			refuse_host(w, type,
				    owner_of(w, k) == POLICY_NS_HOST
					    ? ", by a path"
					    : " or an unknown one, by a path");
	}
	for (k = 0; k < l->namespaces.count; k++)
		if (l->namespaces.items[k].type == CLONE_NEWCGROUP)
			return;
	if (!listed(host, CLONE_NEWCGROUP))
		add_cgroup_namespace(w, &l->namespaces);
}

/*
 * With dots between the parts. A key whose first separator is a slash has slashes as
 * separators and may have dots in names, as sysctl(8) has it. False: no key at all.
 */
static bool sysctl_normal(const char *key, char *buf, size_t size)
{
	const char *first = strpbrk(key, "./");
	size_t n = strlen(key), i;

	if (!first || n >= size || strstr(key, "..") || strstr(key, "//") || strstr(key, "/./"))
		return false;
	for (i = 0; i <= n; i++) {
		char c = key[i];

		if (*first == '/' && (c == '/' || c == '.'))
			c = c == '/' ? '.' : '/';
		buf[i] = c;
	}
	return buf[0] != '.' && buf[n - 1] != '.';
}

static bool sysctl_listed(const struct strv *allow, const char *key)
{
	size_t i, n;

	for (i = 0; i < allow->count; i++) {
		const char *p = allow->items[i];

		n = strlen(p);
		if (p[n - 1] == '*' ? strncmp(p, key, n - 1) == 0 : str_eq(p, key))
			return true;
	}
	return false;
}

/* The namespace that the setting belongs to, 0 = none. */
static uint64_t sysctl_namespace(const char *key)
{
	static const struct {
		const char *prefix;
		uint64_t type;
	} table[] = {
		{ "net.", CLONE_NEWNET },
		{ "kernel.msg", CLONE_NEWIPC },
		{ "kernel.sem", CLONE_NEWIPC },
		{ "kernel.shm", CLONE_NEWIPC },
		{ "fs.mqueue.", CLONE_NEWIPC },
		{ "kernel.hostname", CLONE_NEWUTS },
		{ "kernel.domainname", CLONE_NEWUTS },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(table); i++)
		if (str_after(key, table[i].prefix))
			return table[i].type;
	return 0;
}

/* Whether the container has that namespace to itself or shares it with a pod. */
static bool own_namespace(const struct policy_work *w, const struct spec_linux *l, uint64_t type)
{
	size_t i;

	for (i = 0; i < l->namespaces.count; i++)
		if (l->namespaces.items[i].type == type)
			return !l->namespaces.items[i].path || owner_of(w, i) == POLICY_NS_OTHER;
	return false;
}

void policy_do_sysctls(struct policy_work *w, struct spec_linux *l)
{
	const struct policy_value *allow = &w->profile->sysctls.allow;
	size_t i;

	for (i = 0; i < l->sysctl.count; i++) {
		const char *key = l->sysctl.items[i].key;
		char name[256], asked[128];
		uint64_t type;

		(void)snprintf(asked, sizeof(asked), "%.100s", key);
		if (!sysctl_normal(key, name, sizeof(name)) || !sysctl_listed(&allow->list, name)) {
			policy_refuse(w->v, "sysctls", allow, asked, "add \"%.100s\" to %s", key,
				      policy_place(w->v, allow));
			continue;
		}
		type = sysctl_namespace(name);
		if (type && !own_namespace(w, l, type)) {
			(void)snprintf(asked, sizeof(asked), "%.60s of the host", key);
			policy_refuse(w->v, "sysctls", &w->profile->namespaces.host, asked,
				      "give the container its own %s namespace",
				      enum_to_name(&policy_namespace_table, type));
			continue;
		}
		policy_note(w->v, "sysctls", POLICY_KEPT, allow, asked, asked);
	}
}

/* A listener or tracer outside could do the calls of the container with other arguments. */
static void check_action(struct policy_work *w, uint64_t action, uint64_t *seen)
{
	const struct policy_value *allow = &w->profile->seccomp.allow;
	const char *name;

	if ((action != SPEC_SECCOMP_NOTIFY && action != SPEC_SECCOMP_TRACE) ||
	    (*seen & (1u << action)))
		return;
	*seen |= 1u << action;
	name = enum_to_name(&spec_seccomp_action_table, action);
	if (allow->n & (1u << action))
		policy_note(w->v, "seccomp", POLICY_KEPT, allow, name, name);
	else
		policy_refuse(w->v, "seccomp", allow, name, "add \"%s\" to %s", name,
			      policy_place(w->v, allow));
}

void policy_do_seccomp(struct policy_work *w, struct spec_linux *l)
{
	struct spec_seccomp *s = l->seccomp;
	uint64_t seen = 0;
	size_t i, n = 0;

	if (!s)
		return;
	check_action(w, s->default_action, &seen);
	for (i = 0; i < s->syscalls.count; i++)
		check_action(w, s->syscalls.items[i].action, &seen);
	/* Switches a protection of the processor off for the whole process. */
	for (i = 0; i < s->flags.count; i++) {
		if (!str_eq(s->flags.items[i], "SECCOMP_FILTER_FLAG_SPEC_ALLOW"))
			s->flags.items[n++] = s->flags.items[i];
		else
			policy_note(w->v, "seccomp", POLICY_DROPPED, &w->profile->seccomp.profile,
				    s->flags.items[i], "no such flag");
	}
	if (s->flags.items)
		s->flags.items[n] = NULL;
	s->flags.count = n;
}
