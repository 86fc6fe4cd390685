/*
 * Namespaces of the host, and the actions of the specification's seccomp filter.
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
	if (w->profile->pod_profile)
		policy_refuse(w->v, "namespaces", host, asked, "add \"%s\" to profiles.%s.namespaces.host in %s", name,
			      w->profile->pod_profile, w->profile->policy_file);
	else
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

enum policy_ns_owner policy_ns_owner_of(const struct policy_work *w, size_t i)
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
		if (!l->namespaces.items[k].path || policy_ns_owner_of(w, k) == POLICY_NS_OTHER)
			continue;
		/* Whose it is decides its inode, not its path; unknown is not "another". */
		if (listed(host, type))
			note_host(w, type);
		else
			refuse_host(w, type,
				    policy_ns_owner_of(w, k) == POLICY_NS_HOST
					    ? ", by a path"
					    : " or an unknown one, by a path");
	}
	for (k = 0; k < l->namespaces.count; k++)
		if (l->namespaces.items[k].type == CLONE_NEWCGROUP)
			return;
	if (!listed(host, CLONE_NEWCGROUP))
		add_cgroup_namespace(w, &l->namespaces);
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
