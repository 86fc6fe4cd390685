/*
 * Output: relays the streams of the container's processes to their engines, keeps what the
 * policy wants of them in the log, and says when an exit may be seen. How a stream is
 * relayed is relay.c's; how output is kept is the log's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "monitor/exit_record.h"
#include "monitor/monitor_audit.h"
#include "monitor/relay.h"
#include "util/cleanup.h"

/* The supervisor waits less; this only keeps a drain from being asked for twice. */
#define DRAIN_NS (60 * UINT64_C(1000000000))
/* How long an engine may leave the last words of a container unread: they are let go then. */
#define LINGER_NS (600 * UINT64_C(1000000000))
/* How long half a line waits for its other half before it is logged as it is. */
#define LINE_NS	  UINT64_C(500000000)
#define NAME_BOTH 3 /* in struct link_stream: 1 and 2 are one pipe */

/* The streams of one process. */
struct output {
	struct relay_service *service;
	struct relay relay;
	uint32_t number;
	struct audit_output *logs[3]; /* NULL = not kept */
	bool asked, drained; /* within the message that asks; others are still to hear it before it is answered */
	struct output *next;
};

struct relay_service {
	struct monitor *monitor;
	struct relay_hub hub;
	struct output *outputs;
	struct ev_timer line, linger;
};

static int wait_for_line(struct relay_service *s, const struct audit_output *log, struct error *err)
{
	if (s->line.armed || !audit_output_pending(log))
		return 0;
	return ev_timer_at(&s->line, ev_now(CLOCK_MONOTONIC) + LINE_NS, err);
}

static int on_line(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct relay_service *s = t->arg;
	struct output *o;
	size_t i;
	int r = 0;

	for (o = s->outputs; o; o = o->next)
		for (i = 0; r == 0 && i < ELEMENTSOF(o->logs); i++)
			if (o->logs[i] && audit_output_pending(o->logs[i]))
				r = monitor_log_done(s->monitor, audit_output_flush(o->logs[i], err), err);
	return r;
}

static int on_tap(void *arg, unsigned stream, const void *data, size_t len, struct error *err)
{
	struct output *o = arg;
	struct relay_service *s = o->service;
	int r;

	r = monitor_log_done(s->monitor, audit_output_add(o->logs[stream], data, len, err), err);
	if (r == 0)
		r = wait_for_line(s, o->logs[stream], err);
	if (r < 0)
		return r;
	return audit_output_full(o->logs[stream]) ? RELAY_TAP_ENOUGH : RELAY_TAP_MORE;
}

static int on_skip(void *arg, unsigned stream, uint64_t bytes, struct error *err)
{
	struct output *o = arg;

	return monitor_log_done(o->service->monitor, audit_output_skip(o->logs[stream], bytes, err), err);
}

static int on_ended(void *arg, unsigned stream, enum relay_end how, uint64_t bytes, struct error *err)
{
	static const char *const why[] = { [RELAY_END_PROCESS] = "eof", [RELAY_END_ENGINE] = "detached",
					   [RELAY_END_CUT] = "killed" };
	const char *input = how == RELAY_END_PROCESS ? "eof" : "closed";
	struct output *o = arg;
	struct audit_output *log = take_ptr(o->logs[stream]);

	if (!log)
		return 0;
	return monitor_log_done(o->service->monitor, audit_output_close(log, stream == 0 ? input : why[how], err), err);
}

static int on_drained(void *arg, bool whole, struct error *err)
{
	struct output *o = arg;
	struct monitor *m = o->service->monitor;

	o->drained = true;
	return m->ended || o->asked ? 0 : monitor_drained(m, o->number, err);
}

static int on_delivered(void *arg, struct error *err)
{
	struct output *o = arg;

	if (o->service->monitor->ended)
		monitor_over(o->service->monitor);
	return 0;
}

static const struct relay_ops ops = { .tap = on_tap,
				      .skip = on_skip,
				      .ended = on_ended,
				      .drained = on_drained,
				      .delivered = on_delivered };

static struct output *find(const struct relay_service *s, uint32_t number)
{
	struct output *o;

	for (o = s->outputs; o && o->number != number; o = o->next)
		;
	return o;
}

/* Those that are over; not from within a relay's callback. */
static void sweep(struct relay_service *s)
{
	struct output **at = &s->outputs;

	while (*at) {
		struct output *o = *at;

		if (relay_is_open(&o->relay) || o->relay.draining) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		relay_done(&o->relay);
		free(o);
	}
}

/* The log says what it has not. */
static int log_absent(struct output *o, unsigned name, unsigned kind, struct error *err)
{
	struct monitor *m = o->service->monitor;
	struct audit_output *log = NULL;
	char why[64];
	int r;

	if (name == 0 && m->config->audit.input_max == 0)
		return 0;
	if (kind > STDIO_UNTRACED || kind == STDIO_CLOSED || !monitor_log_sink(m))
		return 0;
	(void)snprintf(why, sizeof(why), "not captured: %s", stdio_kind_name((enum stdio_kind)kind));
	r = audit_output_open(monitor_log_sink(m), (int32_t)o->number, (enum audit_stream)name, 0, &log, err);
	return r < 0 ? r : monitor_log_done(m, audit_output_close(log, why, err), err);
}

