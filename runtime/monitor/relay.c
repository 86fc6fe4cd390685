/*
 * The relay of one process: its streams together, and how it comes to an end.
 */
#include "monitor/relay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "monitor/relay_private.h"
#include "util/cleanup.h"

/* More than root's own pipe-max-size allows a process to make of its pipe. */
#define RELAY_FINISH_MAX ((size_t)4 << 20)

static int drain_timeout(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct relay *r = t->arg;

	r->draining = false;
	ev_timer_done(l, t);
	return r->ops->drained(r->arg, false, err);
}

void relay_init(struct relay *r, struct relay_hub *hub, const struct relay_ops *ops, void *arg)
{
	size_t i;

	assert(hub->loop && ops->drained);

	*r = (struct relay){ .hub = hub, .ops = ops, .arg = arg, .drain_timer = EV_TIMER_NULL };
	for (i = 0; i < ELEMENTSOF(r->streams); i++)
		r->streams[i] = (struct relay_stream){
			.relay = r,
			.number = (unsigned)i,
			.from = STDIO_END_NULL,
			.to = STDIO_END_NULL,
			.from_source = { .fd = -EBADF, .fn = relay_from_ready },
			.to_source = { .fd = -EBADF, .fn = relay_to_ready },
		};
}

void relay_done(struct relay *r)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(r->streams); i++)
		if (r->streams[i].open)
			relay_stream_release(&r->streams[i]);
	ev_timer_done(r->hub->loop, &r->drain_timer);
}

int relay_add(struct relay *r, unsigned stream, struct stdio_end *from, struct stdio_end *to, bool tapped,
	      struct error *err)
{
	struct relay_stream *s = &r->streams[stream];
	int k;

	assert(stream < ELEMENTSOF(r->streams) && !s->open);
	assert(from->fd >= 0 && to->fd >= 0);
	assert(!tapped || r->ops->tap);

	s->from = *from;
	s->to = *to;
	*from = *to = STDIO_END_NULL;
	s->open = true;
	s->tapped = tapped;
	s->splices = stdio_can_splice(&s->from, &s->to);
	s->ends_at_hangup = stdio_hangup_is_final(&s->to);
	k = relay_stream_watch(s, err);
	if (k < 0)
		relay_stream_release(s);
	return k;
}

bool relay_is_open(const struct relay *r)
{
	return r->streams[0].open || r->streams[1].open || r->streams[2].open;
}

int relay_hold(struct relay *r, bool held, struct error *err)
{
	size_t i;
	int k = 0;

	for (i = 0; i < ELEMENTSOF(r->streams) && k >= 0; i++) {
		r->streams[i].held = held;
		if (r->streams[i].open)
			k = relay_stream_watch(&r->streams[i], err);
	}
	return k;
}

int relay_drain(struct relay *r, uint64_t deadline_ns, struct error *err)
{
	size_t i;
	int k;

	assert(!r->draining);
	for (i = 1; i < ELEMENTSOF(r->streams); i++) {
		struct relay_stream *s = &r->streams[i];
		int left = 0;

		if (s->open && !s->finished && ioctl(s->from.fd, FIONREAD, &left) < 0)
			return error_set(err, -errno, "ask how much output is left");
		s->drain_bytes = s->bytes + relay_stream_waiting(s) + (uint64_t)left;
	}
	k = ev_timer_init(r->hub->loop, &r->drain_timer, CLOCK_BOOTTIME, drain_timeout, r, err);
	if (k == 0)
		k = ev_timer_at(&r->drain_timer, deadline_ns, err);
	if (k < 0)
		return k;
	r->draining = true;
	return relay_drain_check(r, err);
}

/* Takes in what is in the pipe, behind what waits already; nobody is left who could add to it. */
static int take_in(struct relay_stream *s, struct error *err)
{
	size_t old = relay_stream_waiting(s), len = old, room;
	int left = 0, r = 0;
	ssize_t n = 1;
	char *all;

	room = ioctl(s->from.fd, FIONREAD, &left) == 0 && left > 0 ? MIN((size_t)left, RELAY_FINISH_MAX) : 0;
	all = malloc(old + room + 1);
	if (!all)
		return error_oom(err);
	if (old > 0)
		memcpy(all, s->rest + s->rest_pos, old);
	while (r == 0 && n > 0 && len < old + room) {
		n = stdio_read(&s->from, all + len, old + room - len);
		if (n > 0)
			r = relay_stream_tap(s, all + len, (size_t)n, err);
		len += n > 0 ? (size_t)n : 0;
	}
	free(s->rest);
	s->rest = all;
	s->rest_len = len;
	s->rest_pos = 0;
	return r;
}

static int stream_finish(struct relay_stream *s, struct error *err)
{
	struct relay *r = s->relay;
	int k;

	if (s->number == 0)
		return relay_stream_end(s, RELAY_END_CUT, err);
	k = take_in(s, err);
	if (k == 0 && r->ops->ended)
		k = r->ops->ended(r->arg, s->number, RELAY_END_PROCESS, s->bytes + relay_stream_waiting(s), err);
	if (k < 0)
		return k;
	s->finished = true;
	ev_del(r->hub->loop, &s->from_source);
	stdio_end_done(&s->from);
	s->full = false;
	return relay_stream_run(s, err);
}

int relay_finish(struct relay *r, struct error *err)
{
	size_t i;
	int k = 0;

	for (i = 0; i < ELEMENTSOF(r->streams) && k >= 0; i++)
		if (r->streams[i].open && !r->streams[i].finished)
			k = stream_finish(&r->streams[i], err);
	return k;
}

int relay_close(struct relay *r, struct error *err)
{
	size_t i;
	int k = 0;

	for (i = 0; i < ELEMENTSOF(r->streams) && k >= 0; i++)
		if (r->streams[i].open)
			k = relay_stream_end(&r->streams[i], RELAY_END_CUT, err);
	return k;
}
