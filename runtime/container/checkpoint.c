/*
 * Owns the saving of a running container by criu: what is asked of it, and what happens to the container afterwards.
 */
#include "container/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/create.h"
#include "container/lifecycle.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/json_write.h"
#include "util/parse.h"
#include "util/str.h"

#define IMAGES_DEFAULT "checkpoint"

struct checkpoint {
	struct container_handle h;
	const struct container_checkpoint_options *opt;
	struct spec *spec;
	struct plan *plan;
	struct checkpoint_outside outside;
	struct criu_options criu;
	char *page_server, *freezer;
};

static int check_parent(const char *images, const char *parent, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	/* criu keeps it as a link in the images, which must go on to hold where they are moved to. */
	if (*parent == '/')
		return error_text(err, -EINVAL, "--parent-path: \"%s\" must be relative to the image folder", parent);
	path = str_printf("%s/%s", images, parent);
	if (!path)
		return error_oom(err);
	if (stat(path, &st) < 0)
		return error_set(err, -errno, "--parent-path: look for %s", path);
	return S_ISDIR(st.st_mode) ? 0 : error_text(err, -ENOTDIR, "--parent-path: %s is no folder", path);
}

static int read_page_server(struct checkpoint *c, struct error *err)
{
	uint32_t port;
	char *colon;

	if (!c->opt->page_server)
		return 0;
	c->page_server = strdup(c->opt->page_server);
	if (!c->page_server)
		return error_oom(err);
	colon = strrchr(c->page_server, ':');
	if (!colon || parse_u32(colon + 1, &port) < 0 || port == 0 || port > UINT16_MAX)
		return error_text(err, -EINVAL, "--page-server: \"%s\" is not ADDRESS:PORT", c->opt->page_server);
	*colon = '\0';
	c->criu.page_server_address = c->page_server;
	c->criu.page_server_port = (uint16_t)port;
	return 0;
}

/* criu freezes by it, so that nothing changes while it looks. */
static const char *freezer(const struct cgroup *cg)
{
	size_t i, n;

	for (i = 0; i < cg->n_dirs; i++) {
		const char *at = strstr(cg->dirs[i].controllers, "freezer");

		n = strlen("freezer");
		if (at && (at == cg->dirs[i].controllers || at[-1] == ',') && (at[n] == '\0' || at[n] == ','))
			return cg->dirs[i].path;
	}
	for (i = 0; i < cg->n_dirs; i++)
		if (cg->layout == CGROUP_LAYOUT_UNIFIED && !*cg->dirs[i].controllers)
			return cg->dirs[i].path;
	return NULL;
}

static int outside_netns(struct checkpoint *c, struct error *err)
{
	const struct spec_namespaces *ns = &c->spec->linux_cfg->namespaces;
	struct stat st;
	size_t i;

	for (i = 0; i < ns->count; i++) {
		if (ns->items[i].type != CLONE_NEWNET || !ns->items[i].path)
			continue;
		if (stat(ns->items[i].path, &st) < 0)
			return error_set(err, -errno, "look at the network namespace %s", ns->items[i].path);
		c->outside.items[c->outside.n] = arena_printf(&c->outside.arena, "net[%llu]:" CHECKPOINT_NETNS_KEY,
							      (unsigned long long)st.st_ino);
		if (!c->outside.items[c->outside.n++])
			return error_oom(err);
	}
	return 0;
}

static int open_all(struct checkpoint *c, const struct container_env *env, struct error *err)
{
	const struct container_checkpoint_options *opt = c->opt;
	const char *images = opt->image_path ? opt->image_path : IMAGES_DEFAULT;
	const struct state_record *rec;
	int r;

	r = handle_open(env, opt->id, &c->h, err);
	if (r < 0)
		return r;
	rec = c->h.view.record;
	r = lifecycle_check(OP_CHECKPOINT, &c->h.view, err);
	if (r == 0)
		r = checkpoint_may("checkpoint", rec->id, rec->profile, err);
	if (r == 0)
		r = checkpoint_folder(images, true, &c->criu.images_fd, err);
	if (r == 0)
		r = checkpoint_folder(opt->work_path ? opt->work_path : images, true, &c->criu.work_fd, err);
	if (r == 0 && opt->parent_path)
		r = check_parent(images, opt->parent_path, err);
	if (r == 0)
		r = handle_load_spec(&c->h, &c->spec, err);
	if (r == 0) {
		const struct plan_request req = { .id = rec->id, .bundle = rec->bundle, .rootless = rec->rootless };

		r = plan_build(c->spec, &req, &c->plan, err);
	}
	return r;
}

