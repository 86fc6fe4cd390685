/*
 * epoll with embedded sources. A callback may remove any source, its own and those that
 * are still to come in the same batch; the batch is part of the loop for that reason.
 */
#include "util/evloop.h"

#include <assert.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

int evloop_init(struct evloop *l, struct error *err)
{
	*l = EVLOOP_NULL;
	l->fd = epoll_create1(EPOLL_CLOEXEC);
	return l->fd < 0 ? error_set(err, -errno, "open the event loop") : 0;
}

void evloop_done(struct evloop *l)
{
	if (l->fd >= 0)
		(void)close(take_fd(&l->fd));
}

int evloop_step(struct evloop *l, int timeout_ms, struct error *err)
{
	int i, r = 0;

	l->n_batch = epoll_wait(l->fd, l->batch, EVLOOP_BATCH, timeout_ms);
	if (l->n_batch < 0)
		return errno == EINTR ? 0 : error_set(err, -errno, "wait for events");
	for (i = 0; i < l->n_batch && r >= 0; i++) {
		struct ev_source *s = l->batch[i].data.ptr;

		if (s)
			r = s->fn(l, s, l->batch[i].events, err);
	}
	l->n_batch = 0;
	return r < 0 ? r : 0;
}

int evloop_run(struct evloop *l, struct error *err)
{
	while (!l->stopping) {
		int r = evloop_step(l, -1, err);

		if (r < 0)
			return r;
	}
	return 0;
}

void evloop_stop(struct evloop *l)
{
	l->stopping = true;
}

int ev_add(struct evloop *l, struct ev_source *s, int fd, uint32_t events, ev_fn fn, void *arg, struct error *err)
{
	struct epoll_event ev = { .events = events, .data.ptr = s };

	assert(fd >= 0 && fn);
	if (epoll_ctl(l->fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return error_set(err, -errno, "watch a descriptor");
	*s = (struct ev_source){ .fd = fd, .fn = fn, .arg = arg, .events = events };
	return 0;
}

int ev_set(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct epoll_event ev = { .events = events, .data.ptr = s };

	assert(s->fd >= 0);
	if (s->events == events)
		return 0;
	if (epoll_ctl(l->fd, EPOLL_CTL_MOD, s->fd, &ev) < 0)
		return error_set(err, -errno, "change what a descriptor is watched for");
	s->events = events;
	return 0;
}

void ev_del(struct evloop *l, struct ev_source *s)
{
	int i;

	if (s->fd < 0)
		return;
	(void)epoll_ctl(l->fd, EPOLL_CTL_DEL, s->fd, NULL);
	s->fd = -EBADF;
	for (i = 0; i < l->n_batch; i++)
		if (l->batch[i].data.ptr == s)
			l->batch[i].data.ptr = NULL;
}

static int timer_fired(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct ev_timer *t = s->arg;
	uint64_t count;

	/* Cancelled or moved since it became readable: nothing to read. */
	if (read(s->fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return 0;
	t->armed = false;
	return t->fn(l, t, err);
}

int ev_timer_init(struct evloop *l, struct ev_timer *t, clockid_t clock, ev_timer_fn fn, void *arg, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	*t = EV_TIMER_NULL;
	fd = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return error_set(err, -errno, "create a timer");
	r = ev_add(l, &t->source, fd, EPOLLIN, timer_fired, t, err);
	if (r < 0)
		return r;
	(void)take_fd(&fd);
	t->fn = fn;
	t->arg = arg;
	return 0;
}

static int timer_set(struct ev_timer *t, uint64_t when_ns, struct error *err)
{
	struct itimerspec spec = {
		.it_value = { .tv_sec = (time_t)(when_ns / NS_PER_S), .tv_nsec = (long)(when_ns % NS_PER_S) },
	};

	if (timerfd_settime(t->source.fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
		return error_set(err, -errno, "set a timer");
	t->armed = when_ns > 0;
	return 0;
}

int ev_timer_at(struct ev_timer *t, uint64_t when_ns, struct error *err)
{
	/* Zero would disarm it. */
	return timer_set(t, when_ns > 0 ? when_ns : 1, err);
}

int ev_timer_cancel(struct ev_timer *t, struct error *err)
{
	return t->armed ? timer_set(t, 0, err) : 0;
}

void ev_timer_done(struct evloop *l, struct ev_timer *t)
{
	int fd = t->source.fd;

	if (fd < 0)
		return;
	ev_del(l, &t->source);
	(void)close(fd);
	*t = EV_TIMER_NULL;
}

uint64_t ev_now(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}
