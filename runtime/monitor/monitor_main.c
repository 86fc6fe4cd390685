/*
 * agentrun-monitor [apart]: descriptor 3 is the conversation with the supervisor. It opens what
 * needs privilege, gives privilege up, and then only reacts. apart: in a cgroup of its own.
 */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "monitor/monitor.h"
#include "state/state.h"
#include "util/fd.h"
#include "util/str.h"

#define LINK_FD 3

int monitor_drained(struct monitor *m, uint32_t number, struct error *err)
{
	struct link_msg msg = { .type = LINK_DRAINED, .number = number, .flags = monitor_trace_mark(m, number) };

	msg.exit.unrecorded = monitor_trace_unrecorded(m);
	return link_send(&m->link, &msg, NULL, 0, err);
}

void monitor_fail(struct monitor *m, const struct error *why)
{
	link_send_error(&m->link, LINK_FAILED, 0, why);
}

/*
 * The folder for what is attached to it, and cgroup.kill for the supervisor's death: then nobody else
 * is left who could end what init's end does not.
 */
static int open_cgroup(struct monitor *m, struct error *err)
{
	_cleanup_state_record_ struct state_record *rec = NULL;
	size_t i;
	int r;

	r = state_read(m->dir_fd, &rec, err);
	if (r != 0)
		return r < 0 ? r : error_text(err, -ENOENT, "the container has no record");
	for (i = 0; i < rec->n_cgroup_dirs; i++) {
		if (*rec->cgroup_dirs[i].controllers)
			continue;
		m->cgroup_fd = open(rec->cgroup_dirs[i].path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (m->cgroup_fd < 0)
			return error_set(err, -errno, "open cgroup %s", rec->cgroup_dirs[i].path);
		/* Linux 5.14; without it the trace of init must do. */
		m->kill_fd = openat(m->cgroup_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	}
	return 0;
}

static int open_all(struct monitor *m, struct error *err)
{
	size_t i;
	int r;

	r = monitor_config_read(m->dir_fd, &m->config, err);
	if (r == 0)
		r = open_cgroup(m, err);
	/* The log last: its file comes from the supervisor, which begins when we do. */
	for (i = monitor_n_services; r == 0 && i-- > 0;)
		if (monitor_services[i]->open)
			r = monitor_services[i]->open(m, err);
	return r;
}

static int run_all(struct monitor *m, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < monitor_n_services; i++)
		if (monitor_services[i]->run)
			r = monitor_services[i]->run(m, err);
	return r;
}

/* Waits for ADOPT, the last thing that needs privilege. */
static int adopt(struct monitor *m, struct error *err)
{
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	size_t i;
	int r;

	r = link_expect(&m->link, LINK_ADOPT, "the supervisor", &msg, fds, err);
	if (r < 0)
		return r;
	m->pid = msg.pid;
	m->netns_fd = take_fd(&fds[0]);
	for (i = 0; r == 0 && i < monitor_n_services; i++)
		if (monitor_services[i]->adopt)
			r = monitor_services[i]->adopt(m, err);
	if (m->cgroup_fd >= 0)
		(void)close(take_fd(&m->cgroup_fd));
	(void)close(take_fd(&m->netns_fd));
	(void)close(take_fd(&m->dir_fd));
	return r;
}

/* Each service sees each message; the first that puts an answer off is the one that gives it. */
static int tell_all(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], bool *ret_later,
		    struct error *err)
{
	size_t i;
	int r;

	*ret_later = false;
	for (i = monitor_n_services; i-- > 0;) {
		if (!monitor_services[i]->message)
			continue;
		r = monitor_services[i]->message(m, msg, fds, err);
		if (r < 0)
			return r;
		*ret_later |= r == MONITOR_E_LATER;
	}
	return 0;
}

void monitor_over(struct monitor *m)
{
	size_t i;

	for (i = 0; i < monitor_n_services; i++)
		if (monitor_services[i]->lingers && monitor_services[i]->lingers(m))
			return;
	evloop_stop(&m->loop);
}

static int end_all(struct monitor *m, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = monitor_n_services; i-- > 0 && r == 0;)
		if (monitor_services[i]->end)
			r = monitor_services[i]->end(m, err);
	/* The supervisor need not wait for what only concerns an engine that is slow. */
	m->ended = true;
	ev_del(&m->loop, &m->source);
	(void)close(take_fd(&m->link.fd));
	monitor_over(m);
	return r;
}

/* The supervisor's death ends the container, and us. */
static int supervisor_lost(struct monitor *m, struct error *err)
{
	if (m->kill_fd >= 0 && write(m->kill_fd, "1", 1) < 0)
		return error_set(err, -errno, "end the container after the loss of its supervisor");
	return error_text(err, -EPIPE, "the supervisor was lost");
}

static int on_message(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct monitor *m = src->arg;
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	bool later;
	int r;

	r = link_recv(&m->link, &msg, fds, err);
	if (r != 0)
		return r < 0 ? r : supervisor_lost(m, err);
	if (msg.type == LINK_END)
		return end_all(m, err);
	r = tell_all(m, &msg, fds, &later, err);
	link_close_fds(fds);
	if (r == 0 && msg.type == LINK_DRAIN && !later)
		r = monitor_drained(m, msg.number, err);
	return r;
}

/* The container's folder: what was loaded before was not to be waited for then. */
static int begin(struct monitor *m, struct error *err)
{
	int fds[LINK_FDS_MAX], r;
	struct link_msg msg;

	r = link_expect(&m->link, LINK_BEGIN, "the supervisor", &msg, fds, err);
	if (r == 0)
		m->dir_fd = take_fd(&fds[0]);
	return r;
}

static int work(struct monitor *m, bool apart, struct error *err)
{
	int r;

	/* Out of the engine's unit, as the supervisor. */
	r = apart ? cgroup_enter_apart(MONITOR_CGROUP, err) : 0;
	if (r == 0)
		r = evloop_init(&m->loop, err);
	if (r == 0)
		r = begin(m, err);
	if (r == 0)
		r = open_all(m, err);
	if (r == 0)
		r = adopt(m, err);
	if (r == 0)
		r = monitor_lockdown(m, err);
	if (r == 0)
		r = run_all(m, err);
	if (r == 0)
		r = ev_add(&m->loop, &m->source, m->link.fd, EPOLLIN, on_message, m, err);
	if (r == 0)
		r = link_send_type(&m->link, LINK_READY, 0, err);
	if (r < 0)
		return r;
	/* What loading took is not needed again. */
	(void)malloc_trim(0);
	return evloop_run(&m->loop, err);
}

int main(int argc, char **argv)
{
	struct monitor m = {
		.loop = EVLOOP_NULL,
		.link = { .fd = LINK_FD, .self = LINK_MONITOR, .peer = LINK_SUPERVISOR },
		.source = EV_SOURCE_NULL,
		.dir_fd = -EBADF,
		.netns_fd = -EBADF,
		.kill_fd = -EBADF,
		.cgroup_fd = -EBADF,
	};
	struct error err = ERROR_NULL;
	int r;

	/* A stream that nobody reads any more is a result, not an end. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* So is a log that has its full size. */
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)umask(077);
	(void)fd_set_cloexec(LINK_FD, 1);
	r = work(&m, argc > 1 && str_eq(argv[1], LINK_APART), &err);
	if (r < 0 && !m.ended)
		monitor_fail(&m, &err);
	return r < 0;
}
