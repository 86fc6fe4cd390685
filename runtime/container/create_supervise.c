/*
 * The phases of `create` that bring up the resident programs: what they are told, when
 * they take the container over, and that nothing starts before they are ready.
 */
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/create_egress.h"
#include "container/create_steps.h"
#include "monitor/monitor_config.h"
#include "os/procfs.h"
#include "os/trace.h"

bool create_is_supervised(const struct create *c)
{
#ifdef BENCH_WITHOUT_RESIDENTS
	/* What they cost is measured against a build without them, which --version tells (tests/bench/results.md). */
	return false;
#endif
	return !c->guard.profile.passthrough && c->guard.profile.monitored && c->plan->has_process;
}

static int copy_decisions(const struct policy_verdict *v, struct arena *arena, struct json_list *ret, struct error *err)
{
	struct monitor_decision *d = arena_calloc(arena, v->count + 1, sizeof(*d));
	size_t i;

	if (!d)
		return error_oom(err);
	for (i = 0; i < v->count; i++)
		d[i] = (struct monitor_decision){
			.control = (char *)v->items[i].control,
			.action = (char *)enum_to_name(&policy_action_table, v->items[i].action),
			.asked = (char *)v->items[i].asked,
			.given = (char *)v->items[i].given,
			.rule = (char *)v->items[i].rule,
		};
	*ret = (struct json_list){ .items = d, .count = v->count };
	return 0;
}

static int write_config(struct create *c, struct error *err)
{
	const struct policy_grant *grant = &c->guard.verdict.grant;
	const struct policy_profile *p = &c->guard.profile;
	struct monitor_config config = {
		.id = (char *)c->opt->id,
		.root = c->root,
		.bundle = c->bundle,
		.rootfs = c->record->rootfs,
		.owner = c->record->owner,
		.argv = c->spec->process->args.count ? c->spec->process->args.items[0] : NULL,
		.uid = c->plan->process.creds.uid,
		.gid = c->plan->process.creds.gid,
		.profile = (char *)p->name,
		.policy_file = (char *)p->policy_file,
		.policy_hash = c->guard.policy_hash[0] ? c->guard.policy_hash : NULL,
		.rootless = c->rootless || c->in_userns,
		.calls_profile = c->filters.reports ? (char *)p->seccomp.profile.text : NULL,
		.audit = { .exec = grant->exec_audit,
			   .output_max = grant->audit_output,
			   .input_max = grant->audit_input,
			   .log_max = p->audit.max_bytes.n,
			   .stop = p->audit.on_failure.n == POLICY_STOP,
			   .redact = p->audit.redact.list },
	};
	_cleanup_free_ char *resolv_conf = NULL;
	int r = 0;

	if (grant->egress_on)
		r = create_egress_config(c, &config, &resolv_conf, err);
	if (r == 0)
		r = copy_decisions(&c->guard.verdict, &c->guard.arena, &config.decisions, err);
	return r < 0 ? r : monitor_config_write(c->dir_fd, &config, err);
}

int create_helpers(void *ctx, struct error *err)
{
	struct create *c = ctx;

	return create_is_supervised(c) ? supervise_spawn(&c->supervise, c->proc_fd, !c->rootless, err) : 0;
}

/*
 * Without a trace nobody holds an exit until the output before it is out, and conmon reads no further than
 * the exit: the engine would lose what the relay still has. So nothing is relayed, if the policy can do without.
 */
static int decide_capture(struct create *c, struct error *err)
{
	const struct policy_profile *p = &c->guard.profile;
	const struct policy_grant *grant = &c->guard.verdict.grant;

	c->record->input = grant->audit_input > 0;
	c->record->captured = grant->audit_output > 0 || c->record->input;
	c->record->withheld = c->record->captured && trace_is_forbidden(c->proc_fd);
	if (!c->record->withheld || p->audit.on_failure.n != POLICY_STOP)
		return 0;
	return error_text(err, -EPERM,
			  "audit: output cannot be recorded to its end where tracing is forbidden (kernel.yama.ptrace_scope is 3, or a seccomp filter of the caller refuses ptrace): allow it, or let profiles.%s.audit have \"onFailure\": \"continue\", which runs it without, or \"output\": {\"maxBytes\": 0}",
			  c->record->profile);
}

