/*
 * The privileged half of the two resident programs: it keeps the clock, kills, freezes,
 * traces the container's processes and holds their exit until their output is out. It
 * parses nothing that comes from inside. Private to the supervisor's files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/audit_store.h"
#include "cgroup/cgroup.h"
#include "cgroup/cgroup_stats.h"
#include "monitor/exit_reason.h"
#include "monitor/exit_record.h"
#include "monitor/protocol.h"
#include "state/state.h"
#include "util/evloop.h"

#define SUP_PROCESSES_MAX 4096
#define SUP_CLIENTS_MAX   4224
#define SUP_DRAIN_NS	  (2 * UINT64_C(1000000000)) /* how long an exit waits for output that somebody else keeps open */
#define SUP_END_NS	  (2 * UINT64_C(1000000000)) /* how long the monitor may take to close its log */

#define SUP_SPACES_MAX	  16 /* file systems of a container that are looked at; further ones are not */

struct sup;

enum sup_stage {
	SUP_GATED, /* there, but not started */
	SUP_PROVING, /* START is on its way: the next execve is looked at */
	SUP_RUNNING,
	SUP_DRAINING, /* has ended; its output is not out */
	SUP_GONE,
};

/* One connection of a command. */
struct sup_client {
	struct sup *sup;
	struct link link;
	struct ev_source source;
	struct sup_process *process; /* whose answer it waits for, or whose life it holds */
	struct sup_client *next;
};

/* Init, or the leader of an exec. */
struct sup_process {
	struct sup *sup;
	uint32_t number; /* 0 = init */
	enum sup_stage stage;
	pid_t pid; /* 0 = an exec that is not born */
	int pidfd;
	bool traced, foreground, streams;
	pid_t tty_pid; /* helper of its terminal; 0 = none */
	bool at_exit_stop; /* held there or at its last fault, and not as a zombie */
	bool faulted; /* dies of its own fault when it is let go */
	int status; /* of wait(2), once it has ended */
	enum exit_reason reason;
	enum exit_oom_mark oom; /* by the kernel's messages or the monitor's word */
	struct cgroup_peaks before, seen; /* the container's, when it was added and at its exit stop */
	uint64_t unrecorded; /* by the monitor's word */
	uint64_t started_ns; /* CLOCK_BOOTTIME */
	uint64_t left_ns; /* of its time, as of since_ns; UINT64_MAX = no limit */
	uint64_t since_ns; /* 0 = its clock stands */
	struct state_expect expect;
	struct cgroup cgroup; /* of an exec; n_dirs 0 = none */
	struct sup_client *client; /* the command that added it, while it is connected */
	struct ev_source end; /* its pidfd: the end of a process whose trace is forbidden or lost */
	bool headless; /* its first thread has ended and others live on */
	struct ev_timer look; /* meanwhile */
	struct ev_timer deadline, drain;
	bool terminated; /* the deadline's TERM was sent: the next one kills */
	struct sup_process *next;
};

/* A file system of the container that has a size. */
struct sup_space {
	int fd;
	bool exact; /* it is full when nothing is left */
	char point[64];
};

struct sup {
	struct evloop loop;
	int proc_fd, dir_fd;
	struct state_record *record;
	struct cgroup cgroup; /* borrowed from the record */
	struct link creator, monitor;
	struct ev_source creator_source, monitor_source, listen_source, signal_source;
	struct sup_client *clients;
	size_t n_clients;
	int monitor_fd; /* its pidfd */
	bool committed, monitor_ready, ending, end_sent;
	struct sup_process *init, *processes; /* init is the last of the list */
	size_t n_processes;
	uint32_t last_number;
	bool paused; /* the clocks stand */
	char why[160]; /* why it was killed by us */
	/* the audit log; -EBADF: none is kept */
	int log_dir, log_index;
	char log_name[AUDIT_NAME_SIZE];
	uint32_t log_part, log_parts_max; /* the last that the monitor was given, and how many it may have */
	struct audit_head log_head; /* as it was told last */
	bool log_closed;
	const char *root; /* of the state folders */
	struct sup_space spaces[SUP_SPACES_MAX];
	size_t n_spaces;
	int oom_notes; /* os/oom_notes.h */
	struct link_ring ring; /* cgroup 0 = none */
	struct ev_timer end_timer;
	unsigned n_warnings;
	char *warning; /* the last one */
};

/* supervisor_trace.c */
int sup_seize(struct sup *s, struct sup_process *p, struct error *err);
/* After SIGCHLD: stops and ends of all processes. */
int sup_reap(struct sup *s, struct error *err);
/* The exit was held: let the real parent see it. False: it is still on its way, and its pidfd will tell. */
bool sup_release(struct sup_process *p);

