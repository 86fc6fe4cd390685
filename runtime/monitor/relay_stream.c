/*
 * One stream on the event loop. Level-triggered: a side that nothing is wanted from is
 * not watched, because a hang-up cannot be masked and would spin.
 */
#include "monitor/relay_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/cleanup.h"

/* Chunks of one stream before others get their turn. */
#define RELAY_ROUNDS 16
/* Bulk: moved from this much on, but for the last bytes, which are read for the tap. */
#define MOVE_MIN     ((size_t)16 * 1024)
#define MOVE_KEEP    ((size_t)8 * 1024)
/* So much moved: it is worth more room, and with it fewer turns, for all three. */
#define MOVE_WIDE    ((uint64_t)1 << 20)

size_t relay_stream_waiting(const struct relay_stream *s)
{
	return s->rest ? s->rest_len - s->rest_pos : 0;
}

int relay_drain_check(struct relay *r, struct error *err)
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

void relay_stream_release(struct relay_stream *s)
{
	ev_del(s->relay->hub->loop, &s->from_source);
	ev_del(s->relay->hub->loop, &s->to_source);
	stdio_end_done(&s->from);
	stdio_end_done(&s->to);
	free(take_ptr(s->rest));
	s->open = false;
}

int relay_stream_tap(struct relay_stream *s, const char *data, size_t len, struct error *err)
{
	const struct relay *r = s->relay;
	uint64_t skipped = s->skipped;
	int k = 0;

	if (!s->tapped)
		return 0;
	s->skipped = 0;
	if (skipped > 0 && r->ops->skip)
		k = r->ops->skip(r->arg, s->number, skipped, err);
	if (k == 0)
		k = r->ops->tap(r->arg, s->number, data, len, err);
	s->enough |= k == RELAY_TAP_ENOUGH;
	return k < 0 ? k : 0;
}

/* What was written and now reaches nobody was written all the same; not so input that is not taken. */
static int tap_undelivered(struct relay_stream *s, struct error *err)
{
	char *chunk = s->relay->hub->chunk;
	int i, r = 0;

	for (i = 0; i < RELAY_ROUNDS && s->tapped && r == 0; i++) {
		ssize_t n = stdio_read(&s->from, chunk, RELAY_CHUNK);

		if (n <= 0)
			break;
		r = relay_stream_tap(s, chunk, (size_t)n, err);
	}
	return r;
}

/* Both ends go at once: each side learns by it what it would have learned from the other. */
int relay_stream_end(struct relay_stream *s, enum relay_end how, struct error *err)
{
	struct relay *r = s->relay;
	bool known = s->finished;
	int k;

	k = how == RELAY_END_PROCESS || known || s->number == 0 ? 0 : tap_undelivered(s, err);
	relay_stream_release(s);
	if (k == 0 && r->ops->ended && !known)
		k = r->ops->ended(r->arg, s->number, how, s->bytes, err);
	if (k == 0 && known && r->ops->delivered && !relay_is_open(r))
		k = r->ops->delivered(r->arg, err);
	return k < 0 ? k : relay_drain_check(r, err);
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

/* Number of bytes taken, maybe 0; negative: see receiver_failed(). */
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

/* A receiver may go, and that ends the stream. After any other failure what was written would be lost without a word. */
static int receiver_failed(struct relay_stream *s, ssize_t n, struct error *err)
{
	if (n == 0 || n == -EPIPE || n == -ECONNRESET || n == -ENOTCONN)
		return relay_stream_end(s, RELAY_END_ENGINE, err);
	return error_set(err, (int)n, s->number > 0 ? "write to the engine what a process wrote" :
						       "write to a process what the engine sent");
}

/* 1: go on; 0: not now, or the stream has ended. */
static int flush_rest(struct relay_stream *s, struct error *err)
{
	ssize_t n;

	if (!s->rest)
		return 1;
	n = deliver(s, s->rest + s->rest_pos, relay_stream_waiting(s));
	if (n < 0)
		return receiver_failed(s, n, err);
	s->rest_pos += (size_t)n;
	if (relay_stream_waiting(s) > 0)
		return 0;
	free(take_ptr(s->rest));
	return s->finished ? relay_stream_end(s, RELAY_END_PROCESS, err) : 1;
}

static int copy_chunk(struct relay_stream *s, struct error *err)
{
	char *chunk = s->relay->hub->chunk;
	ssize_t n, sent;
	int k;

	n = stdio_read(&s->from, chunk, RELAY_CHUNK);
	if (n == -EAGAIN)
		return 0;
	/* What a process wrote is not dropped in silence. A terminal's end, and an engine's, are errors, too. */
	if (n < 0 && s->number > 0 && n != -EIO && n != -ECONNRESET)
		return error_set(err, (int)n, "read what a process wrote");
	if (n <= 0)
		return relay_stream_end(s, RELAY_END_PROCESS, err);
	k = relay_stream_tap(s, chunk, (size_t)n, err);
	if (k < 0)
		return k;
	sent = deliver(s, chunk, (size_t)n);
	if (sent < 0)
		return receiver_failed(s, sent, err);
	if (sent < n)
		return keep_rest(s, chunk + sent, (size_t)(n - sent), err);
	/* Less than there is room for: it was empty, and asking again would only cost. */
	return (size_t)n == RELAY_CHUNK;
}

/* 1: moved; 0: not now; RELAY_E_COPY: not enough for it, so the next step is a copy. */
enum { RELAY_E_COPY = 2 };
static int move_bulk(struct relay_stream *s, struct error *err)
{
	size_t keep = s->tapped ? MOVE_KEEP : 0;
	int left = 0;
	ssize_t n;

	if (!s->splices || (s->tapped && !s->enough) || ioctl(s->from.fd, FIONREAD, &left) < 0 ||
	    (size_t)left < keep + MOVE_MIN)
		return RELAY_E_COPY;
	n = stdio_splice(&s->from, &s->to, (size_t)left - keep);
	s->full = n == -EAGAIN;
	if (s->full)
		return 0;
	if (n <= 0)
		return receiver_failed(s, n, err);
	s->bytes += (uint64_t)n;
	s->skipped += (uint64_t)n;
	s->moved += (uint64_t)n;
	if (s->moved >= MOVE_WIDE && !s->wide) {
		s->wide = true;
		stdio_widen(&s->from);
		stdio_widen(&s->to);
	}
	return 1;
}

/* Watches what can be the next step, and the receiver's end where that cannot be undone. */
int relay_stream_watch(struct relay_stream *s, struct error *err)
{
	struct evloop *l = s->relay->hub->loop;
	int r = 0;

	if (s->full || s->held)
		ev_del(l, &s->from_source);
	else if (s->from_source.fd < 0 && s->from.fd >= 0)
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

int relay_stream_run(struct relay_stream *s, struct error *err)
{
	int i, r;

	r = flush_rest(s, err);
	for (i = 0; i < RELAY_ROUNDS && r > 0 && s->open && !s->held && !s->full; i++) {
		r = move_bulk(s, err);
		if (r == RELAY_E_COPY)
			r = copy_chunk(s, err);
	}
	if (r < 0)
		return r;
	r = s->open ? relay_stream_watch(s, err) : 0;
	return r < 0 ? r : relay_drain_check(s->relay, err);
}

int relay_from_ready(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err)
{
	return relay_stream_run(source->arg, err);
}

int relay_to_ready(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err)
{
	struct relay_stream *s = source->arg;

	if ((events & (EPOLLERR | EPOLLHUP)) && s->ends_at_hangup)
		return relay_stream_end(s, RELAY_END_ENGINE, err);
	s->full = false;
	return relay_stream_run(s, err);
}
