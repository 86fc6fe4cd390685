/*
 * The child's side of `exec`: already in the container's namespaces, it enters the
 * root, takes its terminal and attributes, and waits for the word.
 */
#include "container/exec.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "container/gate.h"
#include "container/proto.h"
#include "container/readback.h"
#include "os/procattr.h"
#include "os/tty.h"

static int child_wait_go(void *ctx, struct error *err)
{
	struct exec *e = ctx;
	char *state = NULL;
	pid_t host_pid;
	int r;

	r = launch_child(&e->launch, &host_pid, err);
	if (r < 0 || !e->filters.spec.notify)
		return r;
	r = seccomp_state_json(e->h.view.record, e->spec->linux_cfg->seccomp->listener_metadata, host_pid, &state, err);
	e->process.listener_state = state;
	return r;
}

static int child_identity(void *ctx, struct error *err)
{
	struct exec *e = ctx;
	int r;

	if (e->joins_user) {
		r = ns_become_root(err);
		if (r < 0)
			return r;
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			return error_set(err, -errno, "set the death signal");
	}
	return 0;
}

static int child_root(void *ctx, struct error *err)
{
	struct exec *e = ctx;

	if (!e->joins_mount && (fchdir(e->root_fd) < 0 || chroot(".") < 0))
		return error_set(err, -errno, "enter the container's root");
	if (chdir("/") < 0)
		return error_set(err, -errno, "enter the container's root");
	e->process.rootfs_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (e->process.rootfs_fd < 0)
		return error_set(err, -errno, "open the container's root");
	return 0;
}

static int child_session(void *ctx, struct error *err)
{
	struct exec *e = ctx;

	if (setsid() < 0)
		return error_set(err, -errno, "create a new session");
	if (e->h.view.record->no_new_keyring)
		return 0;
	return keyring_join(e->h.proc_fd, e->h.view.record->id, e->plan.selinux_label, err);
}

static int child_terminal(void *ctx, struct error *err)
{
	struct exec *e = ctx;
	_cleanup_close_ int master = -EBADF;
	_cleanup_close_ int slave = -EBADF;
	int r;

	if (!e->plan.terminal)
		return 0;
	r = tty_open_pty(e->process.rootfs_fd, &master, &slave, err);
	if (r < 0)
		return r;
	if (fchown(slave, e->plan.creds.uid, (gid_t)-1) < 0)
		return error_set(err, -errno, "give the terminal to uid %u", e->plan.creds.uid);
	if (e->plan.rows > 0 || e->plan.cols > 0) {
		r = tty_set_size(master, e->plan.rows, e->plan.cols, err);
		if (r < 0)
			return r;
	}
	r = tty_send_master(e->console_sock, master, err);
	if (r < 0)
		return r;
	(void)close(take_fd(&e->console_sock));
	return tty_attach(slave, err);
}

static int child_attributes(void *ctx, struct error *err)
{
	struct exec *e = ctx;
	int r;

	if (e->h.view.record->affinity) {
		r = affinity_apply(e->h.view.record->affinity, err);
		if (r < 0)
			return r;
	} else if (e->plan.affinity_final) {
		r = affinity_apply(e->plan.affinity_final, err);
		if (r < 0)
			return r;
	} else if (!e->plan.affinity_initial) {
		affinity_reset();
	}
	return process_attributes(&e->plan, err);
}

static int child_prepare(void *ctx, struct error *err)
{
	struct exec *e = ctx;

	int r = streams_install(&e->streams, err);

	return r < 0 ? r : process_prepare(&e->process, err);
}

static int child_ready(void *ctx, struct error *err)
{
	struct exec *e = ctx;
	int r;

	/*
	 * Until COMMIT the end of file tells of the parent's death. The signal would come too late to be
	 * cleared: after COMMIT the parent may be gone before we run.
	 */
	if (prctl(PR_SET_PDEATHSIG, 0) < 0)
		return error_set(err, -errno, "clear the death signal");
	r = proto_send(e->launch.sync_child, PROTO_READY, 0, err);
	if (r == 0)
		r = proto_expect(e->launch.sync_child, PROTO_COMMIT, "agentrun", NULL, err);
	return r;
}

static const struct phase exec_phases[] = {
	{ "wait-go", child_wait_go, "first: not in its cgroup before it" },
	{ "identity", child_identity, "root of the joined user namespace before anything else" },
	{ "root", child_root, "all later paths are the container's" },
	{ "session", child_session, "before the terminal, which needs a session without one" },
	{ "terminal", child_terminal, "from the container's devpts" },
	{ "attributes", child_attributes, "before the drop: some need privilege" },
	{ "read-back", readback_exec_child, "while the descriptors of the namespaces are still open" },
	{ "prepare", child_prepare, "a missing command is an error of exec" },
	{ "ready", child_ready, "all that can fail before the start has been tried" },
};

const struct phase_list exec_child_phases = { "exec, child", exec_phases, ELEMENTSOF(exec_phases) };

void exec_child(void *arg)
{
	struct exec *e = arg;
	struct error err = ERROR_NULL;

	e->process.plan = &e->plan;
	e->process.proc_fd = e->h.proc_fd;
	e->process.filters = &e->filters;
	e->process.listener_sock = e->listener_sock;
	e->process.keep_fds = e->keep_fds;
	e->process.gate_fds[1] = e->launch.sync_child;
	e->process.listen_fds = e->keep_fds - e->opt->preserve_fds;
	e->process.is_exec = true;
	if (phases_run(exec_phases, ELEMENTSOF(exec_phases), e, &err) < 0 ||
	    gate_wait(-EBADF, e->launch.sync_child, &e->process.error_sock, &err) < 0)
		child_fail(e->launch.sync_child, &err);
	process_run(&e->process);
}
