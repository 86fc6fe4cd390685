/*
 * The parent's phases before the clone: open, load, plan, facts, filter, reserve,
 * cgroup. The first four change nothing on the host.
 */
#include "container/create_steps.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/devnodes.h"
#include "os/procfs.h"
#include "os/rootfs.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

int create_open(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	r = state_id_check(c->opt->id, err);
	if (r < 0)
		return r;
	c->listen_fds = listen_fds_count();
	r = preserve_fds_check(c->listen_fds + c->opt->preserve_fds, err);
	if (r < 0)
		return r;
	/* Whatever the engine leaked (rule: descriptors >= 3 are hostile) ends at the next execve. */
	r = fd_cloexec_from(3);
	if (r < 0)
		return error_set(err, r, "mark inherited descriptors close-on-exec");
	r = procfs_open(&c->proc_fd, err);
	if (r < 0)
		return r;
	r = in_user_namespace(c->proc_fd, &c->in_userns, err);
	if (r < 0)
		return r;
	c->rootless = c->env->rootless || geteuid() != 0;

	if (c->env->root) {
		c->root = strdup(c->env->root);
		if (!c->root)
			return error_oom(err);
	} else {
		r = state_root_default(c->rootless, &c->root, err);
		if (r < 0)
			return r;
	}
	return state_root_open(c->root, true, &c->root_fd, err);
}

static int open_bundle(struct create *c, struct error *err)
{
	const char *bundle = c->opt->bundle && *c->opt->bundle ? c->opt->bundle : ".";

	c->bundle_fd = open(bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->bundle_fd < 0)
		return error_set(err, -errno, "chdir %s", bundle);
	c->bundle = realpath(bundle, NULL);
	if (!c->bundle)
		return error_set(err, -errno, "chdir %s", bundle);
	return 0;
}

int create_load(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const char *config = c->opt->config ? c->opt->config : "config.json";
	int r;

	r = open_bundle(c, err);
	if (r < 0)
		return r;
	r = file_read_all(c->opt->config ? AT_FDCWD : c->bundle_fd, config, JSON_BYTES_MAX, &c->config_text,
			  &c->config_len, err);
	if (r == -ENOENT)
		return error_text(err, r, "JSON specification file %s not found: no such file or directory", config);
	if (r < 0)
		return r;
	r = spec_parse(config, c->config_text, c->config_len, &c->spec, err);
	if (r < 0)
		return r;
	return guard_open(c->env, &c->spec->annotations, &c->guard, err);
}

static int check_rootfs(const struct plan *p, struct error *err)
{
	struct stat st;

	if (lstat(p->rootfs, &st) < 0)
		return error_set(err, -errno, "invalid rootfs: stat %s", p->rootfs);
	if (S_ISLNK(st.st_mode))
		return error_text(err, -ELOOP, "invalid rootfs: %s is a symbolic link; name the folder itself", p->rootfs);
	if (!S_ISDIR(st.st_mode))
		return error_text(err, -ENOTDIR, "invalid rootfs: %s is not a directory", p->rootfs);
	return 0;
}

static int check_terminal(const struct create *c, struct error *err)
{
	bool terminal = c->plan->has_process && c->plan->process.terminal;
	bool detached = !c->is_run || c->opt->detach;

	if (terminal && detached && !c->opt->console_socket)
		return error_text(err, -EINVAL, "cannot allocate tty if agentrun will detach without setting console socket");
	if (c->opt->console_socket && (!terminal || !detached))
		return error_text(err, -EINVAL, "cannot use console socket if agentrun will not detach or allocate tty");
	return 0;
}

/* The policy first: the plan is made of what it leaves. */
static int narrow(struct create *c, struct error *err)
{
	const char *root = c->spec->root ? c->spec->root->path : NULL;
	const struct cgroup_request place = {
		.id = c->opt->id,
		.path = c->spec->linux_cfg ? c->spec->linux_cfg->cgroups_path : NULL,
		.manager = (enum cgroup_manager)c->env->cgroup_manager,
		.rootless = c->rootless || c->in_userns,
	};
	struct guard_host host = {
		.proc_fd = c->proc_fd,
		.bundle_fd = c->bundle_fd,
		.id = c->opt->id,
		.rootless = c->rootless,
		.host_root = geteuid() == 0 && !c->in_userns,
		.no_pivot = c->opt->no_pivot,
		.place = &place,
	};

	/* Without a root the plan refuses in its own words. */
	host.rootfs = !root		? c->bundle :
		      root[0] == '/' ? root :
				       arena_printf(&c->spec->arena, "%s/%s", c->bundle, root);
	if (!host.rootfs)
		return error_oom(err);
	return guard_narrow(&c->guard, c->spec, &host, err);
}

