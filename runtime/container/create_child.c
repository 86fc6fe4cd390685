/*
 * The child's side of `create`: a copy of the parent that becomes the container's
 * init. Lives in the new namespaces; until the pivot it sees the host's files.
 */
#include "container/create.h"

#include <assert.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "container/gate.h"
#include "container/proto.h"
#include "container/readback.h"
#include "hooks/hooks.h"
#include "os/devnodes.h"
#include "os/mount.h"
#include "os/procattr.h"
#include "os/rootfs.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/log.h"

static int do_wait_go(void *ctx, struct error *err)
{
	struct create *c = ctx;

	/* It says that the parent is at work. */
	(void)close(take_fd(&c->lock_fd));
	return launch_child(&c->launch, &c->host_pid, err);
}

static int do_identity(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	if (plan_has_ns(c->plan, CLONE_NEWUSER)) {
		r = ns_become_root(err);
		if (r < 0)
			return r;
		/* The change of ids cleared it. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			return error_set(err, -errno, "set the death signal");
	}
	return 0;
}

static int do_session(void *ctx, struct error *err)
{
	struct create *c = ctx;

	if (setsid() < 0)
		return error_set(err, -errno, "create a new session");
	if (!c->plan->new_keyring)
		return 0;
	return keyring_join(c->proc_fd, c->plan->id, c->plan->has_process ? c->plan->process.selinux_label : NULL, err);
}

static int do_late_namespaces(void *ctx, struct error *err)
{
	struct create *c = ctx;

	if ((c->plan->ns_create & CLONE_NEWCGROUP) && unshare(CLONE_NEWCGROUP) < 0)
		return error_set(err, -errno, "unshare the cgroup namespace");
	if ((c->plan->ns_create & ~c->ns.create & CLONE_NEWIPC) && unshare(CLONE_NEWIPC) < 0)
		return error_set(err, -errno, "unshare the ipc namespace");
	if (c->plan->ns_create & CLONE_NEWNET)
		return net_loopback_up(err);
	return 0;
}

static int do_rootfs(void *ctx, struct error *err)
{
	struct create *c = ctx;

	if (plan_has_ns(c->plan, CLONE_NEWNS))
		return rootfs_prepare_tree(c->plan->rootfs, c->plan->host_propagation, &c->session_root_fd, &c->rootfs_fd,
					   err);
	/* In the host's mount namespace nothing of the host may change: the root is only entered. */
	c->rootfs_fd = open(c->plan->rootfs, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->rootfs_fd < 0)
		return error_set(err, -errno, "open rootfs %s", c->plan->rootfs);
	return 0;
}

/*
 * A missing working folder is made while the root can still be written to, as root of the
 * container. Where that fails, entering it will say why.
 */
static void make_cwd(const struct create *c)
{
	_cleanup_close_ int fd = -EBADF;
	struct error ignored;

	if (c->plan->has_process)
		(void)rootfs_make_target(c->rootfs_fd, c->plan->process.cwd, true, &fd, &ignored);
}

static int do_mounts(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const char *const *cgroup_paths = NULL;
	struct mount_ctx mctx;
	size_t i;
	int r;

	r = cgroup_mount_paths(&c->cgroup, &c->plan->arena, &cgroup_paths, err);
	if (r < 0)
		return r;
	mctx = (struct mount_ctx){
		.rootfs_fd = c->rootfs_fd,
		.rootfs_path = c->plan->rootfs,
		.bundle = c->bundle,
		.proc_fd = c->proc_fd,
		.in_userns = c->plan->in_userns,
		.cgroupns = c->plan->cgroupns,
		.cgroup_layout = (int)c->cgroup.layout,
		.cgroup_paths = cgroup_paths,
	};
	for (i = 0; i < c->plan->n_mounts; i++) {
		r = mount_apply(&c->plan->mounts[i], &mctx, err);
		if (r < 0)
			return r;
	}
	if (c->plan->n_devices > 0) {
		r = devnodes_create(c->rootfs_fd, c->plan->devices, c->plan->n_devices, c->plan->bind_devices, err);
		if (r < 0)
			return r;
	}
	if (c->plan->dev_setup) {
		r = devnodes_links(c->rootfs_fd, err);
		if (r < 0)
			return r;
	}
	make_cwd(c);
	return 0;
}

static int do_hooks(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct spec_hooks *h = c->spec->hooks;
	_cleanup_free_ char *state = NULL;
	struct hook_env env;
	int r;

	if (create_has_runtime_hooks(c)) {
		r = proto_send(c->launch.sync_child, PROTO_MOUNTED, 0, err);
		if (r == 0)
			r = proto_expect(c->launch.sync_child, PROTO_HOOKED, "agentrun", NULL, err);
		if (r < 0)
			return r;
	}
	if (!h || h->create_container.count == 0)
		return 0;
	r = hook_state_json(c->record, "creating", getpid(), &state, err);
	if (r < 0)
		return r;
	env = (struct hook_env){
		.kind = "createContainer",
		.state_json = state,
		.cwd = c->plan->rootfs,
		/* A program of the host: the image must not choose its libraries (CVE-2025-23266). */
		.default_env = environ,
		.stdout_file = spec_annotation(c->spec, "run.oci.hooks.stdout"),
		.stderr_file = spec_annotation(c->spec, "run.oci.hooks.stderr"),
	};
	return hooks_run(h->create_container.items, h->create_container.count, &env, err);
}

static int do_terminal(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan_process *p = &c->plan->process;
	_cleanup_close_ int master = -EBADF;
	int r;

	if (!c->plan->has_process || !p->terminal)
		return 0;
	r = tty_open_pty(c->rootfs_fd, &master, &c->pty_slave, err);
	if (r < 0)
		return r;
	if (fchown(c->pty_slave, p->creds.uid, (gid_t)-1) < 0)
		return error_set(err, -errno, "give the terminal to uid %u", p->creds.uid);
	if (p->rows > 0 || p->cols > 0) {
		r = tty_set_size(master, p->rows, p->cols, err);
		if (r < 0)
			return r;
	}
	if (c->plan->dev_setup) {
		r = devnodes_console(c->rootfs_fd, c->pty_slave, err);
		if (r < 0)
			return r;
	}
	r = tty_send_master(c->console_sock, master, err);
	if (r < 0)
		return r;
	(void)close(take_fd(&c->console_sock));
	return tty_attach(c->pty_slave, err);
}

/* Flags that must not hinder the population of /dev come last. */
static int do_finish_mounts(void *ctx, struct error *err)
{
	struct create *c = ctx;

	return mount_finish_readonly(c->plan->mounts, c->plan->n_mounts, err);
}

static int do_pivot(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	if (!plan_has_ns(c->plan, CLONE_NEWNS))
		r = rootfs_chroot(c->rootfs_fd, err);
	else if (c->plan->no_pivot)
		r = rootfs_move(c->rootfs_fd, err);
	else
		r = rootfs_pivot(c->rootfs_fd, err);
	if (r < 0)
		return r;
	(void)close(take_fd(&c->rootfs_fd));
	c->rootfs_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->rootfs_fd < 0)
		return error_set(err, -errno, "open the container's root");
	return 0;
}

