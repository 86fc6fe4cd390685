/*
 * The state × operation table, and the opening of an existing container: record,
 * process, cgroup, and the status that follows from them.
 */
#include "container/lifecycle.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "container/create.h"
#include "container/life.h"
#include "monitor/supervise.h"
#include "os/procfs.h"
#include "util/str.h"

/* How long what was killed may take to end. */
#define KILLED_MS 10000

static const char *const status_names[] = {
	[CONTAINER_CREATING] = "creating", [CONTAINER_CREATED] = "created", [CONTAINER_RUNNING] = "running",
	[CONTAINER_PAUSED] = "paused",     [CONTAINER_STOPPED] = "stopped",
};
#define STATUS_MAX ELEMENTSOF(status_names)

/* NULL = legal. %1$s is the id, %2$s the status. Engines match some of these texts. */
static const char *const refusals[_OP_MAX][STATUS_MAX] = {
	[OP_START] = {
		[CONTAINER_CREATING] = "cannot start a container in the creating state",
		[CONTAINER_RUNNING] = "cannot start an already running container",
		[CONTAINER_PAUSED] = "cannot start a container in the paused state",
		[CONTAINER_STOPPED] = "cannot start a container that has stopped",
	},
	[OP_KILL] = {
		[CONTAINER_STOPPED] = "container not running",
	},
	[OP_DELETE] = {
		[CONTAINER_RUNNING] = "cannot delete container %1$s that is not stopped: %2$s",
		[CONTAINER_PAUSED] = "cannot delete container %1$s that is not stopped: %2$s",
	},
	[OP_PAUSE] = {
		[CONTAINER_CREATING] = "container not running",
		[CONTAINER_PAUSED] = "container not running",
		[CONTAINER_STOPPED] = "container not running",
	},
	[OP_RESUME] = {
		[CONTAINER_CREATING] = "container not paused",
		[CONTAINER_CREATED] = "container not paused",
		[CONTAINER_RUNNING] = "container not paused",
		[CONTAINER_STOPPED] = "container not paused",
	},
	[OP_UPDATE] = {
		[CONTAINER_CREATING] = "container not running",
		[CONTAINER_STOPPED] = "container not running",
	},
	[OP_EXEC] = {
		[CONTAINER_CREATING] = "cannot exec in a container in the creating state",
		[CONTAINER_PAUSED] = "cannot exec in a paused container (use --ignore-paused to override)",
		[CONTAINER_STOPPED] = "cannot exec in a stopped container",
	},
	[OP_STATS] = {
		[CONTAINER_CREATING] = "container with id %1$s is not running",
		[CONTAINER_STOPPED] = "container with id %1$s is not running",
	},
	[OP_CHECKPOINT] = {
		[CONTAINER_CREATING] = "container cannot be checkpointed in creating state",
		[CONTAINER_CREATED] = "container cannot be checkpointed in created state",
		[CONTAINER_STOPPED] = "container cannot be checkpointed in stopped state",
	},
};

const char *container_status_name(enum container_status s)
{
	assert((size_t)s < STATUS_MAX);
	return status_names[s];
}

int lifecycle_check(enum lifecycle_op op, const struct container_view *v, struct error *err)
{
	const char *text = refusals[op][v->status];

	if (!text)
		return 0;
	return error_text(err, -EBUSY, text, v->record->id, status_names[v->status]);
}

int root_open(const struct container_env *env, bool create, int *ret_fd, struct error *err)
{
	_cleanup_free_ char *root = NULL;
	int r;

	if (env->root)
		return state_root_open(env->root, create, ret_fd, err);
	r = state_root_default(env->rootless || geteuid() != 0, &root, err);
	if (r < 0)
		return r;
	return state_root_open(root, create, ret_fd, err);
}