int create_plan(void *ctx, struct error *err)
{
	_cleanup_free_ char *notify_dir = NULL;
	struct create *c = ctx;
	struct plan_request req = {
		.id = c->opt->id,
		.bundle = c->bundle,
		.no_pivot = c->opt->no_pivot,
		.no_new_keyring = c->opt->no_new_keyring,
		.rootless = c->rootless,
		.in_userns = c->in_userns,
		.uid = geteuid(),
		.gid = getegid(),
		.preserve_fds = c->opt->preserve_fds,
	};
	int r;

	/* No state root: only the policy's verdict is wanted. */
	r = c->root ? notify_dir_path(c->root, c->opt->id, &notify_dir, err) : 0;
	if (r < 0)
		return r;
	req.notify_dir = notify_dir;
	r = narrow(c, err);
	if (r == 0)
		r = plan_build(c->spec, &req, &c->plan, err);
	if (r < 0)
		return r;
	r = guard_give_sources(&c->guard, c->plan, err);
	if (r < 0)
		return r;
	r = check_rootfs(c->plan, err);
	if (r < 0)
		return r;
	return check_terminal(c, err);
}

static int open_namespaces(struct create *c, struct error *err)
{
	size_t i;
	int r;

	c->ns.create = c->plan->ns_create & ~((uint64_t)CLONE_NEWTIME | CLONE_NEWCGROUP);
	/* The queues' folder belongs to whoever makes the namespace: the container's root, not ours. */
	if (c->ns.create & CLONE_NEWUSER)
		c->ns.create &= ~(uint64_t)CLONE_NEWIPC;
	for (i = 0; i < c->plan->n_ns_join; i++) {
		int fd = -EBADF;

		r = ns_open(c->plan->ns_join[i].path, c->plan->ns_join[i].type, &fd, err);
		if (r < 0)
			return r;
		assert(c->ns.n_join < NS_JOIN_MAX);
		c->ns.join[c->ns.n_join++] = (struct ns_join){ .type = c->plan->ns_join[i].type, .fd = fd };
	}
	return 0;
}

