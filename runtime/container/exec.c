/*
 * `exec`: one more process in a running container. The parent opens everything by
 * the verified init process; the child joins, and ends in the same last steps as init.
 */
#include <assert.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "container/create_egress.h"
#include "container/create_steps.h"
#include "container/exec.h"
#include "container/exec_request.h"
#include "container/later.h"
#include "container/proto.h"
#include "container/readback.h"
#include "container/start.h"
#include "os/procattr.h"
#include "os/procfs.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

static const uint64_t ns_types[] = { CLONE_NEWUSER, CLONE_NEWIPC, CLONE_NEWUTS,    CLONE_NEWNET,
				     CLONE_NEWPID,  CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWTIME };

/* Through the proc handle and the pid that the pidfd still holds: no other process can be meant. */
static int open_namespaces(struct exec *e, struct error *err)
{
	size_t i;
	int r;

	r = ns_ids_read(e->h.proc_fd, &e->host_ns, err);
	if (r < 0)
		return r;
	for (i = 0; i < ELEMENTSOF(ns_types); i++) {
		_cleanup_close_ int fd = -EBADF;
		char path[64];
		bool own;

		(void)snprintf(path, sizeof(path), "%d/ns/%s", e->h.init.pid, ns_proc_name(ns_types[i]));
		fd = openat(e->h.proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue; /* a kernel without this type */
		if (fd < 0)
			return error_set(err, -errno, "open the container's %s namespace", ns_type_name(ns_types[i]));
		r = ns_is_own(e->h.proc_fd, fd, ns_types[i], &own, err);
		if (r < 0)
			return r;
		if (own)
			continue;
		e->joins_user |= ns_types[i] == CLONE_NEWUSER;
		e->joins_mount |= ns_types[i] == CLONE_NEWNS;
		e->ns.join[e->ns.n_join++] = (struct ns_join){ .type = ns_types[i], .fd = take_fd(&fd) };
	}
	if (!e->joins_mount) {
		char path[32];

		(void)snprintf(path, sizeof(path), "%d/root", e->h.init.pid);
		e->root_fd = openat(e->h.proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (e->root_fd < 0)
			return error_set(err, -errno, "open the container's root");
	}
	return pidref_exited(&e->h.init) ? error_text(err, -ESRCH, "cannot exec in a stopped container") : 0;
}

static int check_terminal(const struct exec *e, struct error *err)
{
	if (e->plan.terminal && e->opt->detach && !e->opt->console_socket)
		return error_text(err, -EINVAL, "cannot allocate tty if agentrun will detach without setting console socket");
	if (e->opt->console_socket && (!e->plan.terminal || !e->opt->detach))
		return error_text(err, -EINVAL, "cannot use console socket if agentrun will not detach or allocate tty");
	return 0;
}

static int open_sockets(struct exec *e, struct error *err)
{
	int socks[2];
	int r;

	if (e->opt->pidfd_socket) {
		r = tty_socket_connect(e->opt->pidfd_socket, "pidfd socket", &e->pidfd_sock, err);
		if (r < 0)
			return r;
	}
	if (e->filters.reports) {
		r = reports_pair(&e->listener_sock, &e->reports_sock, err);
		if (r < 0)
			return r;
	} else if (e->filters.spec.notify) {
		r = tty_socket_connect(e->spec->linux_cfg->seccomp->listener_path, "seccomp listener",
				       &e->listener_sock, err);
		if (r < 0)
			return r;
	}
	if (!e->plan.terminal)
		return 0;
	if (e->opt->console_socket)
		return tty_socket_connect(e->opt->console_socket, "console socket", &e->console_sock, err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "create the socket pair for the terminal");
	e->master_fd = socks[0];
	e->console_sock = socks[1];
	return 0;
}

static int exec_load(struct exec *e, struct error *err)
{
	struct guard_host host = {
		.proc_fd = e->h.proc_fd,
		.bundle_fd = -EBADF,
		.id = e->h.view.record->id,
		.rootless = e->h.view.record->rootless,
	};
	struct spec_process proc;
	int r;

	r = handle_load_spec(&e->h, &e->spec, err);
	if (r < 0)
		return r;
	r = exec_request_build(e->opt, e->spec->process, &e->arena, &proc, err);
	if (r == 0)
		r = guard_reopen(e->h.dir_fd, e->h.view.record->profile, &e->guard, err);
	if (r == 0 && e->h.view.record->egress)
		r = egress_check_descriptors(e->keep_fds, err);
	if (r == 0)
		r = guard_narrow_process(&e->guard, &proc, e->spec, &e->arena, &host, err);
	later_note(&e->guard, e->h.dir_fd, "exec");
	if (r < 0)
		return r;
	r = plan_build_process(&proc, e->spec, e->h.view.record->rootless, &e->arena, &e->plan, err);
	if (r < 0)
		return r;
	r = check_terminal(e, err);
	if (r < 0)
		return r;
	r = process_filters_open(e->spec, &e->guard.profile, &e->plan.creds, e->h.view.record->rootless,
				 e->h.view.record->reports, &e->filters, err);
	if (r < 0)
		return r;
	if (e->h.view.record->reports && !e->filters.reports)
		return error_text(err, -EPERM,
				  "seccomp profile %s has changed since the container was created: it had denied calls reported "
				  "and has none any more: create the container anew",
				  e->guard.profile.seccomp.profile.text);
	return open_sockets(e, err);
}

/* exec --cgroup: into the container's cgroup first, then where it was asked to be. */
static int attach_cgroups(struct exec *e, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < e->opt->n_cgroups; i++) {
		const char *text = e->opt->cgroups[i];
		const char *colon = strchr(text, ':');
		_cleanup_free_ char *controllers = colon ? strndup(text, (size_t)(colon - text)) : NULL;

		if (colon && !controllers)
			return error_oom(err);
		if (colon && i == 0) {
			r = cgroup_attach(&e->h.cgroup, NULL, e->launch.ref.pid, err);
			if (r < 0)
				return r;
		}
		r = colon ? cgroup_attach_controller(&e->h.cgroup, controllers, colon + 1, e->launch.ref.pid, err) :
			    cgroup_attach(&e->h.cgroup, text, e->launch.ref.pid, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int exec_spawn(struct exec *e, struct error *err)
{
	int r;

	/* The container's processes see the child at once: it must not be traceable (CVE-2016-9962). */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return error_set(err, -errno, "make the process undumpable");
	if (e->plan.affinity_initial) {
		r = affinity_apply(e->plan.affinity_initial, err);
		if (r < 0)
			return r;
	}
	e->launch.ns = &e->ns;
	e->launch.cgroup = &e->h.cgroup;
	e->launch.proc_fd = e->h.proc_fd;
	e->launch.fn = exec_child;
	e->launch.arg = e;
	e->launch.clone_fd = e->cgroup_fd;
	e->launch.by_hand = e->opt->n_cgroups > 0;
	e->launch.peer = e->h.init.pid;
	r = launch_run(&e->launch, err);
	if (r < 0)
		return r;

	r = attach_cgroups(e, err);
	if (r == 0 && e->plan.has_oom_score_adj)
		r = process_oom_score_adj(e->h.proc_fd, e->launch.ref.pid, e->plan.oom_score_adj,
					  e->h.view.record->rootless, err);
	if (r == 0)
		r = proto_send(e->launch.sync_parent, PROTO_GO, e->launch.ref.pid, err);
	if (r == 0)
		r = proto_expect(e->launch.sync_parent, PROTO_READY, "the process", NULL, err);
	if (r == 0)
		r = readback_exec(e, err);
	return r;
}

static int exec_finish(struct exec *e, struct error *err)
{
	struct state_expect want;
	int r;

	verify_expect(&e->plan, &e->filters, e->guard.profile.passthrough, &want);
	r = rlimit_apply(e->launch.ref.pid, e->plan.rlimits, e->plan.n_rlimits, err);
	if (r == 0 && e->pidfd_sock >= 0)
		r = pidfd_socket_send(e->pidfd_sock, e->launch.ref.fd, err);
	if (r == 0 && e->opt->pid_file)
		r = pid_file_write(e->opt->pid_file, e->launch.ref.pid, err);
	if (r < 0)
		return r;
	r = proto_send(e->launch.sync_parent, PROTO_COMMIT, 0, err);
	if (r == 0)
		r = exec_start(e, &want, err);
	if (r < 0 && e->opt->pid_file)
		(void)unlink(e->opt->pid_file);
	return r;
}

/* The master arrives by the console protocol on our own socket pair. */
static int receive_master(struct exec *e, struct error *err)
{
	if (e->streams.terminal)
		return streams_connect_terminal(&e->streams, &e->master_fd, err);
	return e->plan.terminal && !e->opt->console_socket ? process_receive_master(&e->master_fd, err) : 0;
}

static int exec_run(struct exec *e, int *ret_status, struct error *err)
{
	int status = 0;
	int r;

	r = exec_load(e, err);
	if (r == 0)
		r = open_namespaces(e, err);
	if (r == 0)
		r = exec_announce(e, err);
	if (r < 0)
		return r;
	r = exec_spawn(e, err);
	if (r == 0)
		r = receive_master(e, err);
	if (r == 0)
		r = exec_finish(e, err);
	if (r < 0) {
		launch_kill(&e->launch);
		return r;
	}
	if (!e->opt->detach) {
		r = process_wait_foreground(&e->launch.ref, e->plan.terminal ? e->master_fd : -EBADF, NULL, &status,
					    err);
		if (r < 0)
			return r;
	}
	*ret_status = status;
	return 0;
}

static void exec_done(struct exec *e)
{
	int *fds[] = { &e->root_fd,	&e->console_sock, &e->master_fd, &e->pidfd_sock, &e->listener_sock,
		       &e->reports_sock, &e->cgroup_fd, &e->link.fd };
	size_t i;

	for (i = 0; i < ELEMENTSOF(fds); i++)
		if (*fds[i] >= 0)
			(void)close(take_fd(fds[i]));
	for (i = 0; i < e->ns.n_join; i++)
		(void)close(e->ns.join[i].fd);
	process_filters_done(&e->filters);
	streams_done(&e->streams);
	launch_done(&e->launch);
	handle_done(&e->h);
	guard_done(&e->guard);
	e->spec = spec_free(e->spec);
	arena_done(&e->arena);
}

int container_exec(const struct container_env *env, const struct container_exec_options *opt, int *ret_status,
		   struct error *err)
{
	struct exec e = {
		.opt = opt,
		.h = HANDLE_NULL,
		.root_fd = -EBADF,
		.console_sock = -EBADF,
		.master_fd = -EBADF,
		.pidfd_sock = -EBADF,
		.listener_sock = -EBADF,
		.reports_sock = -EBADF,
		.link = LINK_NULL,
		.cgroup_fd = -EBADF,
		.streams = STREAMS_NULL,
		.launch = LAUNCH_NULL,
		.process = PROCESS_NULL,
	};
	int r;

	e.keep_fds = listen_fds_count() + opt->preserve_fds;
	r = preserve_fds_check(e.keep_fds, err);
	if (r < 0)
		return r;
	r = fd_cloexec_from(3);
	if (r < 0)
		return error_set(err, r, "mark inherited descriptors close-on-exec");
	r = handle_open(env, opt->id, &e.h, err);
	if (r == 0 && !(opt->ignore_paused && e.h.view.status == CONTAINER_PAUSED))
		r = lifecycle_check(OP_EXEC, &e.h.view, err);
	if (r == 0)
		r = exec_run(&e, ret_status, err);
	exec_done(&e);
	return r;
}
