/*
 * Terminals: relays each session between its process and its engine, keeps its output and
 * its sizes in the log with their times, and says when an exit may be seen.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/monitor_audit.h"
#include "monitor/relay_tty.h"
#include "util/cleanup.h"

/* How long an engine may leave the last words of a container unread. */
#define LINGER_NS (600 * UINT64_C(1000000000))
/* Half a line is shown, and logged, when it has stood for so long. */
#define LINE_NS	  UINT64_C(100000000)

struct session {
	struct terminal_service *service;
	struct relay_tty relay;
	uint32_t number;
	struct audit_output *log, *input; /* NULL = not kept */
	bool asked, drained; /* within the message that asks; others are still to hear it before it is answered */
	struct session *next;
};

struct terminal_service {
	struct monitor *monitor;
	struct session *sessions;
	struct ev_timer line, linger;
};

static int on_line(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct terminal_service *s = t->arg;
	struct session *one;
	int r = 0;

	for (one = s->sessions; r == 0 && one; one = one->next) {
		if (one->log && audit_output_pending(one->log))
			r = monitor_log_done(s->monitor, audit_output_flush(one->log, err), err);
		if (r == 0 && one->input && audit_output_pending(one->input))
			r = monitor_log_done(s->monitor, audit_output_flush(one->input, err), err);
	}
	return r;
}

static int keep(struct terminal_service *s, struct audit_output *log, const void *data, size_t len, struct error *err)
{
	int r;

	if (!log)
		return 0;
	r = monitor_log_done(s->monitor, audit_output_add(log, data, len, err), err);
	if (r < 0 || s->line.armed || !audit_output_pending(log))
		return r;
	return ev_timer_at(&s->line, ev_now(CLOCK_MONOTONIC) + LINE_NS, err);
}

static int on_tap(void *arg, const void *data, size_t len, struct error *err)
{
	const struct session *one = arg;

	return keep(one->service, one->log, data, len, err);
}

/* Of what nobody was to see only that it was typed, and where its lines end. */
static int on_typed(void *arg, const void *data, size_t len, bool hidden, struct error *err)
{
	const struct session *one = arg;
	char stars[RELAY_TTY_CHUNK];
	size_t i;

	if (!hidden || !one->input)
		return keep(one->service, one->input, data, len, err);
	assert(len <= sizeof(stars));
	memcpy(stars, data, len);
	for (i = 0; i < len; i++)
		if (stars[i] != '\r' && stars[i] != '\n')
			stars[i] = '*';
	return keep(one->service, one->input, stars, len, err);
}

static int on_window(void *arg, const struct relay_window *w, struct error *err)
{
	struct session *one = arg;
	const struct audit_event event = { .type = AUDIT_WINDOW, .process = (int32_t)one->number,
					   .window = { .rows = w->rows, .columns = w->cols } };

	return one->log ? monitor_log(one->service->monitor, &event, err) : 0;
}

static int on_ended(void *arg, enum relay_end how, uint64_t bytes, struct error *err)
{
	static const char *const why[] = { [RELAY_END_PROCESS] = "eof", [RELAY_END_ENGINE] = "detached",
					   [RELAY_END_CUT] = "killed" };
	struct session *one = arg;
	struct audit_output *logs[] = { take_ptr(one->input), take_ptr(one->log) };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ELEMENTSOF(logs); i++)
		if (logs[i])
			r = monitor_log_done(one->service->monitor, audit_output_close(logs[i], why[how], err), err);
	return r;
}

static int on_drained(void *arg, struct error *err)
{
	struct session *one = arg;
	struct monitor *m = one->service->monitor;

	one->drained = true;
	return m->ended || one->asked ? 0 : monitor_drained(m, one->number, err);
}

static int on_delivered(void *arg, struct error *err)
{
	struct session *one = arg;

	if (one->service->monitor->ended)
		monitor_over(one->service->monitor);
	return 0;
}

static const struct relay_tty_ops ops = { .tap = on_tap,
					  .typed = on_typed,
					  .window = on_window,
					  .ended = on_ended,
					  .drained = on_drained,
					  .delivered = on_delivered };

