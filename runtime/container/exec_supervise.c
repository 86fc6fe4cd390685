/*
 * What an exec says to its container's supervisor: that it comes, what it is, and which
 * process must be looked at when its program takes over.
 */
#include <string.h>
#include <unistd.h>

#include "container/exec.h"
#include "container/start.h"

/* What it is going to be, for the log: as much of its arguments as one message has room for. */
static int describe(struct exec *e, struct error *err)
{
	struct link_msg msg = { .type = LINK_DESCRIBE, .number = e->number, .uid = e->plan.creds.uid, .gid = e->plan.creds.gid };
	struct link_msg answer;
	int fds[LINK_FDS_MAX];
	size_t i, n;

	if (!e->opt->detach)
		msg.flags |= LINK_F_FOREGROUND;
	if (e->plan.terminal)
		msg.flags |= LINK_F_TERMINAL;
	for (i = 0; e->plan.argv[i]; i++) {
		n = strlen(e->plan.argv[i]) + 1;
		if (msg.length + n > sizeof(msg.text)) {
			msg.flags |= LINK_F_CUT;
			break;
		}
		memcpy(msg.text + msg.length, e->plan.argv[i], n);
		msg.length += (uint32_t)n;
	}
	return supervise_ask(&e->link, &msg, NULL, 0, &answer, fds, err);
}

/* The supervisor gives the command a number and a cgroup, and from now on its end is ours to it. */
int exec_announce(struct exec *e, struct error *err)
{
	struct link_msg msg = { .type = LINK_EXEC }, answer = { 0 };
	int fds[LINK_FDS_MAX] = { -EBADF };
	int r;

	if (e->h.view.record->supervisor_pid == 0)
		return 0;
	if (!e->opt->detach)
		msg.flags |= LINK_F_FOREGROUND;
	if (e->opt->n_cgroups == 0)
		msg.flags |= LINK_F_CGROUP;
	r = supervise_open(e->h.dir_fd, &e->link, err);
	if (r == 0)
		r = supervise_ask(&e->link, &msg, NULL, 0, &answer, fds, err);
	if (r < 0)
		return r;
	e->number = answer.number;
	e->cgroup_fd = take_fd(&fds[0]);
	r = describe(e, err);
	if (r < 0 || !e->h.view.record->captured)
		return r;
	if (e->h.view.record->withheld)
		streams_withhold(&e->streams);
	else if (e->plan.terminal)
		return streams_make_terminal(&e->streams, &e->console_sock, &e->master_fd, e->plan.rows, e->plan.cols, err);
	else
		return streams_make(&e->streams, e->h.view.record->input, e->h.proc_fd, err);
	return 0;
}

static int hand_streams_over(struct exec *e, struct error *err)
{
	struct link_msg msg, answer;
	int fds[LINK_FDS_MAX], got[LINK_FDS_MAX];
	size_t n;
	int r;

	r = streams_born(&e->streams, e->h.proc_fd, e->launch.ref.pid, e->joins_user, &e->plan.creds, err);
	if (r < 0)
		return r;
	streams_message(&e->streams, e->number, &msg, fds, &n);
	r = supervise_ask(&e->link, &msg, fds, n, &answer, got, err);
	if (r == 0)
		link_close_fds(got);
	streams_done(&e->streams);
	return r;
}

int exec_start(struct exec *e, const struct state_expect *want, struct error *err)
{
	struct link_msg msg = { .type = LINK_PROCESS, .number = e->number, .pid = e->launch.ref.pid, .expect = *want,
				.limit_ns = e->h.view.record->time_exec };
	const int fds[] = { e->launch.ref.fd, e->reports_sock };
	const char *how;
	int r;

	if (e->streams.on && hand_streams_over(e, err) < 0)
		return err->code;
	if (e->link.fd < 0)
		return start_verified(e->launch.sync_parent, e->launch.ref.pid, e->h.proc_fd, want, &how, err);
	/* Our copy would hide the end of the process's. */
	if (e->filters.reports)
		(void)close(take_fd(&e->listener_sock));
	r = start_supervised(e->launch.sync_parent, &e->link, &msg, fds, e->reports_sock >= 0 ? 2 : 1, e->h.proc_fd, want, &how,
			     err);
	if (e->reports_sock >= 0)
		(void)close(take_fd(&e->reports_sock));
	return r;
}
