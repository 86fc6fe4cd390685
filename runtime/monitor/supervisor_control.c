/*
 * Owns control.sock, over which commands speak to the supervisor of their container. Who
 * connects must be the user that the supervisor runs as; every connection may say each
 * word once.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monitor/supervisor.h"
#include "os/tty.h"

void sup_client_done(struct sup_client *c)
{
	struct sup *s = c->sup;
	struct sup_client **at = &s->clients;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	if (c->process)
		c->process->client = NULL;
	ev_del(&s->loop, &c->source);
	(void)close(take_fd(&c->link.fd));
	s->n_clients--;
	free(c);
}

static int ok(struct sup_client *c, uint32_t number, uint32_t flags, int fd, struct error *err)
{
	struct link_msg msg = { .type = LINK_OK, .number = number, .flags = flags };

	return link_send(&c->link, &msg, &fd, fd >= 0, err);
}

void sup_client_answer(struct sup_process *p, const struct error *e)
{
	struct sup_client *c = p->client;
	struct error ignored;

	if (!c)
		return;
	if (e)
		link_send_error(&c->link, LINK_ERROR, p->number, e);
	/* Unanswered, the command would wait for ever: the end of the connection says that something is wrong. */
	else if (ok(c, p->number, 0, -EBADF, &ignored) < 0)
		(void)shutdown(c->link.fd, SHUT_RDWR);
	/* A foreground command's connection goes on to stand for its client's life. */
	if (!p->foreground) {
		c->process = NULL;
		p->client = NULL;
	}
}

/* The command looks itself, right after the execve. */
static int begin_untraced(struct sup_process *p, struct error *err)
{
	struct link_msg born = { .type = LINK_BORN, .number = p->number, .pid = p->pid };

	p->stage = SUP_RUNNING;
	p->started_ns = ev_now(CLOCK_BOOTTIME);
	sup_monitor_tell(p->sup, &born);
	return sup_clock_start(p, err);
}

static int on_start(struct sup_client *c, struct error *err)
{
	struct sup_process *p = c->sup->init;

	if (!c->sup->committed || !p || p->stage != SUP_GATED)
		return error_text(err, -EBUSY, "cannot start an already running container");
	if (!p->traced) {
		if (begin_untraced(p, err) < 0)
			return err->code;
		return ok(c, 0, LINK_F_UNTRACED, -EBADF, err);
	}
	p->stage = SUP_PROVING;
	p->client = c;
	c->process = p;
	return ok(c, 0, 0, -EBADF, err);
}

static int on_exec(struct sup_client *c, const struct link_msg *msg, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct sup *s = c->sup;
	struct sup_process *p;
	int r;

	if (!s->committed || s->ending)
		return error_text(err, -ESRCH, "cannot exec in a stopped container");
	p = sup_process_new(s, s->last_number + 1, err);
	if (!p)
		return err->code;
	s->last_number++;
	p->foreground = msg->flags & LINK_F_FOREGROUND;
	p->client = c;
	c->process = p;
	if (!(msg->flags & LINK_F_CGROUP))
		return ok(c, p->number, 0, -EBADF, err);
	r = cgroup_exec_create(&s->cgroup, p->number, &p->cgroup, err);
	if (r == 0)
		r = cgroup_clone_fd(&p->cgroup, &fd, err);
	if (r < 0)
		return r;
	return ok(c, p->number, fd >= 0 ? LINK_F_CGROUP : 0, fd, err);
}

static int on_process(struct sup_client *c, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct sup_process *p = c->process;
	int r;

	if (!p || p->number != msg->number || p->number == 0 || p->pid > 0 || msg->pid <= 1)
		return error_text(err, -EPROTO, "this connection has no such process");
	p->pid = msg->pid;
	p->pidfd = take_fd(&fds[0]);
	p->expect = msg->expect;
	p->left_ns = msg->limit_ns;
	/* Mostly born there; where the kernel would not do that, it is moved while it waits. */
	r = p->cgroup.n_dirs > 0 ? cgroup_attach(&p->cgroup, NULL, p->pid, err) : 0;
	if (r == 0)
		r = sup_monitor_listener(p, fds[1], err);
	if (r == 0)
		r = sup_seize(c->sup, p, err);
	if (r < 0)
		return r;
	if (p->traced) {
		p->stage = SUP_PROVING;
		return ok(c, p->number, 0, -EBADF, err);
	}
	r = begin_untraced(p, err);
	return r < 0 ? r : ok(c, p->number, LINK_F_UNTRACED, -EBADF, err);
}

static int on_update(struct sup_client *c, const struct link_msg *msg, struct error *err)
{
	int r = c->sup->init ? sup_clock_shorten(c->sup->init, msg->limit_ns, err) : 0;

	return r < 0 ? r : ok(c, 0, 0, -EBADF, err);
}

