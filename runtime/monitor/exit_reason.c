/*
 * Owns the order in which causes are looked at: what we did ourselves, then the process's own
 * end, then the limits that its cgroup hit.
 */
#include "monitor/exit_reason.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "util/cleanup.h"

/* Adds a clause; what does not fit is left out whole. */
static _printf_(2, 3) void add(struct exit_verdict *v, const char *fmt, ...)
{
	size_t at = strlen(v->detail);
	va_list ap;
	int n;

	if (at > 0)
		at += (size_t)snprintf(v->detail + at, sizeof(v->detail) - at, "; ");
	if (at >= sizeof(v->detail))
		return;
	va_start(ap, fmt);
	n = vsnprintf(v->detail + at, sizeof(v->detail) - at, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(v->detail) - at)
		v->detail[at >= 2 ? at - 2 : 0] = '\0';
}

static enum exit_reason by_signal(const struct exit_evidence *e, int sig)
{
	/* A page of a mapped file for which there was no room. */
	if (sig == SIGBUS && e->disk_full)
		return EXIT_REASON_DISK;
	if (sig != SIGKILL)
		return EXIT_REASON_SIGNAL;
	if (e->oom == EXIT_OOM_CHOSEN)
		return EXIT_REASON_OOM;
	if (e->container_ending)
		return EXIT_REASON_CONTAINER;
	/* Nobody of ours killed it, and the kernel has killed somebody there. */
	return e->oom == EXIT_OOM_UNKNOWN && e->oom_kills > 0 ? EXIT_REASON_OOM : EXIT_REASON_SIGNAL;
}

static enum exit_reason by_code(const struct exit_evidence *e, int code)
{
	if (code == 0)
		return EXIT_REASON_EXITED;
	if (e->oom_kills > 0)
		return EXIT_REASON_OOM_CHILD;
	if (e->pids_refused > 0)
		return EXIT_REASON_PIDS;
	return e->disk_full ? EXIT_REASON_DISK : EXIT_REASON_EXITED;
}

static void describe_status(const struct exit_evidence *e, struct exit_verdict *v)
{
	int sig;

	if (e->status < 0)
		return;
	if (WIFEXITED(e->status)) {
		if (v->reason != EXIT_REASON_EXITED)
			add(v, "it exited with %d", WEXITSTATUS(e->status));
		return;
	}
	sig = WTERMSIG(e->status);
	/* Our own kill, and the kernel's for memory, need no word about the signal. */
	if (sig == SIGKILL && v->reason != EXIT_REASON_SIGNAL)
		return;
	add(v, "signal %d%s", sig,
	    sig == SIGSYS  ? ": a system call that a filter answers so" :
	    sig == SIGXFSZ ? ": a file larger than its limit" :
	    sig == SIGXCPU ? ": more processor time than its limit" :
			     "");
}

static void describe_limits(const struct exit_evidence *e, struct exit_verdict *v)
{
	char limit[64] = "";

	if (e->memory_limit)
		(void)snprintf(limit, sizeof(limit), " (limit %llu bytes)", (unsigned long long)e->memory_limit);
	if (e->oom_kills)
		add(v, "the kernel killed %llu of its processes for want of memory%s",
		    (unsigned long long)e->oom_kills, limit);
	else if (v->reason == EXIT_REASON_OOM)
		add(v, "the kernel killed it for want of memory%s", limit);
	limit[0] = '\0';
	if (e->pids_limit)
		(void)snprintf(limit, sizeof(limit), " of %llu", (unsigned long long)e->pids_limit);
	if (e->pids_refused)
		add(v, "the limit%s of processes refused %llu", limit, (unsigned long long)e->pids_refused);
	if (e->disk_full)
		add(v, "its %s was full when it ended", e->disk_full);
	if (e->unrecorded)
		add(v, "%llu programs were killed because they could not be recorded",
		    (unsigned long long)e->unrecorded);
}

void exit_reason_judge(const struct exit_evidence *e, struct exit_verdict *ret)
{
	*ret = (struct exit_verdict){ .reason = EXIT_REASON_UNKNOWN };
	if (e->ordered != EXIT_REASON_UNKNOWN)
		ret->reason = e->ordered;
	else if (e->status < 0)
		ret->reason = EXIT_REASON_UNKNOWN;
	else if (WIFEXITED(e->status))
		ret->reason = by_code(e, WEXITSTATUS(e->status));
	else
		ret->reason = by_signal(e, WTERMSIG(e->status));
	if (e->why && e->why[0])
		add(ret, "%s", e->why);
	describe_status(e, ret);
	describe_limits(e, ret);
}
