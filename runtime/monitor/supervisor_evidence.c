/*
 * Owns what is known when a process ends. Its cgroup counts what hit it and everybody else there, so
 * the counts from before it was added are none of its own.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "monitor/supervisor.h"
#include "os/oom_notes.h"
#include "util/time.h"

/* The kernel writes its message right after the kill, which may have reached us first. */
#define NOTE_NS 2000000

static uint64_t oom_kills(const struct sup_process *p, const struct cgroup_peaks *now)
{
	return now->oom_kills > p->before.oom_kills ? now->oom_kills - p->before.oom_kills : 0;
}

/* Killed, and not by one of ours. */
static bool is_mystery(const struct sup_process *p, int status)
{
	return p->reason == EXIT_REASON_UNKNOWN && (status & 0x7f) == SIGKILL;
}

static bool was_chosen(const struct sup_process *p)
{
	const struct timespec pause = { .tv_nsec = NOTE_NS };
	int fd = p->sup->oom_notes;

	if (oom_notes_name(fd, p->pid))
		return true;
	if (fd < 0)
		return false;
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return oom_notes_name(fd, p->pid);
}

void sup_evidence_begin(struct sup_process *p)
{
	const struct cgroup *cg = &p->sup->cgroup;
	bool fresh = p->number == 0;
	size_t i;

	for (i = 0; i < cg->n_dirs; i++)
		fresh &= cg->dirs[i].created;
	/* In a cgroup that was made for it nothing has happened yet. */
	if (!fresh)
		cgroup_hits_read(cg, &p->before);
}

void sup_evidence_take(struct sup_process *p, int status)
{
	const struct cgroup *cg = &p->sup->cgroup;

	/* Only systemd takes a cgroup away by itself. */
	if (cg->manager == CGROUP_MANAGER_SYSTEMD)
		cgroup_peaks_read(cg, &p->seen);
	else
		cgroup_hits_read(cg, &p->seen);
	if (is_mystery(p, status) && oom_kills(p, &p->seen) > 0 && was_chosen(p))
		p->oom = EXIT_OOM_CHOSEN;
}

bool sup_evidence_settled(const struct sup_process *p, int status)
{
	return oom_kills(p, &p->seen) > 0 && (!is_mystery(p, status) || p->oom == EXIT_OOM_CHOSEN);
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Counters only grow, and are nothing once the cgroup is gone. */
static void merge(struct cgroup_peaks *now, const struct cgroup_peaks *seen)
{
	now->memory = most(now->memory, seen->memory);
	now->pids = most(now->pids, seen->pids);
	now->cpu_ns = most(now->cpu_ns, seen->cpu_ns);
	now->oom_kills = most(now->oom_kills, seen->oom_kills);
	now->pids_refused = most(now->pids_refused, seen->pids_refused);
	now->memory_limit = most(now->memory_limit, seen->memory_limit);
	now->pids_limit = most(now->pids_limit, seen->pids_limit);
}

void sup_evidence_judge(const struct sup_process *p, struct exit_record *ret, struct exit_verdict *ret_verdict)
{
	struct cgroup_peaks now = { 0 };
	struct exit_evidence e = {
		.status = p->status,
		.ordered = p->reason,
		.why = p->sup->why,
		.container_ending = p->number > 0 && p->sup->ending,
		.oom = p->oom,
		.disk_full = sup_spaces_full(p->sup),
		.unrecorded = p->unrecorded,
	};

	cgroup_peaks_read(&p->sup->cgroup, &now);
	merge(&now, &p->seen);
	e.oom_kills = oom_kills(p, &now);
	if (now.pids_refused > p->before.pids_refused)
		e.pids_refused = now.pids_refused - p->before.pids_refused;
	e.memory_limit = now.memory_limit;
	e.pids_limit = now.pids_limit;
	exit_reason_judge(&e, ret_verdict);
	*ret = (struct exit_record){
		.status = p->status,
		.reason = ret_verdict->reason,
		.detail = ret_verdict->detail[0] ? ret_verdict->detail : NULL,
		.oom_kills = e.oom_kills,
		.pids_refused = e.pids_refused,
		.memory_peak = now.memory,
		.pids_peak = now.pids,
		.cpu_ns = now.cpu_ns,
		.wall_ns = p->started_ns ? ev_now(CLOCK_BOOTTIME) - p->started_ns : 0,
	};
}
