/*
 * Owns the reading of one ring: when to look, what to count, and the event for what was lost.
 */
#include "audit/audit_trace_reader.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

static int on_record(void *userdata, const void *data, size_t len, struct error *err)
{
	struct audit_trace_reader *r = userdata;
	struct audit_event event;

	r->totals.received++;
	if (audit_trace_decode(data, len, &r->record) < 0 || r->record.cgroup != r->cgroup ||
	    r->record.generation != r->generation) {
		r->totals.strays++;
		return error_text(err, -EBADMSG,
				  "exec audit: a record in the ring is not one of this container");
	}
	if (r->record.type == AUDIT_REC_EXEC)
		r->totals.execs++;
	else
		r->totals.exits++;
	audit_trace_event(&r->record, &event);
	return r->fn(r->userdata, &event, &r->record, err);
}

static int tell_lost(struct audit_trace_reader *r, uint64_t count, const char *detail, struct error *err)
{
	struct audit_event event;

	memset(&event, 0, sizeof(event));
	event.type = AUDIT_LOST;
	event.process = -1;
	event.lost.source = "exec";
	event.lost.count = count;
	event.lost.detail = detail;
	return r->fn(r->userdata, &event, NULL, err);
}

static int report_lost(struct audit_trace_reader *r, struct error *err)
{
	uint64_t lost = __atomic_load_n(&r->counters->lost, __ATOMIC_ACQUIRE) - r->totals.lost;
	uint64_t killed = __atomic_load_n(&r->counters->killed, __ATOMIC_RELAXED) - r->totals.killed;
	char detail[96];

	if (lost == 0)
		return 0;
	(void)snprintf(detail, sizeof(detail), "%llu programs were killed before their first instruction",
		       (unsigned long long)killed);
	r->totals.lost += lost;
	r->totals.killed += killed;
	return tell_lost(r, lost, killed ? detail : NULL, err);
}

/* Number of records, or a negative errno. */
static int read_some(struct audit_trace_reader *r, size_t max, struct error *err)
{
	int n = audit_trace_ring_read(&r->ring, on_record, r, max, err), lost;

	if (n < 0)
		return n;
	lost = report_lost(r, err);
	return lost < 0 ? lost : n;
}

/*
 * The kernel is silent for a while after it has woken us, so we look by ourselves until a
 * look finds nothing; by then it is ready to wake us again. Half of the time more than
 * its own: a record that it took for too early must be there when we look.
 */
static int look(struct audit_trace_reader *r, struct error *err)
{
	int n = read_some(r, AUDIT_TRACE_TURN, err);
	uint64_t now;

	if (n < 0)
		return n;
	if (n == 0 && audit_trace_ring_empty(&r->ring))
		return 0;
	now = ev_now(CLOCK_MONOTONIC);
	/* A record that is not complete yet (n 0 and not empty) will be so in microseconds. */
	if (n == AUDIT_TRACE_TURN)
		return ev_timer_at(&r->timer, now, err);
	return ev_timer_at(&r->timer, now + r->counters->wake_after_ns * 3 / 2, err);
}

static int on_ring(struct evloop *loop, struct ev_source *s, uint32_t events, struct error *err)
{
	struct audit_trace_reader *r = s->arg;

	/* Readable means not empty: one look is enough to make it quiet until the next wake-up. */
	return look(r, err);
}

static int on_timer(struct evloop *loop, struct ev_timer *t, struct error *err)
{
	return look(t->arg, err);
}

int audit_trace_reader_open(struct audit_trace_reader *r, int ring, int counters, audit_trace_fn fn,
			    void *userdata, struct error *err)
{
	void *page;
	int code;

	assert(ring >= 0 && counters >= 0 && fn);

	memset(r, 0, sizeof(*r));
	r->source = EV_SOURCE_NULL;
	r->timer = EV_TIMER_NULL;
	page = mmap(NULL, sizeof(struct audit_counters), PROT_READ, MAP_SHARED, counters, 0);
	if (page == MAP_FAILED)
		return error_set(err, -errno, "map the counters of the exec audit");
	code = audit_trace_ring_open(ring, &r->ring, err);
	if (code < 0) {
		(void)munmap(page, sizeof(struct audit_counters));
		return code;
	}
	r->counters = page;
	r->cgroup = r->counters->cgroup;
	r->generation = r->counters->generation;
	r->fn = fn;
	r->userdata = userdata;
	return 0;
}

int audit_trace_reader_add(struct audit_trace_reader *r, struct evloop *loop, int ring,
			   struct error *err)
{
	int code;

	assert(r->fn);

	code = ev_timer_init(loop, &r->timer, CLOCK_MONOTONIC, on_timer, r, err);
	if (code < 0)
		return code;
	code = ev_add(loop, &r->source, ring, EPOLLIN | EPOLLET, on_ring, r, err);
	/* What is there already woke nobody. */
	return code < 0 ? code : look(r, err);
}

int audit_trace_drain(struct audit_trace_reader *r, struct error *err)
{
	int n;

	do
		n = read_some(r, AUDIT_TRACE_TURN, err);
	while (n > 0);
	return n;
}

int audit_trace_finish(struct audit_trace_reader *r, struct error *err)
{
	uint64_t told, all;
	int code = audit_trace_drain(r, err);

	if (code < 0)
		return code;
	told = r->totals.received + r->totals.lost;
	all = __atomic_load_n(&r->counters->seq, __ATOMIC_ACQUIRE);
	if (told == all)
		return 0;
	r->totals.lost += all - told;
	return tell_lost(r, all - told, "nobody knows where they are", err);
}

uint64_t audit_trace_reader_seen(const struct audit_trace_reader *r)
{
	return __atomic_load_n(&r->counters->seq, __ATOMIC_ACQUIRE);
}

void audit_trace_reader_done(struct audit_trace_reader *r, struct evloop *loop)
{
	if (loop) {
		ev_del(loop, &r->source);
		ev_timer_done(loop, &r->timer);
	}
	audit_trace_ring_close(&r->ring);
	if (r->counters)
		(void)munmap((void *)r->counters, sizeof(*r->counters));
	r->counters = NULL;
}