static int fill(struct checkpoint *c, struct error *err)
{
	const struct container_checkpoint_options *opt = c->opt;
	int r = checkpoint_outside(c->plan, &c->h.cgroup, false, &c->outside, err);

	if (r == 0)
		r = outside_netns(c, err);
	if (r == 0)
		r = checkpoint_cgroups(opt->manage_cgroups, &c->criu.cgroups, err);
	if (r == 0)
		r = checkpoint_empty_ns((const char *const *)opt->empty_ns, opt->n_empty_ns, &c->criu.empty_namespaces, err);
	if (r == 0)
		r = checkpoint_config(c->spec, &c->criu.config_file, err);
	if (r == 0)
		r = read_page_server(c, err);
	if (r < 0)
		return r;
	c->criu.pid = c->h.init.pid;
	c->criu.log_file = "dump.log";
	c->criu.root = c->h.view.record->rootfs;
	c->criu.parent_images = opt->parent_path;
	c->criu.freeze_cgroup = freezer(&c->h.cgroup);
	c->criu.leave_running = opt->leave_running || opt->pre_dump;
	c->criu.external_sockets = opt->ext_unix_sk;
	c->criu.tcp_established = opt->tcp_established;
	c->criu.tcp_skip_in_flight = opt->tcp_skip_in_flight;
	c->criu.tcp_close = opt->tcp_close;
	c->criu.shell_job = opt->shell_job;
	c->criu.file_locks = opt->file_locks;
	c->criu.link_remap = opt->link_remap;
	c->criu.auto_dedup = opt->auto_dedup;
	c->criu.lazy_pages = opt->lazy_pages;
	c->criu.track_memory = opt->pre_dump || opt->parent_path;
	c->criu.status_fd = opt->status_fd > 2 ? (int)opt->status_fd : 0;
	c->criu.external = c->outside.items;
	c->criu.n_external = c->outside.n;
	return 0;
}

/* What init's streams are, so that restore can put its own in the place of pipes. */
static int write_descriptors(const struct checkpoint *c, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int dir = -EBADF;
	char path[64], link[4096];
	int i, r;

	(void)snprintf(path, sizeof(path), "%d/fd", c->h.init.pid);
	r = procfs_openat(c->h.proc_fd, path, O_RDONLY | O_DIRECTORY, &dir, err);
	if (r < 0)
		return r;
	w = json_writer_new(0);
	if (!w)
		return error_oom(err);
	json_array_begin(w, NULL);
	for (i = 0; i < 3; i++) {
		char name[2] = { (char)('0' + i), '\0' };
		ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		json_string(w, NULL, link);
	}
	json_array_end(w);
	r = json_take(w, &text, err);
	return r < 0 ? r : file_replace(c->criu.images_fd, CHECKPOINT_FILE, text, strlen(text), 0600, 0, err);
}

static void done(struct checkpoint *c)
{
	checkpoint_outside_done(&c->outside);
	c->plan = plan_free(c->plan);
	c->spec = spec_free(c->spec);
	free(c->page_server);
	if (c->criu.images_fd >= 0)
		(void)close(c->criu.images_fd);
	if (c->criu.work_fd >= 0)
		(void)close(c->criu.work_fd);
	handle_done(&c->h);
}

int container_checkpoint(const struct container_env *env, const struct container_checkpoint_options *opt,
			 struct error *err)
{
	struct checkpoint c = { .h = HANDLE_NULL, .opt = opt,
				.criu = { .images_fd = -EBADF, .work_fd = -EBADF } };
	const struct criu_run run = { .program = env->criu ? env->criu : "criu", .options = &c.criu };
	int r;

	r = open_all(&c, env, err);
	if (r == 0)
		r = fill(&c, err);
	if (r == 0 && !opt->pre_dump)
		r = write_descriptors(&c, err);
	if (r == 0)
		r = criu_run(opt->pre_dump ? CRIU_PRE_DUMP : CRIU_DUMP, &run, NULL, err);
	if (r < 0)
		(void)error_prefix(err, "checkpoint container %s", opt->id);
	done(&c);
	/* It lives in the images now. */
	return r < 0 || opt->leave_running || opt->pre_dump ? r : container_delete(env, opt->id, true, err);
}
