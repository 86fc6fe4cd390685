/*
 * The relay of one terminal session: between the master of the container's pty and the
 * slave of the engine's, so that both sides see one terminal. Bytes, modes that the engine
 * sets, and ends go through here; the window's size goes through the session's helper
 * (agentrun-tty), which alone is told of it by a signal, and which reports it here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/relay.h"
#include "os/tty_relay.h"
#include "util/evloop.h"

#define RELAY_TTY_CHUNK ((size_t)4096)

/* What a helper says. */
struct relay_window {
	uint16_t rows, cols;
};

/* Called from within the loop. None may call relay_tty_done(). */
struct relay_tty_ops {
	/* Bytes of the terminal's output, as they were read. Negative ends the loop. */
	int (*tap)(void *arg, const void *data, size_t len, struct error *err);
	/* Bytes that were typed; hidden: while the terminal did not show them. May be NULL. */
	int (*typed)(void *arg, const void *data, size_t len, bool hidden, struct error *err);
	int (*window)(void *arg, const struct relay_window *w, struct error *err);
	int (*ended)(void *arg, enum relay_end how, uint64_t bytes, struct error *err);
	/* The answer to relay_tty_drain(). */
	int (*drained)(void *arg, struct error *err);
	/* After relay_tty_finish(): everything has been delivered, or has nobody to go to. */
	int (*delivered)(void *arg, struct error *err);
};

struct relay_tty_half {
	char *data; /* malloc'ed, RELAY_TTY_CHUNK bytes, or more after relay_tty_finish() */
	size_t pos, len;
};

struct relay_tty {
	struct evloop *loop;
	const struct relay_tty_ops *ops;
	void *arg;
	bool open;
	bool hung;     /* nobody has the container's terminal open at the moment */
	bool over;     /* the session's leader has ended: what hangs up now stays so */
	bool draining;
	bool finished; /* only what waits for the engine is still to be delivered */
	int inner, outer, helper;
	struct tty_mirror mirror;
	struct ev_source inner_source, outer_source, helper_source;
	struct ev_timer look; /* while hung */
	struct relay_tty_half out, in;
	uint64_t bytes; /* of output */
};

/*
 * Takes the three descriptors, also on failure: master of the container's pty and slave of
 * the engine's, both with O_NONBLOCK, and the helper's socket. Lives at a fixed address until
 * relay_tty_done().
 */
int relay_tty_start(struct relay_tty *t, struct evloop *loop, const struct relay_tty_ops *ops, void *arg, int fds[3],
		    struct error *err);
/* The leader has ended: drained follows when what it had written is out. May call back before it returns. */
int relay_tty_drain(struct relay_tty *t, struct error *err);
/* All processes are gone: takes in what they left, says ended, and goes on delivering. */
int relay_tty_finish(struct relay_tty *t, struct error *err);
void relay_tty_done(struct relay_tty *t);
