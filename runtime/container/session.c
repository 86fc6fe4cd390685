/*
 * The session of a container: opened through its record, or by its place when it was kept;
 * and what becomes of it at delete.
 */
#include "container/session.h"

#include <unistd.h>

#include "container/lifecycle.h"
#include "container/session_private.h"
#include "state/state.h"
#include "util/log.h"

/* A commit that a crash interrupted is finished before the layer goes; where that fails nothing goes. */
static int settle(struct snap *s, const char *log, struct error *err)
{
	_cleanup_snap_report_ struct snap_report report = { 0 };
	int r = snap_interrupted(s) ? snap_recover(s, NULL, false, &report, err) : 0;

	if (r < 0)
		log_warningf("session %s is kept: %s", s->path, err->text);
	if (r < 0 || s->record->keep)
		return snap_outlive(s, log, err) < 0 ? err->code : 1;
	return 0;
}

int session_release(const char *path, const char *log, struct error *err)
{
	_cleanup_snap_ struct snap s = SNAP_NULL;
	struct error unreadable = ERROR_NULL;
	int r = snap_open(path, true, &s, &unreadable);

	/* A record that cannot be read belongs to a creation that was killed. */
	if (r == 0)
		r = settle(&s, log, err);
	else
		r = 0;
	if (r != 0)
		return r < 0 ? r : 0;
	return snap_remove(path, err);
}

int session_search(const struct container_env *env, const char *id, struct session_search *s, struct error *err)
{
	_cleanup_close_ int root_fd = -EBADF, dir_fd = -EBADF;
	struct error ignored = ERROR_NULL;
	int r;

	*s = (struct session_search){ .own = *env };
	/* What is there under that very name is meant. */
	if (env->root || (root_open(env, false, &root_fd, &ignored) == 0 && state_dir_open(root_fd, id, &dir_fd, &ignored) == 0))
		r = SNAP_E_NOT_FOUND;
	else
		r = snap_find(id, &s->id, &s->root, err);
	if (r == 0)
		s->own.root = s->root;
	if (r == SNAP_E_NOT_FOUND) {
		s->id = strdup(id);
		r = s->id ? 0 : error_oom(err);
	}
	return r;
}

void session_search_done(struct session_search *s)
{
	free(s->id);
	free(s->root);
}

int session_missing(const char *id, struct error *err)
{
	return error_text(err, -ENOENT, "container %s has no session: mounts.session of its policy, or the annotation org.agentrun.session, "
			  "gives it one at create", id);
}

int session_open_kept(const struct container_env *env, const char *id, bool lock, struct snap *ret, struct error *err)
{
	_cleanup_free_ char *root = NULL, *path = NULL;
	struct error unknown = ERROR_NULL;
	int r = 0;

	if (!env->root)
		r = state_root_default(env->rootless || geteuid() != 0, &root, err);
	if (r < 0)
		return r;
	/* No state folder: no container has ever been there. */
	r = snap_path(env->root ? env->root : root, id, &path, &unknown);
	if (r == 0)
		r = snap_open(path, lock, ret, err);
	return r == 0 ? 0 : r == SNAP_E_NOT_FOUND || unknown.code ? error_text(err, -ENOENT, "container does not exist") : r;
}

static int open_found(const struct container_env *env, const char *id, struct session *ret, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	int r;

	*ret = SESSION_NULL;
	r = handle_open_settled(env, id, 2000, &h, err);
	if (r == -ENOENT) {
		ret->kept = true;
		return session_open_kept(env, id, false, &ret->snap, err);
	}
	if (r < 0)
		return r;
	if (!h.view.record->session)
		return session_missing(id, err);
	r = snap_open(h.view.record->session, false, &ret->snap, err);
	return r == SNAP_E_NOT_FOUND ? session_missing(id, err) : r;
}

int session_open(const struct container_env *env, const char *id, struct session *ret, struct error *err)
{
	_cleanup_(session_search_done) struct session_search s = { .id = NULL };
	int r = session_search(env, id, &s, err);

	return r < 0 ? r : open_found(&s.own, s.id, ret, err);
}

void session_done(struct session *s)
{
	snap_done(&s->snap);
}
