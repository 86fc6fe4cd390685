/*
 * The output relay of a process of ours, from both sides: the pipes that it gets instead
 * of its engine's, and what the monitor is handed. For create, run and exec alike. Private
 * to runtime/container.
 */
#pragma once

#include "monitor/protocol.h"
#include "os/creds.h"
#include "os/stdio_relay.h"

struct streams {
	bool on;
	struct stdio_relay relay;
	/* instead, for a process with a terminal: the engine's one, and where the process sends its own */
	bool terminal;
	int outer_master, outer_slave, inner, engine_sock;
};

#define STREAMS_NULL                                                                                \
	((struct streams){ .relay = STDIO_RELAY_NULL,                                               \
			   .outer_master = -EBADF, .outer_slave = -EBADF, .inner = -EBADF,          \
			   .engine_sock = -EBADF })

/*
 * Nothing is relayed, and the log says why: tracing is forbidden, so nobody holds an exit until the output before it
 * is out, and an engine that stops reading then would lose the end.
 */
void streams_withhold(struct streams *s);
/* For the process that is made next, which would inherit our 0 to 2. */
int streams_make(struct streams *s, bool with_stdin, int proc_fd, struct error *err);
/*
 * With a terminal: makes the one that the engine gets. *console_sock is where the process will
 * send the master of its own; own_sock is where we get that without an engine, else -EBADF. Both
 * are exchanged or taken: afterwards what is sent to *console_sock comes here.
 */
int streams_make_terminal(struct streams *s, int *console_sock, int *own_sock, unsigned short rows,
			  unsigned short cols, struct error *err);
/*
 * When the process has sent its master: the engine is given the outer one, or, without an
 * engine, *ret_master is it.
 */
int streams_connect_terminal(struct streams *s, int *ret_master, struct error *err);
/* In the process, before it lets go of what is the host's. */
int streams_install(const struct streams *s, struct error *err);
/*
 * In the parent, when the process is there and its id maps are written: its ends are closed
 * here, and the pipes given to its user. in_userns: pid's is not ours.
 */
int streams_born(struct streams *s, int proc_fd, pid_t pid, bool in_userns, const struct creds *creds,
		 struct error *err);
/* Fills a STREAMS; *ret_n descriptors in fds, borrowed. Only when on. */
void streams_message(const struct streams *s, uint32_t number, struct link_msg *ret, int fds[LINK_FDS_MAX], size_t *ret_n);
void streams_done(struct streams *s);
