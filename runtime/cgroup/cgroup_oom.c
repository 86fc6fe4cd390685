/*
 * Owns the notice of OOM events: an eventfd on v1, inotify on v2. The caller waits.
 */
#include "cgroup/cgroup_stats.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "cgroup/cgroup_io.h"
#include "util/str.h"

static int kills_read(const char *file, uint64_t *ret)
{
	char text[512];
	ssize_t n;

	n = cgroup_read(AT_FDCWD, file, text, sizeof(text));
	if (n < 0)
		return (int)n;
	*ret = cgroup_key_value(text, "oom_kill", 0);
	return 0;
}

static int watch_v1(const struct cgroup_dir *d, struct cgroup_oom_watch *w, struct error *err)
{
	_cleanup_close_ int dir = -EBADF, control = -EBADF, event = -EBADF;
	char text[32];
	int r;

	dir = cgroup_open_dir(d->path);
	if (dir < 0)
		return error_set(err, dir, "open cgroup %s", d->path);
	control = openat(dir, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	if (control < 0)
		return error_set(err, -errno, "open %s", w->file);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event < 0)
		return error_set(err, -errno, "make an eventfd");
	(void)snprintf(text, sizeof(text), "%d %d", event, control);
	r = cgroup_write(dir, "cgroup.event_control", text);
	if (r < 0)
		return error_set(err, r, "ask for OOM notices of cgroup %s", d->path);
	w->fd = take_fd(&event);
	w->is_eventfd = true;
	return 0;
}

static int watch_v2(struct cgroup_oom_watch *w, struct error *err)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return error_set(err, -errno, "make an inotify descriptor");
	if (inotify_add_watch(fd, w->file, IN_MODIFY) < 0)
		return error_set(err, -errno, "watch %s", w->file);
	w->fd = take_fd(&fd);
	return 0;
}

int cgroup_oom_watch_open(const struct cgroup *cg, struct cgroup_oom_watch *ret, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "memory");
	struct cgroup_oom_watch w = CGROUP_OOM_WATCH_NULL;
	bool v2 = !d;
	int r;

	if (v2)
		d = cgroup_dir_find(cg, "");
	if (!d)
		return error_text(err, -EOPNOTSUPP,
				  "OOM events: the container has no memory cgroup");
	w.file = str_printf("%s/%s", d->path, v2 ? "memory.events" : "memory.oom_control");
	if (!w.file)
		return error_oom(err);
	/* First the watch, then the count: a kill in between is seen twice rather than never. */
	r = v2 ? watch_v2(&w, err) : watch_v1(d, &w, err);
	if (r == 0) {
		r = kills_read(w.file, &w.kills);
		if (r < 0)
			(void)error_set(err, r, "read %s", w.file);
	}
	if (r < 0) {
		cgroup_oom_watch_done(&w);
		return r;
	}
	*ret = w;
	return 0;
}

uint64_t cgroup_oom_kills(const struct cgroup *cg)
{
	_cleanup_(cgroup_oom_watch_done) struct cgroup_oom_watch w = CGROUP_OOM_WATCH_NULL;
	struct error ignored = ERROR_NULL;

	return cgroup_oom_watch_open(cg, &w, &ignored) < 0 ? 0 : w.kills;
}

int cgroup_oom_watch_read(struct cgroup_oom_watch *w, uint64_t *ret_new, struct error *err)
{
	char drain[4096];
	uint64_t notices = 0, kills = 0;
	ssize_t n;
	int r;

	assert(w->fd >= 0);

	do {
		n = read(w->fd, drain, w->is_eventfd ? sizeof(notices) : sizeof(drain));
		if (n == (ssize_t)sizeof(notices) && w->is_eventfd)
			memcpy(&notices, drain, sizeof(notices));
	} while (n > 0 && !w->is_eventfd);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_set(err, -errno, "read the OOM notices of %s", w->file);

	r = kills_read(w->file, &kills);
	if (cgroup_is_gone(r)) {
		*ret_new = 0;
		return 0;
	}
	if (r < 0)
		return error_set(err, r, "read %s", w->file);
	*ret_new = w->is_eventfd ? notices : kills - w->kills;
	w->kills = kills;
	return 0;
}

void cgroup_oom_watch_done(struct cgroup_oom_watch *w)
{
	if (w->fd >= 0)
		(void)close(w->fd);
	free(w->file);
	*w = CGROUP_OOM_WATCH_NULL;
}
