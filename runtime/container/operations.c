/*
 * The operations on an existing container that are one step each: start, kill,
 * pause, resume, update, delete.
 */
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "container/create.h"
#include "container/create_steps.h"
#include "container/guard.h"
#include "container/later.h"
#include "container/life.h"
#include "container/lifecycle.h"
#include "container/narrow.h"
#include "container/proto.h"
#include "container/start.h"
#include "hooks/hooks.h"
#include "monitor/supervise.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

#define START_TIMEOUT_MS 10000

/* Conversation with the waiting init over its gate. */
static int gate_start(const struct container_handle *h, const char **ret_how, struct error *err)
{
	_cleanup_close_ int sock = -EBADF;
	int r;

	r = unix_connect_at(h->dir_fd, STATE_GATE_FILE, &sock, err);
	if (r == -ECONNREFUSED || r == -ENOENT)
		return error_text(err, r, "cannot start an already running container");
	if (r < 0)
		return r;
	r = start_container(sock, h->dir_fd, h->proc_fd, h->view.record, ret_how, err);
	/* Started or ended: in both cases nobody waits at the gate any more. */
	if (unlinkat(h->dir_fd, STATE_GATE_FILE, 0) < 0 && errno != ENOENT && r == 0)
		return error_set(err, -errno, "remove the start gate of container %s", h->view.record->id);
	return r;
}

/*
 * The container as it is once no other start works on it: the loser of two must see it running, and
 * not take the winner's start for a failed one of its own.
 */
static int open_alone(const struct container_env *env, const char *id, struct container_handle *h, int *ret_lock,
		      struct error *err)
{
	int r;

	r = handle_open(env, id, h, err);
	if (r < 0)
		return r;
	r = state_dir_lock(h->dir_fd, START_TIMEOUT_MS, ret_lock, err);
	if (r == STATE_E_BUSY)
		return error_text(err, -EBUSY, "start container %s: another command has been at work on it for %d s", id,
				  START_TIMEOUT_MS / 1000);
	if (r == STATE_E_NOT_FOUND)
		return error_text(err, -ENOENT, "container does not exist");
	if (r < 0)
		return r;
	handle_done(h);
	*h = HANDLE_NULL;
	return handle_open(env, id, h, err);
}

int container_start(const struct container_env *env, const char *id, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	_cleanup_close_ int lock_fd = -EBADF;
	_cleanup_spec_ struct spec *spec = NULL;
	_cleanup_notify_ struct notify notify = NOTIFY_NULL;
	struct error cleanup = ERROR_NULL;
	const char *how = NULL;
	int r;

	r = open_alone(env, id, &h, &lock_fd, err);
	if (r < 0)
		return r;
	r = lifecycle_check(OP_START, &h.view, err);
	if (r < 0)
		return r;
	r = handle_load_spec(&h, &spec, err);
	if (r < 0)
		return r;
	if (!spec->process)
		return error_text(err, -EINVAL, "cannot start container %s: its configuration has no process", id);
	r = notify_open(h.dir_fd, &notify, err);
	if (r < 0)
		return r;
	r = gate_start(&h, &how, err);
	if (r == 0) {
		h.view.record->verified = (char *)how;
		r = state_write(h.dir_fd, h.view.record, err);
	}
	if (r == 0)
		r = container_poststart(h.view.record, spec, err);
	if (r == 0)
		r = notify_wait(&notify, &h.init, h.init.pid, err);
	/* runtime-spec: a start that fails stops the container; its resources wait for delete. */
	if (r < 0 && h.init.pid > 0 && handle_kill_all(&h, &cleanup) < 0)
		log_warningf("stop container %s after its failed start: %s", id, cleanup.text);
	return r;
}

static int tell_supervisor(const struct container_handle *h, enum link_type type, struct error *err)
{
	struct link_msg msg = { .type = type };

	return h->view.record->supervisor_pid > 0 ? supervise_tell(h->dir_fd, &msg, NULL, err) : 0;
}

/* For the log. A container that is ending may have nobody left to tell, and is to be killed all the same. */
static void note_operation(const struct container_handle *h, const char *name, int sig)
{
	struct link_msg msg = { .type = LINK_NOTE, .number = (uint32_t)sig };
	struct error ignored;

	if (h->view.record->supervisor_pid == 0 || h->view.status == CONTAINER_STOPPED)
		return;
	(void)snprintf(msg.text, sizeof(msg.text), "%s", name);
	(void)supervise_tell(h->dir_fd, &msg, NULL, &ignored);
}

int container_kill(const struct container_env *env, const char *id, int sig, bool all, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	bool whole;
	int r;

	r = handle_open(env, id, &h, err);
	if (r < 0)
		return r;
	note_operation(&h, "kill", sig);
	/* Without an own pid namespace only the cgroup knows all of them, even after init's end. */
	whole = all || (sig == SIGKILL && !h.view.record->pid_ns_private);
	if (!whole) {
		r = lifecycle_check(OP_KILL, &h.view, err);
		if (r < 0)
			return r;
	} else {
		if (h.view.status == CONTAINER_STOPPED && !all) {
			_cleanup_free_ pid_t *pids = NULL;
			size_t n = 0;

			r = cgroup_pids(&h.cgroup, &pids, &n, err);
			if (r < 0)
				return r;
			if (n == 0)
				return lifecycle_check(OP_KILL, &h.view, err);
		}
		return cgroup_signal(&h.cgroup, sig, err);
	}

	if (h.init.pid == 0)
		return error_text(err, -ESRCH, "container not running");
	r = pidref_signal(&h.init, sig);
	if (r == -ESRCH)
		return error_text(err, r, "container not running");
	if (r < 0)
		return error_set(err, r, "send signal %d to container %s", sig, id);
	/* A SIGKILL takes effect in a v1-frozen cgroup only once it is thawed. */
	if (sig == SIGKILL && h.view.status == CONTAINER_PAUSED)
		return cgroup_thaw(&h.cgroup, err);
	return 0;
}

