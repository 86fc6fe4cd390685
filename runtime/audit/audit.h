/*
 * The audit log: what can be recorded, and the sink that records it. One log per
 * container: JSON Lines, each record with a sequence number, both clocks and a hash
 * over itself and its predecessor. The log goes on over several files (parts).
 *
 * Two halves. The privileged one (audit_store.h) makes files, rotates, keeps the index
 * and the total size. This one needs no privilege: it writes to a descriptor it was
 * given. A process that writes must not be able to take back: the descriptor is O_APPEND, and
 * the process's filter refuses ftruncate(2), and fallocate(2) but for FALLOC_FL_KEEP_SIZE.
 *
 * Knows no policy and no container; never prints. Bounded memory throughout.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "util/enum_table.h"
#include "util/error.h"
#include "util/sha256.h"

#define AUDIT_RECORD_MAX   ((size_t)96 * 1024) /* a line; longer fields are cut and marked */
#define AUDIT_ARGV_MAX	   ((size_t)32 * 1024) /* bytes of argv that are kept */
#define AUDIT_TEXT_MAX	   ((size_t)4096)      /* of any other text of an event */
#define AUDIT_BUFFER_MAX   ((size_t)256 * 1024) /* records that wait for the disk */
#define AUDIT_OUTPUT_CHUNK ((size_t)4096)      /* output bytes of one record */
#define AUDIT_SYNC_NS	   UINT64_C(5000000000) /* written bytes reach the disk at most this late */
#define AUDIT_PART_BYTES   (UINT64_C(64) << 20) /* size of a part, when nothing else is asked */

enum audit_conditions {
	/*
	 * A record could not be kept and onFailure is stop: the caller kills the container. Sticky:
	 * every later call says so too, with the first reason in err.
	 */
	AUDIT_E_STOP = 1,
};

enum audit_on_failure { AUDIT_STOP, AUDIT_CONTINUE };

/* The comment is the record's "type". */
enum audit_type {
	/* life of the container */
	AUDIT_CREATE,	/* create */
	AUDIT_START,	/* start: the task of a process */
	AUDIT_OPERATION, /* operation: pause, resume, kill, update, checkpoint, ... */
	AUDIT_EXIT,	/* exit */
	AUDIT_DELETE,	/* delete */
	/* commands */
	AUDIT_PROCESS,	     /* process: `exec` added one; gives its number a meaning */
	AUDIT_PROCESS_EXIT,  /* process-exit */
	AUDIT_EXEC,	     /* exec: the kernel executed a program */
	AUDIT_EXEC_EXIT,     /* exec-exit */
	AUDIT_OUTPUT,	     /* output: written by struct audit_output only */
	AUDIT_OUTPUT_END,    /* output-end: likewise */
	AUDIT_WINDOW,	     /* window: size of a terminal */
	/* controls at work */
	AUDIT_EGRESS_NAME,   /* name: a DNS name was allowed */
	AUDIT_EGRESS_DENIED, /* egress-denied */
	AUDIT_CALL_DENIED,   /* call-denied */
	AUDIT_LIMIT,	     /* limit */
	AUDIT_DEADLINE,	     /* deadline */
	AUDIT_MONITOR_LOST,  /* monitor-lost */
	AUDIT_WARNING,	     /* warning: a resident program could not do something */
	AUDIT_LOST,	     /* lost: a source dropped events before they came here */
	/* sessions */
	AUDIT_SESSION,	     /* session: snapshot, rollback, commit */
	/* the log itself: written by the sink only */
	AUDIT_OPEN,	  /* open: first record of a log */
	AUDIT_GAP,	  /* gap: records that could not be written */
	AUDIT_PART_END,	  /* part-end: the log goes on in another file */
	AUDIT_PART,	  /* part: first record of a further part */
	AUDIT_CLOSE,	  /* close: with the counts of all */
	AUDIT_TYPES,
};
extern const struct enum_table audit_type_table;

