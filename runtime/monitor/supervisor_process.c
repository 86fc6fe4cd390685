/*
 * Owns the list of supervised processes and what happens from a process's end on: its output
 * is waited for, its record written, its exit shown to whoever waits for it.
 */
#include <assert.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup/cgroup_stats.h"
#include "monitor/supervisor.h"
#include "util/time.h"

static void process_free(struct sup_process *p)
{
	struct sup *s = p->sup;

	if (p->client)
		p->client->process = NULL;
	ev_del(&s->loop, &p->end);
	ev_timer_done(&s->loop, &p->deadline);
	ev_timer_done(&s->loop, &p->drain);
	ev_timer_done(&s->loop, &p->look);
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	/* Empty, or it goes with the container's own. */
	if (p->cgroup.n_dirs > 0)
		(void)rmdir(p->cgroup.dirs[0].path);
	cgroup_done(&p->cgroup);
	free(p);
	s->n_processes--;
}

static bool is_over(const struct sup_process *p)
{
	struct error ignored = ERROR_NULL;
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0;

	if (p->stage != SUP_GONE || p->number == 0)
		return false;
	/* A folder that cannot be read is no empty one: its time goes on. */
	return cgroup_pids(&p->cgroup, &pids, &n, &ignored) == 0 && n == 0;
}

/* Commands that have ended with all that they had started. */
static void sweep(struct sup *s)
{
	struct sup_process **at = &s->processes;

	while (*at) {
		struct sup_process *p = *at;

		if (!is_over(p)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		process_free(p);
	}
}

struct sup_process *sup_process_new(struct sup *s, uint32_t number, struct error *err)
{
	struct sup_process *p;

	sweep(s);
	if (s->n_processes >= SUP_PROCESSES_MAX) {
		(void)error_text(err, -EAGAIN, "the container already runs %d commands", SUP_PROCESSES_MAX);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		(void)error_oom(err);
		return NULL;
	}
	p->sup = s;
	p->number = number;
	p->pidfd = -EBADF;
	p->left_ns = UINT64_MAX;
	sup_evidence_begin(p);
	p->end = EV_SOURCE_NULL;
	p->deadline = p->drain = p->look = EV_TIMER_NULL;
	p->next = s->processes;
	s->processes = p;
	s->n_processes++;
	return p;
}

struct sup_process *sup_process_find(struct sup *s, uint32_t number)
{
	struct sup_process *p;

	for (p = s->processes; p && p->number != number; p = p->next)
		;
	return p;
}

static void tell_monitor(struct sup_process *p, const struct exit_record *rec)
{
	struct link_msg msg = { .type = LINK_EXITED, .number = p->number, .pid = p->pid };

	msg.exit = (struct link_exit){ .status = rec->status,
				       .reason = rec->reason,
				       .memory_peak = rec->memory_peak,
				       .pids_peak = rec->pids_peak,
				       .cpu_ns = rec->cpu_ns,
				       .wall_ns = rec->wall_ns,
				       .oom_kills = rec->oom_kills,
				       .pids_refused = rec->pids_refused };
	sup_monitor_tell(p->sup, &msg);
}

int sup_process_drained(struct sup_process *p, struct error *err)
{
	char finished[TIME_RFC3339_SIZE];
	struct exit_verdict verdict;
	struct sup *s = p->sup;
	struct exit_record rec;
	struct timespec now;
	bool over;
	int r = 0;

	if (p->stage == SUP_GONE)
		return 0;
	ev_timer_done(&s->loop, &p->drain);
	sup_evidence_judge(p, &rec, &verdict);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	time_rfc3339(&now, true, finished);
	rec.finished = finished;
	/* Before anybody can see the exit: who sees it also finds why. */
	if (p->number == 0) {
		sup_spaces_close(s);
		r = exit_record_write(s->dir_fd, &rec, err);
	}
	tell_monitor(p, &rec);
	over = sup_release(p);
	if (r == 0 && over && p->number == 0)
		r = sup_finish(s, err);
	return r;
}

static int on_drain_timeout(struct evloop *l, struct ev_timer *t, struct error *err)
{
	return sup_process_drained(t->arg, err);
}

/* The monitor has something to do with the end, or knows something about it. */
static bool concerns_monitor(const struct sup_process *p)
{
	if (p->streams || p->sup->ring.cgroup == 0)
		return p->streams;
	/* Whom did the OOM killer choose, and what was killed because it could not be recorded? */
	return p->status != 0 && p->reason == EXIT_REASON_UNKNOWN && p->oom == EXIT_OOM_UNKNOWN;
}

int sup_process_ended(struct sup_process *p, int status, struct error *err)
{
	struct sup *s = p->sup;
	struct error gone = ERROR_NULL;
	struct error ignored = ERROR_NULL;
	struct link_msg drain = { .type = LINK_DRAIN, .number = p->number, .pid = p->pid };
	int r;

	p->status = status;
	if (p->stage == SUP_PROVING) {
		(void)error_text(&gone, -ESRCH, "the process ended before its execve");
		sup_client_answer(p, &gone);
	}
	p->stage = SUP_DRAINING;
	if (p->number == 0) {
		s->ending = true;
		/* Without its own pid namespace the end of init ends nobody else. */
		if (!s->record->pid_ns_private)
			(void)cgroup_kill(&s->cgroup, &ignored);
	}
	if (s->monitor.fd < 0 || !concerns_monitor(p))
		return sup_process_drained(p, err);
	r = sup_monitor_send(s, &drain, NULL, 0, &gone);
	if (r == 0)
		r = ev_timer_init(&s->loop, &p->drain, CLOCK_BOOTTIME, on_drain_timeout, p, &gone);
	if (r == 0)
		r = ev_timer_at(&p->drain, ev_now(CLOCK_BOOTTIME) + SUP_DRAIN_NS, &gone);
	/* Nobody to wait for, or no means to: the exit is recorded and shown all the same. */
	return r < 0 ? sup_process_drained(p, err) : 0;
}

static int on_end_timeout(struct evloop *l, struct ev_timer *t, struct error *err)
{
	sup_monitor_kill(t->arg);
	evloop_stop(l);
	return 0;
}

int sup_finish(struct sup *s, struct error *err)
{
	struct link_msg end = { .type = LINK_END };
	struct error gone;
	int r;

	s->ending = true;
	if (sup_monitor_send(s, &end, NULL, 0, &gone) < 0) {
		evloop_stop(&s->loop);
		return 0;
	}
	s->end_sent = true;
	r = ev_timer_init(&s->loop, &s->end_timer, CLOCK_BOOTTIME, on_end_timeout, s, err);
	return r < 0 ? r : ev_timer_at(&s->end_timer, ev_now(CLOCK_BOOTTIME) + SUP_END_NS, err);
}
