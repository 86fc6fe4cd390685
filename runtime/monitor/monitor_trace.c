/*
 * Executed programs: binds the container's cgroup to a ring while privileged, then reads
 * the ring and hands each record to the log.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_trace.h"
#include "audit/audit_trace_reader.h"
#include "monitor/monitor_audit.h"
#include "monitor/monitor_ebpf.h"
#include "os/ebpf.h"
#include "os/procfs.h"

/* Of those that were killed lately: enough until the supervisor asks for one. */
#define ENDS_KEPT 64u

struct end {
	uint32_t number; /* once the supervisor has asked; 0 is init */
	int32_t pid; /* 0 = none */
	bool asked, oom;
};

/* Processes whose program is known, for those that tell of a process by its number alone. */
#define PROGRAMS_KEPT 128u

struct program {
	int32_t pid; /* 0 = none */
	char name[32];
};

struct trace_service {
	struct audit_trace_bound bound;
	struct audit_trace_reader reader;
	struct end ends[ENDS_KEPT];
	unsigned next_end;
	struct program programs[PROGRAMS_KEPT];
	unsigned next_program;
};

static struct program *program_find(struct trace_service *s, int32_t pid)
{
	unsigned i;

	for (i = 0; i < PROGRAMS_KEPT; i++)
		if (s->programs[i].pid == pid)
			return &s->programs[i];
	return NULL;
}

/* An exit takes the name away, so that the next one with that number does not get it. */
static void program_note(struct trace_service *s, const struct audit_trace_record *rec)
{
	struct program *p = program_find(s, (int32_t)rec->host_pid);
	struct audit_bytes name = rec->comm;

	if (rec->type == AUDIT_REC_EXIT) {
		if (p)
			p->pid = 0;
		return;
	}
	if (rec->type != AUDIT_REC_EXEC)
		return;
	/* As it was called: the task's name is that of a file, which for a binary of many tools says nothing. */
	if (rec->argv.len > 0 && rec->argv.data[0])
		name = (struct audit_bytes){ rec->argv.data, strnlen(rec->argv.data, rec->argv.len) };
	if (!p)
		p = &s->programs[s->next_program++ % PROGRAMS_KEPT];
	p->pid = (int32_t)rec->host_pid;
	(void)snprintf(p->name, sizeof(p->name), "%.*s", (int)MIN(name.len, sizeof(p->name) - 1), name.data ? name.data : "");
}

static int on_record(void *arg, const struct audit_event *event, const struct audit_trace_record *rec, struct error *err)
{
	struct monitor *m = arg;
	struct trace_service *s = m->trace;

	if (rec)
		program_note(s, rec);
	if (rec && rec->type == AUDIT_REC_EXIT && rec->status.signal == SIGKILL)
		s->ends[s->next_end++ % ENDS_KEPT] = (struct end){
			.pid = (int32_t)rec->host_pid, .oom = rec->flags & AUDIT_REC_OOM
		};
	return monitor_log(m, event, err);
}

int monitor_trace_program(struct monitor *m, int32_t pid, char *ret, size_t size, struct error *err)
{
	struct trace_service *s = m->trace;
	const struct program *p;
	int r;

	ret[0] = '\0';
	if (!s)
		return 0;
	r = audit_trace_drain(&s->reader, err);
	p = pid > 0 ? program_find(s, pid) : NULL;
	if (p)
		(void)snprintf(ret, size, "%s", p->name);
	return r;
}

static void note_asked(struct trace_service *s, uint32_t number, int32_t pid)
{
	unsigned i, at;

	/* The newest: numbers of processes are used again. */
	for (i = 1; i <= ENDS_KEPT; i++) {
		at = (s->next_end - i) % ENDS_KEPT;
		if (s->ends[at].pid != pid)
			continue;
		s->ends[at].number = number;
		s->ends[at].asked = true;
		return;
	}
}

unsigned monitor_trace_mark(const struct monitor *m, uint32_t number)
{
	unsigned i;

	for (i = 0; m->trace && i < ENDS_KEPT; i++)
		if (m->trace->ends[i].asked && m->trace->ends[i].number == number)
			return m->trace->ends[i].oom ? LINK_F_OOM : LINK_F_SPARED;
	return 0;
}

