/*
 * What is said of denied calls, and how often: the first of its kind at once, equal ones
 * counted and told from time to time, so that neither the log nor the host can be flooded.
 */
#include "monitor/monitor_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "filter/filter_syscalls.h"
#include "monitor/monitor_audit.h"

#define SECOND UINT64_C(1000000000)
/* Both may be cut. */
#define RULE_SIZE    320
#define PROGRAM_SIZE 32

/* At the first denial, without privilege: an operator's text was read before. What fails here is found again. */
static int prepare(struct calls_log *log, struct error *err)
{
	int r = 0;

	if (log->plain.count == 0)
		r = log->text ? filter_agent_compile(log->profile, log->text, log->len, FILTER_AGENT_NATIVE, &log->plain, err) :
				filter_agent_builtin(log->profile, &log->plain, err);
	if (r == 0 && !log->denials)
		r = filter_denials_new(log->profile, log->text, log->len, &log->denials, err);
	return r;
}

int calls_errno(struct calls_log *log, const struct seccomp_data *data)
{
	struct error ignored;
	uint32_t verdict;

	if (prepare(log, &ignored) < 0)
		return EPERM;
	verdict = filter_verdict(&log->plain, data);
	/* An operator's file may have changed since an exec read it: it is denied all the same. */
	if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO || !(verdict & SECCOMP_RET_DATA))
		return EPERM;
	return (int)(verdict & SECCOMP_RET_DATA);
}

static void key_of(uint32_t number, const struct seccomp_data *data, struct call_key *ret)
{
	const struct filter_syscall *call = filter_syscall_by_nr(FILTER_AGENT_NATIVE, data->nr);
	unsigned i;

	*ret = (struct call_key){ .number = number, .nr = data->nr };
	/* As the record shows them. */
	for (i = 0; call && i < strlen(call->args); i++)
		ret->args[i] = filter_denial_arg(call, i, data);
}

/* suppressed: of its kind, beside this one. */
static int record(struct calls_log *log, struct call_entry *e, uint64_t suppressed, struct error *err)
{
	struct audit_event event = { .type = AUDIT_CALL_DENIED, .process = (int32_t)e->key.number };
	struct filter_denial d = { 0 };
	char rule[RULE_SIZE] = "", program[PROGRAM_SIZE];
	int r;

	r = monitor_trace_program(log->monitor, e->pid, program, sizeof(program), err);
	if (r == 0)
		r = prepare(log, err);
	if (r < 0)
		return r;
	if (filter_denials_describe(log->denials, &e->last, &d) != 0)
		(void)snprintf(d.call, sizeof(d.call), "call %d", e->last.nr);
	if (d.rule >= 0 && d.profile)
		(void)snprintf(rule, sizeof(rule), "%s syscalls[%d]", d.profile, d.rule);
	event.call_denied = (struct audit_call_denied){
		.call = d.call,
		.detail = d.args[0] ? d.args : NULL,
		.error = strerrorname_np((int)d.error),
		.rule = rule[0] ? rule : NULL,
		.reason = d.reason && *d.reason ? d.reason : NULL,
		.allowed_by = d.allowed_by[0] ? d.allowed_by : NULL,
		.host_pid = e->pid,
		.suppressed = suppressed,
	};
	if (program[0])
		event.call_denied.comm = AUDIT_BYTES(&program[0]);
	return monitor_log(log->monitor, &event, err);
}

static int record_lost(struct calls_log *log, struct error *err)
{
	const struct audit_event event = {
		.type = AUDIT_LOST,
		.process = -1,
		.lost = { .source = "call", .count = log->lost, .detail = "denied calls of too many kinds at a time" },
	};

	if (log->lost == 0)
		return 0;
	log->lost = 0;
	return monitor_log(log->monitor, &event, err);
}

static bool take_token(struct calls_log *log, uint64_t now)
{
	uint64_t seconds = (now - log->filled_ns) / SECOND;

	if (seconds > 0) {
		log->tokens = MIN(log->tokens + seconds * CALLS_RATE, (uint64_t)CALLS_BURST);
		log->filled_ns += seconds * SECOND;
	}
	if (log->tokens == 0)
		return false;
	log->tokens--;
	return true;
}

static struct call_entry *find(struct calls_log *log, const struct call_key *key)
{
	unsigned i;

	for (i = 0; i < CALLS_KEPT; i++)
		if (log->entries[i].due_ns && memcmp(&log->entries[i].key, key, sizeof(*key)) == 0)
			return &log->entries[i];
	return NULL;
}

/* The one that was silent for the longest; NULL: all have something to tell. */
static struct call_entry *find_free(struct calls_log *log)
{
	struct call_entry *best = NULL;
	unsigned i;

	for (i = 0; i < CALLS_KEPT; i++) {
		struct call_entry *e = &log->entries[i];

		if (e->pending == 0 && (!best || e->due_ns < best->due_ns))
			best = e;
	}
	return best;
}

static int told(struct calls_log *log, struct call_entry *e, uint64_t suppressed, uint64_t now, struct error *err)
{
	e->pending = 0;
	e->span_ns = MIN(e->span_ns ? 2 * e->span_ns : CALLS_SPAN_NS, CALLS_SPAN_MAX_NS);
	e->due_ns = now + e->span_ns;
	return record(log, e, suppressed, err);
}

static int arm(struct calls_log *log, struct error *err)
{
	return log->timer.armed ? 0 : ev_timer_at(&log->timer, ev_now(CLOCK_MONOTONIC) + SECOND, err);
}

int calls_note(struct calls_log *log, uint32_t number, int32_t pid, const struct seccomp_data *data, struct error *err)
{
	uint64_t now = ev_now(CLOCK_MONOTONIC);
	struct call_entry *e;
	struct call_key key;

	key_of(number, data, &key);
	e = find(log, &key);
	if (!e) {
		e = take_token(log, now) ? find_free(log) : NULL;
		if (!e) {
			log->lost++;
			return arm(log, err);
		}
		*e = (struct call_entry){ .key = key };
	}
	e->last = *data;
	e->pid = pid;
	if (now >= e->due_ns)
		return told(log, e, e->pending, now, err);
	e->pending++;
	return arm(log, err);
}

static int on_timer(struct evloop *loop, struct ev_timer *t, struct error *err)
{
	struct calls_log *log = t->arg;
	uint64_t now = ev_now(CLOCK_MONOTONIC);
	bool more = false;
	unsigned i;
	int r;

	r = record_lost(log, err);
	for (i = 0; i < CALLS_KEPT && r == 0; i++) {
		struct call_entry *e = &log->entries[i];

		if (e->pending > 0 && now >= e->due_ns)
			r = told(log, e, e->pending - 1, now, err);
		more |= e->pending > 0;
	}
	return r == 0 && more ? arm(log, err) : r;
}

int calls_run(struct calls_log *log, struct error *err)
{
	return ev_timer_init(&log->monitor->loop, &log->timer, CLOCK_MONOTONIC, on_timer, log, err);
}

int calls_flush(struct calls_log *log, uint32_t number, struct error *err)
{
	uint64_t now = ev_now(CLOCK_MONOTONIC);
	unsigned i;
	int r = 0;

	for (i = 0; i < CALLS_KEPT && r == 0; i++) {
		struct call_entry *e = &log->entries[i];

		if (e->pending > 0 && (number == CALLS_ALL || e->key.number == number))
			r = told(log, e, e->pending - 1, now, err);
	}
	return r == 0 && (number == CALLS_ALL || number == 0) ? record_lost(log, err) : r;
}
