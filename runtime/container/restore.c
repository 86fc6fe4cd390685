/*
 * Owns the return of a saved container: its folder, record and cgroup are made as for a new one, its processes by criu.
 */
#include "container/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "os/procfs.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/json_read.h"
#include "util/str.h"

#define IMAGES_DEFAULT	"checkpoint"
#define DESCRIPTORS_MAX 65536
#define INHERIT_MAX	4

struct restore {
	struct create c; /* first: the phases of create work on it */
	const struct container_restore_options *opt;
	struct criu_options criu;
	struct checkpoint_outside outside;
	struct criu_inherit inherit[INHERIT_MAX];
	struct criu_cgroup_root roots[CGROUP_DIRS_MAX];
	struct arena arena;
	int netns_fd, host_mounts, own_mounts, root, cwd;
};

/* Pipes of the process that was saved become the caller's streams; all else is in the images. */
static int take_streams(struct restore *s, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	const struct json *j;
	struct json *doc = NULL;
	size_t len;
	int i = 0, r;

	r = file_read_all(s->criu.images_fd, CHECKPOINT_FILE, DESCRIPTORS_MAX, &text, &len, err);
	if (r == 0)
		r = json_parse(CHECKPOINT_FILE, text, len, 0, &s->arena, &doc, err);
	if (r < 0)
		return r;
	for (j = doc && doc->type == JSON_ARRAY ? doc->kids.first : NULL; j && i < 3; j = j->next, i++)
		if (j->type == JSON_STRING && str_after(j->text, "pipe:"))
			s->inherit[s->criu.n_inherit++] = (struct criu_inherit){ .key = j->text, .fd = i };
	return 0;
}

static int take_netns(struct restore *s, struct error *err)
{
	const struct spec_namespaces *ns = &s->c.spec->linux_cfg->namespaces;
	size_t i;

	for (i = 0; i < ns->count; i++) {
		if (ns->items[i].type != CLONE_NEWNET || !ns->items[i].path)
			continue;
		s->netns_fd = open(ns->items[i].path, O_RDONLY | O_CLOEXEC);
		if (s->netns_fd < 0)
			return error_set(err, -errno, "open the network namespace %s", ns->items[i].path);
		s->inherit[s->criu.n_inherit++] = (struct criu_inherit){ .key = CHECKPOINT_NETNS_KEY, .fd = s->netns_fd };
		break;
	}
	return 0;
}

/* What was saved as the container's folder of a hierarchy is restored as the one that pid is in: "4:cpu,cpuacct:/a/b". */
static int map_cgroups(struct restore *s, pid_t pid, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char path[64], *line, *save = NULL, *controllers, *folder;
	int r;

	(void)snprintf(path, sizeof(path), "%d/cgroup", pid);
	r = procfs_read(s->c.proc_fd, path, &text, err);
	if (r < 0)
		return r;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		controllers = strchr(line, ':');
		folder = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!folder || s->criu.n_cgroup_roots == ELEMENTSOF(s->roots))
			continue;
		*folder++ = '\0';
		s->roots[s->criu.n_cgroup_roots].controllers = arena_strdup(&s->arena, controllers + 1);
		s->roots[s->criu.n_cgroup_roots].path = arena_strdup(&s->arena, folder);
		if (!s->roots[s->criu.n_cgroup_roots].controllers || !s->roots[s->criu.n_cgroup_roots].path)
			return error_oom(err);
		s->criu.n_cgroup_roots++;
	}
	return 0;
}

