/*
 * What create and exec compare with the kernel, and when. The comparisons themselves belong
 * to the layers that made the thing. passthrough decides nothing, so nothing is compared.
 */
#include "container/readback.h"

#include <sched.h>
#include <time.h>

#include "container/create_steps.h"
#include "os/mount_verify.h"
#include "os/procattr.h"
#include "util/log.h"

static uint64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void note_time(const char *what, uint64_t start)
{
	log_debugf("read back %s in %llu us", what, (unsigned long long)(now_us() - start));
}

static int readback_cgroup(const struct cgroup *cg, const struct state_record *rec, int proc_fd,
			   const struct pidref *ref, bool own_place, struct error *err)
{
	uint64_t start = now_us();
	int r;

	r = cgroup_verify(cg, &rec->limits, err);
	if (r == 0 && !own_place)
		r = cgroup_verify_member(cg, proc_fd, ref->pid, err);
	/* Dead, it has left its cgroups; why it died, it has said itself. */
	if (r < 0 && pidref_exited(ref)) {
		*err = ERROR_NULL;
		r = 0;
	}
	note_time("limits", start);
	return r;
}

/* Only the child runs those hooks, so the parent's own come before either look. */
static bool has_late_hooks(const struct create *c)
{
	return c->spec->hooks && c->spec->hooks->create_container.count > 0;
}

int readback_limits(void *ctx, struct error *err)
{
	struct create *c = ctx;

	if (c->guard.profile.passthrough || has_late_hooks(c))
		return 0;
	return readback_cgroup(&c->cgroup, c->record, c->proc_fd, &c->launch.ref, false, err);
}

int readback_create(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan *p = c->plan;
	int r = 0;

	if (c->guard.profile.passthrough)
		return 0;
	if (has_late_hooks(c))
		r = readback_cgroup(&c->cgroup, c->record, c->proc_fd, &c->launch.ref, false, err);
	if (r == 0 && c->record->affinity)
		r = affinity_verify(c->launch.ref.pid, c->record->affinity, err);
	if (r < 0)
		return r;
	c->record->readback = (struct state_readback){
		.set = true,
		.limits = c->record->limits.count,
		.namespaces = (uint64_t)__builtin_popcountll(p->ns_create) + p->n_ns_join,
		.mounts = p->n_mounts,
		.paths = p->n_masked_paths + p->n_readonly_paths,
	};
	return 0;
}

static int compare_namespaces(int proc_fd, const struct ns_ids *host, uint64_t created, const struct ns_spec *ns,
			      struct error *err)
{
	struct ns_ids now;
	int r = ns_ids_read(proc_fd, &now, err);

	return r < 0 ? r : ns_ids_compare(&now, host, created, ns->join, ns->n_join, err);
}

int readback_create_child(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan *p = c->plan;
	const struct spec_hooks *h = c->spec->hooks;
	uint64_t start = now_us();
	struct mount_verify v = {
		.proc_fd = c->proc_fd,
		.root_fd = c->rootfs_fd,
		.ops = p->mounts,
		.n_ops = p->n_mounts,
		.masked = p->masked_paths,
		.n_masked = p->n_masked_paths,
		.readonly = p->readonly_paths,
		.n_readonly = p->n_readonly_paths,
		.root_readonly = p->rootfs_readonly,
		.root_propagation = p->root_propagation,
		.hooked = h && h->prestart.count + h->create_runtime.count + h->create_container.count > 0,
	};
	int r;

	if (c->guard.profile.passthrough)
		return 0;
	r = compare_namespaces(c->proc_fd, &c->host_ns, p->ns_create, &c->ns, err);
	/* In the creator's own mount namespace, where the policy lists that, nothing was mounted for it. */
	if (r == 0 && plan_has_ns(p, CLONE_NEWNS))
		r = mount_verify(&v, err);
	if (r == 0)
		r = create_settings_compare(c, err);
	note_time("namespaces and mounts", start);
	return r;
}

int readback_exec(struct exec *e, struct error *err)
{
	const struct state_record *rec = e->h.view.record;
	int r;

	if (e->guard.profile.passthrough)
		return 0;
	r = readback_cgroup(&e->h.cgroup, rec, e->h.proc_fd, &e->launch.ref, e->opt->n_cgroups > 0, err);
	return r == 0 && rec->affinity ? affinity_verify(e->launch.ref.pid, rec->affinity, err) : r;
}

int readback_exec_child(void *ctx, struct error *err)
{
	struct exec *e = ctx;

	return e->guard.profile.passthrough ? 0 : compare_namespaces(e->h.proc_fd, &e->host_ns, 0, &e->ns, err);
}
