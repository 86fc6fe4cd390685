/*
 * The unprivileged half of the exec audit: one container's ring, read on the monitor's loop.
 * Works with the two descriptors of struct audit_trace_bound alone: mmap(2) and epoll(7), no
 * bpf(2), so a process without capabilities can use it under a filter once it is open.
 *
 * The kernel wakes the reader for the first record after a pause and when a quarter of the
 * ring is full; a timer collects what comes in between. An idle container costs nothing.
 */
#pragma once

#include "audit/audit_trace_decode.h"
#include "audit/audit_trace_ring.h"
#include "util/evloop.h"

/* Records handled in one turn of the loop, so that other sources have theirs too. */
#define AUDIT_TRACE_TURN 256

/*
 * Called for each record, and with rec NULL for an AUDIT_LOST event. A negative result ends
 * the reading and is returned to the loop; err is set then.
 */
typedef int (*audit_trace_fn)(void *userdata, const struct audit_event *event,
			      const struct audit_trace_record *rec, struct error *err);

struct audit_trace_totals {
	uint64_t received, execs, exits;
	uint64_t lost, killed; /* as the kernel counted them and the callback was told */
	uint64_t strays;       /* not decodable, or of another container: an error */
};

struct audit_trace_reader {
	struct audit_trace_ring ring;
	const volatile struct audit_counters *counters;
	uint64_t cgroup;
	uint32_t generation;
	struct audit_trace_totals totals;
	audit_trace_fn fn;
	void *userdata;
	struct ev_source source;
	struct ev_timer timer;
	struct audit_trace_record record;
};

/*
 * ring must stay open until audit_trace_reader_done(); counters is not needed any more. Lives
 * at a fixed address.
 */
int audit_trace_reader_open(struct audit_trace_reader *r, int ring, int counters, audit_trace_fn fn,
			    void *userdata, struct error *err);
/* Puts it on a loop. ring: the same. */
int audit_trace_reader_add(struct audit_trace_reader *r, struct evloop *loop, int ring,
			   struct error *err);
/* Everything that is there now: when something has ended that was recorded before. */
int audit_trace_drain(struct audit_trace_reader *r, struct error *err);
/*
 * The same when the container has no process any more, and then a last AUDIT_LOST event if
 * not every record there ever was is received or has been told as lost.
 */
int audit_trace_finish(struct audit_trace_reader *r, struct error *err);
/* Programs of the container that were executed and recorded or not: at least 1 once init runs. */
uint64_t audit_trace_reader_seen(const struct audit_trace_reader *r);
/* loop: the one it was added to, or NULL. */
void audit_trace_reader_done(struct audit_trace_reader *r, struct evloop *loop);