static int do_options(void *ctx, struct error *err)
{
	struct restore *s = ctx;
	const struct container_restore_options *opt = s->opt;
	const char *images = opt->image_path ? opt->image_path : IMAGES_DEFAULT;
	int r = checkpoint_may("restore", opt->create.id, s->c.guard.profile.name, err);

	if (r == 0)
		r = checkpoint_folder(images, false, &s->criu.images_fd, err);
	if (r == 0)
		r = checkpoint_folder(opt->work_path ? opt->work_path : images, true, &s->criu.work_fd, err);
	if (r == 0)
		r = checkpoint_cgroups(opt->manage_cgroups, &s->criu.cgroups, err);
	if (r == 0)
		r = checkpoint_empty_ns((const char *const *)opt->empty_ns, opt->n_empty_ns, &s->criu.empty_namespaces, err);
	if (r == 0)
		r = checkpoint_config(s->c.spec, &s->criu.config_file, err);
	if (r == 0)
		r = take_streams(s, err);
	if (r == 0)
		r = take_netns(s, err);
	if (r == 0 && opt->create.console_socket)
		r = tty_socket_connect(opt->create.console_socket, "console socket", &s->c.console_sock, err);
	if (r < 0)
		return r;
	s->criu.sibling = true;
	s->criu.log_file = "restore.log";
	s->criu.root = s->c.plan->rootfs;
	s->criu.external_sockets = opt->ext_unix_sk;
	s->criu.tcp_established = opt->tcp_established;
	s->criu.tcp_close = opt->tcp_close;
	s->criu.shell_job = opt->shell_job;
	s->criu.file_locks = opt->file_locks;
	s->criu.link_remap = opt->link_remap;
	s->criu.auto_dedup = opt->auto_dedup;
	s->criu.lazy_pages = opt->lazy_pages;
	s->criu.lsm_profile = opt->lsm_profile;
	s->criu.lsm_mount_context = opt->lsm_mount_context;
	s->criu.inherit = s->inherit;
	s->criu.cgroup_roots = s->roots;
	return 0;
}

/* A folder opened before belongs to the namespace that was left: nothing can be mounted in it. */
static int open_again(int fd, struct error *err)
{
	_cleanup_close_ int again = -EBADF;
	char link[64], path[4096];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return error_set(err, -errno, "read %s", link);
	path[n] = '\0';
	again = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (again < 0 || dup3(again, fd, O_CLOEXEC) < 0)
		return error_set(err, -errno, "open %s again", path);
	return 0;
}

/*
 * criu wants the root to be a mount, which nobody else shall see. It looks at our descriptors, not at its own, so this is a
 * namespace of both of us, until to_host(). Slaves, not private mounts: where the host's are shared, as systemd has them, the saved
 * root was a slave of one, and criu copies that from here.
 */
static int to_own_mounts(struct restore *s, struct error *err)
{
	const char *root = s->c.plan->rootfs;
	int r;

	s->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->root < 0 || s->cwd < 0)
		return error_set(err, -errno, "open the working folder");
	r = procfs_open_ns(s->c.proc_fd, 0, "mnt", &s->host_mounts, err);
	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_set(err, -errno, "make a mount namespace for criu");
	r = procfs_open_ns(s->c.proc_fd, 0, "mnt", &s->own_mounts, err);
	if (r < 0)
		return r;
	if (mount(root, root, NULL, MS_BIND | MS_REC, NULL) < 0)
		return error_set(err, -errno, "bind %s on itself", root);
	return open_again(s->criu.images_fd, err) < 0 ? err->code : open_again(s->criu.work_fd, err);
}

static int enter(int mounts, struct error *err)
{
	return setns(mounts, CLONE_NEWNS) == 0 ? 0 : error_set(err, -errno, "change the mount namespace");
}

/* With the root and the working folder that setns(2) has taken. */
static int to_host(const struct restore *s, struct error *err)
{
	if (s->host_mounts < 0)
		return 0;
	if (enter(s->host_mounts, err) < 0)
		return err->code;
	if (fchdir(s->root) < 0 || chroot(".") < 0 || fchdir(s->cwd) < 0)
		return error_set(err, -errno, "go back to the working folder");
	return 0;
}

/* The restored processes are born where criu is: in the container's cgroup, under its limits. */
static int into_cgroup(void *arg, pid_t pid, struct error *err)
{
	struct restore *s = arg;
	int r = cgroup_attach(&s->c.cgroup, NULL, pid, err);

	return r < 0 ? r : map_cgroups(s, pid, err);
}

static int runtime_hooks(struct restore *s, pid_t pid, struct error *err)
{
	int r;

	if (!create_has_runtime_hooks(&s->c))
		return 0;
	r = to_host(s, err);
	if (r == 0)
		r = create_run_hooks(&s->c, pid, err);
	return r < 0 ? r : enter(s->own_mounts, err);
}

