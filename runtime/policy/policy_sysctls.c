/*
 * Kernel settings that belong to namespaces: which of them a specification may have, and
 * which every container gets.
 */
#include <linux/sched.h>

#include "policy/policy_internal.h"

#define SYSCTL_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

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
		{ "vm.memfd_noexec", CLONE_NEWPID },
		{ "user.max_user_namespaces", CLONE_NEWUSER },
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
			return !l->namespaces.items[i].path || policy_ns_owner_of(w, i) == POLICY_NS_OTHER;
	return false;
}

/* Whether it is made for this container: what others are in is not ours to change. */
static bool new_namespace(const struct spec_linux *l, uint64_t type)
{
	size_t i;

	for (i = 0; i < l->namespaces.count; i++)
		if (l->namespaces.items[i].type == type)
			return !l->namespaces.items[i].path;
	return false;
}

/* NAME=VALUE, of a namespace. */
bool policy_setting_valid(const char *s)
{
	const char *value = strchr(s, '=');
	char name[POLICY_SETTING_NAME_MAX];

	return value && value[1] && !value[1 + strcspn(value + 1, "\n\"\\")] && policy_setting_name(s, name) &&
	       sysctl_namespace(name) != 0 && !str_eq(name, "kernel.hostname") && !str_eq(name, "kernel.domainname");
}

bool policy_setting_name(const char *setting, char ret[POLICY_SETTING_NAME_MAX])
{
	size_t n = strcspn(setting, "=");

	if (n == 0 || n >= POLICY_SETTING_NAME_MAX || setting[strspn(setting, SYSCTL_LETTERS)] != '=' || setting[0] == '.' ||
	    strstr(setting, "..") || setting[n - 1] == '.')
		return false;
	memcpy(ret, setting, n);
	ret[n] = '\0';
	return true;
}

static bool has_namespace(const struct spec_linux *l, uint64_t type)
{
	size_t i;

	for (i = 0; i < l->namespaces.count; i++)
		if (l->namespaces.items[i].type == type)
			return true;
	return false;
}

static bool asked_for(const struct spec_linux *l, const char *name)
{
	char other[256];
	size_t i;

	for (i = 0; i < l->sysctl.count; i++)
		if (sysctl_normal(l->sysctl.items[i].key, other, sizeof(other)) && str_eq(name, other))
			return true;
	return false;
}

static void setting_add(struct policy_work *w, struct spec_linux *l, const char *name, const char *value)
{
	struct str_pair *items = policy_alloc(w, l->sysctl.count + 1, sizeof(*items));
	char *key = arena_strdup(w->arena, name), *text = arena_strdup(w->arena, value);

	if (!items || !key || !text) {
		w->failed = true;
		return;
	}
	if (l->sysctl.count)
		memcpy(items, l->sysctl.items, l->sysctl.count * sizeof(*items));
	items[l->sysctl.count] = (struct str_pair){ .key = key, .value = text };
	l->sysctl.items = items;
	l->sysctl.count++;
}

/* What the specification asks for and may have is its own; where there is nothing to set, that is said. */
static void do_settings(struct policy_work *w, struct spec_linux *l)
{
	const struct policy_value *set = &w->profile->sysctls.set;
	char name[POLICY_SETTING_NAME_MAX];
	size_t i;

	for (i = 0; i < set->list.count && w->facts->settings; i++) {
		const char *setting = set->list.items[i], *why = w->facts->settings[i];

		if (!policy_setting_name(setting, name) || asked_for(l, name) || !new_namespace(l, sysctl_namespace(name)))
			continue;
		/* Group ids are those of the user namespace, which may not even have two. */
		if (str_eq(name, "net.ipv4.ping_group_range") && has_namespace(l, CLONE_NEWUSER))
			why = "the kernel's own value, which is nobody";
		if (why) {
			policy_note(w->v, "sysctls", POLICY_DROPPED, set, setting, why);
			continue;
		}
		setting_add(w, l, name, strchr(setting, '=') + 1);
		policy_note(w->v, "sysctls", POLICY_ADDED, set, "nothing", setting);
	}
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
	do_settings(w, l);
}