static int do_hide(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan *p = c->plan;
	int r;

	if (!plan_has_ns(c->plan, CLONE_NEWNS))
		return 0;
	r = rootfs_readonly_paths(p->readonly_paths, p->n_readonly_paths, err);
	if (r < 0)
		return r;
	if (p->n_masked_paths > 0) {
		r = rootfs_mask_paths(p->masked_paths, p->n_masked_paths, c->null_fd,
				      c->spec->linux_cfg->mount_label, err);
		if (r < 0)
			return r;
	}
	if (p->dev_setup) {
		r = rootfs_own_null(c->rootfs_fd, c->proc_fd, err);
		if (r < 0)
			return r;
	}
	return rootfs_finish(p->rootfs_readonly, p->root_propagation, err);
}

static int do_names(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct plan *p = c->plan;
	int r;

	if (p->hostname && sethostname(p->hostname, strlen(p->hostname)) < 0)
		return error_set(err, -errno, "set hostname \"%s\"", p->hostname);
	if (p->domainname && setdomainname(p->domainname, strlen(p->domainname)) < 0)
		return error_set(err, -errno, "set domainname \"%s\"", p->domainname);
	r = create_settings(c, err);
	if (r < 0)
		return r;
	if (p->ns_create & CLONE_NEWTIME)
		return ns_unshare_time(c->proc_fd, p->time_offsets, p->n_time_offsets, err);
	return 0;
}

static int do_attributes(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	if (c->record->affinity) {
		r = affinity_apply(c->record->affinity, err);
		if (r < 0)
			return r;
	} else {
		affinity_reset();
	}
	return c->plan->has_process ? process_attributes(&c->plan->process, err) : 0;
}