/* Any bytes, from hostile sources too; NULL data = absent. */
struct audit_bytes {
	const char *data;
	size_t len;
};
#define AUDIT_BYTES(s_) ((struct audit_bytes){ (s_), (s_) ? strlen(s_) : 0 })

struct audit_decision {
	const char *control, *action, *asked, *given, *rule; /* NULL = absent */
};

struct audit_create {
	const char *bundle, *rootfs, *profile, *policy_file;
	const char *policy_hash; /* SHA-256 of the file in hexadecimal; NULL: built in */
	const char *owner, *version; /* who called; this agentrun */
	struct audit_bytes argv;  /* of the configuration; each argument ends in NUL */
	uint32_t uid, gid;
	const struct audit_decision *decisions;
	size_t n_decisions;
	const char *const *scrubbed; /* names of variables that were withheld or changed */
	size_t n_scrubbed;
};

struct audit_start { int64_t pid; }; /* on the host */

struct audit_operation {
	const char *name; /* "pause", "kill" */
	int32_t signal;	  /* of kill; 0 = none */
	const char *detail; /* NULL = none */
};

/* How something ended: one of code and signal counts. */
struct audit_status {
	int32_t code;	/* -1 = unknown or by signal */
	int32_t signal; /* 0 = none */
};

struct audit_exit {
	struct audit_status status;
	const char *reason; /* "exited", "killed", "oom", "deadline", "audit", "unknown" */
	uint64_t duration_ns;
	uint64_t memory_peak, pids_peak, cpu_ns; /* 0 = unknown */
};

struct audit_delete { bool forced; };

/* Number 0 is init, which needs no record; the numbers of exec count from 1. */
struct audit_process {
	struct audit_bytes argv, cwd;
	uint32_t uid, gid;
	int64_t host_pid;
	bool terminal, detached;
};

struct audit_process_exit {
	struct audit_status status;
	uint64_t duration_ns;
	const char *reason; /* as audit_exit */
};

enum audit_exec_flags {
	AUDIT_EXEC_SCRIPT = 1u << 0,	 /* the kernel started an interpreter for it */
	AUDIT_EXEC_UNLINKED = 1u << 1,	 /* the program has no name: memfd, deleted */
	AUDIT_EXEC_TRUNCATED = 1u << 2,	 /* argv is not whole */
	AUDIT_EXEC_UNREADABLE = 1u << 3, /* argv could not be read */
};

struct audit_exec {
	struct audit_bytes file, argv, cwd, comm; /* argv: each argument ends in NUL */
	uint64_t argv_bytes; /* its true length */
	uint64_t env_bytes;  /* the values are not recorded */
	int64_t pid, host_pid, host_ppid; /* pid: as the container sees it */
	uint64_t start_ns; /* start of the task since boot: with host_pid the key that exec-exit repeats */
	uint32_t uid, gid;
	uint64_t exe_dev, exe_inode;
	unsigned flags; /* enum audit_exec_flags */
};

struct audit_exec_exit {
	int64_t pid, host_pid;
	uint64_t start_ns;
	struct audit_status status;
	uint64_t duration_ns; /* since the last exec of the task; 0 = unknown */
};

enum audit_stream { AUDIT_STDIN, AUDIT_STDOUT, AUDIT_STDERR, AUDIT_TERMINAL };
extern const struct enum_table audit_stream_table;

struct audit_window { uint16_t rows, columns; };

struct audit_egress_name {
	struct audit_bytes name; /* as asked */
	const char *rule;	 /* "*.pythonhosted.org" */
	const char *addresses;	 /* "192.0.2.1, 192.0.2.2"; NULL = none */
	uint32_t ttl;
};

