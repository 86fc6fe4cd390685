/* The event loop: sources, removal inside a batch, timers, failures of callbacks. */
#include "util/evloop.h"

#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

struct seen {
	int calls;
	uint32_t events;
	struct ev_source *victim;
	int result;
};

static int on_event(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct seen *seen = s->arg;

	seen->calls++;
	seen->events = events;
	if (seen->victim)
		ev_del(l, seen->victim);
	return seen->result < 0 ? error_text(err, seen->result, "as told") : 0;
}

static int on_timer(struct evloop *l, struct ev_timer *t, struct error *err)
{
	int *count = t->arg;

	if (++*count == 2)
		evloop_stop(l);
	else
		return ev_timer_at(t, ev_now(CLOCK_BOOTTIME) + 1000000, err);
	return 0;
}

static void test_sources(void)
{
	struct seen a = { 0 }, b = { 0 };
	struct ev_source sa = EV_SOURCE_NULL, sb = EV_SOURCE_NULL;
	struct error err = ERROR_NULL;
	struct evloop l;
	int pa[2], pb[2];

	is_int(evloop_init(&l, &err), 0, "loop opens");
	ok(pipe(pa) == 0 && pipe(pb) == 0, "two pipes");
	is_int(ev_add(&l, &sa, pa[0], EPOLLIN, on_event, &a, &err), 0, "first source");
	is_int(ev_add(&l, &sb, pb[0], EPOLLIN, on_event, &b, &err), 0, "second source");
	is_int(evloop_step(&l, 0, &err), 0, "nothing to do");
	is_int(a.calls + b.calls, 0, "no callback without an event");

	ok(write(pa[1], "x", 1) == 1 && write(pb[1], "x", 1) == 1, "both become readable");
	a.victim = &sb;
	b.victim = &sa;
	is_int(evloop_step(&l, 0, &err), 0, "one batch");
	is_int(a.calls + b.calls, 1, "a source removed in the batch is not called any more");
	a.victim = b.victim = NULL;
	ev_del(&l, &sa);
	ev_del(&l, &sb);
	is_int(evloop_step(&l, 0, &err), 0, "removed twice is harmless");
	is_int(a.calls + b.calls, 1, "and nobody is called");

	a.calls = 0;
	a.result = -EPROTO;
	is_int(ev_add(&l, &sa, pa[0], EPOLLIN, on_event, &a, &err), 0, "added again");
	is_int(evloop_run(&l, &err), -EPROTO, "a callback's failure ends the run");
	is_str(err.text, "as told", "with its text");
	a.result = 0;
	is_int(ev_set(&l, &sa, 0, &err), 0, "waits for nothing");
	is_int(evloop_step(&l, 0, &err), 0, "step");
	is_int(a.calls, 1, "a readable source that waits for nothing is quiet");
	(void)close(pa[1]);
	is_int(evloop_step(&l, 0, &err), 0, "step");
	ok(a.calls == 2 && (a.events & EPOLLHUP), "but the hang-up is reported");
	evloop_done(&l);
}

static void test_timers(void)
{
	struct ev_timer t = EV_TIMER_NULL;
	struct error err = ERROR_NULL;
	struct evloop l;
	uint64_t before;
	int count = 0;

	is_int(evloop_init(&l, &err), 0, "loop opens");
	is_int(ev_timer_init(&l, &t, CLOCK_BOOTTIME, on_timer, &count, &err), 0, "timer");
	is_int(evloop_step(&l, 5, &err), 0, "not armed");
	is_int(count, 0, "does not fire");
	is_int(ev_timer_at(&t, 0, &err), 0, "armed in the past");
	is_int(ev_timer_cancel(&t, &err), 0, "cancelled");
	is_int(evloop_step(&l, 5, &err), 0, "step");
	is_int(count, 0, "a cancelled timer does not fire");
	before = ev_now(CLOCK_BOOTTIME);
	is_int(ev_timer_at(&t, before + 2000000, &err), 0, "armed in 2 ms");
	ok(t.armed, "is armed");
	is_int(evloop_run(&l, &err), 0, "runs until stopped");
	is_int(count, 2, "fired, armed itself again, fired");
	ok(ev_now(CLOCK_BOOTTIME) - before >= 3000000, "not too early");
	ok(!t.armed, "one shot");
	ev_timer_done(&l, &t);
	ev_timer_done(&l, &t);
	is_int(t.source.fd, -EBADF, "done twice is harmless");
	evloop_done(&l);
}

int main(void)
{
	TAP_BEGIN();
	test_sources();
	test_timers();
	return TAP_END();
}
