/*
 * The audit log in the monitor: the sink, and the events that come from the supervisor. Its
 * file was opened by the supervisor; here it can only be appended to.
 */
#include "monitor/monitor_audit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/exit_record.h"
#include "util/enum_table.h"

struct log_service {
	struct monitor *monitor;
	struct audit_sink *sink;
	struct ev_timer timer;
	uint32_t part; /* that was asked for, or is written */
	bool failed; /* the supervisor was told */
};

static struct log_service *service(struct monitor *m)
{
	return m->log;
}

struct audit_sink *monitor_log_sink(struct monitor *m)
{
	return service(m) ? service(m)->sink : NULL;
}

/* Says once that the container must end, and goes on: it takes a moment until it does. */
static int stop(struct log_service *s, int r, const struct error *why)
{
	if (r != AUDIT_E_STOP)
		return r;
	if (!s->failed)
		monitor_fail(s->monitor, why);
	s->failed = true;
	return 0;
}

static int arm(struct log_service *s, struct error *err)
{
	uint64_t due = audit_sink_due(s->sink);

	if (s->timer.source.fd < 0 || due == 0 || s->timer.armed)
		return 0;
	return ev_timer_at(&s->timer, due, err);
}

/* Everything that one event can lead to: written at once, so that readers see it. */
static int settle(struct log_service *s, struct error *err)
{
	struct link_msg msg = { .type = LINK_PART };
	struct audit_head head;
	int r;

	r = stop(s, audit_sink_flush(s->sink, false, err), err);
	if (r == 0)
		r = arm(s, err);
	if (r < 0 || !audit_sink_wants_part(s->sink))
		return r;
	audit_sink_head(s->sink, &head);
	if (s->part > head.part)
		return 0;
	msg.number = s->part = head.part + 1;
	return link_send(&s->monitor->link, &msg, NULL, 0, err);
}

int monitor_log_done(struct monitor *m, int r, struct error *err)
{
	r = stop(service(m), r, err);
	return r < 0 ? r : settle(service(m), err);
}

int monitor_log(struct monitor *m, const struct audit_event *event, struct error *err)
{
	return service(m) ? monitor_log_done(m, audit_sink_emit(service(m)->sink, event, err), err) : 0;
}

static int on_timer(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct log_service *s = t->arg;
	int r = stop(s, audit_sink_tick(s->sink, err), err);

	return r < 0 ? r : arm(s, err);
}

static int log_create(struct monitor *m, struct error *err)
{
	const struct monitor_config *c = m->config;
	const struct monitor_decision *d = c->decisions.items;
	_cleanup_free_ struct audit_decision *decisions = calloc(c->decisions.count + 1, sizeof(*decisions));
	struct audit_event event = { .type = AUDIT_CREATE, .process = -1 };
	size_t i;

	if (!decisions)
		return error_oom(err);
	for (i = 0; i < c->decisions.count; i++)
		decisions[i] = (struct audit_decision){ .control = d[i].control, .action = d[i].action,
							.asked = d[i].asked, .given = d[i].given, .rule = d[i].rule };
	event.create = (struct audit_create){
		.bundle = c->bundle,
		.rootfs = c->rootfs,
		.profile = c->profile,
		.policy_file = c->policy_hash ? c->policy_file : NULL, /* else it is the built-in one */
		.policy_hash = c->policy_hash,
		.owner = c->owner,
		.version = c->version,
		.argv = { .data = c->argv, .len = c->argv ? strlen(c->argv) + 1 : 0 },
		.uid = c->uid,
		.gid = c->gid,
		.decisions = decisions,
		.n_decisions = c->decisions.count,
	};
	return monitor_log(m, &event, err);
}

static int audit_open(struct monitor *m, struct error *err)
{
	const struct monitor_config *c = m->config;
	struct audit_sink_options opt = {
		.id = c->id,
		.root = c->root,
		.log_bytes = c->audit.log_max,
		.on_failure = c->audit.stop ? AUDIT_STOP : AUDIT_CONTINUE,
		.redact = (const char *const *)c->audit.redact.items,
		.n_redact = c->audit.redact.count,
	};
	int fds[LINK_FDS_MAX];
	struct log_service *s;
	struct link_msg msg;
	int r;

	r = link_expect(&m->link, LINK_LOG, "the supervisor", &msg, fds, err);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_oom(err);
	*s = (struct log_service){ .monitor = m, .timer = EV_TIMER_NULL, .part = 1 };
	opt.fd = fds[0];
	r = audit_sink_open(&opt, &s->sink, err);
	if (r < 0) {
		(void)close(opt.fd);
		free(s);
		return r;
	}
	m->log = s;
	return log_create(m, err);
}

static int audit_run(struct monitor *m, struct error *err)
{
	struct log_service *s = service(m);
	int r;

	if (!s)
		return 0;
	r = ev_timer_init(&m->loop, &s->timer, CLOCK_MONOTONIC, on_timer, s, err);
	return r < 0 ? r : arm(s, err);
}