int create_supervise(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct policy_grant *grant = &c->guard.verdict.grant;
	int r = 0;

	/* The sandbox has nobody beside it, and no way out. */
	if (grant->egress_on)
		r = create_egress(c, err);
	c->record->egress = grant->egress_on;
	if (r < 0 || !create_is_supervised(c))
		return r;
	c->record->time_limit = grant->time_container;
	c->record->time_exec = grant->time_exec;
	c->record->time_grace = grant->time_grace;
	r = decide_capture(c, err);
	/* The programs read both. */
	if (r == 0)
		r = state_write(c->dir_fd, c->record, err);
	if (r == 0)
		r = write_config(c, err);
	if (r == 0)
		r = supervise_begin(&c->supervise, c->dir_fd, err);
	if (r < 0)
		return r;
	c->record->supervisor_pid = c->supervise.ref.pid;
	c->record->monitor_pid = c->supervise.monitor;
	c->record->supervisor_start = c->supervise.ref.start;
	return 0;
}

int create_streams(void *ctx, struct error *err)
{
	struct create *c = ctx;

	const struct plan_process *p = &c->plan->process;

	if (!c->record->captured)
		return 0;
	if (c->record->withheld)
		streams_withhold(&c->streams);
	else if (p->terminal)
		return streams_make_terminal(&c->streams, &c->console_sock, &c->master_fd, p->rows, p->cols, err);
	else
		return streams_make(&c->streams, c->record->input, c->proc_fd, err);
	return 0;
}

static int hand_streams_over(struct create *c, struct error *err)
{
	struct link_msg msg;
	int fds[LINK_FDS_MAX];
	size_t n;
	int r;

	streams_message(&c->streams, 0, &msg, fds, &n);
	r = link_send(&c->supervise.link, &msg, fds, n, err);
	streams_done(&c->streams);
	return r;
}

int create_terminal(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	if (!c->streams.on || !c->streams.terminal)
		return 0;
	r = streams_connect_terminal(&c->streams, &c->master_fd, err);
	return r < 0 ? r : hand_streams_over(c, err);
}

/* One of its own, or another's that it joins. */
static bool in_userns(const struct create *c)
{
	size_t i;

	for (i = 0; i < c->ns.n_join; i++)
		if (c->ns.join[i].type == CLONE_NEWUSER)
			return true;
	return c->ns.create & CLONE_NEWUSER;
}

int create_hand_over(void *ctx, struct error *err)
{
	struct create *c = ctx;
	_cleanup_close_ int netns = -EBADF;
	int r;

	if (!create_is_supervised(c))
		return 0;
	r = procfs_open_ns(c->proc_fd, c->launch.ref.pid, "net", &netns, err);
	if (r == 0)
		r = supervise_hand_over(&c->supervise, &c->launch.ref, netns, c->reports_sock, err);
	if (c->filters.reports) {
		/* Our copies would hide the end of the process's. */
		(void)close(take_fd(&c->reports_sock));
		(void)close(take_fd(&c->listener_sock));
	}
	if (r < 0 || !c->streams.on || c->streams.terminal)
		return r;
	r = streams_born(&c->streams, c->proc_fd, c->launch.ref.pid, in_userns(c), &c->plan->process.creds, err);
	return r < 0 ? r : hand_streams_over(c, err);
}

int create_supervised(void *ctx, struct error *err)
{
	struct create *c = ctx;
	char log[AUDIT_NAME_SIZE];
	int r;

	if (!create_is_supervised(c))
		return 0;
	r = supervise_await(&c->supervise, log, err);
	if (r == 0)
		r = create_egress_servers(c, err);
	if (r < 0 || !log[0])
		return r;
	c->record->audit_log = arena_strdup(&c->record->arena, log);
	return c->record->audit_log ? 0 : error_oom(err);
}
