/*
 * The relay's streams on the event loop. Level-triggered: a side that nothing is
 * wanted from is not watched, because a hang-up cannot be masked and would spin.
 */
#include "monitor/relay.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/cleanup.h"

/* Chunks of one stream before others get their turn. */
#define RELAY_ROUNDS 16
#define SPLICE_MAX   ((size_t)1 << 20)

static size_t waiting(const struct relay_stream *s)
{
	return s->rest ? s->rest_len - s->rest_pos : 0;
}

static int drain_check(struct relay *r, struct error *err)
{
	size_t i;

	if (!r->draining)
		return 0;
	for (i = 1; i < ELEMENTSOF(r->streams); i++) {
		const struct relay_stream *s = &r->streams[i];

		if (s->open && s->bytes < s->drain_bytes)
			return 0;
	}
	r->draining = false;
	ev_timer_done(r->hub->loop, &r->drain_timer);
	return r->ops->drained(r->arg, true, err);
}

static void stream_release(struct relay_stream *s)
{
	ev_del(s->relay->hub->loop, &s->from_source);
	ev_del(s->relay->hub->loop, &s->to_source);
	stdio_end_done(&s->from);
	stdio_end_done(&s->to);
	free(take_ptr(s->rest));
	s->open = false;
}

static int tap_chunk(struct relay_stream *s, const char *data, size_t len, struct error *err)
{
	int k;

	if (!s->tapped)
		return 0;
	k = s->relay->ops->tap(s->relay->arg, s->number, data, len, err);
	s->tapped = k != RELAY_TAP_ENOUGH;
	return k < 0 ? k : 0;
}

/* What was written and now reaches nobody was written all the same. */
static int tap_undelivered(struct relay_stream *s, struct error *err)
{
	char *chunk = s->relay->hub->chunk;
	int i, r = 0;

	for (i = 0; i < RELAY_ROUNDS && s->tapped && r == 0; i++) {
		ssize_t n = stdio_read(&s->from, chunk, RELAY_CHUNK);

		if (n <= 0)
			break;
		r = tap_chunk(s, chunk, (size_t)n, err);
	}
	return r;
}

/* Both ends go at once: each side learns by it what it would have learned from the other. */
static int stream_end(struct relay_stream *s, enum relay_end how, struct error *err)
{
	struct relay *r = s->relay;
	int k;

	k = how == RELAY_END_PROCESS ? 0 : tap_undelivered(s, err);
	stream_release(s);
	if (k == 0 && r->ops->ended)
		k = r->ops->ended(r->arg, s->number, how, s->bytes, err);
	return k < 0 ? k : drain_check(r, err);
}

/* What waits for the receiver is kept apart: the hub's chunk is for the next stream. */
static int keep_rest(struct relay_stream *s, const char *data, size_t len, struct error *err)
{
	s->rest = malloc(len);
	if (!s->rest)
		return error_oom(err);
	memcpy(s->rest, data, len);
	s->rest_pos = 0;
	s->rest_len = len;
	return 0;
}

/* Number of bytes taken, maybe 0; negative: the receiver is gone. */
static ssize_t deliver(struct relay_stream *s, const char *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = stdio_write(&s->to, data + done, len - done);

		if (n == -EAGAIN) {
			s->full = true;
			break;
		}
		if (n < 0)
			return n;
		done += (size_t)n;
		s->bytes += (size_t)n;
	}
	return (ssize_t)done;
}

/* 1: go on; 0: not now, or the stream has ended. */
static int flush_rest(struct relay_stream *s, struct error *err)
{
	ssize_t n;

	if (!s->rest)
		return 1;
	n = deliver(s, s->rest + s->rest_pos, waiting(s));
	if (n < 0)
		return stream_end(s, RELAY_END_ENGINE, err);
	s->rest_pos += (size_t)n;
	if (waiting(s) > 0)
		return 0;
	free(take_ptr(s->rest));
	return 1;
}