static int on_step(void *arg, const char *script, pid_t pid, int *fd, struct error *err)
{
	struct restore *s = arg;

	if (str_eq(script, "setup-namespaces"))
		return runtime_hooks(s, pid, err);
	if (!str_eq(script, "orphan-pts-master") || *fd < 0)
		return 0;
	if (s->c.console_sock >= 0)
		return tty_send_master(s->c.console_sock, *fd, err);
	s->c.master_fd = take_fd(fd);
	return 0;
}

static int do_restore(void *ctx, struct error *err)
{
	struct restore *s = ctx;
	const struct criu_run run = { .program = s->c.env->criu ? s->c.env->criu : "criu", .options = &s->criu,
				      .born = into_cgroup, .step = on_step, .arg = s };
	struct error left = ERROR_NULL;
	pid_t pid = 0;
	int r;

	r = checkpoint_outside(s->c.plan, &s->c.cgroup, true, &s->outside, err);
	if (r < 0)
		return r;
	r = checkpoint_mount_points(s->c.plan, err);
	if (r < 0)
		return r;
	s->criu.external = s->outside.items;
	s->criu.n_external = s->outside.n;
	r = to_own_mounts(s, err);
	if (r == 0)
		r = criu_run(CRIU_RESTORE, &run, &pid, err);
	if (to_host(s, &left) < 0 && r == 0) {
		*err = left;
		r = err->code;
	}
	if (r == 0)
		r = pidref_open(s->c.proc_fd, pid, 0, &s->c.launch.ref, err);
	if (r == PIDREF_E_GONE)
		r = error_text(err, -ESRCH, "the restored process %d has ended already", pid);
	if (r == 0)
		cgroup_entered(&s->c.cgroup);
	return r;
}

static const struct phase phases[] = {
	{ "open", create_open, "as for a new container" },
	{ "load", create_load, "the bundle's configuration: images say nothing of cgroups and limits" },
	{ "plan", create_plan, "narrowed by the policy" },
	{ "options", do_options, "a refusal has no trace; knows the policy's profile" },
	{ "reserve", create_reserve, "the id is taken before anything that carries it exists" },
	{ "cgroup", create_cgroup, "recorded, then made and limited while still empty" },
	{ "restore", do_restore, "processes are born in the cgroup; hooks see the namespaces before what is in them" },
	{ "record", create_record, "start time and pid, before anybody can rely on them" },
};

const struct phase_list restore_phases = { "restore", phases, ELEMENTSOF(phases) };

static int restore_up(struct restore *s, struct error *err)
{
	int r = phases_run(phases, ELEMENTSOF(phases), s, err);

	if (r == 0) {
		(void)close(take_fd(&s->c.lock_fd));
		r = container_poststart(s->c.record, s->c.spec, err);
	}
	if (r < 0)
		create_undo(&s->c);
	return r;
}

static void restore_done(struct restore *s)
{
	int *fds[] = { &s->criu.images_fd, &s->criu.work_fd, &s->netns_fd, &s->host_mounts, &s->own_mounts, &s->root, &s->cwd };
	size_t i;

	for (i = 0; i < ELEMENTSOF(fds); i++)
		if (*fds[i] >= 0)
			(void)close(take_fd(fds[i]));
	checkpoint_outside_done(&s->outside);
	arena_done(&s->arena);
	create_done(&s->c);
}

int container_restore(const struct container_env *env, const struct container_restore_options *opt, int *ret_status,
		      struct error *err)
{
	struct restore s = { .opt = opt, .criu = { .images_fd = -EBADF, .work_fd = -EBADF },
			     .netns_fd = -EBADF, .host_mounts = -EBADF, .own_mounts = -EBADF,
			     .root = -EBADF, .cwd = -EBADF };
	struct error cleanup = ERROR_NULL;
	int r, status = 0;

	create_init(&s.c, env, &opt->create, true);
	r = restore_up(&s, err);
	if (r == 0 && !opt->create.detach) {
		r = process_wait_foreground(&s.c.launch.ref, s.c.master_fd, &s.c.notify, &status, err);
		if (container_release(s.c.root_fd, opt->create.id, s.c.record, &s.c.cgroup, s.c.spec, &cleanup) < 0 && r == 0) {
			*err = cleanup;
			r = err->code;
		}
	}
	restore_done(&s);
	if (r == 0)
		*ret_status = status;
	return r;
}