/* supervisor_process.c */
struct sup_process *sup_process_new(struct sup *s, uint32_t number, struct error *err);
struct sup_process *sup_process_find(struct sup *s, uint32_t number);
/* It has ended with status, and is drained next. */
int sup_process_ended(struct sup_process *p, int status, struct error *err);
/* Its output is out, or nobody waits for it any more. */
int sup_process_drained(struct sup_process *p, struct error *err);
/* The container is over: everything else is ended, the monitor closes its log. */
int sup_finish(struct sup *s, struct error *err);

/* supervisor_evidence.c: why it ended, from all that can be known */
/* It is added now. */
void sup_evidence_begin(struct sup_process *p);
/* Init at its exit stop: it is still a member of its cgroup, whose counters live with it where systemd made it. */
void sup_evidence_take(struct sup_process *p, int status);
/* The OOM killer was at work there, and whether it chose this process is known already. */
bool sup_evidence_settled(const struct sup_process *p, int status);
/* ret's strings are ret_verdict's; finished is left to the caller. */
void sup_evidence_judge(const struct sup_process *p, struct exit_record *ret, struct exit_verdict *ret_verdict);

/* supervisor_space.c: file systems with a size */
/* While init waits at its gate. What cannot be opened is not looked at. */
void sup_spaces_open(struct sup *s);
/* Where there is no room left: a mount point inside; NULL = nowhere. */
const char *sup_spaces_full(const struct sup *s);
/* Before the end of init is shown: who unmounts then must not find them busy. */
void sup_spaces_close(struct sup *s);

/* supervisor_kill.c */
/* The container at once and whole, because of reason. Freezes first, so that nothing runs on meanwhile. */
void sup_kill_container(struct sup *s, enum exit_reason reason, const char *why);
void sup_kill_process(struct sup_process *p, enum exit_reason reason);
/* Starts the clock of what has left_ns. */
int sup_clock_start(struct sup_process *p, struct error *err);
int sup_clock_shorten(struct sup_process *p, uint64_t limit_ns, struct error *err);
uint64_t sup_clock_left(const struct sup_process *p);
/* All clocks. */
int sup_clock_pause(struct sup *s, bool pause, struct error *err);

/* supervisor_control.c */
int sup_listen(struct sup *s, struct error *err);
void sup_client_done(struct sup_client *c);
/* START or PROCESS is answered: e is NULL or the refusal. */
void sup_client_answer(struct sup_process *p, const struct error *e);

/* supervisor_monitor.c */
int sup_monitor_meet(struct sup *s, int *fd, int *pidfd, struct error *err);
/*
 * A message to the monitor. One that does not take it is lost: it is ended, the container with it, and
 * -EPIPE says so, which is no reason to end the loop.
 */
int sup_monitor_send(struct sup *s, struct link_msg *msg, const int *fds, size_t n, struct error *err);
/* The same where nothing hangs on it, and nothing when there is none. */
void sup_monitor_tell(struct sup *s, struct link_msg *msg);
void sup_monitor_kill(struct sup *s);
/* The last step: a monitor may still deliver what an engine has not read, but not for ever. */
void sup_monitor_outlast(struct sup *s);
/* supervisor_tty.c: the helper of a terminal, fds: the master inside, the slave outside; adds its socket. */
int sup_tty_start(struct sup_process *p, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err);
void sup_tty_reap(struct sup_process *p);

/* Has it relay the streams of a process, whose exit is held from now on until they are drained. */
int sup_monitor_streams(struct sup_process *p, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err);
int sup_monitor_adopt(struct sup *s, pid_t pid, int netns_fd, struct error *err);
/* Where the listener of a process's filter comes from; -EBADF is an error where calls are reported. */
int sup_monitor_listener(struct sup_process *p, int fd, struct error *err);

/* supervisor_log.c: what of the audit log needs privilege */
int sup_log_open(struct sup *s, bool rootless, uint64_t log_max, struct error *err);
/* Whether the log needs that part: one after the other, each full, and no more than its size allows. */
bool sup_log_wants(const struct sup *s, uint32_t part);
int sup_log_next(struct sup *s, uint32_t part, struct error *err);
/* False: it takes back what was said before. */
bool sup_log_head(struct sup *s, const struct audit_head *head, bool closed);
/* The monitor is gone: its loss is recorded without it. */
void sup_log_lost(struct sup *s, const char *why);
/* At the execve of a process that the exec audit must have seen. */
int sup_log_prove(struct sup *s, struct error *err);
/* Nobody reads our stderr: what could not be done is recorded. */
void sup_warn(struct sup *s, const char *what, const struct error *why);
/* At the very end: rings and old logs. */
void sup_log_tidy(struct sup *s);
