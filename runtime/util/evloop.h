/*
 * One epoll loop for the resident programs: sources and timers are embedded in their
 * owners, nothing is allocated while it runs. No threads, no signals of its own: a
 * signalfd is a source like any other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include "util/error.h"

#define EVLOOP_BATCH 16

struct evloop;
struct ev_source;

/* events: EPOLLIN … as reported. A negative result ends the loop, which returns it. */
typedef int (*ev_fn)(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err);

/* Lives in its owner, at a fixed address, from ev_add() to ev_del(). fd stays the owner's. */
struct ev_source {
	int fd; /* -EBADF = not added */
	ev_fn fn;
	void *arg; /* the owner */
	uint32_t events;
};

#define EV_SOURCE_NULL ((struct ev_source){ .fd = -EBADF })

struct evloop {
	int fd;
	bool stopping;
	struct epoll_event batch[EVLOOP_BATCH];
	int n_batch;
};

#define EVLOOP_NULL ((struct evloop){ .fd = -EBADF })

int evloop_init(struct evloop *l, struct error *err);
void evloop_done(struct evloop *l);
/* Until evloop_stop(), or until a callback fails. Returns 0 or that failure. */
int evloop_run(struct evloop *l, struct error *err);
/* One wait of at most timeout_ms (negative = for ever) and its callbacks. */
int evloop_step(struct evloop *l, int timeout_ms, struct error *err);
void evloop_stop(struct evloop *l);

/* Fills *s and adds it. events may be 0: only EPOLLERR and EPOLLHUP are reported then. */
int ev_add(struct evloop *l, struct ev_source *s, int fd, uint32_t events, ev_fn fn, void *arg, struct error *err);
/* Changes what is waited for. */
int ev_set(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err);
/* Removes it, also from the batch that is being dispatched; does not close fd. Harmless when not added. */
void ev_del(struct evloop *l, struct ev_source *s);

struct ev_timer;
typedef int (*ev_timer_fn)(struct evloop *l, struct ev_timer *t, struct error *err);

/* A one-shot timer, a timerfd of its own: few are needed, and it survives a suspend on CLOCK_BOOTTIME. */
struct ev_timer {
	struct ev_source source;
	ev_timer_fn fn;
	void *arg;
	bool armed;
};

#define EV_TIMER_NULL ((struct ev_timer){ .source = { .fd = -EBADF } })

/* clock: CLOCK_MONOTONIC or CLOCK_BOOTTIME. Not armed yet. */
int ev_timer_init(struct evloop *l, struct ev_timer *t, clockid_t clock, ev_timer_fn fn, void *arg, struct error *err);
/* At an absolute time of its clock in ns; in the past: at once. */
int ev_timer_at(struct ev_timer *t, uint64_t when_ns, struct error *err);
int ev_timer_cancel(struct ev_timer *t, struct error *err);
/* Also closes its descriptor. Harmless on EV_TIMER_NULL. */
void ev_timer_done(struct evloop *l, struct ev_timer *t);

/* Now, in ns. */
uint64_t ev_now(clockid_t clock);