static int open_console(struct create *c, struct error *err)
{
	int socks[2];

	if (!c->plan->has_process || !c->plan->process.terminal)
		return 0;
	if (c->opt->console_socket)
		return tty_socket_connect(c->opt->console_socket, "console socket", &c->console_sock, err);
	/* Foreground run: the master comes to us, by the same message. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "create the socket pair for the terminal");
	c->master_fd = socks[0];
	c->console_sock = socks[1];
	return 0;
}

/*
 * Sources that the container's user namespace could not reach, or that need an id map,
 * are cloned here. One inside the rootfs is the child's: it may be what an earlier mount puts there.
 */
static int prepare_mounts(struct create *c, struct error *err)
{
	bool userns = (c->plan->ns_create & CLONE_NEWUSER) != 0;
	size_t n = c->plan->n_mounts - (c->plan->notify ? 1 : 0); /* not there yet */
	int userns_fd = -EBADF;
	size_t i;
	int r;

	for (i = 0; i < c->ns.n_join; i++)
		if (c->ns.join[i].type == CLONE_NEWUSER)
			userns_fd = c->ns.join[i].fd;
	/* Without privilege over the host's mounts the child does what it can itself. */
	if (geteuid() != 0)
		return 0;
	for (i = 0; i < n; i++) {
		struct mount_op *op = &c->plan->mounts[i];

		if (op->kind != MOUNT_BIND || mount_source_in_rootfs(op, c->plan->rootfs))
			continue;
		/* What the policy judged is open already, and no other object may be mounted. */
		if (op->source_fd < 0 && !userns && userns_fd < 0 && !mount_wants_idmap(op))
			continue;
		r = op->source_fd < 0 ? mount_source_open(op, c->bundle_fd, err) : 0;
		if (r < 0)
			return r;
		r = mount_tree_prepare(op, c->proc_fd, userns_fd, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int create_facts(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	r = ns_ids_read(c->proc_fd, &c->host_ns, err);
	if (r == 0)
		r = open_namespaces(c, err);
	if (r < 0)
		return r;
	r = open_console(c, err);
	if (r < 0)
		return r;
	if (c->opt->pidfd_socket) {
		r = tty_socket_connect(c->opt->pidfd_socket, "pidfd socket", &c->pidfd_sock, err);
		if (r < 0)
			return r;
	}
	if (c->plan->n_masked_paths > 0) {
		r = rootfs_null_open(&c->null_fd, err);
		if (r < 0)
			return r;
	}
	/* Only with privilege over the host: without it the child binds what the host has. */
	if ((c->plan->ns_create & CLONE_NEWUSER) && geteuid() == 0) {
		r = devnodes_trees(c->plan->devices, c->plan->n_devices, &c->plan->uid_maps, &c->plan->gid_maps, c->proc_fd, err);
		if (r < 0)
			return r;
	}
	return prepare_mounts(c, err);
}

int create_filter(void *ctx, struct error *err)
{
	struct create *c = ctx;
	bool reports = c->guard.verdict.grant.call_reports && create_is_supervised(c);
	int r;

	r = process_filters_open(c->spec, &c->guard.profile, &c->plan->process.creds, c->rootless, reports, &c->filters, err);
	if (r < 0)
		return r;
	if (!reports && create_is_supervised(c))
		c->filters.unreported = "the policy accepts it (audit.accept)";
	if (c->filters.reports)
		return reports_pair(&c->listener_sock, &c->reports_sock, err);
	if (!c->filters.spec.notify)
		return 0;
	return tty_socket_connect(c->spec->linux_cfg->seccomp->listener_path, "seccomp listener", &c->listener_sock, err);
}

int create_reserve(void *ctx, struct error *err)
{
	struct create *c = ctx;
	int r;

	r = state_dir_create(c->root_fd, c->opt->id, &c->dir_fd, err);
	if (r == STATE_E_EXISTS)
		return error_text(err, -EEXIST, "container with given ID already exists");
	if (r < 0)
		return r;
	c->dir_made = true;
	/* Others wait for us, or for our end, before they act on what is half made. */
	r = state_dir_lock(c->dir_fd, 0, &c->lock_fd, err);
	if (r != 0)
		return r < 0 ? r : error_text(err, -EBUSY, "the state folder of container %s is locked", c->opt->id);
	r = create_fill_record(c, err);
	if (r < 0)
		return r;
	r = file_replace(c->dir_fd, STATE_CONFIG_FILE, c->config_text, c->config_len, 0600, 0, err);
	if (r < 0)
		return r;
	if (c->plan->notify) {
		r = notify_dir_make(c->dir_fd, &c->plan->mounts[c->plan->n_mounts - 1], c->proc_fd, err);
		if (r < 0)
			return r;
	}
	r = guard_store(&c->guard, c->dir_fd, err);
	if (r < 0 || c->is_run)
		return r;
	return unix_listen_at(c->dir_fd, STATE_GATE_FILE, &c->gate_fd, err);
}

int create_cgroup(void *ctx, struct error *err)
{
	struct create *c = ctx;
	const struct cgroup_kept kept = { .arena = &c->record->arena, .limits = &c->record->limits };
	size_t i;
	int r;

	c->cgroup_request = (struct cgroup_request){
		.id = c->opt->id,
		.path = c->spec->linux_cfg->cgroups_path,
		.manager = (enum cgroup_manager)c->env->cgroup_manager,
		.rootless = c->rootless || c->in_userns,
		.resources = c->spec->linux_cfg->resources,
		.strict_devices = c->guard.verdict.grant.devices_strict,
		.kept = c->guard.profile.passthrough ? NULL : &kept,
		.annotations = &c->spec->annotations,
		.any_property = c->guard.profile.passthrough,
	};
	r = cgroup_plan(&c->cgroup_request, &c->cgroup, err);
	if (r < 0)
		return r;

	/*
	 * What is not there yet will be ours: said in the record before it is made, so that
	 * `delete --force` finds it if we are killed in between.
	 */
	r = record_set_cgroup(c->record, &c->cgroup, err);
	if (r < 0)
		return r;
	for (i = 0; i < c->record->n_cgroup_dirs; i++) {
		struct state_cgroup_dir *d = &c->record->cgroup_dirs[i];

		d->created = access(d->path, F_OK) < 0;
		if (d->created && errno != ENOENT)
			return error_set(err, -errno, "look for the cgroup %s", d->path);
	}
	r = state_write(c->dir_fd, c->record, err);
	if (r < 0)
		return r;

	r = cgroup_create(&c->cgroup, &c->cgroup_request, err);
	if (r < 0)
		return r;
	c->cgroup_request.kept = NULL; /* ours, and gone with this call */
	c->cgroup_made = true;
	return record_set_cgroup(c->record, &c->cgroup, err);
}
