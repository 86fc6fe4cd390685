/*
 * Bytes in both directions on the event loop, and how a terminal comes to its end.
 */
#include "monitor/relay_tty.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Chunks before others get their turn. */
#define ROUNDS 16
/* How often to look whether a terminal that all processes closed was opened again. */
#define LOOK_NS UINT64_C(100000000)
/* More than a pty ever holds. */
#define FINISH_MAX ((size_t)256 * 1024)

static bool pending(const struct relay_tty_half *h)
{
	return h->pos < h->len;
}

static void tty_release(struct relay_tty *t)
{
	int *fds[] = { &t->inner, &t->outer, &t->helper };
	struct ev_source *sources[] = { &t->inner_source, &t->outer_source, &t->helper_source };
	size_t i;

	ev_timer_done(t->loop, &t->look);
	for (i = 0; i < ELEMENTSOF(fds); i++) {
		ev_del(t->loop, sources[i]);
		if (*fds[i] >= 0)
			(void)close(take_fd(fds[i]));
	}
	free(take_ptr(t->out.data));
	free(take_ptr(t->in.data));
	t->open = false;
}

static int drain_done(struct relay_tty *t, struct error *err)
{
	if (!t->draining)
		return 0;
	t->draining = false;
	return t->ops->drained(t->arg, err);
}

/* The container's side gets a hang-up, the engine's an end of file, as from one terminal. */
static int tty_end(struct relay_tty *t, enum relay_end how, struct error *err)
{
	bool known = t->finished;
	int r;

	if (!t->open)
		return 0;
	tty_release(t);
	r = known ? t->ops->delivered(t->arg, err) : t->ops->ended(t->arg, how, t->bytes, err);
	return r < 0 ? r : drain_done(t, err);
}

