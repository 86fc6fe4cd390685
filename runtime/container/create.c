/*
 * The parent's side of `create` and `run`: from the bundle to an init that waits
 * at the start gate. Nothing is made before everything was read and planned, the
 * record names what will be made before it is, and a failure takes all of it back.
 */
#include "container/create.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "container/proto.h"
#include "container/readback.h"
#include "container/start.h"
#include "cgroup/cgroup_stats.h"
#include "hooks/hooks.h"
#include "os/devnodes.h"
#include "os/procattr.h"
#include "os/procfs.h"
#include "os/rootfs.h"
#include "os/tty.h"
#include "snap/snap.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

bool create_has_runtime_hooks(const struct create *c)
{
	const struct spec_hooks *h = c->spec->hooks;

	return h && (h->prestart.count > 0 || h->create_runtime.count > 0);
}

static int do_spawn(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	/*
	 * No other process may trace the child or read its descriptors (CVE-2016-9962). Even in a new
	 * pid namespace those around it see it, and whoever has root's uid is the owner of the user
	 * namespace that we make, whatever capabilities it lacks. An unprivileged user's own children
	 * stay within reach of his other programs.
	 */
	if ((!(c->ns.create & CLONE_NEWPID) || !(c->rootless || c->in_userns)) && prctl(PR_SET_DUMPABLE, 0) < 0)
		return error_set(err, -errno, "make the container's process undumpable");
	c->launch.ns = &c->ns;
	c->launch.cgroup = &c->cgroup;
	c->launch.proc_fd = c->proc_fd;
	c->launch.fn = create_child;
	c->launch.arg = c;
	r = launch_run(&c->launch, err);
	if (r == 0)
		cgroup_entered(&c->cgroup);
	return r;
}

static int do_go(void *ctx, struct error *err)
{
	struct create *c = ctx;

	return proto_send(c->launch.sync_parent, PROTO_GO, c->launch.ref.pid, err);
}

/*
 * In the host's namespaces, when the container's exist. Both see the status that runc gives them; crun's prestart hooks
 * see "created".
 */
int create_run_hooks(struct create *c, pid_t pid, struct error *err)
{
	_cleanup_free_ char *state = NULL;
	struct hook_env env;
	int r;

	r = hook_state_json(c->record, "creating", pid, &state, err);
	if (r < 0)
		return r;

	env = (struct hook_env){ .kind = "prestart", .state_json = state, .cwd = c->bundle, .default_env = environ,
				 .stdout_file = spec_annotation(c->spec, "run.oci.hooks.stdout"),
				 .stderr_file = spec_annotation(c->spec, "run.oci.hooks.stderr") };
	c->hooks_ran = true;
	r = hooks_run(c->spec->hooks->prestart.items, c->spec->hooks->prestart.count, &env, err);
	if (r < 0)
		return r;
	env.kind = "createRuntime";
	return hooks_run(c->spec->hooks->create_runtime.items, c->spec->hooks->create_runtime.count, &env, err);
}

/* Before the pivot. */
static int do_runtime_hooks(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	if (!create_has_runtime_hooks(c))
		return 0;
	r = proto_expect(c->launch.sync_parent, PROTO_MOUNTED, "the container's first process", NULL, err);
	if (r == 0)
		r = create_run_hooks(c, c->launch.ref.pid, err);
	return r < 0 ? r : proto_send(c->launch.sync_parent, PROTO_HOOKED, 0, err);
}

static int do_await_ready(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan *p = c->plan;
	int r;

	r = proto_expect(c->launch.sync_parent, PROTO_READY, "the container's first process", NULL, err);
	if (r < 0)
		return r;
	/* Last, because a low RLIMIT_AS or RLIMIT_NOFILE would hinder our own set-up. */
	return p->has_process ?
		       rlimit_apply(c->launch.ref.pid, p->process.rlimits, p->process.n_rlimits, err) :
		       0;
}

int create_record(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	r = pidref_fill(c->proc_fd, &c->launch.ref, err);
	if (r < 0)
		return r;
	c->record->pid = c->launch.ref.pid;
	c->record->pid_start = c->launch.ref.start;
	r = state_write(c->dir_fd, c->record, err);
	if (r < 0)
		return r;
	if (c->pidfd_sock >= 0) {
		r = pidfd_socket_send(c->pidfd_sock, c->launch.ref.fd, err);
		if (r < 0)
			return r;
	}
	return c->opt->pid_file ? pid_file_write(c->opt->pid_file, c->launch.ref.pid, err) : 0;
}