static int status_of(struct container_handle *h, struct error *err)
{
	const struct state_record *rec = h->view.record;
	bool frozen = false;
	int r;

	if (rec->pid == 0) {
		h->view.status = CONTAINER_CREATING;
		return 0;
	}
	r = pidref_open(h->proc_fd, rec->pid, rec->pid_start, &h->init, err);
	if (r < 0)
		return r;
	if (r == PIDREF_E_GONE || pidref_exited(&h->init)) {
		pidref_done(&h->init);
		h->view.status = CONTAINER_STOPPED;
		return 0;
	}
	h->view.pid = rec->pid;
	r = cgroup_frozen(&h->cgroup, &frozen, err);
	if (r < 0)
		return r;
	if (frozen)
		h->view.status = CONTAINER_PAUSED;
	else if (faccessat(h->dir_fd, STATE_GATE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		h->view.status = CONTAINER_CREATED;
	else
		h->view.status = CONTAINER_RUNNING;
	return 0;
}

int handle_open(const struct container_env *env, const char *id, struct container_handle *ret, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	int r;

	r = state_id_check(id, err);
	if (r < 0)
		return r;
	r = procfs_open(&h.proc_fd, err);
	if (r < 0)
		return r;
	r = root_open(env, false, &h.root_fd, err);
	if (r == 0)
		r = state_dir_open(h.root_fd, id, &h.dir_fd, err);
	if (r == 0)
		r = state_read(h.dir_fd, &h.view.record, err);
	if (r == STATE_E_NOT_FOUND)
		return error_text(err, -ENOENT, "container does not exist");
	if (r < 0)
		return r;
	record_to_cgroup(h.view.record, &h.cgroup);
	r = status_of(&h, err);
	if (r < 0)
		return r;
	*ret = h;
	h = HANDLE_NULL;
	return 0;
}

int handle_open_settled(const struct container_env *env, const char *id, int timeout_ms, struct container_handle *ret,
			struct error *err)
{
	_cleanup_close_ int lock_fd = -EBADF;
	int r;

	r = handle_open(env, id, ret, err);
	if (r < 0 || ret->view.status != CONTAINER_CREATING)
		return r;
	r = state_dir_lock(ret->dir_fd, timeout_ms, &lock_fd, err);
	if (r == STATE_E_BUSY)
		return 0;
	handle_done(ret);
	*ret = HANDLE_NULL;
	return r < 0 ? r : handle_open(env, id, ret, err);
}

void handle_done(struct container_handle *h)
{
	int *fds[] = { &h->proc_fd, &h->root_fd, &h->dir_fd };
	size_t i;

	for (i = 0; i < ELEMENTSOF(fds); i++)
		if (*fds[i] >= 0)
			(void)close(take_fd(fds[i]));
	pidref_done(&h->init);
	h->view.record = state_record_free(h->view.record);
}

/* As create left them: the file still has those that the policy took out, and images bring annotations. */
static int take_annotations(struct spec *spec, const struct state_record *rec, struct error *err)
{
	struct str_pair *items = arena_calloc(&spec->arena, rec->annotations.count + 1, sizeof(*items));
	size_t i;

	if (!items)
		return error_oom(err);
	for (i = 0; i < rec->annotations.count; i++) {
		items[i].key = arena_strdup(&spec->arena, rec->annotations.keys[i]);
		items[i].value = arena_strdup(&spec->arena, rec->annotations.values[i]);
		if (!items[i].key || !items[i].value)
			return error_oom(err);
	}
	spec->annotations = (struct str_map){ items, rec->annotations.count };
	return 0;
}

int handle_load_spec(const struct container_handle *h, struct spec **ret, struct error *err)
{
	int r = spec_load(h->dir_fd, STATE_CONFIG_FILE, ret, err);

	if (r == 0)
		r = take_annotations(*ret, h->view.record, err);
	return r < 0 ? error_prefix(err, "state of container %s", h->view.record->id) : 0;
}

static int await_end(const struct container_handle *h, struct error *err)
{
	int r = pidref_wait_exit(&h->init, KILLED_MS);

	/* Only what is traced outlives a kill: who holds it up goes as well. */
	if (r == -ETIMEDOUT && h->view.record->supervisor_pid > 0) {
		r = supervise_kill(h->proc_fd, h->view.record, err);
		if (r == 0)
			r = pidref_wait_exit(&h->init, KILLED_MS);
	}
	return r < 0 ? error_set(err, r, "wait for the end of the killed container process %d", h->init.pid) : 0;
}

int handle_kill_all(struct container_handle *h, struct error *err)
{
	int r;

	if (h->init.pid > 0) {
		r = pidref_signal(&h->init, SIGKILL);
		if (r < 0 && r != -ESRCH)
			return error_set(err, r, "kill the container's first process %d", h->init.pid);
	}
	/* Without an own pid namespace the end of init ends nobody else. */
	if (!h->view.record->pid_ns_private) {
		r = cgroup_signal(&h->cgroup, SIGKILL, err);
		if (r < 0)
			return r;
	}
	if (h->view.status == CONTAINER_PAUSED) {
		/* A frozen process on v1 dies only when thawed. */
		r = cgroup_thaw(&h->cgroup, err);
		if (r < 0)
			return r;
	}
	return h->init.pid > 0 ? await_end(h, err) : 0;
}

int container_view_open(const struct container_env *env, const char *id, struct container_view *ret, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	int r;

	/* Callers poll this until the container is there. */
	r = handle_open_settled(env, id, 200, &h, err);
	if (r < 0)
		return r;
	r = h.view.status == CONTAINER_STOPPED ? life_exit_read(h.dir_fd, &h.view, err) : 0;
	if (r < 0)
		return r;
	*ret = h.view;
	h.view = (struct container_view){ .record = NULL };
	return 0;
}

void container_view_done(struct container_view *v)
{
	life_exit_done(v);
	v->record = state_record_free(v->record);
}

int container_list(const struct container_env *env, char ***ret_ids, size_t *ret_count, struct error *err)
{
	_cleanup_close_ int root_fd = -EBADF;
	int r;

	r = root_open(env, false, &root_fd, err);
	if (r < 0)
		return r;
	if (r == STATE_E_NOT_FOUND) {
		if (env->root)
			return error_text(err, -ENOENT, "state root %s: no such file or directory", env->root);
		*ret_ids = calloc(1, sizeof(char *));
		*ret_count = 0;
		return *ret_ids ? 0 : error_oom(err);
	}
	return state_list(root_fd, ret_ids, ret_count, err);
}

int container_pids(const struct container_env *env, const char *id, pid_t **ret, size_t *ret_count, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	int r;

	r = handle_open(env, id, &h, err);
	if (r < 0)
		return r;
	return cgroup_pids(&h.cgroup, ret, ret_count, err);
}
