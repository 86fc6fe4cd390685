/*
 * What is said of denied calls: the right errno for each, the first of a kind at once, and
 * every one of a flood counted in a few records.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "monitor/monitor_audit.h"
#include "monitor/monitor_calls.h"
#include "tap.h"
#include "util/str.h"

static struct error err;

/* Stands for the log. */
static struct {
	unsigned records;
	uint64_t told, lost;
	char call[48], detail[256], error[32], rule[128], allowed_by[96];
	int32_t process;
} seen;

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from ? from : "");
}

int monitor_log(struct monitor *m, const struct audit_event *e, struct error *error)
{
	if (e->type == AUDIT_LOST) {
		seen.lost += e->lost.count;
		return 0;
	}
	seen.records++;
	seen.told += 1 + e->call_denied.suppressed;
	seen.process = e->process;
	copy(seen.call, sizeof(seen.call), e->call_denied.call);
	copy(seen.detail, sizeof(seen.detail), e->call_denied.detail);
	copy(seen.error, sizeof(seen.error), e->call_denied.error);
	copy(seen.rule, sizeof(seen.rule), e->call_denied.rule);
	copy(seen.allowed_by, sizeof(seen.allowed_by), e->call_denied.allowed_by);
	return 0;
}

int monitor_trace_program(struct monitor *m, int32_t pid, char *ret, size_t size, struct error *error)
{
	(void)snprintf(ret, size, "program-%d", pid);
	return 0;
}

static struct calls_log *log_new(struct monitor *m, const char *profile, const char *text)
{
	struct calls_log *log = calloc(1, sizeof(*log));

	if (!log)
		abort();
	*log = (struct calls_log){ .monitor = m, .profile = profile, .tokens = CALLS_BURST, .timer = EV_TIMER_NULL };
	log->text = text ? strdup(text) : NULL;
	log->len = text ? strlen(text) : 0;
	log->filled_ns = ev_now(CLOCK_MONOTONIC);
	is_int(calls_run(log, &err), 0, "a log");
	memset(&seen, 0, sizeof(seen));
	return log;
}

static void log_free(struct monitor *m, struct calls_log *log)
{
	ev_timer_done(&m->loop, &log->timer);
	filter_done(&log->plain);
	(void)filter_denials_free(log->denials);
	free(log->text);
	free(log);
}

static struct seccomp_data call(int nr, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct seccomp_data){ .arch = FILTER_AGENT_NATIVE, .nr = nr, .args = { a, b, c } };
}

static void test_answers(struct monitor *m)
{
	struct calls_log *log = log_new(m, "agent-default", NULL);
	struct seccomp_data d = call(SYS_socket, 38, SOCK_SEQPACKET, 0);

	is_int(calls_errno(log, &d), EAFNOSUPPORT, "the errno of the rule");
	is_int(calls_note(log, 3, 77, &d, &err), 0, "told");
	is_int(seen.records, 1, "at once");
	is_int(seen.process, 3, "of its process");
	is_str(seen.call, "socket", "call");
	is_str(seen.detail, "AF_ALG, SOCK_SEQPACKET, 0", "arguments");
	is_str(seen.error, "EAFNOSUPPORT", "errno");
	ok(strncmp(seen.rule, "agent-default syscalls[", 23) == 0, "rule: %s", seen.rule);
	d = call(SYS_unshare, CLONE_NEWUSER, 0, 0);
	is_int(calls_errno(log, &d), EPERM, "another");
	is_int(calls_note(log, 0, 78, &d, &err), 0, "told");
	is_str(seen.allowed_by, "agent-nested", "who would allow it");
	/* What no rule denies is not answered with a yes. */
	d = call(SYS_getpid, 0, 0, 0);
	is_int(calls_errno(log, &d), EPERM, "a call that the profile allows");
	log_free(m, log);
}

