/*
 * The phases of `create` that bring up the resident programs: what they are told, when
 * they take the container over, and that nothing starts before they are ready.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "monitor/monitor_config.h"
#include "os/procfs.h"

bool create_is_supervised(const struct create *c)
{
	return !c->guard.profile.passthrough && c->guard.profile.monitored && c->plan->has_process;
}

static int write_config(struct create *c, struct error *err)
{
	const struct policy_grant *grant = &c->guard.verdict.grant;
	const struct policy_profile *p = &c->guard.profile;
	struct monitor_config config = {
		.id = (char *)c->opt->id,
		.root = c->root,
		.bundle = c->bundle,
		.profile = (char *)p->name,
		.policy_file = (char *)p->policy_file,
		.rootless = c->rootless || c->in_userns,
		.audit = { .output_max = grant->audit_output, .stop = p->audit.on_failure.n == POLICY_STOP },
	};

	return monitor_config_write(c->dir_fd, &config, err);
}

int create_supervise(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct policy_grant *grant = &c->guard.verdict.grant;
	int r;

	if (!create_is_supervised(c))
		return 0;
	c->record->time_limit = grant->time_container;
	c->record->time_exec = grant->time_exec;
	c->record->time_grace = grant->time_grace;
	/* The programs read both. */
	r = state_write(c->dir_fd, c->record, err);
	if (r == 0)
		r = write_config(c, err);
	if (r == 0)
		r = supervise_begin(&c->supervise, c->proc_fd, c->dir_fd, err);
	if (r < 0)
		return r;
	c->record->supervisor_pid = c->supervise.ref.pid;
	c->record->supervisor_start = c->supervise.ref.start;
	return 0;
}

int create_hand_over(void *ctx, struct error *err)
{
	struct create *c = ctx;
	_cleanup_close_ int netns = -EBADF;
	int r;

	if (!create_is_supervised(c))
		return 0;
	r = procfs_open_ns(c->proc_fd, c->launch.ref.pid, "net", &netns, err);
	return r < 0 ? r : supervise_hand_over(&c->supervise, &c->launch.ref, netns, err);
}

int create_supervised(void *ctx, struct error *err)
{
	struct create *c = ctx;

	return create_is_supervised(c) ? supervise_await(&c->supervise, err) : 0;
}
