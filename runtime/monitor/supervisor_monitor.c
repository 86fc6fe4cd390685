/*
 * Owns the supervisor's side of the monitor: its words, and that the container
 * does not outlive it.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "monitor/supervisor.h"
#include "os/syscalls.h"

/* Some 150 messages fit into the socket before this counts. */
#define SEND_TIMEOUT_S 1
/* More than the monitor gives itself. */
#define OUTLAST_MS (610 * 1000)

void sup_monitor_kill(struct sup *s)
{
	/* It may have been taken over: that it is asked to go is not enough. */
	if (s->monitor_fd >= 0)
		(void)sys_pidfd_send_signal(s->monitor_fd, SIGKILL);
}

/* why NULL: it went as it was told to. */
static void monitor_gone(struct sup *s, const char *why)
{
	ev_del(&s->loop, &s->monitor_source);
	(void)close(take_fd(&s->monitor.fd));
	if (why)
		sup_monitor_kill(s);
	if (s->ending) {
		/* Its log is closed: nothing is waited for any more. */
		if (!s->init || s->init->stage == SUP_GONE)
			evloop_stop(&s->loop);
		return;
	}
	if (!s->committed) {
		evloop_stop(&s->loop);
		return;
	}
	sup_kill_container(s, EXIT_REASON_POLICY, why ? why : "the monitor ended before the container");
	sup_log_lost(s, why ? why : "it ended before the container");
}

int sup_monitor_send(struct sup *s, struct link_msg *msg, const int *fds, size_t n, struct error *err)
{
	if (s->monitor.fd < 0)
		return error_text(err, -EPIPE, "the monitor has ended");
	/* One that does not read would hold up the clocks and the kills, which wait for nobody. */
	if (link_send(&s->monitor, msg, fds, n, err) == 0)
		return 0;
	monitor_gone(s, "the monitor does not read");
	return error_text(err, -EPIPE, "the monitor does not read");
}

void sup_monitor_tell(struct sup *s, struct link_msg *msg)
{
	struct error ignored;

	(void)sup_monitor_send(s, msg, NULL, 0, &ignored);
}

void sup_monitor_outlast(struct sup *s)
{
	struct pollfd p = { .fd = s->monitor_fd, .events = POLLIN };

	if (s->monitor_fd < 0 || !s->end_sent)
		return;
	while (poll(&p, 1, OUTLAST_MS) < 0 && errno == EINTR)
		;
	sup_monitor_kill(s);
}

static int on_ready(struct sup *s, struct error *err)
{
	struct link_msg msg = { .type = LINK_READY };

	s->monitor_ready = true;
	(void)snprintf(msg.text, sizeof(msg.text), "%s", s->log_name);
	return link_send(&s->creator, &msg, NULL, 0, err);
}

static int on_failed(struct sup *s, const struct link_msg *msg)
{
	if (!s->committed && s->creator.fd >= 0) {
		link_send_error(&s->creator, LINK_ERROR, 0, &msg->error);
		return 0;
	}
	sup_kill_container(s, EXIT_REASON_POLICY, msg->error.text);
	return 0;
}

static int on_monitor(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct sup *s = src->arg;
	struct error bad = ERROR_NULL;
	struct sup_process *p;
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	int r;

	r = link_recv(&s->monitor, &msg, fds, &bad);
	if (r != 0) {
		monitor_gone(s, r < 0 ? "the monitor said what it must not" : s->end_sent ? NULL : "the monitor was lost");
		return 0;
	}
	link_close_fds(fds);
	switch (msg.type) {
	case LINK_READY:
		return on_ready(s, err);
	case LINK_FAILED:
		return on_failed(s, &msg);
	case LINK_PART:
		if (sup_log_wants(s, msg.number))
			return sup_log_next(s, msg.number, err);
		monitor_gone(s, "the monitor said what it must not");
		return 0;
	case LINK_HEAD:
		if (!sup_log_head(s, &msg.head, msg.flags & LINK_F_FINAL))
			monitor_gone(s, "the monitor took back records");
		return 0;
	case LINK_BOUND:
		/* While it was privileged, and no byte from inside had reached it. */
		if (s->monitor_ready)
			monitor_gone(s, "the monitor said what it must not");
		else
			s->ring = msg.ring;
		return 0;
	case LINK_DRAINED:
		p = sup_process_find(s, msg.number);
		if (p && msg.flags & (LINK_F_OOM | LINK_F_SPARED))
			p->oom = msg.flags & LINK_F_OOM ? EXIT_OOM_CHOSEN : EXIT_OOM_SPARED;
		/* It counts from the container's begin, and so is no command's. */
		if (p && p->number == 0)
			p->unrecorded = msg.exit.unrecorded;
		return p && p->stage == SUP_DRAINING ? sup_process_drained(p, err) : 0;
	default:
		monitor_gone(s, "the monitor said what it must not");
		return 0;
	}
}

int sup_monitor_meet(struct sup *s, int *fd, int *pidfd, struct error *err)
{
	const struct timeval limit = { .tv_sec = SEND_TIMEOUT_S };
	struct link_msg begin = { .type = LINK_BEGIN };

	s->monitor = (struct link){ .fd = take_fd(fd), .self = LINK_SUPERVISOR, .peer = LINK_MONITOR };
	s->monitor_fd = take_fd(pidfd);
	if (setsockopt(s->monitor.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return error_set(err, -errno, "limit the time that the monitor may leave messages unread");
	if (link_send(&s->monitor, &begin, &s->dir_fd, 1, err) < 0)
		return err->code;
	return ev_add(&s->loop, &s->monitor_source, s->monitor.fd, EPOLLIN, on_monitor, s, err);
}

int sup_monitor_adopt(struct sup *s, pid_t pid, int netns_fd, struct error *err)
{
	struct link_msg msg = { .type = LINK_ADOPT, .pid = pid };

	return sup_monitor_send(s, &msg, &netns_fd, 1, err);
}

int sup_monitor_listener(struct sup_process *p, int fd, struct error *err)
{
	struct link_msg msg = { .type = LINK_LISTENER, .number = p->number };

	if ((fd >= 0) != p->sup->record->reports)
		return error_text(err, -EPROTO, "process %d comes %s the listener that its container has", p->pid,
				  fd >= 0 ? "with" : "without");
	return fd >= 0 ? sup_monitor_send(p->sup, &msg, &fd, 1, err) : 0;
}

int sup_monitor_streams(struct sup_process *p, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	size_t n = 0;
	int r;

	if (p->streams || msg->n_streams > LINK_STREAMS_MAX)
		return error_text(err, -EPROTO, "STREAMS out of turn");
	if (p->sup->monitor.fd < 0)
		return error_text(err, -EPIPE, "the monitor ended before the container was there");
	r = msg->flags & LINK_F_TERMINAL ? sup_tty_start(p, msg, fds, err) : 0;
	if (r < 0)
		return r;
	while (n < LINK_FDS_MAX && fds[n] >= 0)
		n++;
	r = sup_monitor_send(p->sup, msg, fds, n, err);
	p->streams = r == 0 && n > 0;
	return r;
}
