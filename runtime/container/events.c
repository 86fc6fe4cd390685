/*
 * Counters and OOM notices of a running container as `events` prints them: one JSON
 * object per line, members in runc's order (type, id, data).
 */
#include <assert.h>
#include <poll.h>
#include <time.h>

#include "cgroup/cgroup_stats.h"
#include "container/life.h"
#include "container/lifecycle.h"
#include "monitor/supervise.h"
#include "util/json_write.h"

static int event_json(const struct container_handle *h, const char *type, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "type", type);
	json_string(w, "id", h->view.record->id);
	if (type[0] == 's') {
		json_object_begin(w, "data");
		r = cgroup_stats_write(&h->cgroup, w, err);
		if (r < 0)
			return r;
		json_object_end(w);
	}
	json_object_end(w);
	return json_take(w, ret, err);
}

int container_stats(const struct container_env *env, const char *id, char **ret_json, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	int r;

	r = handle_open(env, id, &h, err);
	if (r == 0)
		r = lifecycle_check(OP_STATS, &h.view, err);
	return r < 0 ? r : event_json(&h, "stats", ret_json, err);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int emit(const struct container_handle *h, const char *type, container_event_fn fn, void *arg, struct error *err)
{
	_cleanup_free_ char *json = NULL;
	int r = event_json(h, type, &json, err);

	/* A container that ends between two looks has no counters any more: the end, not a failure. */
	if (r < 0)
		return pidref_exited(&h->init) ? 1 : r;
	return fn(arg, json) != 0;
}

static int emit_oom(const struct container_handle *h, struct cgroup_oom_watch *watch, container_event_fn fn, void *arg,
		    struct error *err)
{
	uint64_t n = 0;
	int r;

	r = cgroup_oom_watch_read(watch, &n, err);
	for (; r == 0 && n > 0; n--)
		r = emit(h, "oom", fn, arg, err);
	return r;
}

/* The last record: why it ended, once its supervisor has said so. */
static int emit_exit(struct container_handle *h, container_event_fn fn, void *arg, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = NULL;
	_cleanup_free_ char *json = NULL;
	int r;

	r = supervise_await_end(h->dir_fd, h->proc_fd, h->view.record, err);
	if (r == 0)
		r = life_exit_read(h->dir_fd, &h->view, err);
	if (r < 0 || !h->view.exit)
		return r;
	w = json_writer_new(0);
	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "type", "exit");
	json_string(w, "id", h->view.record->id);
	life_exit_write(w, "data", h->view.exit);
	json_object_end(w);
	r = json_take(w, &json, err);
	if (r == 0)
		(void)fn(arg, json);
	life_exit_done(&h->view);
	return r;
}

int container_events(const struct container_env *env, const char *id, uint64_t interval_ms, container_event_fn fn,
		     void *arg, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	_cleanup_(cgroup_oom_watch_done) struct cgroup_oom_watch watch = CGROUP_OOM_WATCH_NULL;
	uint64_t next;
	int r;

	assert(interval_ms > 0);

	r = handle_open(env, id, &h, err);
	if (r == 0)
		r = lifecycle_check(OP_STATS, &h.view, err);
	if (r == 0)
		r = cgroup_oom_watch_open(&h.cgroup, &watch, err);
	if (r < 0)
		return r;

	next = now_ms() + interval_ms;
	for (;;) {
		struct pollfd fds[2] = { { .fd = h.init.fd, .events = POLLIN }, { .fd = watch.fd, .events = POLLIN } };
		uint64_t now = now_ms();

		if (poll(fds, 2, now >= next ? 0 : (int)MIN(next - now, (uint64_t)60 * 60 * 1000)) < 0 && errno != EINTR)
			return error_set(err, -errno, "wait for events of container %s", id);
		r = 0;
		if (fds[1].revents)
			r = emit_oom(&h, &watch, fn, arg, err);
		if (r == 0 && fds[0].revents)
			return emit_exit(&h, fn, arg, err);
		if (r == 0 && now_ms() >= next) {
			r = emit(&h, "stats", fn, arg, err);
			next += interval_ms;
		}
		if (r != 0)
			return r < 0 ? r : 0;
	}
}