static int add_stream(struct output *o, const struct link_stream *stream, int fds[LINK_FDS_MAX], struct error *err)
{
	struct monitor *m = o->service->monitor;
	unsigned name = stream->name == NAME_BOTH ? 1 : stream->name;
	struct stdio_end from, to;
	int r = 0;

	if (stream->from == LINK_NO_FD && stream->to == LINK_NO_FD && name <= 2)
		return log_absent(o, name, stream->kind, err);
	if (stream->from >= LINK_FDS_MAX || stream->to >= LINK_FDS_MAX || fds[stream->from] < 0 ||
	    fds[stream->to] < 0 || stream->from == stream->to || name > 2 || o->relay.streams[name].open)
		return error_text(err, -EPROTO, "STREAMS makes no sense");
	if (monitor_log_sink(m))
		r = audit_output_open(monitor_log_sink(m), (int32_t)o->number, (enum audit_stream)name,
				      name == 0 ? m->config->audit.input_max : m->config->audit.output_max,
				      &o->logs[name], err);
	if (r < 0)
		return r;
	from = (struct stdio_end){ .fd = take_fd(&fds[stream->from]) };
	to = (struct stdio_end){ .fd = take_fd(&fds[stream->to]) };
	from.how = stdio_how_of(from.fd);
	to.how = stdio_how_of(to.fd);
	return relay_add(&o->relay, name, &from, &to, o->logs[name] != NULL, err);
}

static int on_streams(struct relay_service *s, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct output *o;
	uint32_t i;
	int r = 0;

	if (find(s, msg->number) || msg->n_streams > LINK_STREAMS_MAX)
		return error_text(err, -EPROTO, "STREAMS came twice for process %u", msg->number);
	o = calloc(1, sizeof(*o));
	if (!o)
		return error_oom(err);
	o->service = s;
	o->number = msg->number;
	relay_init(&o->relay, &s->hub, &ops, o);
	o->next = s->outputs;
	s->outputs = o;
	for (i = 0; r == 0 && i < msg->n_streams; i++)
		r = add_stream(o, &msg->streams[i], fds, err);
	return r;
}

static int output_open(struct monitor *m, struct error *err)
{
	struct relay_service *s = calloc(1, sizeof(*s));
	struct rlimit files;

	if (!s)
		return error_oom(err);
	s->monitor = m;
	s->hub.loop = &m->loop;
	s->line = s->linger = EV_TIMER_NULL;
	m->relay = s;
	/* Four descriptors for each command that runs. */
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return error_set(err, -errno, "read the limit on open files");
	files.rlim_cur = files.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &files) < 0 ? error_set(err, -errno, "raise the limit on open files") : 0;
}

static int output_run(struct monitor *m, struct error *err)
{
	return ev_timer_init(&m->loop, &m->relay->line, CLOCK_MONOTONIC, on_line, m->relay, err);
}

static int output_message(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct relay_service *s = m->relay;
	struct output *o;
	int r;

	sweep(s);
	if (msg->type == LINK_STREAMS && !(msg->flags & LINK_F_TERMINAL))
		return on_streams(s, msg, fds, err);
	o = find(s, msg->number);
	/* Nobody hangs on a pipe that somebody left behind still holds. */
	if (o && msg->type == LINK_EXITED && msg->exit.reason == EXIT_REASON_EXEC_DEADLINE)
		return relay_close(&o->relay, err);
	if (!o || msg->type != LINK_DRAIN || o->relay.draining)
		return 0;
	o->asked = true;
	r = relay_drain(&o->relay, ev_now(CLOCK_BOOTTIME) + DRAIN_NS, err);
	o->asked = false;
	return r < 0 || o->drained ? r : MONITOR_E_LATER;
}

static bool output_lingers(const struct monitor *m)
{
	const struct output *o;

	for (o = m->relay->outputs; o; o = o->next)
		if (relay_is_open(&o->relay))
			return true;
	return false;
}

static int on_linger_timeout(struct evloop *l, struct ev_timer *t, struct error *err)
{
	evloop_stop(l);
	return 0;
}

/* What a slow engine has not read yet waits for it here, as it would in the engine's own pipe. */
static int output_end(struct monitor *m, struct error *err)
{
	struct relay_service *s = m->relay;
	struct output *o;
	int r = 0;

	for (o = s->outputs; r == 0 && o; o = o->next)
		r = relay_finish(&o->relay, err);
	ev_timer_done(&m->loop, &s->line);
	if (r < 0 || !output_lingers(m))
		return r;
	r = ev_timer_init(&m->loop, &s->linger, CLOCK_BOOTTIME, on_linger_timeout, s, err);
	return r < 0 ? r : ev_timer_at(&s->linger, ev_now(CLOCK_BOOTTIME) + LINGER_NS, err);
}

const struct monitor_service monitor_relay = {
	.name = "relay",
	.open = output_open,
	.run = output_run,
	.message = output_message,
	.end = output_end,
	.lingers = output_lingers,
};
