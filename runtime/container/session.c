/*
 * The session of a container: opened through its record, or by its place when it was kept.
 */
#include "container/session.h"

#include <unistd.h>

#include "container/lifecycle.h"
#include "state/state.h"

int session_release(const char *path, struct error *err)
{
	_cleanup_snap_ struct snap s = SNAP_NULL;
	struct error unreadable = ERROR_NULL;
	int r = snap_open(path, true, &s, &unreadable);

	/* A record that cannot be read belongs to a creation that was killed. */
	if (r == 0 && s.record->keep)
		return 0;
	return snap_remove(path, err);
}

static int no_session(const char *id, struct error *err)
{
	return error_text(err, -ENOENT, "container %s has no session: mounts.session of its policy, or the annotation org.agentrun.session, "
			  "gives it one at create", id);
}

/* The container is gone; its session may not be. */
static int open_kept(const struct container_env *env, const char *id, bool lock, struct session *ret, struct error *err)
{
	_cleanup_free_ char *root = NULL, *path = NULL;
	int r = 0;

	if (!env->root)
		r = state_root_default(env->rootless || geteuid() != 0, &root, err);
	if (r == 0)
		r = snap_path(env->root ? env->root : root, id, &path, err);
	if (r == 0)
		r = snap_open(path, lock, &ret->snap, err);
	if (r == SNAP_E_NOT_FOUND)
		return error_text(err, -ENOENT, "container does not exist");
	ret->state = SESSION_KEPT;
	return r;
}

int session_open(const struct container_env *env, const char *id, bool lock, struct session *ret, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	int r;

	*ret = SESSION_NULL;
	r = handle_open_settled(env, id, 2000, &h, err);
	if (r == -ENOENT)
		return open_kept(env, id, lock, ret, err);
	if (r < 0)
		return r;
	if (!h.view.record->session)
		return no_session(id, err);
	r = snap_open(h.view.record->session, lock, &ret->snap, err);
	if (r == SNAP_E_NOT_FOUND)
		return no_session(id, err);
	ret->state = h.view.status == CONTAINER_STOPPED ? SESSION_STOPPED : SESSION_LIVE;
	return r;
}

void session_done(struct session *s)
{
	snap_done(&s->snap);
}