static int do_commit(void *ctx, struct error *err)
{
	struct create *c = ctx;

	int r;

	(void)close(take_fd(&c->lock_fd));
	r = proto_send(c->launch.sync_parent, PROTO_COMMIT, 0, err);
	if (r == 0 && create_is_supervised(c))
		r = supervise_commit(&c->supervise, err);
	return r;
}

static const struct phase parent_phases[] = {
	{ "open", create_open, "first: the proc handle while the mount namespace is the host's" },
	{ "load", create_load, "nothing is made before the whole configuration was read" },
	{ "plan", create_plan, "narrowed by the policy, then pure; a refusal here has no trace" },
	{ "helpers", create_helpers, "the policy has said yes; they load beside all that follows" },
	{ "facts", create_facts, "opens what the plan names, so that nothing is resolved twice" },
	{ "filter", create_filter, "while allocation and libraries are free to use" },
	{ "reserve", create_reserve, "the id is taken before anything that carries it exists" },
	{ "session", create_session, "recorded, then made; its overlays take the place of the sources" },
	{ "cgroup", create_cgroup, "recorded, then made and limited while still empty" },
	{ "supervise", create_supervise, "the cgroup is there; its work goes on beside all that follows" },
	{ "streams", create_streams, "before the process that gets them" },
	{ "spawn", do_spawn, "into the cgroup, with all namespaces that need no map" },
	{ "place", create_place, "id maps, devices: before the child does anything" },
	{ "go", do_go, "the child may now use its ids" },
	{ "hand-over", create_hand_over, "as early as the process is there, so that nobody waits" },
	{ "runtime-hooks", do_runtime_hooks, "namespaces and mounts exist, pivot has not happened" },
	{ "read-back-limits", readback_limits, "after the last hook that could change them, and while the child is busy" },
	{ "await-ready", do_await_ready, "console is handed over, executable found" },
	{ "read-back", readback_create, "after the last hook; before anybody relies on what was decided" },
	{ "connect-terminal", create_terminal, "the process has sent its own" },
	{ "supervised", create_supervised, "every control is in force before the gate can open" },
	{ "record", create_record, "start time and pid, before anybody can rely on them" },
	{ "commit", do_commit, "from here the child survives us" },
};

const struct phase_list create_parent_phases = { "create, parent", parent_phases, ELEMENTSOF(parent_phases) };

/* Takes everything back; the first error is the one that counts. */
void create_undo(struct create *c)
{
	struct error ignored = ERROR_NULL;

	launch_kill(&c->launch);
	supervise_done(&c->supervise);
	if (c->opt->pid_file && c->record && c->record->pid > 0)
		(void)unlink(c->opt->pid_file);
	if (!c->dir_made)
		return;
	if (c->record)
		c->record->pid = 0;
	/* Even one to be kept, since nothing ran in it; but not one that was there before. */
	if (c->session_made && c->record)
		(void)snap_remove(c->record->session, &ignored);
	if (c->record)
		c->record->session = NULL;
	if (!c->cgroup_made)
		cgroup_done(&c->cgroup);
	if (container_release(c->root_fd, c->opt->id, c->record, &c->cgroup, c->hooks_ran ? c->spec : NULL, &ignored) < 0)
		log_debugf("clean up after a failed create: %s", ignored.text);
}

void create_init(struct create *c, const struct container_env *env,
			const struct container_create_options *opt, bool is_run)
{
	*c = (struct create){
		.env = env,
		.opt = opt,
		.is_run = is_run,
		.proc_fd = -EBADF,
		.root_fd = -EBADF,
		.dir_fd = -EBADF,
		.bundle_fd = -EBADF,
		.null_fd = -EBADF,
		.console_sock = -EBADF,
		.pidfd_sock = -EBADF,
		.listener_sock = -EBADF,
		.reports_sock = -EBADF,
		.resolv_fd = -EBADF,
		.gate_fd = -EBADF,
		.lock_fd = -EBADF,
		.launch = LAUNCH_NULL,
		.supervise = SUPERVISE_NULL,
		.streams = STREAMS_NULL,
		.notify = NOTIFY_NULL,
		.master_fd = -EBADF,
		.session_root_fd = -EBADF,
		.rootfs_fd = -EBADF,
		.pty_slave = -EBADF,
		.process = PROCESS_NULL,
	};
}