static int copy_chunk(struct relay_stream *s, struct error *err)
{
	char *chunk = s->relay->hub->chunk;
	ssize_t n, sent;
	int k;

	n = stdio_read(&s->from, chunk, RELAY_CHUNK);
	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return stream_end(s, RELAY_END_PROCESS, err);
	k = tap_chunk(s, chunk, (size_t)n, err);
	if (k < 0)
		return k;
	sent = deliver(s, chunk, (size_t)n);
	if (sent < 0)
		return stream_end(s, RELAY_END_ENGINE, err);
	if (sent < n)
		return keep_rest(s, chunk + sent, (size_t)(n - sent), err);
	/* Less than there is room for: it was empty, and asking again would only cost. */
	return (size_t)n == RELAY_CHUNK;
}

static int splice_chunk(struct relay_stream *s, struct error *err)
{
	ssize_t n = stdio_splice(&s->from, &s->to, SPLICE_MAX);
	int left = 0;

	if (n == -EAGAIN) {
		/* Empty or full: who is to be waited for? */
		s->full = ioctl(s->from.fd, FIONREAD, &left) == 0 && left > 0;
		return 0;
	}
	if (n < 0)
		return stream_end(s, RELAY_END_ENGINE, err);
	if (n == 0)
		return stream_end(s, RELAY_END_PROCESS, err);
	s->bytes += (uint64_t)n;
	return (size_t)n >= RELAY_CHUNK;
}

/* Watches what can be the next step, and the receiver's end where that cannot be undone. */
static int stream_watch(struct relay_stream *s, struct error *err)
{
	struct evloop *l = s->relay->hub->loop;
	int r = 0;

	if (s->full || s->held)
		ev_del(l, &s->from_source);
	else if (s->from_source.fd < 0)
		r = ev_add(l, &s->from_source, s->from.fd, EPOLLIN, s->from_source.fn, s, err);
	if (r < 0)
		return r;
	if (!s->full && !s->ends_at_hangup)
		ev_del(l, &s->to_source);
	else if (s->to_source.fd < 0)
		return ev_add(l, &s->to_source, s->to.fd, s->full ? EPOLLOUT : 0, s->to_source.fn, s, err);
	else
		return ev_set(l, &s->to_source, s->full ? EPOLLOUT : 0, err);
	return 0;
}

static int stream_run(struct relay_stream *s, struct error *err)
{
	int i, r;

	r = flush_rest(s, err);
	for (i = 0; i < RELAY_ROUNDS && r > 0 && s->open && !s->held && !s->full; i++)
		r = !s->tapped && s->splices ? splice_chunk(s, err) : copy_chunk(s, err);
	if (r < 0)
		return r;
	r = s->open ? stream_watch(s, err) : 0;
	return r < 0 ? r : drain_check(s->relay, err);
}

static int from_ready(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err)
{
	return stream_run(source->arg, err);
}

static int to_ready(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err)
{
	struct relay_stream *s = source->arg;

	if ((events & (EPOLLERR | EPOLLHUP)) && s->ends_at_hangup)
		return stream_end(s, RELAY_END_ENGINE, err);
	s->full = false;
	return stream_run(s, err);
}

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
			.from_source = { .fd = -EBADF, .fn = from_ready },
			.to_source = { .fd = -EBADF, .fn = to_ready },
		};
}

void relay_done(struct relay *r)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(r->streams); i++)
		if (r->streams[i].open)
			stream_release(&r->streams[i]);
	ev_timer_done(r->hub->loop, &r->drain_timer);
	r->draining = false;
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
	k = stream_watch(s, err);
	if (k < 0)
		stream_release(s);
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
			k = stream_watch(&r->streams[i], err);
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

		if (s->open && ioctl(s->from.fd, FIONREAD, &left) < 0)
			return error_set(err, -errno, "ask how much output is left");
		s->drain_bytes = s->bytes + waiting(s) + (uint64_t)left;
	}
	k = ev_timer_init(r->hub->loop, &r->drain_timer, CLOCK_BOOTTIME, drain_timeout, r, err);
	if (k == 0)
		k = ev_timer_at(&r->drain_timer, deadline_ns, err);
	if (k < 0)
		return k;
	r->draining = true;
	return drain_check(r, err);
}

int relay_close(struct relay *r, struct error *err)
{
	size_t i;
	int k = 0;

	for (i = 0; i < ELEMENTSOF(r->streams) && k >= 0; i++)
		if (r->streams[i].open)
			k = stream_end(&r->streams[i], RELAY_END_CUT, err);
	return k;
}