int container_pause(const struct container_env *env, const char *id, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	struct error second = ERROR_NULL;
	int r;

	r = handle_open(env, id, &h, err);
	if (r < 0)
		return r;
	r = lifecycle_check(OP_PAUSE, &h.view, err);
	if (r == 0)
		r = cgroup_freeze(&h.cgroup, err);
	if (r < 0)
		return r;
	r = tell_supervisor(&h, LINK_PAUSE, err);
	/* A pause that failed is none. */
	if (r < 0 && cgroup_thaw(&h.cgroup, &second) < 0)
		log_warningf("let container %s go on after its failed pause: %s", id, second.text);
	return r;
}

int container_resume(const struct container_env *env, const char *id, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	struct error second = ERROR_NULL;
	int r;

	r = handle_open(env, id, &h, err);
	if (r < 0)
		return r;
	r = lifecycle_check(OP_RESUME, &h.view, err);
	if (r == 0)
		r = tell_supervisor(&h, LINK_RESUME, err);
	/* It does not go on without one; but what is frozen does not die of that before it is thawed. */
	if ((r == -ESRCH || r == -EPIPE) && handle_kill_all(&h, &second) < 0)
		log_warningf("end container %s, which has lost its supervisor: %s", id, second.text);
	return r < 0 ? r : cgroup_thaw(&h.cgroup, err);
}

/* Only ever less: the supervisor keeps the shorter of the two. */
static int shorten(const struct container_handle *h, uint64_t time_limit, struct error *err)
{
	struct link_msg msg = { .type = LINK_UPDATE, .limit_ns = time_limit };

	if (time_limit == 0)
		return 0;
	if (h->view.record->supervisor_pid == 0)
		return error_text(err, -EOPNOTSUPP,
				  "set a time limit: container %s runs under a profile without a supervisor",
				  h->view.record->id);
	return supervise_tell(h->dir_fd, &msg, NULL, err);
}

int container_update(const struct container_env *env, const char *id, struct spec_resources *res,
		     const struct container_update_options *opt, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	_cleanup_guard_ struct guard guard = GUARD_NULL;
	struct error second = ERROR_NULL;
	struct guard_host host;
	struct cgroup_kept kept;
	int r;

	r = handle_open(env, id, &h, err);
	if (r < 0)
		return r;
	host = (struct guard_host){ .proc_fd = h.proc_fd, .bundle_fd = -EBADF, .id = id,
				    .rootless = h.view.record->rootless, .cgroup = &h.cgroup };
	r = lifecycle_check(OP_UPDATE, &h.view, err);
	if (r == 0)
		r = guard_reopen(h.dir_fd, h.view.record->profile, &guard, err);
	if (r == 0)
		r = guard_narrow_resources(&guard, res, &guard.arena, &host, err);
	if (r == 0)
		r = shorten(&h, opt->time_limit, err);
	if (r == 0 && opt->egress_allow)
		r = narrow_egress(&h, &guard, opt->egress_allow, err);
	later_note(&guard, h.dir_fd, "update");
	if (r < 0)
		return r;
	kept = (struct cgroup_kept){ .arena = &h.view.record->arena, .limits = &h.view.record->limits };
	r = cgroup_update(&h.cgroup, res, guard.profile.passthrough ? NULL : &kept, err);
	/* Also after a failure: some of it may be in force. */
	if (!guard.profile.passthrough && state_write(h.dir_fd, h.view.record, r < 0 ? &second : err) < 0 && r == 0)
		r = err->code;
	return r;
}

/* A folder without a record: what a creator left that was killed very early. */
static int delete_unrecorded(const struct container_env *env, const char *id, bool force, struct error *err)
{
	_cleanup_close_ int root_fd = -EBADF;
	_cleanup_close_ int dir_fd = -EBADF;
	int r;

	r = root_open(env, false, &root_fd, err);
	if (r == 0)
		r = state_dir_open(root_fd, id, &dir_fd, err);
	if (r < 0)
		return r;
	if (r == STATE_E_NOT_FOUND)
		return force ? 0 : error_text(err, -ENOENT, "container does not exist");
	return state_dir_remove(root_fd, id, err);
}

int container_delete(const struct container_env *env, const char *id, bool force, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	_cleanup_spec_ struct spec *spec = NULL;
	int r;

	r = force ? handle_open_settled(env, id, 10 * 1000, &h, err) : handle_open(env, id, &h, err);
	if (r == -ENOENT)
		return delete_unrecorded(env, id, force, err);
	if (r < 0)
		return r;
	if (!force) {
		r = lifecycle_check(OP_DELETE, &h.view, err);
		if (r < 0)
			return r;
	}
	r = handle_kill_all(&h, err);
	/* It writes the last records. */
	if (r == 0)
		r = supervise_await_end(h.dir_fd, h.proc_fd, h.view.record, err);
	if (r < 0)
		return r;
	life_log_delete(h.view.record, force);
	r = handle_load_spec(&h, &spec, err);
	/* A half-made container may lack its configuration: then there are no hooks to run. */
	if (r < 0 && !force && r != -ENOENT)
		return r;
	return container_release(h.root_fd, id, h.view.record, &h.cgroup, spec, err);
}