/* 0: all written, 1: the receiver is full, negative errno: EIO when it is gone. */
static int half_write(struct relay_tty_half *h, int fd)
{
	while (pending(h)) {
		ssize_t n = write(fd, h->data + h->pos, h->len - h->pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 1 : -errno;
		h->pos += (size_t)n;
	}
	return 0;
}

static ssize_t half_read(struct relay_tty_half *h, int fd)
{
	ssize_t n;

	do
		n = read(fd, h->data, RELAY_TTY_CHUNK);
	while (n < 0 && errno == EINTR);
	h->pos = 0;
	h->len = n > 0 ? (size_t)n : 0;
	return n < 0 ? -errno : n;
}

/* Everybody has closed it. Init may be about to open /dev/console again; a leader that ended is final. */
static int inner_hung(struct relay_tty *t, struct error *err)
{
	t->hung = true;
	if (t->over)
		return tty_end(t, RELAY_END_PROCESS, err);
	return ev_timer_at(&t->look, ev_now(CLOCK_MONOTONIC) + LOOK_NS, err);
}

/* Output: 1 when it stopped because there is no more for now. */
static int pump_out(struct relay_tty *t, struct error *err)
{
	int i, r;

	for (i = 0; i < ROUNDS; i++) {
		ssize_t n;

		if (pending(&t->out))
			tty_mirror_modes(&t->mirror, t->outer, t->inner);
		r = half_write(&t->out, t->outer);
		/* EIO is how a terminal says that its other side is closed. */
		if (r < 0 && r != -EIO)
			return error_set(err, r, "write to the engine's terminal what a process wrote");
		if (r < 0)
			return tty_end(t, RELAY_END_ENGINE, err);
		if (r > 0)
			return 0;
		if (t->finished)
			return tty_end(t, RELAY_END_PROCESS, err);
		n = half_read(&t->out, t->inner);
		if (n <= 0 && n != -EAGAIN)
			return inner_hung(t, err);
		t->hung = false;
		if (n < 0)
			return 1;
		t->bytes += (uint64_t)n;
		r = t->ops->tap(t->arg, t->out.data, (size_t)n, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int pump_in(struct relay_tty *t, struct error *err)
{
	ssize_t n;
	int r;

	if (!pending(&t->in)) {
		n = half_read(&t->in, t->outer);
		if (n == -EAGAIN)
			return 0;
		if (n <= 0)
			return tty_end(t, RELAY_END_ENGINE, err);
		tty_mirror_modes(&t->mirror, t->outer, t->inner);
		r = t->ops->typed ? t->ops->typed(t->arg, t->in.data, t->in.len, tty_hides_lines(t->inner), err) : 0;
		if (r < 0)
			return r;
	}
	/* A terminal that nobody has open takes nothing. */
	if (t->finished || half_write(&t->in, t->inner) < 0)
		t->in.pos = t->in.len;
	return 0;
}

static int watch_one(struct relay_tty *t, struct ev_source *s, int fd, uint32_t events, struct error *err)
{
	if (events == 0) {
		ev_del(t->loop, s);
		return 0;
	}
	return s->fd < 0 ? ev_add(t->loop, s, fd, events, s->fn, t, err) : ev_set(t->loop, s, events, err);
}

/* Level-triggered; a hang-up cannot be masked, so a side that nothing is wanted from is not watched. */
static int tty_watch(struct relay_tty *t, struct error *err)
{
	uint32_t inner = 0, outer = 0;
	int r = 0;

	if (!t->open)
		return 0;
	if (!t->hung && !t->finished)
		inner = (pending(&t->out) ? 0 : EPOLLIN) | (pending(&t->in) ? EPOLLOUT : 0);
	outer = (pending(&t->in) ? 0 : EPOLLIN) | (pending(&t->out) ? EPOLLOUT : 0);
	if (t->inner >= 0)
		r = watch_one(t, &t->inner_source, t->inner, inner, err);
	return r < 0 ? r : watch_one(t, &t->outer_source, t->outer, outer, err);
}

/* Both directions as far as they go, the answer to a drain, and what is next. */
static int tty_run(struct relay_tty *t, struct error *err)
{
	int r;

	r = pump_out(t, err);
	if (r > 0 && t->open && !pending(&t->out))
		r = drain_done(t, err);
	if (r >= 0 && t->open)
		r = pump_in(t, err);
	return r < 0 ? r : tty_watch(t, err);
}

static int on_look(struct evloop *l, struct ev_timer *timer, struct error *err)
{
	struct relay_tty *t = timer->arg;
	struct pollfd p = { .fd = t->inner, .events = POLLIN };

	if (poll(&p, 1, 0) > 0 && (p.revents & POLLHUP) && !(p.revents & POLLIN))
		return ev_timer_at(timer, ev_now(CLOCK_MONOTONIC) + LOOK_NS, err);
	t->hung = false;
	return tty_run(t, err);
}

static int on_either(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err)
{
	return tty_run(source->arg, err);
}

static int on_helper(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err)
{
	struct relay_tty *t = source->arg;
	struct relay_window w;
	ssize_t n = recv(t->helper, &w, sizeof(w), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == (ssize_t)sizeof(w))
		return t->ops->window(t->arg, &w, err);
	/* The engine has hung up, as its terminal says too; or the helper is lost: no half a session goes on. */
	ev_del(l, source);
	n = tty_run(t, err);
	return n < 0 ? (int)n : tty_end(t, RELAY_END_CUT, err);
}

int relay_tty_start(struct relay_tty *t, struct evloop *loop, const struct relay_tty_ops *ops, void *arg, int fds[3],
		    struct error *err)
{
	int r;

	*t = (struct relay_tty){
		.loop = loop,
		.ops = ops,
		.arg = arg,
		.open = true,
		.inner = take_fd(&fds[0]),
		.outer = take_fd(&fds[1]),
		.helper = take_fd(&fds[2]),
		.inner_source = { .fd = -EBADF, .fn = on_either },
		.outer_source = { .fd = -EBADF, .fn = on_either },
		.helper_source = EV_SOURCE_NULL,
		.look = EV_TIMER_NULL,
	};
	t->out.data = malloc(RELAY_TTY_CHUNK);
	t->in.data = malloc(RELAY_TTY_CHUNK);
	r = t->out.data && t->in.data ? tty_mirror_init(&t->mirror, t->outer, err) : error_oom(err);
	/* The engine has hung up already: a session that is over, and no fault of ours. */
	if (r == -EIO)
		return tty_end(t, RELAY_END_ENGINE, err);
	if (r == 0)
		r = ev_timer_init(loop, &t->look, CLOCK_MONOTONIC, on_look, t, err);
	if (r == 0)
		r = ev_add(loop, &t->helper_source, t->helper, EPOLLIN, on_helper, t, err);
	if (r == 0)
		r = tty_watch(t, err);
	if (r < 0) {
		tty_release(t);
		return r;
	}
	tty_mirror_modes(&t->mirror, t->outer, t->inner);
	return 0;
}

int relay_tty_drain(struct relay_tty *t, struct error *err)
{
	assert(t->open && !t->draining);
	t->over = t->draining = true;
	return t->hung ? tty_end(t, RELAY_END_PROCESS, err) : tty_run(t, err);
}

int relay_tty_finish(struct relay_tty *t, struct error *err)
{
	size_t old = t->out.len - t->out.pos;
	char *all = malloc(FINISH_MAX + RELAY_TTY_CHUNK);
	ssize_t n = 1;
	int r = 0;

	if (!all)
		return error_oom(err);
	memcpy(all, t->out.data + t->out.pos, old);
	free(t->out.data);
	t->out = (struct relay_tty_half){ .data = all, .len = old };
	while (r == 0 && n > 0 && t->out.len < FINISH_MAX) {
		n = read(t->inner, all + t->out.len, RELAY_TTY_CHUNK);
		if (n <= 0)
			break;
		r = t->ops->tap(t->arg, all + t->out.len, (size_t)n, err);
		t->out.len += (size_t)n;
		t->bytes += (size_t)n;
	}
	if (r == 0)
		r = t->ops->ended(t->arg, RELAY_END_PROCESS, t->bytes, err);
	if (r < 0)
		return r;
	t->finished = true;
	ev_del(t->loop, &t->inner_source);
	return tty_run(t, err);
}

void relay_tty_done(struct relay_tty *t)
{
	if (t->open)
		tty_release(t);
}