static int do_prepare(void *ctx, struct error *err)
{
	struct create *c = ctx;
	struct process *p = &c->process;
	const struct spec_hooks *h = c->spec->hooks;
	char *state = NULL;
	int r;

	if (!c->plan->has_process)
		return 0;
	*p = (struct process){
		.plan = &c->plan->process,
		.proc_fd = c->proc_fd,
		.rootfs_fd = c->rootfs_fd,
		.filters = &c->filters,
		.listener_sock = c->listener_sock,
		.start_hooks = h ? h->start_container.items : NULL,
		.n_start_hooks = h ? h->start_container.count : 0,
		.hook_stdout = spec_annotation(c->spec, "run.oci.hooks.stdout"),
		.hook_stderr = spec_annotation(c->spec, "run.oci.hooks.stderr"),
		.keep_fds = c->listen_fds + c->opt->preserve_fds,
		.listen_fds = c->listen_fds,
		.gate_fds = { c->gate_fd, c->launch.sync_child },
		.error_sock = -EBADF,
	};
	r = streams_install(&c->streams, err);
	if (r == 0)
		r = process_prepare(p, err);
	if (r < 0)
		return r;
	if (p->n_start_hooks > 0) {
		r = hook_state_json(c->record, "created", getpid(), &state, err);
		if (r < 0)
			return r;
		p->hook_state = state;
	}
	if (c->filters.spec.notify)
		return seccomp_state_json(c->record, c->spec->linux_cfg->seccomp->listener_metadata, c->host_pid,
					  (char **)&p->listener_state, err);
	return 0;
}

static int do_ready(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	/*
	 * Until COMMIT the end of file tells of the parent's death. The signal would come too late to be
	 * cleared: after COMMIT the parent may be gone before we run.
	 */
	if (prctl(PR_SET_PDEATHSIG, 0) < 0)
		return error_set(err, -errno, "clear the death signal");
	r = proto_send(c->launch.sync_child, PROTO_READY, 0, err);
	return r < 0 ? r : proto_expect(c->launch.sync_child, PROTO_COMMIT, "agentrun", NULL, err);
}

static const struct phase child_phases[] = {
	{ "wait-go", do_wait_go, "first: in no cgroup and without ids before it" },
	{ "settings", create_settings_early, "what only the host's root may set, while we still are it" },
	{ "identity", do_identity, "root of the user namespace before anything is made in it" },
	{ "session", do_session, "before the terminal, which needs a session without one" },
	{ "late-namespaces", do_late_namespaces, "cgroup namespace only once in the right cgroup" },
	{ "rootfs", do_rootfs, "propagation off before the first mount, or it shows on the host" },
	{ "mounts", do_mounts, "in the config's order; /dev after its mount" },
	{ "hooks", do_hooks, "namespaces and mounts exist, host paths still resolve" },
	{ "terminal", do_terminal, "needs the container's devpts; /dev/console is bound before the pivot" },
	{ "finish-mounts", do_finish_mounts, "read-only /dev after its population" },
	{ "pivot", do_pivot, "last use of host paths" },
	{ "hide", do_hide, "after the pivot: paths are the container's" },
	{ "names", do_names, "through the proc handle, which read-only /proc/sys does not affect" },
	{ "attributes", do_attributes, "before the drop: some need privilege" },
	{ "read-back", readback_create_child, "after the last mount and all hooks on mounts; host descriptors still open" },
	{ "prepare", do_prepare, "a missing command is an error of create" },
	{ "ready", do_ready, "all that can fail before the start has been tried" },
};

const struct phase_list create_child_phases = { "create, child", child_phases, ELEMENTSOF(child_phases) };

void create_child(void *arg)
{
	struct create *c = arg;
	struct error err = ERROR_NULL;
	int sock = -EBADF;
	int r;

	r = phases_run(child_phases, ELEMENTSOF(child_phases), c, &err);
	if (r < 0)
		child_fail(c->launch.sync_child, &err);

	if (!c->is_run) {
		(void)close(take_fd(&c->launch.sync_child));
		r = gate_wait(c->gate_fd, -EBADF, &sock, &err);
	} else {
		r = gate_wait(-EBADF, c->launch.sync_child, &sock, &err);
	}
	if (r < 0)
		child_fail(sock, &err);
	if (!c->plan->has_process) {
		(void)error_text(&err, -EINVAL, "cannot start a container without a process in its configuration");
		child_fail(sock, &err);
	}
	c->process.error_sock = sock;
	process_run(&c->process);
}
