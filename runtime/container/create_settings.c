/*
 * Kernel settings of a container's namespaces: those that it asked for and those that the
 * policy adds, written by its first process.
 */
#include "container/create_steps.h"

#include "os/procattr.h"
#include "util/str.h"

/* own_root: those that need no more than the root of the container's user namespace; else the others. */
static int write_settings(const struct create *c, bool own_root, struct error *err)
{
	const struct str_map *m = &c->plan->sysctl;
	size_t i;
	int r;

	for (i = 0; i < m->count; i++) {
		if (sysctl_needs_host_root(m->items[i].key) == own_root)
			continue;
		r = sysctl_write(c->proc_fd, m->items[i].key, m->items[i].value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int create_settings_early(void *ctx, struct error *err)
{
	return write_settings(ctx, false, err);
}

int create_settings(const struct create *c, struct error *err)
{
	return write_settings(c, true, err);
}

int create_settings_compare(const struct create *c, struct error *err)
{
	const struct strv *set = &c->guard.profile.sysctls.set.list;
	const struct str_map *m = &c->plan->sysctl;
	size_t i, k;
	int r;

	for (i = 0; i < m->count; i++) {
		for (k = 0; k < set->count; k++) {
			const char *value = str_after(set->items[k], m->items[i].key);

			if (!value || value[0] != '=' || !str_eq(value + 1, m->items[i].value))
				continue;
			r = sysctl_verify(c->proc_fd, m->items[i].key, m->items[i].value, err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
