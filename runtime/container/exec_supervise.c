/*
 * What an exec says to its container's supervisor: that it comes, what it is, and which
 * process must be looked at when its program takes over.
 */
#include <string.h>

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
	struct link_msg msg = { .type = LINK_EXEC }, answer;
	int fds[LINK_FDS_MAX];
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
	return describe(e, err);
}

int exec_start(struct exec *e, const struct state_expect *want, struct error *err)
{
	struct link_msg msg = { .type = LINK_PROCESS, .number = e->number, .pid = e->launch.ref.pid, .expect = *want,
				.limit_ns = e->h.view.record->time_exec };
	const char *how;

	if (e->link.fd < 0)
		return start_verified(e->launch.sync_parent, e->launch.ref.pid, e->h.proc_fd, want, &how, err);
	return start_supervised(e->launch.sync_parent, &e->link, &msg, e->launch.ref.fd, e->h.proc_fd, want, &how, err);
}
