/*
 * Owns the ends that the supervisor brings about, and the clocks that lead to them. Time
 * is CLOCK_BOOTTIME: it goes on while the host sleeps. It stands while the container is paused.
 */
#include <signal.h>
#include <stdio.h>

#include "monitor/supervisor.h"
#include "os/syscalls.h"

static void signal_one(const struct sup_process *p, int sig)
{
	if (p->pid > 0 && p->pidfd >= 0 && p->stage < SUP_DRAINING)
		(void)sys_pidfd_send_signal(p->pidfd, sig);
}

void sup_kill_container(struct sup *s, enum exit_reason reason, const char *why)
{
	struct error err = ERROR_NULL;

	if (s->init && s->init->reason == EXIT_REASON_UNKNOWN && s->init->stage < SUP_DRAINING) {
		s->init->reason = reason;
		(void)snprintf(s->why, sizeof(s->why), "%s", why);
	}
	/* Init first: in its own pid namespace its end is that of all, however many they are. */
	if (s->init)
		signal_one(s->init, SIGKILL);
	if (cgroup_kill(&s->cgroup, &err) < 0)
		sup_warn(s, "end the container", &err);
}

void sup_kill_process(struct sup_process *p, enum exit_reason reason)
{
	struct error err = ERROR_NULL;

	if (p->number == 0) {
		sup_kill_container(p->sup, reason, "");
		return;
	}
	if (p->reason == EXIT_REASON_UNKNOWN)
		p->reason = reason;
	signal_one(p, SIGKILL);
	if (p->cgroup.n_dirs > 0 && cgroup_kill(&p->cgroup, &err) < 0)
		sup_warn(p->sup, "end a command of the container", &err);
}

static void tell_expired(struct sup_process *p, uint32_t flags)
{
	struct link_msg msg = { .type = LINK_EXPIRED, .number = p->number, .flags = flags };

	msg.limit_ns = p->number == 0 ? p->sup->record->time_limit : p->sup->record->time_exec;
	sup_monitor_tell(p->sup, &msg);
}

static void expire(struct sup_process *p)
{
	tell_expired(p, LINK_F_FINAL);
	if (p->number == 0)
		sup_kill_container(p->sup, EXIT_REASON_DEADLINE, "its time limit was reached");
	else
		sup_kill_process(p, EXIT_REASON_EXEC_DEADLINE);
}

static int on_deadline(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct sup_process *p = t->arg;
	uint64_t grace = p->sup->record->time_grace;

	/* Only what is still there can make use of a warning. */
	if (p->terminated || grace == 0 || p->stage >= SUP_DRAINING) {
		expire(p);
		return 0;
	}
	p->terminated = true;
	if (p->reason == EXIT_REASON_UNKNOWN)
		p->reason = p->number == 0 ? EXIT_REASON_DEADLINE : EXIT_REASON_EXEC_DEADLINE;
	tell_expired(p, 0);
	signal_one(p, SIGTERM);
	return ev_timer_at(t, ev_now(CLOCK_BOOTTIME) + grace, err);
}

static int arm(struct sup_process *p, struct error *err)
{
	int r = 0;

	p->since_ns = ev_now(CLOCK_BOOTTIME);
	if (p->deadline.source.fd < 0)
		r = ev_timer_init(&p->sup->loop, &p->deadline, CLOCK_BOOTTIME, on_deadline, p, err);
	return r < 0 ? r : ev_timer_at(&p->deadline, p->since_ns + p->left_ns, err);
}

int sup_clock_start(struct sup_process *p, struct error *err)
{
	return p->left_ns == UINT64_MAX || p->sup->paused ? 0 : arm(p, err);
}

uint64_t sup_clock_left(const struct sup_process *p)
{
	uint64_t gone = p->since_ns > 0 ? ev_now(CLOCK_BOOTTIME) - p->since_ns : 0;

	if (p->left_ns == UINT64_MAX)
		return UINT64_MAX;
	return p->left_ns > gone ? p->left_ns - gone : 0;
}

int sup_clock_shorten(struct sup_process *p, uint64_t limit_ns, struct error *err)
{
	if (limit_ns >= sup_clock_left(p))
		return 0;
	p->left_ns = limit_ns;
	return p->since_ns > 0 || p->started_ns > 0 ? sup_clock_start(p, err) : 0;
}

int sup_clock_pause(struct sup *s, bool pause, struct error *err)
{
	struct sup_process *p;
	int r = 0;

	if (s->paused == pause)
		return 0;
	s->paused = pause;
	for (p = s->processes; p && r == 0; p = p->next) {
		if (!pause) {
			/* What has ended may have left descendants, whose time it is, too. */
			r = p->started_ns > 0 ? sup_clock_start(p, err) : 0;
		} else if (p->since_ns > 0) {
			p->left_ns = sup_clock_left(p);
			p->since_ns = 0;
			r = ev_timer_cancel(&p->deadline, err);
		}
	}
	return r;
}