struct audit_egress_denied {
	const char *what;      /* "connect", "send", "name", "socket", "sni" */
	struct audit_bytes name; /* that was asked for or learned for the address; may be absent */
	struct audit_bytes comm; /* of the thread that tried; absent where none is known */
	const char *address;   /* NULL = none */
	uint16_t port;	       /* 0 = none */
	const char *protocol;  /* "tcp", "udp", "icmp", NULL */
	const char *reason;    /* "unlisted", "private-range", "metadata" */
	uint64_t suppressed;   /* equal ones since the last record that were only counted */
};

struct audit_call_denied {
	const char *call;   /* "io_uring_setup" */
	const char *detail; /* arguments as text, NULL = none */
	const char *error;  /* what the caller got: "EPERM" */
	const char *rule;   /* "agent-default syscalls[12]" */
	const char *reason; /* the rule's own comment, NULL = none */
	const char *allowed_by; /* profiles that would let it through, "agent-build, agent-nested"; NULL = none of the shipped */
	int64_t host_pid; /* of the thread that called */
	struct audit_bytes comm; /* its program, as it was called; absent = unknown */
	uint64_t suppressed; /* equal ones since the last record that were only counted */
};

struct audit_limit {
	const char *what;  /* "memory", "pids", "disk" */
	uint64_t limit;	   /* 0 = unknown */
	uint64_t count;	   /* of hits since the last record; of OOM kills for memory */
	const char *detail;
};

struct audit_deadline {
	const char *what; /* "container", "exec" */
	uint64_t limit_ns;
	const char *step; /* "term", "kill" */
};

struct audit_lost {
	const char *source; /* "exec", "egress", "call" */
	uint64_t count;
	const char *detail;
};

struct audit_session {
	const char *name; /* "snapshot", "rollback", "commit" */
	const char *snapshot, *path; /* NULL = none */
	uint64_t files, bytes;
};

struct audit_event {
	enum audit_type type;
	int32_t process;  /* number of the process it belongs to; -1 = none or unknown */
	uint64_t mono_ns; /* CLOCK_MONOTONIC when it happened; 0 = now */
	union {
		struct audit_create create;
		struct audit_start start;
		struct audit_operation operation;
		struct audit_exit exit;
		struct audit_delete delete;
		struct audit_process added; /* AUDIT_PROCESS */
		struct audit_process_exit process_exit;
		struct audit_exec exec;
		struct audit_exec_exit exec_exit;
		struct audit_window window;
		struct audit_egress_name egress_name;
		struct audit_egress_denied egress_denied;
		struct audit_call_denied call_denied;
		struct audit_limit limit;
		struct audit_deadline deadline;
		struct audit_lost lost;
		struct audit_session session;
		const char *detail; /* AUDIT_MONITOR_LOST, AUDIT_WARNING */
	};
};

/* Where a log stands: plain data that one process hands to the next, and the index keeps. */
struct audit_head {
	uint64_t records;		/* written so far; the next has this number plus 1 */
	uint32_t part;			/* of the file, from 1 */
	uint64_t part_bytes;		/* in that file */
	uint8_t hash[SHA256_BYTES];	/* of the last record; zeros before the first */
	uint64_t counts[AUDIT_TYPES];	/* of records, for the closing one */
	uint64_t missing;		/* records that could not be kept */
};

struct audit_sink;

struct audit_sink_options {
	int fd; /* from audit_store_*(); taken over on success */
	struct audit_head head; /* zeros for a new log; else from the process before */
	/* Of a new log: */
	const char *id, *root; /* the container's, and the folder its record is below */
	enum audit_on_failure on_failure;
	const char *const *redact; /* patterns of the policy, '*' stands for text without blanks */
	size_t n_redact;	   /* copied */
	uint64_t part_bytes;	   /* 0 = AUDIT_PART_BYTES */
	uint64_t log_bytes;	   /* of all parts: then it is as if the disk were full; 0 = no limit */
	uint64_t sync_ns;	   /* 0 = AUDIT_SYNC_NS */
};

