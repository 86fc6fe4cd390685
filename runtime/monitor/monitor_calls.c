/*
 * Answers the calls that a container's filter asks about: always no, with the errno that the
 * filter would have given, and a record. Whether it is denied is not decided here: each
 * question is a denial, and one that nobody answers any more is answered by the kernel with
 * ENOSYS. Nothing of the caller's memory is looked at.
 */
#include "monitor/monitor_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/monitor_audit.h"
#include "util/fd.h"

/*
 * Questions cost the host time that no limit of the container counts. A program that asks more often than this
 * waits a moment for its answers; no program that does something useful comes near it.
 */
#define ANSWERS_BURST	 4000u
#define ANSWERS_PER_TICK 20u
#define TICK_NS		 UINT64_C(10000000)

/* A filter's, or the socket it will come over. */
struct listener {
	struct calls_service *service;
	uint32_t number; /* of the process that loaded it */
	bool there;
	struct ev_source source;
	struct listener *next;
};

struct calls_service {
	struct monitor *monitor;
	struct calls_log log;
	struct listener *listeners;
	struct seccomp_notif *question;
	struct seccomp_notif_resp *answer;
	size_t question_size, answer_size;
	unsigned answers; /* left until the next tick */
	uint64_t answers_ns; /* when they were counted last */
	bool parked;
	struct ev_timer tick;
};

static void listener_drop(struct listener *l)
{
	struct listener **at = &l->service->listeners;
	int fd = l->source.fd;

	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
	ev_del(&l->service->monitor->loop, &l->source);
	(void)close(fd);
	free(l);
}

static int park(struct calls_service *s, bool parked, struct error *err)
{
	struct listener *l;
	int r = 0;

	s->parked = parked;
	for (l = s->listeners; l && r == 0; l = l->next)
		r = ev_set(&s->monitor->loop, &l->source, parked ? 0 : EPOLLIN, err);
	return r == 0 && parked ? ev_timer_at(&s->tick, ev_now(CLOCK_MONOTONIC) + TICK_NS, err) : r;
}

static int on_tick(struct evloop *loop, struct ev_timer *t, struct error *err)
{
	return park(t->arg, false, err);
}

static bool may_answer(struct calls_service *s)
{
	uint64_t now = ev_now(CLOCK_MONOTONIC), ticks = (now - s->answers_ns) / TICK_NS;

	if (ticks > 0) {
		s->answers = (unsigned)MIN(s->answers + ticks * ANSWERS_PER_TICK, (uint64_t)ANSWERS_BURST);
		s->answers_ns = now;
	}
	if (s->answers == 0)
		return false;
	s->answers--;
	return true;
}

/* Its caller may be gone before the question is read, and before the answer is: both are no failure. */
static int answer(struct listener *l, struct error *err)
{
	struct calls_service *s = l->service;
	struct seccomp_data data;
	int32_t pid;

	memset(s->question, 0, s->question_size);
	memset(s->answer, 0, s->answer_size);
	if (ioctl(l->source.fd, SECCOMP_IOCTL_NOTIF_RECV, s->question) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : error_set(err, -errno, "read a question about a denied call");
	data = s->question->data;
	pid = (int32_t)s->question->pid;
	s->answer->id = s->question->id;
	s->answer->error = -calls_errno(&s->log, &data);
	if (ioctl(l->source.fd, SECCOMP_IOCTL_NOTIF_SEND, s->answer) < 0 && errno != ENOENT)
		return error_set(err, -errno, "answer a question about a denied call");
	return calls_note(&s->log, l->number, pid, &data, err);
}

static int on_question(struct evloop *loop, struct ev_source *src, uint32_t events, struct error *err)
{
	struct listener *l = src->arg;

	if (events & EPOLLIN)
		return may_answer(l->service) ? answer(l, err) : park(l->service, true, err);
	/* Nobody is under that filter any more. */
	listener_drop(l);
	return 0;
}

/* The listener, or the end of a process that never got as far as its filter. */
static int on_arrival(struct evloop *loop, struct ev_source *src, uint32_t events, struct error *err)
{
	struct listener *l = src->arg;
	_cleanup_close_ int fd = -EBADF;
	char text[8];
	size_t n;
	int r;

	r = fd_recv(src->fd, text, sizeof(text), &n, &fd, 1);
	if (r < 0 && r != -ECONNRESET)
		return error_set(err, r, "receive the listener of a filter");
	if (r < 0 || fd < 0) {
		listener_drop(l);
		return 0;
	}
	r = src->fd;
	ev_del(loop, src);
	(void)close(r);
	l->there = true;
	r = ev_add(loop, src, fd, l->service->parked ? 0 : EPOLLIN, on_question, l, err);
	if (r == 0)
		(void)take_fd(&fd);
	return r;
}

static int listener_add(struct calls_service *s, uint32_t number, int *fd, struct error *err)
{
	struct listener *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return error_oom(err);
	*l = (struct listener){ .service = s, .number = number, .source = EV_SOURCE_NULL };
	r = ev_add(&s->monitor->loop, &l->source, *fd, EPOLLIN, on_arrival, l, err);
	if (r < 0) {
		free(l);
		return r;
	}
	(void)take_fd(fd);
	l->next = s->listeners;
	s->listeners = l;
	return 0;
}

/* The kernel's structures may have grown since this was built. */
static int room(struct calls_service *s, struct error *err)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return error_set(err, -errno, "ask for the size of a filter's questions");
	s->question_size = MAX((size_t)sizes.seccomp_notif, sizeof(*s->question));
	s->answer_size = MAX((size_t)sizes.seccomp_notif_resp, sizeof(*s->answer));
	s->question = malloc(s->question_size);
	s->answer = malloc(s->answer_size);
	return s->question && s->answer ? 0 : error_oom(err);
}

static int calls_open(struct monitor *m, struct error *err)
{
	const char *profile = m->config->calls_profile;
	struct calls_service *s;
	int r;

	if (!profile)
		return 0;
	s = m->calls = calloc(1, sizeof(*s));
	if (!s)
		return error_oom(err);
	*s = (struct calls_service){ .monitor = m, .answers = ANSWERS_BURST, .tick = EV_TIMER_NULL };
	s->log = (struct calls_log){ .monitor = m, .profile = profile, .tokens = CALLS_BURST, .timer = EV_TIMER_NULL };
	s->answers_ns = s->log.filled_ns = ev_now(CLOCK_MONOTONIC);
	r = room(s, err);
	return r < 0 ? r : filter_agent_text(profile, &s->log.text, &s->log.len, err);
}

static int calls_service_run(struct monitor *m, struct error *err)
{
	struct calls_service *s = m->calls;
	int r;

	if (!s)
		return 0;
	r = ev_timer_init(&m->loop, &s->tick, CLOCK_MONOTONIC, on_tick, s, err);
	return r < 0 ? r : calls_run(&s->log, err);
}

static int calls_message(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct calls_service *s = m->calls;

	/* What is still counted belongs before the end of its process. */
	if (msg->type == LINK_EXITED && s)
		return calls_flush(&s->log, msg->number, err);
	if (msg->type != LINK_LISTENER)
		return 0;
	if (!s)
		return error_text(err, -EPROTO, "a listener where no calls are reported");
	return listener_add(s, msg->number, &fds[0], err);
}

static int calls_end(struct monitor *m, struct error *err)
{
	return m->calls ? calls_flush(&m->calls->log, CALLS_ALL, err) : 0;
}

const struct monitor_service monitor_calls = {
	.name = "denied calls",
	.open = calls_open,
	.run = calls_service_run,
	.message = calls_message,
	.end = calls_end,
};