static struct audit_status status_of(int status)
{
	struct audit_status s = { .code = -1 };

	if (status >= 0 && WIFEXITED(status))
		s.code = WEXITSTATUS(status);
	else if (status >= 0 && WIFSIGNALED(status))
		s.signal = WTERMSIG(status);
	return s;
}

static int log_limit(struct monitor *m, const char *what, uint64_t count, struct error *err)
{
	const struct audit_event event = { .type = AUDIT_LIMIT, .process = -1, .limit = { .what = what, .count = count } };

	return count > 0 ? monitor_log(m, &event, err) : 0;
}

static int log_exit(struct monitor *m, const struct link_msg *msg, struct error *err)
{
	const char *reason = enum_to_name(&exit_reason_table, msg->exit.reason);
	struct audit_event event = { .type = AUDIT_EXIT, .process = (int32_t)msg->number };
	int r;

	if (msg->number > 0) {
		event.type = AUDIT_PROCESS_EXIT;
		event.process_exit = (struct audit_process_exit){ .status = status_of(msg->exit.status),
								  .duration_ns = msg->exit.wall_ns, .reason = reason };
		return monitor_log(m, &event, err);
	}
	r = log_limit(m, "memory", msg->exit.oom_kills, err);
	if (r == 0)
		r = log_limit(m, "pids", msg->exit.pids_refused, err);
	if (r < 0)
		return r;
	event.exit = (struct audit_exit){ .status = status_of(msg->exit.status),
					  .reason = reason,
					  .duration_ns = msg->exit.wall_ns,
					  .memory_peak = msg->exit.memory_peak,
					  .pids_peak = msg->exit.pids_peak,
					  .cpu_ns = msg->exit.cpu_ns };
	return monitor_log(m, &event, err);
}

static int log_process(struct monitor *m, const struct link_msg *msg, struct error *err)
{
	struct audit_event event = { .type = AUDIT_PROCESS, .process = (int32_t)msg->number };

	event.added = (struct audit_process){
		.argv = { .data = msg->text, .len = MIN(msg->length, sizeof(msg->text)) },
		.uid = msg->uid,
		.gid = msg->gid,
		.terminal = msg->flags & LINK_F_TERMINAL,
		.detached = !(msg->flags & LINK_F_FOREGROUND),
	};
	return monitor_log(m, &event, err);
}

static int log_part(struct log_service *s, int *fd, struct error *err)
{
	return stop(s, audit_sink_part(s->sink, take_fd(fd), err), err);
}

/* Its name, and behind that's end what there is to say of it. */
static int log_note(struct monitor *m, const struct link_msg *msg, struct error *err)
{
	const char *detail = msg->text + strnlen(msg->text, sizeof(msg->text) - 1) + 1;
	struct audit_event event = { .type = AUDIT_OPERATION, .process = -1 };

	event.operation = (struct audit_operation){ .name = msg->text, .signal = (int32_t)msg->number };
	if (detail < msg->text + sizeof(msg->text) && *detail)
		event.operation.detail = detail;
	return monitor_log(m, &event, err);
}

static int audit_message(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct audit_event event = { .process = (int32_t)msg->number };

	if (!service(m))
		return 0;
	switch (msg->type) {
	case LINK_BORN:
		event.type = AUDIT_START;
		event.start.pid = msg->pid;
		return monitor_log(m, &event, err);
	case LINK_DESCRIBE:
		return log_process(m, msg, err);
	case LINK_NOTE:
		return log_note(m, msg, err);
	case LINK_WARNING:
		event.type = AUDIT_WARNING;
		event.process = -1;
		event.detail = msg->text;
		return monitor_log(m, &event, err);
	case LINK_EXPIRED:
		event.type = AUDIT_DEADLINE;
		event.deadline = (struct audit_deadline){ .what = msg->number == 0 ? "container" : "exec",
							  .limit_ns = msg->limit_ns,
							  .step = msg->flags & LINK_F_FINAL ? "kill" : "term" };
		return monitor_log(m, &event, err);
	case LINK_EXITED:
		return log_exit(m, msg, err);
	case LINK_LOG:
		return log_part(service(m), &fds[0], err);
	default:
		return 0;
	}
}

static int audit_end(struct monitor *m, struct error *err)
{
	struct link_msg msg = { .type = LINK_HEAD, .flags = LINK_F_FINAL };
	struct log_service *s = service(m);
	int r;

	if (!s)
		return 0;
	r = audit_sink_close(s->sink, &msg.head, err);
	s->sink = NULL;
	m->log = NULL;
	return r != 0 ? stop(s, r, err) : link_send(&m->link, &msg, NULL, 0, err);
}

const struct monitor_service monitor_audit = {
	.name = "audit",
	.open = audit_open,
	.run = audit_run,
	.message = audit_message,
	.end = audit_end,
};