static void test_own_profile(struct monitor *m)
{
	static const char text[] = "{\"extends\": \"agent-default\", \"syscalls\": [{\"names\": [\"chdir\"], \"action\": \"SCMP_ACT_ERRNO\", "
				   "\"errno\": \"EIO\", \"report\": true, \"comment\": \"no\"}]}";
	struct calls_log *log = log_new(m, "/etc/own.json", text);
	struct seccomp_data d = call(SYS_chdir, 0x7fff0000, 0, 0);

	is_int(calls_errno(log, &d), EIO, "the errno of a file's rule");
	is_int(calls_note(log, 0, 5, &d, &err), 0, "told");
	is_str(seen.rule, "/etc/own.json syscalls[0]", "with its place");
	log_free(m, log);
	log = log_new(m, "/etc/broken.json", "{");
	is_int(calls_errno(log, &d), EPERM, "without a profile it is denied as well");
	log_free(m, log);
}

static void test_flood(struct monitor *m)
{
	struct calls_log *log = log_new(m, "agent-default", NULL);
	struct seccomp_data d;
	int i, r = 0;

	/* Addresses do not make calls differ. */
	for (i = 0; i < 5000 && r == 0; i++) {
		d = call(SYS_mount, 0x7fff00000000 + (uint64_t)i, 0x7ffe00000000 - (uint64_t)i, 0x10000 + (uint64_t)i);
		r = calls_note(log, 0, 100 + i, &d, &err);
	}
	is_int(r, 0, "5000 equal calls");
	ok(seen.records < 50, "%u records", seen.records);
	is_int(calls_flush(log, 1, &err), 0, "another process ends");
	is_int(calls_flush(log, 0, &err), 0, "this one ends");
	is_int(seen.told, 5000, "each is counted");
	is_int(calls_flush(log, CALLS_ALL, &err), 0, "the end");
	is_int(seen.told, 5000, "once");
	log_free(m, log);
}

static void test_kinds(struct monitor *m)
{
	struct calls_log *log = log_new(m, "agent-default", NULL);
	struct seccomp_data d;
	int i, k, r = 0;

	for (k = 0; k < 2; k++)
		for (i = 0; i < 3000 && r == 0; i++) {
			d = call(SYS_socket, 100 + (uint64_t)i, SOCK_STREAM, 0);
			r = calls_note(log, 0, 1, &d, &err);
		}
	is_int(r, 0, "3000 kinds of calls, twice");
	ok(seen.records >= CALLS_BURST && seen.records < 1000, "%u records", seen.records);
	is_int(calls_flush(log, CALLS_ALL, &err), 0, "the end");
	is_int(seen.told + seen.lost, 6000, "each is told or counted");
	ok(seen.lost > 0, "%llu only counted", (unsigned long long)seen.lost);
	log_free(m, log);
}

/* Flags are no addresses, however large. */
static void test_flags(struct monitor *m)
{
	static const uint64_t flags[] = { CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWNET | CLONE_NEWNS };
	struct calls_log *log = log_new(m, "agent-default", NULL);
	size_t i;

	for (i = 0; i < ELEMENTSOF(flags); i++) {
		struct seccomp_data d = call(SYS_unshare, flags[i], 0, 0);

		(void)calls_note(log, 0, 1, &d, &err);
	}
	is_int(seen.records, ELEMENTSOF(flags), "a record for each set of flags");
	log_free(m, log);
}

/* What is counted is told in time, without another call. */
static void test_timer(struct monitor *m)
{
	struct calls_log *log = log_new(m, "agent-default", NULL);
	struct seccomp_data d = call(SYS_unshare, CLONE_NEWNET, 0, 0);
	int i;

	for (i = 0; i < 3; i++)
		(void)calls_note(log, 0, 1, &d, &err);
	for (i = 0; i < 100 && seen.told < 3; i++)
		(void)evloop_step(&m->loop, 1000, &err);
	is_int(seen.told, 3, "told by the timer");
	ok(seen.records >= 2, "%u records", seen.records);
	log_free(m, log);
}

int main(void)
{
	struct monitor m = { .loop = EVLOOP_NULL };

	TAP_BEGIN();
	is_int(evloop_init(&m.loop, &err), 0, "a loop");
	test_answers(&m);
	test_own_profile(&m);
	test_flood(&m);
	test_flags(&m);
	test_kinds(&m);
	test_timer(&m);
	evloop_done(&m.loop);
	return TAP_END();
}