uint64_t monitor_trace_unrecorded(const struct monitor *m)
{
	return m->trace ? m->trace->reader.totals.killed : 0;
}

static int open_set(struct audit_trace_set *set, struct error *err)
{
	int r = audit_trace_open(MONITOR_BPF_DIR, set, err);

	if (r != AUDIT_TRACE_E_UNPREPARED)
		return r;
	/* The first container since boot, or since an update. */
	r = ebpf_fs_mount(MONITOR_BPF_DIR, err);
	if (r == 0)
		r = audit_trace_prepare(MONITOR_BPF_DIR, AUDIT_TRACE_POOL, err);
	if (r == 0)
		r = audit_trace_open(MONITOR_BPF_DIR, set, err);
	return r <= 0 ? r : error_text(err, -EIO, "exec audit: its programs are not there after they were loaded");
}

/* Ours: the numbers that the supervisor and the log's readers know. */
static int own_pid_ns(uint32_t *ret, struct error *err)
{
	_cleanup_close_ int proc = -EBADF, ns = -EBADF;
	struct stat st;
	int r;

	r = procfs_open(&proc, err);
	if (r == 0)
		r = procfs_open_ns(proc, 0, "pid", &ns, err);
	if (r < 0)
		return r;
	if (fstat(ns, &st) < 0)
		return error_set(err, -errno, "look at the monitor's pid namespace");
	*ret = (uint32_t)st.st_ino;
	return 0;
}

static int trace_open(struct monitor *m, struct error *err)
{
	_cleanup_audit_trace_ struct audit_trace_set set = AUDIT_TRACE_SET_NULL;
	struct audit_trace_request req = { .cgroup = m->cgroup_fd, .class = AUDIT_RING_NORMAL, .die = m->config->audit.stop };
	struct link_msg msg = { .type = LINK_BOUND };
	struct trace_service *s;
	int r;

	if (!m->config->audit.exec)
		return 0;
	if (m->cgroup_fd < 0)
		return error_text(err, -EOPNOTSUPP,
				  "exec audit needs the container in a cgroup v2 hierarchy: mount one, or name \"none\" in the policy's audit.accept");
	r = own_pid_ns(&req.pid_ns, err);
	if (r == 0)
		r = open_set(&set, err);
	if (r < 0)
		return error_prefix(err, "exec audit");
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_oom(err);
	m->trace = s;
	s->bound = AUDIT_TRACE_BOUND_NULL;
	r = audit_trace_bind(&set, &req, &s->bound, err);
	if (r == 0)
		r = audit_trace_reader_open(&s->reader, s->bound.ring, s->bound.counters, on_record, m, err);
	if (r < 0)
		return error_prefix(err, "exec audit");
	r = audit_trace_refill_aside(&set, NULL, err);
	if (r < 0)
		return r;
	msg.ring = (struct link_ring){ .cgroup = s->bound.cgroup, .slot = s->bound.slot, .generation = s->bound.generation };
	return link_send(&m->link, &msg, NULL, 0, err);
}

static int trace_run(struct monitor *m, struct error *err)
{
	struct trace_service *s = m->trace;

	return s ? audit_trace_reader_add(&s->reader, &m->loop, s->bound.ring, err) : 0;
}

/* What is in the ring happened before the exit that is told of. */
static int trace_message(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct trace_service *s = m->trace;
	int r;

	if (!s || (msg->type != LINK_EXITED && msg->type != LINK_DRAIN))
		return 0;
	r = audit_trace_drain(&s->reader, err);
	if (r == 0 && msg->type == LINK_DRAIN)
		note_asked(s, msg->number, msg->pid);
	return r;
}

static int trace_end(struct monitor *m, struct error *err)
{
	struct trace_service *s = m->trace;

	return s ? audit_trace_finish(&s->reader, err) : 0;
}

const struct monitor_service monitor_trace = {
	.name = "exec audit",
	.open = trace_open,
	.run = trace_run,
	.message = trace_message,
	.end = trace_end,
};
