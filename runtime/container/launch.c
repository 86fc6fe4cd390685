/*
 * Owns clone, cgroup entry and the first word of a new process. Moving another process
 * into a v1 cgroup costs an RCU grace period (10 to 20 ms); so the child moves itself, and
 * into the v2 hierarchy it is born.
 */
#include "container/launch.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "container/proto.h"

static int launch_clone(struct launch *l, int cgroup_fd, struct error *err)
{
	int socks[2];
	int r;

	r = proto_pair(socks, err);
	if (r < 0)
		return r;
	l->sync_parent = socks[0];
	l->sync_child = socks[1];
	r = ns_spawn(l->ns, cgroup_fd, l->proc_fd, l->fn, l->arg, &l->ref, err);
	(void)close(take_fd(&l->sync_child));
	if (r < 0)
		(void)close(take_fd(&l->sync_parent));
	return r;
}

/* Positive: it ended without a word. */
static int launch_first_word(struct launch *l, struct error *err)
{
	struct proto_msg msg;
	int r = proto_recv(l->sync_parent, &msg, err);

	if (r == 0 && msg.type != PROTO_JOINED)
		return error_text(err, -EPROTO, "the new process sent %s first", proto_type_name(msg.type));
	return r;
}

/* What the process could not enter itself: its first word says that it is in all v1 hierarchies. */
static int launch_attach(struct launch *l, struct error *err)
{
	int r = cgroup_attach_unified(l->cgroup, l->ref.pid, err);

	if (r == -EBUSY && l->peer > 0)
		r = cgroup_attach_peer(l->cgroup, l->peer, l->ref.pid, err);
	return r;
}

static int launch_try(struct launch *l, int cgroup_fd, struct error *err)
{
	int r;

	r = launch_clone(l, cgroup_fd, err);
	if (r == -EBUSY && cgroup_fd >= 0)
		return 1;
	if (r < 0)
		return error_prefix(err, "create the container's process");
	r = launch_first_word(l, err);
	if (r > 0 && cgroup_fd < 0)
		r = error_text(err, -EPIPE, "the container's process ended before its first step");
	if (r == 0 && cgroup_fd < 0 && !l->by_hand)
		r = launch_attach(l, err);
	if (r != 0)
		launch_kill(l);
	return r;
}

int launch_run(struct launch *l, struct error *err)
{
	_cleanup_close_ int cgroup_fd = -EBADF;
	int r;

	if (!l->by_hand) {
		r = cgroup_clone_fd(l->cgroup, &cgroup_fd, err);
		if (r == 0)
			r = cgroup_join_open(l->cgroup, NULL, &l->join, err);
		if (r < 0)
			return r;
	}
	r = launch_try(l, l->clone_fd >= 0 ? l->clone_fd : cgroup_fd, err);
	/*
	 * Refused, because the container made sub-cgroups; or born killed, because our own cgroup saw
	 * cgroup.kill before (Linux 6.14): once more, and put there afterwards.
	 */
	if (r > 0)
		r = launch_try(l, -EBADF, err);
	cgroup_join_done(&l->join);
	return r;
}

int launch_child(struct launch *l, pid_t *ret_host_pid, struct error *err)
{
	struct proto_msg msg;
	int r;

	/* Our copy would keep the pair open when the parent dies, and we would wait for ever. */
	(void)close(take_fd(&l->sync_parent));
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return error_set(err, -errno, "set the death signal");
	r = cgroup_join_self(&l->join, err);
	if (r == 0)
		r = proto_send(l->sync_child, PROTO_JOINED, 0, err);
	if (r == 0)
		r = proto_expect(l->sync_child, PROTO_GO, "agentrun", &msg, err);
	if (r == 0)
		*ret_host_pid = msg.host_pid;
	return r;
}

void launch_kill(struct launch *l)
{
	struct error ignored;
	int status;

	if (l->sync_parent >= 0)
		(void)close(take_fd(&l->sync_parent));
	if (l->ref.pid <= 0)
		return;
	(void)pidref_signal(&l->ref, SIGKILL);
	/* A frozen cgroup would keep it for ever. */
	(void)cgroup_thaw(l->cgroup, &ignored);
	(void)pidref_reap(&l->ref, &status, &ignored);
	pidref_done(&l->ref);
}

void launch_done(struct launch *l)
{
	cgroup_join_done(&l->join);
	if (l->sync_parent >= 0)
		(void)close(take_fd(&l->sync_parent));
	if (l->sync_child >= 0)
		(void)close(take_fd(&l->sync_child));
	pidref_done(&l->ref);
}
