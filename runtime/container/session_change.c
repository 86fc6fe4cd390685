/*
 * Holding a session still: its lock, the freezer, the overlays as the container sees them, and
 * the audit log. That a container is frozen on our account is on the disk before it is, so
 * that the next command thaws it when this one is killed.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_store.h"
#include "container/lifecycle.h"
#include "container/session_private.h"
#include "monitor/supervise.h"
#include "os/rootfs.h"
#include "util/log.h"
#include "util/str.h"

#define FROZEN_FILE    "frozen"
#define LOG_TIMEOUT_MS 2000

struct session_change {
	struct snap snap;
	struct container_handle h;
	bool kept, live, frozen;
	int merged[SNAP_LAYERS_MAX];
	struct snap_stage *stage;
};

static struct session_change *change_free(struct session_change *c)
{
	size_t i;

	if (!c)
		return NULL;
	for (i = 0; i < SNAP_LAYERS_MAX; i++)
		cleanup_closep(&c->merged[i]);
	c->stage = snap_stage_free(c->stage);
	snap_done(&c->snap);
	handle_done(&c->h);
	free(c);
	return NULL;
}

static int thaw(struct session_change *c, struct error *err)
{
	int r = cgroup_thaw(&c->h.cgroup, err);

	if (r == 0 && unlinkat(c->snap.dir_fd, FROZEN_FILE, 0) < 0 && errno != ENOENT)
		r = error_set(err, -errno, "note that the container goes on");
	c->frozen = false;
	return r;
}

static int freeze(struct session_change *c, struct error *err)
{
	bool ours = faccessat(c->snap.dir_fd, FROZEN_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	_cleanup_close_ int fd = -EBADF;

	/* Paused by somebody else: it stays so. */
	if (c->h.view.status == CONTAINER_PAUSED && !ours)
		return 0;
	fd = openat(c->snap.dir_fd, FROZEN_FILE, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, -errno, "note that the container is frozen");
	c->frozen = true;
	return cgroup_freeze(&c->h.cgroup, err);
}

/* The overlay of a layer, reached as the container reaches it and known by its device number. */
static int open_merged(struct session_change *c, size_t layer, int root_fd, struct error *err)
{
	const struct snap_layer *l = &c->snap.record->layers[layer];
	_cleanup_close_ int fd = -EBADF;
	struct stat st = { 0 };
	int r = rootfs_openat(root_fd, l->destination, O_PATH | O_DIRECTORY, 0, &fd);

	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r < 0)
		return error_set(err, r, "open %s in the container", l->destination);
	if (l->merged == 0 || st.st_dev != l->merged)
		return error_text(err, -ESTALE, "what the container has at %s is not the layer of its session", l->destination);
	c->merged[layer] = take_fd(&fd);
	return 0;
}

static int open_all_merged(struct session_change *c, struct error *err)
{
	_cleanup_close_ int root_fd = -EBADF;
	char path[48];
	size_t i;
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", c->h.init.pid);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 || pidref_exited(&c->h.init))
		return error_set(err, root_fd < 0 ? -errno : -ESRCH, "open the root of the container");
	for (i = 0; i < c->snap.record->n_layers && r == 0; i++)
		r = open_merged(c, i, root_fd, err);
	return r;
}

static int open_change(const struct container_env *env, const char *id, struct session_change *c, struct error *err)
{
	int r = handle_open_settled(env, id, 2000, &c->h, err);

	if (r == -ENOENT) {
		c->kept = true;
		return session_open_kept(env, id, true, &c->snap, err);
	}
	if (r < 0)
		return r;
	if (c->h.view.status == CONTAINER_CREATING)
		return error_text(err, -EBUSY, "container %s is still being created", id);
	if (!c->h.view.record->session)
		return session_missing(id, err);
	r = snap_open(c->h.view.record->session, true, &c->snap, err);
	if (r == SNAP_E_NOT_FOUND)
		return session_missing(id, err);
	c->live = c->h.init.pid > 0;
	return r;
}

int session_begin(const struct container_env *env, const char *id, const struct session_how *how, struct session_change **ret,
		  struct error *err)
{
	_cleanup_(session_search_done) struct session_search search = { .id = NULL };
	_cleanup_snap_report_ struct snap_report report = { 0 };
	struct session_change *c = calloc(1, sizeof(*c));
	struct error ignored = ERROR_NULL;
	size_t i;
	int r;

	if (!c)
		return error_oom(err);
	c->h = HANDLE_NULL;
	c->snap = SNAP_NULL;
	for (i = 0; i < SNAP_LAYERS_MAX; i++)
		c->merged[i] = -EBADF;
	r = session_search(env, id, &search, err);
	if (r == 0)
		r = open_change(&search.own, search.id, c, err);
	if (r == 0 && c->live) {
		if (how->stage && !snap_interrupted(&c->snap))
			snap_stage_make(&c->snap, how->path, &c->stage);
		else
			snap_write_out(&c->snap);
		r = freeze(c, err);
	}
	if (r == 0 && c->live)
		r = open_all_merged(c, err);
	if (r == 0 && how->recover)
		r = snap_recover(&c->snap, session_merged(c), how->force, &report, err);
	if (r < 0) {
		(void)session_end(c, &ignored);
		return r;
	}
	*ret = c;
	return 0;
}

int session_end(struct session_change *c, struct error *err)
{
	int r = c->frozen ? thaw(c, err) : 0;

	(void)change_free(c);
	return r;
}

struct snap *session_snap(struct session_change *c)
{
	return &c->snap;
}

bool session_kept(const struct session_change *c)
{
	return c->kept;
}

const struct snap_stage *session_stage(const struct session_change *c)
{
	return c->stage;
}

const int *session_merged(const struct session_change *c)
{
	return c->live ? c->merged : NULL;
}

/* The writer of the log is the container's monitor; it takes a line of text. */
static int log_live(struct session_change *c, const struct audit_session *e, struct error *err)
{
	struct link_msg msg = { .type = LINK_NOTE };

	(void)snprintf(msg.text, sizeof(msg.text), "session %s%s%s%s%s: %llu paths", e->name, e->snapshot ? " " : "",
		       e->snapshot ? e->snapshot : "", e->path ? " " : "", e->path ? e->path : "", (unsigned long long)e->files);
	return supervise_tell(c->h.dir_fd, &msg, NULL, err);
}

int session_log(struct session_change *c, const char *what, const char *snapshot, const char *path, uint64_t files, uint64_t bytes,
		struct error *err)
{
	const char *log = c->kept ? c->snap.record->log : c->h.view.record->audit_log;
	struct audit_event event = { .type = AUDIT_SESSION, .process = -1 };
	_cleanup_close_ int dir = -EBADF, index = -EBADF;
	int r;

	event.session = (struct audit_session){ .name = what, .snapshot = snapshot, .path = path, .files = files, .bytes = bytes };
	if (!log)
		return 0;
	if (c->live && c->h.view.record->supervisor_pid > 0)
		return log_live(c, &event.session, err);
	r = audit_store_open(NULL, false, false, &dir, err);
	if (r == 0)
		r = audit_index_open(false, true, &index, err);
	if (r == 0)
		r = audit_store_append_event(dir, index, log, LOG_TIMEOUT_MS, &event, err);
	return r < 0 ? error_prefix(err, "audit log") : 0;
}
