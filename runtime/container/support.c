/*
 * What create, exec and delete share: descriptors an engine passes, pid files, the
 * record's cgroup, waiting, and the release of everything a container had.
 */
#include "container/create_steps.h"
#include "container/session.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "egress/egress.h"
#include "hooks/hooks.h"
#include "os/procattr.h"
#include "os/procfs.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/str.h"

int in_user_namespace(int proc_fd, bool *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	unsigned inside, outside, size;
	int r;

	r = procfs_read(proc_fd, "self/uid_map", &text, err);
	if (r == -ENOENT) {
		*ret = false; /* a kernel without user namespaces */
		return 0;
	}
	if (r < 0)
		return r;
	/* The initial namespace maps everything onto itself in one line (user_namespaces(7)). */
	*ret = !(sscanf(text, "%u %u %u", &inside, &outside, &size) == 3 && inside == 0 && outside == 0 &&
		 size == UINT_MAX);
	return 0;
}

unsigned listen_fds_count(void)
{
	const char *pid_text = getenv("LISTEN_PID");
	const char *fds_text = getenv("LISTEN_FDS");
	uint32_t pid, fds;

	/* Podman leaves a foreign LISTEN_PID in the environment: not for us (sd_listen_fds(3)). */
	if (!pid_text || !fds_text || parse_u32(pid_text, &pid) < 0 || pid != (uint32_t)getpid() ||
	    parse_u32(fds_text, &fds) < 0)
		return 0;
	return fds;
}

int preserve_fds_check(unsigned n, struct error *err)
{
	unsigned i;

	if (n > 1024 * 1024)
		return error_text(err, -EINVAL, "--preserve-fds %u: more descriptors than a process can have", n);
	for (i = 0; i < n; i++) {
		int flags = fcntl((int)(3 + i), F_GETFD);

		/* What survived an execve cannot be close-on-exec; what is, was opened by us. */
		if (flags < 0 || (flags & FD_CLOEXEC))
			return error_text(err, -EBADF, "--preserve-fds %u: descriptor %u was not passed to agentrun", n, 3 + i);
	}
	return 0;
}

int pid_file_write(const char *path, pid_t pid, struct error *err)
{
	_cleanup_close_ int dir_fd = -EBADF;
	_cleanup_free_ char *dir = NULL;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char text[16];
	int n;

	dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!dir)
		return error_oom(err);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return error_set(err, -errno, "open the folder of pid file %s", path);
	n = snprintf(text, sizeof(text), "%d", pid);
	return file_replace(dir_fd, name, text, (size_t)n, 0644, 0, err);
}

int pidfd_socket_send(int sock, int pidfd, struct error *err)
{
	int r = fd_send(sock, "pidfd", 5, &pidfd, 1);

	return r < 0 ? error_set(err, r, "send the pidfd to the pidfd socket") : 0;
}

void record_to_cgroup(const struct state_record *rec, struct cgroup *ret)
{
	size_t i;

	*ret = (struct cgroup){
		.layout = (enum cgroup_layout)rec->cgroup_layout,
		.manager = (enum cgroup_manager)rec->cgroup_manager,
		.scope = rec->cgroup_scope,
		.user_scope = rec->cgroup_user_scope,
	};
	for (i = 0; i < rec->n_cgroup_dirs && i < CGROUP_DIRS_MAX; i++)
		ret->dirs[ret->n_dirs++] = (struct cgroup_dir){
			.controllers = rec->cgroup_dirs[i].controllers,
			.path = rec->cgroup_dirs[i].path,
			.created = rec->cgroup_dirs[i].created,
		};
}

int record_set_cgroup(struct state_record *rec, const struct cgroup *cg, struct error *err)
{
	size_t i;

	rec->cgroup_layout = (int)cg->layout;
	rec->cgroup_manager = (int)cg->manager;
	rec->cgroup_scope = cg->scope ? arena_strdup(&rec->arena, cg->scope) : NULL;
	rec->cgroup_user_scope = cg->user_scope;
	rec->cgroup_dirs = arena_calloc(&rec->arena, cg->n_dirs + 1, sizeof(*rec->cgroup_dirs));
	if (!rec->cgroup_dirs || (cg->scope && !rec->cgroup_scope))
		return error_oom(err);
	for (i = 0; i < cg->n_dirs; i++) {
		struct state_cgroup_dir *d = &rec->cgroup_dirs[i];

		d->controllers = arena_strdup(&rec->arena, cg->dirs[i].controllers);
		d->path = arena_strdup(&rec->arena, cg->dirs[i].path);
		d->created = cg->dirs[i].created;
		if (!d->controllers || !d->path)
			return error_oom(err);
	}
	rec->n_cgroup_dirs = cg->n_dirs;
	return 0;
}

int process_oom_score_adj(int proc_fd, pid_t pid, int64_t value, bool rootless, struct error *err)
{
	char path[48], text[24];
	int n, r;

	(void)snprintf(path, sizeof(path), "%d/oom_score_adj", pid);
	n = snprintf(text, sizeof(text), "%lld", (long long)value);
	r = procfs_write(proc_fd, path, text, (size_t)n, err);
	/* Lowering it needs CAP_SYS_RESOURCE on the host, which no rootless user has. */
	return rootless && (r == -EACCES || r == -EPERM) ? 0 : r;
}