static struct session *find(const struct terminal_service *s, uint32_t number)
{
	struct session *one;

	for (one = s->sessions; one && one->number != number; one = one->next)
		;
	return one;
}

/* Those that are over; not from within a relay's callback. */
static void sweep(struct terminal_service *s)
{
	struct session **at = &s->sessions;

	while (*at) {
		struct session *one = *at;

		if (one->relay.open || one->relay.draining) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		free(one);
	}
}

static int on_streams(struct terminal_service *s, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct monitor *m = s->monitor;
	struct session *one;
	int r = 0;

	if (find(s, msg->number) || fds[0] < 0 || fds[1] < 0 || fds[2] < 0)
		return error_text(err, -EPROTO, "STREAMS makes no sense");
	one = calloc(1, sizeof(*one));
	if (!one)
		return error_oom(err);
	one->service = s;
	one->number = msg->number;
	one->next = s->sessions;
	s->sessions = one;
	if (monitor_log_sink(m))
		r = audit_output_open(monitor_log_sink(m), (int32_t)msg->number, AUDIT_TERMINAL,
				      m->config->audit.output_max, &one->log, err);
	if (r == 0 && monitor_log_sink(m) && m->config->audit.input_max > 0)
		r = audit_output_open(monitor_log_sink(m), (int32_t)msg->number, AUDIT_STDIN,
				      m->config->audit.input_max, &one->input, err);
	return r < 0 ? r : relay_tty_start(&one->relay, &m->loop, &ops, one, fds, err);
}

static int terminal_open(struct monitor *m, struct error *err)
{
	struct terminal_service *s = calloc(1, sizeof(*s));

	if (!s)
		return error_oom(err);
	*s = (struct terminal_service){ .monitor = m, .line = EV_TIMER_NULL, .linger = EV_TIMER_NULL };
	m->terminal = s;
	return 0;
}

static int terminal_run(struct monitor *m, struct error *err)
{
	return ev_timer_init(&m->loop, &m->terminal->line, CLOCK_MONOTONIC, on_line, m->terminal, err);
}

static int terminal_message(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct terminal_service *s = m->terminal;
	struct session *one;
	int r;

	sweep(s);
	if (msg->type == LINK_STREAMS && (msg->flags & LINK_F_TERMINAL))
		return on_streams(s, msg, fds, err);
	one = msg->type == LINK_DRAIN ? find(s, msg->number) : NULL;
	if (!one || !one->relay.open || one->relay.draining)
		return 0;
	one->asked = true;
	r = relay_tty_drain(&one->relay, err);
	one->asked = false;
	return r < 0 || one->drained ? r : MONITOR_E_LATER;
}

static bool terminal_lingers(const struct monitor *m)
{
	const struct session *one;

	for (one = m->terminal->sessions; one; one = one->next)
		if (one->relay.open)
			return true;
	return false;
}

static int on_linger_timeout(struct evloop *l, struct ev_timer *t, struct error *err)
{
	evloop_stop(l);
	return 0;
}

static int terminal_end(struct monitor *m, struct error *err)
{
	struct terminal_service *s = m->terminal;
	struct session *one;
	int r = 0;

	for (one = s->sessions; r == 0 && one; one = one->next)
		if (one->relay.open)
			r = relay_tty_finish(&one->relay, err);
	ev_timer_done(&m->loop, &s->line);
	if (r < 0 || !terminal_lingers(m))
		return r;
	r = ev_timer_init(&m->loop, &s->linger, CLOCK_BOOTTIME, on_linger_timeout, s, err);
	return r < 0 ? r : ev_timer_at(&s->linger, ev_now(CLOCK_BOOTTIME) + LINGER_NS, err);
}

const struct monitor_service monitor_terminal = {
	.name = "terminal",
	.open = terminal_open,
	.run = terminal_run,
	.message = terminal_message,
	.end = terminal_end,
	.lingers = terminal_lingers,
};