/*
 * Opens the sink; for a new log (head.records 0) writes the record "open". -ENOMEM, or why
 * the record could not be written: a log that cannot begin is an error whatever on_failure.
 */
int audit_sink_open(const struct audit_sink_options *opt, struct audit_sink **ret, struct error *err);
/*
 * Redacts, encodes and queues one event. 0 or AUDIT_E_STOP. With AUDIT_CONTINUE always 0: what
 * could not be kept is counted, and a gap record says so as soon as something can be written.
 * Everything in the event is copied. exit, delete and monitor-lost are on disk on return.
 */
int audit_sink_emit(struct audit_sink *s, const struct audit_event *event, struct error *err);
/*
 * Writes what is queued: at the end of every turn of the caller's loop, so that readers see
 * it. sync: also waits for the disk. 0 or AUDIT_E_STOP.
 */
int audit_sink_flush(struct audit_sink *s, bool sync, struct error *err);
/*
 * CLOCK_MONOTONIC at which audit_sink_tick() wants to be called (for a timer); 0 = nothing to do.
 * It retries failed writes and syncs written bytes.
 */
uint64_t audit_sink_due(const struct audit_sink *s);
int audit_sink_tick(struct audit_sink *s, struct error *err);
/* The part has reached its size: the caller asks the privileged half for the next one. */
bool audit_sink_wants_part(const struct audit_sink *s);
/*
 * Goes on in fd (audit_store_next()), taken over in any case: ends the present part with the
 * name of the next and begins that with the hash of the present.
 */
int audit_sink_part(struct audit_sink *s, int fd, struct error *err);
/* Where the log stands, counting only what was written to the file. */
void audit_sink_head(const struct audit_sink *s, struct audit_head *ret);
/* How many records were lost so far because they could not be kept. */
uint64_t audit_sink_missing(const struct audit_sink *s);
/*
 * Gives the log to another process: writes and syncs what is queued, without a closing
 * record, and frees the sink in any case. *ret_fd and *ret_head are for its
 * audit_sink_open(). A log that cannot be handed over whole is an error (negative), whatever
 * on_failure.
 */
int audit_sink_detach(struct audit_sink *s, int *ret_fd, struct audit_head *ret_head,
		      struct error *err);
/*
 * Writes the closing record, syncs, frees (in any case). ret_head may be NULL; it is for the
 * index, audit_index_write().
 */
int audit_sink_close(struct audit_sink *s, struct audit_head *ret_head, struct error *err);
/* Frees without a closing record; takes NULL, returns NULL. */
struct audit_sink *audit_sink_free(struct audit_sink *s);

/*
 * Output of one stream of a process. Head and tail are kept, the middle is counted; secrets
 * are replaced, also where they lie across two reads. One for each stream; the relay calls
 * audit_output_add() with the very bytes it gave to the engine.
 */
struct audit_output;

/* cap: bytes kept of this stream; 0: only counted. -ENOMEM. */
int audit_output_open(struct audit_sink *s, int32_t process, enum audit_stream stream, uint64_t cap,
		      struct audit_output **ret, struct error *err);
/* 0 or AUDIT_E_STOP, as all below. */
int audit_output_add(struct audit_output *o, const void *data, size_t len, struct error *err);
/* Bytes that went by unread (splice): counted; what the tail held before them is forgotten. */
int audit_output_skip(struct audit_output *o, uint64_t bytes, struct error *err);
/* The head is full: from here on only the tail and the counts change. */
bool audit_output_full(const struct audit_output *o);
/* Records what waits for the rest of its line, but for input, which waits on. For a timer; true from _pending() = there is such. */
bool audit_output_pending(const struct audit_output *o);
int audit_output_flush(struct audit_output *o, struct error *err);
/* At the end of the stream: tail and totals. Frees in any case. why: "eof", "detached", "killed". */
int audit_output_close(struct audit_output *o, const char *why, struct error *err);