/* runtime-spec: a warning, not an error. The drop itself comes when nothing is logged any more. */
static void warn_not_granted(const struct creds *c)
{
	_cleanup_buf_ struct buf names = BUF_NULL;
	struct caps_sets have, got;
	struct error ignored;
	uint64_t dropped, bit;

	if (!c->set_caps || log_level_get() < LOG_LEVEL_WARNING || caps_current(&have, &ignored) < 0)
		return;
	caps_grantable(&c->caps, &have, &got, &dropped);
	for (bit = 0; bit < 64; bit++)
		if (dropped & UINT64_C(1) << bit)
			buf_addf(&names, " %s", enum_to_name(&spec_capability_table, bit));
	if (dropped && buf_ok(&names))
		log_warningf("process.capabilities: not granted as asked (not held by agentrun, or ambient without "
			     "being inheritable and permitted):%s", names.data);
}

int process_attributes(const struct plan_process *p, struct error *err)
{
	int r = 0;

	warn_not_granted(&p->creds);

	if (p->scheduler)
		r = sched_apply(p->scheduler, err);
	if (r == 0 && p->ioprio_class)
		r = ioprio_apply(p->ioprio_class, p->ioprio_priority, err);
	if (r == 0 && p->memory_policy)
		r = mempolicy_apply((int)p->memory_policy->mode, p->memory_policy->nodes,
				    (unsigned long)p->memory_policy->flags, err);
	if (r == 0 && p->has_personality)
		r = personality_apply(p->personality, err);
	return r;
}

int reports_pair(int *ret_process, int *ret_monitor, struct error *err)
{
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "create the socket pair for the reports of denied calls");
	*ret_process = socks[0];
	*ret_monitor = socks[1];
	return 0;
}

static void relay(void *arg)
{
	(void)notify_relay(arg);
}

int process_wait_foreground(struct pidref *ref, int master_fd, struct notify *notify, int *ret_status,
			    struct error *err)
{
	struct wait_also also = { .fd = notify ? notify->sock : -EBADF, .fn = relay, .arg = notify };
	const struct wait_also *also_or_none = also.fd >= 0 ? &also : NULL;
	int r;

	r = master_fd >= 0 ? tty_proxy_run(master_fd, ref, also_or_none, ret_status, err) :
			     wait_forwarding(ref, also_or_none, ret_status, err);
	if (notify)
		notify_drain(notify);
	return r;
}

int process_receive_master(int *fd, struct error *err)
{
	int master = -EBADF;
	char text[64];
	size_t n;
	int r;

	r = fd_recv(*fd, text, sizeof(text), &n, &master, 1);
	if (r < 0)
		return error_set(err, r, "receive the terminal from the container's process");
	if (master < 0)
		return error_text(err, -EPROTO, "the container's process sent no terminal");
	(void)close(*fd);
	*fd = master;
	tty_size_from_user(master);
	return tty_plain_newlines(master, err);
}

int container_poststart(const struct state_record *rec, const struct spec *spec, struct error *err)
{
	_cleanup_free_ char *state = NULL;
	struct hook_env env;
	int r;

	if (!spec->hooks || spec->hooks->poststart.count == 0)
		return 0;
	r = hook_state_json(rec, "running", rec->pid, &state, err);
	if (r < 0)
		return r;
	env = (struct hook_env){ .kind = "poststart", .state_json = state, .cwd = rec->bundle, .default_env = environ,
				 .stdout_file = spec_annotation(spec, "run.oci.hooks.stdout"),
				 .stderr_file = spec_annotation(spec, "run.oci.hooks.stderr") };
	return hooks_run(spec->hooks->poststart.items, spec->hooks->poststart.count, &env, err);
}

/* runtime-spec: a failing poststop hook is a warning, and the others still run. */
static void run_poststop(const struct state_record *rec, const struct spec *spec)
{
	_cleanup_free_ char *state = NULL;
	struct error err = ERROR_NULL;
	struct hook_env env;
	size_t i;

	if (!spec || !spec->hooks || spec->hooks->poststop.count == 0)
		return;
	if (hook_state_json(rec, "stopped", 0, &state, &err) < 0) {
		log_warningf("poststop hooks: %s", err.text);
		return;
	}
	env = (struct hook_env){ .kind = "poststop", .state_json = state, .cwd = rec->bundle, .default_env = environ,
				 .stdout_file = spec_annotation(spec, "run.oci.hooks.stdout"),
				 .stderr_file = spec_annotation(spec, "run.oci.hooks.stderr") };
	for (i = 0; i < spec->hooks->poststop.count; i++)
		if (hooks_run(&spec->hooks->poststop.items[i], 1, &env, &err) < 0)
			log_warningf("%s", err.text);
}

/* A cgroup that was there before is its owner's again: what goes on there is no container's any more. */
static int open_kept_cgroups(const struct cgroup *cg, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; i < cg->n_dirs && r == 0; i++) {
		_cleanup_close_ int fd = -EBADF;

		if (cg->dirs[i].created || *cg->dirs[i].controllers)
			continue;
		fd = open(cg->dirs[i].path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			r = egress_off(fd, err);
	}
	return r;
}

int container_release(int root_fd, const char *id, const struct state_record *rec, const struct cgroup *cg,
		      const struct spec *spec, struct error *err)
{
	int r;

	/* Without an own pid namespace processes may outlive init. */
	if (rec && !rec->pid_ns_private) {
		r = cgroup_signal(cg, 9, err);
		if (r < 0)
			return r;
	}
	r = rec && rec->egress ? open_kept_cgroups(cg, err) : 0;
	if (r == 0)
		r = cgroup_remove(cg, err);
	if (r < 0)
		return r;
	if (rec && rec->intel_rdt_group) {
		r = rdt_remove(rec->intel_rdt_group, err);
		if (r < 0)
			return r;
	}
	if (rec && rec->session) {
		r = session_release(rec->session, rec->audit_log, err);
		if (r < 0)
			return r;
	}
	r = state_dir_remove(root_fd, id, err);
	if (r < 0)
		return r;
	if (rec)
		run_poststop(rec, spec);
	return 0;
}