void create_done(struct create *c)
{
	int *fds[] = { &c->proc_fd, &c->root_fd, &c->dir_fd, &c->bundle_fd, &c->null_fd, &c->console_sock,
		       &c->pidfd_sock, &c->listener_sock, &c->reports_sock, &c->resolv_fd, &c->gate_fd, &c->lock_fd,
		       &c->master_fd, &c->session_root_fd };
	size_t i;

	for (i = 0; i < ELEMENTSOF(fds); i++)
		if (*fds[i] >= 0)
			(void)close(take_fd(fds[i]));
	for (i = 0; i < c->ns.n_join; i++)
		(void)close(c->ns.join[i].fd);
	for (i = 0; c->plan && i < c->plan->n_mounts; i++)
		mount_op_done(&c->plan->mounts[i]);
	if (c->plan)
		devnodes_trees_done(c->plan->devices, c->plan->n_devices);
	launch_done(&c->launch);
	supervise_done(&c->supervise);
	streams_done(&c->streams);
	notify_done(&c->notify);
	process_filters_done(&c->filters);
	cgroup_done(&c->cgroup);
	c->record = state_record_free(c->record);
	c->plan = plan_free(c->plan);
	guard_done(&c->guard);
	c->spec = spec_free(c->spec);
	free(take_ptr(c->config_text));
	free(take_ptr(c->bundle));
	free(take_ptr(c->root));
}

static int create_up(struct create *c, struct error *err)
{
	int r;

	r = phases_run(parent_phases, ELEMENTSOF(parent_phases), c, err);
	if (r == -EPIPE && c->cgroup_made && cgroup_oom_kills(&c->cgroup) > 0)
		r = error_text(err, -ENOMEM,
			       "the container's first process was killed for lack of memory before its start: raise "
			       "linux.resources.memory.limit");
	else if (r == -EPIPE && supervise_last_words(&c->supervise, err))
		r = err->code < 0 ? err->code : -EPIPE;
	if (r < 0)
		create_undo(c);
	return r;
}

int container_create(const struct container_env *env, const struct container_create_options *opt, struct error *err)
{
	struct create c;
	int r;

	create_init(&c, env, opt, false);
	r = create_up(&c, err);
	create_done(&c);
	return r;
}

/* START on the pair instead of the gate; then the hooks that follow a start. */
static int run_start(struct create *c, struct error *err)
{
	const char *how = NULL;
	int r;

	r = notify_open(c->dir_fd, &c->notify, err);
	if (r == 0)
		r = start_container(c->launch.sync_parent, c->dir_fd, c->proc_fd, c->record, &how, err);
	if (r == 0) {
		c->record->verified = (char *)how;
		r = state_write(c->dir_fd, c->record, err);
	}
	if (r == 0)
		r = container_poststart(c->record, c->spec, err);
	if (r == 0 && c->opt->detach)
		r = notify_wait(&c->notify, &c->launch.ref, c->launch.ref.pid, err);
	return r;
}

/*
 * Before the folder goes: a supervisor that traces has written its record before the exit could be
 * seen, and closes the log on its own time; one that cannot trace is waited for.
 */
static int await_exit_record(struct create *c, struct error *err)
{
	if (faccessat(c->dir_fd, STATE_EXIT_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return supervise_await_end(c->dir_fd, c->proc_fd, c->record, err);
}

int container_run(const struct container_env *env, const struct container_create_options *opt, int *ret_status,
		  struct error *err)
{
	struct error cleanup = ERROR_NULL;
	struct create c;
	int status = 0;
	int r;

	create_init(&c, env, opt, true);
	r = create_up(&c, err);
	if (r == 0) {
		r = c.master_fd >= 0 && !c.streams.terminal ? process_receive_master(&c.master_fd, err) : 0;
		if (r == 0)
			r = run_start(&c, err);
		if (r < 0)
			create_undo(&c);
		else if (!opt->detach)
			r = process_wait_foreground(&c.launch.ref, c.master_fd, &c.notify, &status, err);
		if (r == 0 && !opt->detach && !opt->keep)
			r = await_exit_record(&c, err);
		if (r == 0 && !opt->detach && !opt->keep)
			r = container_release(c.root_fd, opt->id, c.record, &c.cgroup, c.spec, &cleanup);
		if (r < 0 && cleanup.code < 0)
			*err = cleanup;
	}
	create_done(&c);
	if (r == 0)
		*ret_status = status;
	return r;
}