/* For the monitor, which answers over the socket in it. */
static int on_egress(struct sup_client *c, struct link_msg *msg, const int *fds, struct error *err)
{
	int r = sup_monitor_send(c->sup, msg, fds, 2, err);

	return r < 0 ? r : ok(c, 0, 0, -EBADF, err);
}

static int on_describe(struct sup_client *c, struct link_msg *msg, struct error *err)
{
	if (!c->process || c->process->number != msg->number || msg->length > sizeof(msg->text))
		return error_text(err, -EPROTO, "this connection has no such process");
	sup_monitor_tell(c->sup, msg);
	return ok(c, msg->number, 0, -EBADF, err);
}

static int on_pause(struct sup_client *c, bool pause, struct error *err)
{
	struct link_msg note = { .type = LINK_NOTE };
	int r = sup_clock_pause(c->sup, pause, err);

	(void)snprintf(note.text, sizeof(note.text), "%s", pause ? "pause" : "resume");
	sup_monitor_tell(c->sup, &note);
	return r < 0 ? r : ok(c, 0, 0, -EBADF, err);
}

static int on_status(struct sup_client *c, struct error *err)
{
	struct sup *s = c->sup;
	struct link_msg msg = { .type = LINK_STATUS, .left_ns = s->init ? sup_clock_left(s->init) : UINT64_MAX };

	if (s->paused)
		msg.flags |= LINK_F_PAUSED;
	if (s->init && s->init->started_ns > 0)
		msg.flags |= LINK_F_STARTED;
	if (s->init && !s->init->traced)
		msg.flags |= LINK_F_UNTRACED;
	return link_send(&c->link, &msg, NULL, 0, err);
}

static int on_streams(struct sup_client *c, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct sup_process *p = c->process;
	int r;

	if (!p || p->number != msg->number)
		return error_text(err, -EPROTO, "this connection has no such process");
	r = sup_monitor_streams(p, msg, fds, err);
	return r < 0 ? r : ok(c, p->number, 0, -EBADF, err);
}

static int dispatch(struct sup_client *c, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	switch (msg->type) {
	case LINK_START:
		return on_start(c, err);
	case LINK_EXEC:
		return on_exec(c, msg, err);
	case LINK_PROCESS:
		return on_process(c, msg, fds, err);
	case LINK_PAUSE:
	case LINK_RESUME:
		return on_pause(c, msg->type == LINK_PAUSE, err);
	case LINK_UPDATE:
		return on_update(c, msg, err);
	case LINK_EGRESS:
		return on_egress(c, msg, fds, err);
	case LINK_STATUS:
		return on_status(c, err);
	case LINK_NOTE:
		sup_monitor_tell(c->sup, msg);
		return ok(c, 0, 0, -EBADF, err);
	case LINK_DESCRIBE:
		return on_describe(c, msg, err);
	case LINK_STREAMS:
		return on_streams(c, msg, fds, err);
	default:
		return error_text(err, -EPROTO, "%s is no request", link_type_name(msg->type));
	}
}

/* Its command's client went away, or the command failed before the process was started. */
static void client_gone(struct sup_client *c)
{
	struct sup_process *p = c->process;

	if (p && p->number > 0 && (p->foreground || p->stage < SUP_RUNNING)) {
		sup_kill_process(p, EXIT_REASON_CLIENT);
		if (p->pid == 0)
			p->stage = SUP_GONE;
	}
	sup_client_done(c);
}

static int on_client(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct sup_client *c = src->arg;
	struct error refused = ERROR_NULL;
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	int r;

	r = link_recv(&c->link, &msg, fds, &refused);
	if (r != 0) {
		client_gone(c);
		return 0;
	}
	r = dispatch(c, &msg, fds, &refused);
	link_close_fds(fds);
	if (r < 0) {
		link_send_error(&c->link, LINK_ERROR, msg.number, &refused);
		client_gone(c);
	}
	return 0;
}

static int add_client(struct sup *s, int *fd, struct error *err)
{
	struct sup_client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_oom(err);
	c->sup = s;
	c->link = (struct link){ .fd = *fd, .self = LINK_SUPERVISOR, .peer = LINK_COMMAND };
	r = ev_add(&s->loop, &c->source, c->link.fd, EPOLLIN, on_client, c, err);
	if (r < 0) {
		free(c);
		return r;
	}
	(void)take_fd(fd);
	c->next = s->clients;
	s->clients = c;
	s->n_clients++;
	return 0;
}

static int on_visitor(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct sup *s = src->arg;
	struct error ignored = ERROR_NULL;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	_cleanup_close_ int fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 || s->n_clients >= SUP_CLIENTS_MAX)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid != geteuid())
		return 0;
	(void)add_client(s, &fd, &ignored);
	return 0;
}

int sup_listen(struct sup *s, struct error *err)
{
	int fd, r;

	r = unix_listen_at(s->dir_fd, LINK_CONTROL_FILE, &fd, err);
	if (r < 0)
		return r;
	return ev_add(&s->loop, &s->listen_source, fd, EPOLLIN, on_visitor, s, err);
}
