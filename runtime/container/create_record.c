/*
 * The record of a container that is being created: filled before anything is made, so
 * that `delete --force` finds whatever a killed creator left.
 */
#include "container/create_steps.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "container/verify.h"
#include "util/time.h"

static int now_rfc3339(struct arena *arena, char **ret, struct error *err)
{
	char text[TIME_RFC3339_SIZE];
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	time_rfc3339(&now, true, text);
	*ret = arena_strdup(arena, text);
	return *ret ? 0 : error_oom(err);
}

static int fill_annotations(struct state_record *rec, const struct spec *spec, struct error *err)
{
	size_t i, n = spec->annotations.count;

	rec->annotations.keys = arena_calloc(&rec->arena, n + 1, sizeof(char *));
	rec->annotations.values = arena_calloc(&rec->arena, n + 1, sizeof(char *));
	if (!rec->annotations.keys || !rec->annotations.values)
		return error_oom(err);
	for (i = 0; i < n; i++) {
		rec->annotations.keys[i] = arena_strdup(&rec->arena, spec->annotations.items[i].key);
		rec->annotations.values[i] = arena_strdup(&rec->arena, spec->annotations.items[i].value);
		if (!rec->annotations.keys[i] || !rec->annotations.values[i])
			return error_oom(err);
	}
	rec->annotations.count = n;
	return 0;
}

int create_fill_record(struct create *c, struct error *err)
{
	struct state_record *rec;
	int r;

	rec = c->record = calloc(1, sizeof(*rec));
	if (!rec)
		return error_oom(err);
	r = now_rfc3339(&rec->arena, &rec->created, err);
	if (r < 0)
		return r;
	r = fill_annotations(rec, c->spec, err);
	if (r < 0)
		return r;
	rec->id = arena_strdup(&rec->arena, c->opt->id);
	rec->oci_version = arena_strdup(&rec->arena, c->spec->oci_version);
	rec->bundle = arena_strdup(&rec->arena, c->bundle);
	rec->rootfs = arena_strdup(&rec->arena, c->plan->rootfs);
	rec->owner = geteuid() == 0 ? arena_strdup(&rec->arena, "root") : arena_printf(&rec->arena, "%u", geteuid());
	if (!rec->id || !rec->oci_version || !rec->bundle || !rec->rootfs || !rec->owner)
		return error_oom(err);
	rec->pid_ns_private = (c->plan->ns_create & CLONE_NEWPID) != 0;
	rec->rootless = c->rootless;
	rec->systemd_cgroup = c->env->cgroup_manager == CGROUP_MANAGER_SYSTEMD;
	rec->no_new_keyring = c->opt->no_new_keyring;
	rec->profile = arena_strdup(&rec->arena, c->guard.profile.name);
	if (!rec->profile)
		return error_oom(err);
	if (c->plan->has_process)
		verify_expect(&c->plan->process, &c->filters, c->guard.profile.passthrough, &rec->expect);
	rec->reports = c->filters.reports;
	rec->unreported = (char *)c->filters.unreported;
	if (c->guard.verdict.grant.affinity) {
		rec->affinity = arena_strdup(&rec->arena, c->guard.verdict.grant.affinity);
		if (!rec->affinity)
			return error_oom(err);
	}
	rec->terminal = c->plan->has_process && c->plan->process.terminal;
	return 0;
}
