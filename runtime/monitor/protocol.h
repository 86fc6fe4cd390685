/*
 * The conversations of the resident programs, all over SOCK_SEQPACKET, one fixed-size
 * message at a time:
 *
 *   creator ── socket pair ──► supervisor      SETUP, CONTAINER, COMMIT; answers READY, OK
 *   any command ── control.sock ──► supervisor START, EXEC, PROCESS, PAUSE, RESUME, UPDATE, EGRESS, STATUS
 *   supervisor ◄── socket pair ──► monitor     BEGIN, ADOPT, LISTENER, STREAMS, DRAIN, EXITED, EGRESS, END; READY, DRAINED, FAILED
 *   monitor ── socket of an EGRESS ──► command OK, ERROR: the one answer that is not passed on
 *   a process, until its execve ── socket pair ──► monitor   one byte with the listener of its filter
 *
 * A table says who may send what, how often and with how many descriptors. Anything
 * else, and every end of file before its time, is the other side's death.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/audit.h"
#include "state/state.h"
#include "util/error.h"

#define LINK_VERSION 2
#define LINK_FDS_MAX 8
#define MONITOR_CGROUP	  "agentrun" /* where the resident programs live, at the top of each hierarchy */
#define LINK_APART	  "apart" /* argument of both: move there */
#define LINK_CONTROL_FILE STATE_CONTROL_FILE

enum link_peer {
	LINK_CREATOR = 1u << 0, /* create and run, over the pair they made */
	LINK_COMMAND = 1u << 1, /* any command, over control.sock */
	LINK_SUPERVISOR = 1u << 2,
	LINK_MONITOR = 1u << 3,
};

enum link_type {
	LINK_SETUP = 1, /* fds: the state folder, whose record names the cgroup; the conversation with the monitor; its pidfd */
	LINK_BEGIN, /* fd: the state folder, for the monitor */
	LINK_CONTAINER, /* pid, fds: its pidfd and its network namespace; where its filter's listener will come from */
	LINK_COMMIT, /* the container outlives its creator */
	LINK_START, /* look at init at its execve, and start the clock */
	LINK_EXEC, /* a process will be added: its number and cgroup are the answer */
	LINK_PROCESS, /* number, pid, fds: pidfd; as for CONTAINER; what it must be at its execve */
	LINK_PAUSE,
	LINK_RESUME,
	LINK_UPDATE, /* limit_ns: a new time limit for the container, which can only be shorter */
	LINK_EGRESS, /* number: what; fds: monitor.json as it is now, and a socket for the monitor's answer */
	LINK_STATUS,
	LINK_STREAMS, /* number, streams: relay them; fds as the flags say */
	LINK_ADOPT, /* pid, fd: network namespace */
	LINK_LISTENER, /* number, fd: where the listener of the process's filter will come from */
	LINK_DRAIN, /* number, pid: it has ended, answer when all its output is out */
	LINK_DRAINED, /* number */
	LINK_EXITED, /* number, how it ended: for the log */
	LINK_BORN, /* number, pid: its execve was seen */
	LINK_NOTE, /* text and number: an operation on the container and its signal, for the log */
	LINK_DESCRIBE, /* number, text, length: argv of an exec, as much of it as has room */
	LINK_EXPIRED, /* number, limit_ns, flags: a deadline, its warning or its end */
	LINK_WARNING, /* text: what the supervisor could not do, for the log */
	LINK_LOG, /* fd: where the log goes on */
	LINK_PART, /* number: the log wants that part */
	LINK_HEAD, /* head: where the log stands; flags: whether it is closed */
	LINK_BOUND, /* ring: what must be given back when the container is over */
	LINK_END, /* nothing follows: close the log */
	LINK_FAILED, /* error: a control cannot be kept up, end the container */
	LINK_READY,
	LINK_OK,
	LINK_ERROR, /* error: the answer to what could not be done */
	_LINK_TYPE_MAX,
};

/* What of monitor.json has changed. */
#define LINK_EGRESS_RULES   0 /* they are narrower */
#define LINK_EGRESS_SERVERS 1 /* name servers, before the start */

