/*
 * The output relay: what a process writes is read once, and the same bytes go to the
 * engine and to a tap (the audit log). It changes nothing that either side could see:
 *
 *   process ──► pipe ──► one chunk ──► engine's pipe      the engine does not read: the process waits
 *                            └──► tap
 *
 * A stream ends for one side when it ends for the other: the engine's reader gone means
 * EPIPE for the process at its next write, the process's end of file is the engine's.
 * Needs no privilege; SIGPIPE must be ignored. Knows no container and no log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/stdio_relay.h"
#include "util/error.h"
#include "util/evloop.h"

#define RELAY_CHUNK ((size_t)64 * 1024) /* the most that is ever held of a stream */

struct relay;

enum relay_tap {
	RELAY_TAP_MORE = 0,
	/*
	 * From here what comes in bulk may be moved without a copy, which skip tells of. The end
	 * of it and whatever comes in small pieces is tapped still: a log can keep its tail.
	 */
	RELAY_TAP_ENOUGH = 1,
};

enum relay_end {
	RELAY_END_PROCESS, /* the process's side was closed, all has been delivered */
	RELAY_END_ENGINE,  /* the engine's side takes no more */
	RELAY_END_CUT,	   /* by relay_close() */
};

/* Called from within the loop. None may call relay_done(): relay_is_open() tells later. */
struct relay_ops {
	/*
	 * Bytes as they were read; stream: 0 to 2 (1 where 2 is the same). They are on their way to
	 * the engine, whatever this returns: enum relay_tap, or negative, which ends the loop.
	 */
	int (*tap)(void *arg, unsigned stream, const void *data, size_t len, struct error *err);
	/* That many bytes went by unread before what is tapped next. May be NULL. */
	int (*skip)(void *arg, unsigned stream, uint64_t bytes, struct error *err);
	/* The last word on a stream; bytes: all that passed, tapped or not. May be NULL. */
	int (*ended)(void *arg, unsigned stream, enum relay_end how, uint64_t bytes, struct error *err);
	/* The answer to relay_drain(). whole: nothing is left that the process had written. */
	int (*drained)(void *arg, bool whole, struct error *err);
	/* After relay_finish(): everything has been delivered, or has nobody to go to. May be NULL. */
	int (*delivered)(void *arg, struct error *err);
};

/* One for all relays of a loop: a chunk is only kept apart while its reader is slow. */
struct relay_hub {
	struct evloop *loop;
	char chunk[RELAY_CHUNK];
};

struct relay_stream {
	struct relay *relay;
	unsigned number;
	bool open, tapped;
	bool enough; /* said the tap */
	bool splices;
	bool wide; /* its pipes were given more room */
	bool held; /* by relay_hold() */
	bool full; /* the receiver takes nothing for now */
	bool ends_at_hangup;
	bool finished; /* by relay_finish(): only what waits is still to be delivered */
	struct stdio_end from, to;
	struct ev_source from_source, to_source;
	char *rest; /* of a chunk, malloc'ed; NULL: nothing waits */
	size_t rest_pos, rest_len;
	uint64_t skipped;     /* moved and not yet told */
	uint64_t moved;
	uint64_t bytes;	      /* delivered */
	uint64_t drain_bytes; /* delivered when it counts as drained */
};

/* The streams of one process. Lives at a fixed address from relay_init() to relay_done(). */
struct relay {
	struct relay_hub *hub;
	const struct relay_ops *ops;
	void *arg;
	struct relay_stream streams[3];
	struct ev_timer drain_timer;
	bool draining;
};

void relay_init(struct relay *r, struct relay_hub *hub, const struct relay_ops *ops, void *arg);
/* Closes what is still open, without calls to ops. */
void relay_done(struct relay *r);
/*
 * Starts relaying stream 0 to 2, from -> to; both are taken, also on failure. tapped false: the
 * bytes are only counted.
 */
int relay_add(struct relay *r, unsigned stream, struct stdio_end *from, struct stdio_end *to, bool tapped,
	      struct error *err);
/* Whether any stream is open. */
bool relay_is_open(const struct relay *r);
/* No reading while held: the process waits, as it would for a slow engine. For a tap whose log stalls. */
int relay_hold(struct relay *r, bool held, struct error *err);
/*
 * The process has ended: ops->drained is called once, when everything that was written to its
 * output until now has been delivered (or has nobody to go to), or at deadline_ns of
 * CLOCK_BOOTTIME. What others write later, a grandchild say, is not waited for, and is still
 * relayed. May call back before it returns.
 */
int relay_drain(struct relay *r, uint64_t deadline_ns, struct error *err);
/*
 * All processes are gone: takes in what they left, to the tap too, says ended for all streams,
 * and goes on delivering; relay_is_open() until that is done.
 */
int relay_finish(struct relay *r, struct error *err);
/* Ends all streams at once, for both sides, whatever waits. */
int relay_close(struct relay *r, struct error *err);