/* Flags. */
#define LINK_F_FOREGROUND (1u << 0) /* EXEC: its client's end is its own */
#define LINK_F_PAUSED     (1u << 1) /* STATUS */
#define LINK_F_STARTED    (1u << 2) /* STATUS */
#define LINK_F_TERMINAL   (1u << 3) /* STREAMS: one pty pair instead of pipes */
#define LINK_F_UNTRACED   (1u << 4) /* tracing is forbidden here: watched by its pidfd alone */
#define LINK_F_FINAL      (1u << 6) /* EXPIRED: it was killed; HEAD: the closing record is written */
#define LINK_F_CUT        (1u << 7) /* DESCRIBE: there was more */
#define LINK_F_CGROUP     (1u << 5) /* EXEC: it wants a cgroup of its own; the answer: fd follows */
#define LINK_F_OOM        (1u << 8) /* DRAINED: the OOM killer had chosen it */
#define LINK_F_SPARED     (1u << 9) /* DRAINED: somebody else killed it */

/*
 * One stream that the monitor relays: the descriptors follow in this order, reading end first. A
 * terminal instead brings two: the master of the container's pty and the slave of the engine's.
 */
struct link_stream {
	uint8_t from, to; /* index of the message's descriptors */
	uint8_t name; /* 0, 1, 2 as inside; 3 = 1 and 2 together */
	uint8_t kind; /* enum stdio_kind; from and to LINK_NO_FD: of that kind, and so not relayed */
};
#define LINK_NO_FD 255
#define LINK_STREAMS_MAX 3

struct link_exit {
	int32_t status; /* as wait(2) */
	uint32_t reason; /* enum exit_reason */
	uint64_t memory_peak, pids_peak, cpu_ns, wall_ns; /* 0 = unknown */
	uint64_t oom_kills, pids_refused;
	uint64_t unrecorded; /* DRAINED: programs of the container that were killed because they could not be recorded */
};

/* Of the exec audit: struct audit_trace_bound without its descriptors. */
struct link_ring {
	uint64_t cgroup;
	uint32_t slot, generation;
};

struct link_msg {
	uint32_t version, type; /* enum link_type */
	uint32_t number; /* 0 = init, else of an exec */
	int32_t pid; /* as the host sees it */
	uint32_t flags;
	uint32_t n_streams;
	uint32_t length; /* DESCRIBE: bytes of text */
	uint32_t uid, gid; /* DESCRIBE */
	uint64_t limit_ns, left_ns; /* durations; UINT64_MAX = none */
	union {
		struct error error;
		struct state_expect expect;
		struct link_stream streams[LINK_STREAMS_MAX];
		struct link_exit exit;
		struct link_ring ring;
		struct audit_head head;
		char text[ERROR_TEXT_MAX];
	};
};

/* One end of a conversation. */
struct link {
	int fd;
	unsigned self, peer; /* enum link_peer */
	uint32_t seen[_LINK_TYPE_MAX]; /* how often a type was received */
};

#define LINK_NULL ((struct link){ .fd = -EBADF })

enum { LINK_E_CLOSED = 1 };

const char *link_type_name(unsigned type);
/* A pair for a creator and a supervisor, or for a supervisor and a monitor. */
int link_pair(int ret_socks[2], struct error *err);
/* Fills version; a message that the table forbids is a programmer's error. */
int link_send(const struct link *l, struct link_msg *msg, const int *fds, size_t n_fds, struct error *err);
int link_send_type(const struct link *l, enum link_type type, uint32_t number, struct error *err);
/* Failures are ignored, because this is the failure path. */
void link_send_error(const struct link *l, enum link_type type, uint32_t number, const struct error *e);
/*
 * Receives one message that the table allows, with exactly its descriptors (caller closes;
 * unused slots are -EBADF). LINK_E_CLOSED at end of file; -EPROTO for everything else, descriptors
 * closed. LINK_ERROR and LINK_FAILED are messages like others here.
 */
int link_recv(struct link *l, struct link_msg *ret, int fds[LINK_FDS_MAX], struct error *err);
/* link_recv() for one type; an ERROR becomes this function's failure. who names the peer in messages. */
int link_expect(struct link *l, enum link_type type, const char *who, struct link_msg *ret, int fds[LINK_FDS_MAX],
		struct error *err);
void link_close_fds(int fds[LINK_FDS_MAX]);
