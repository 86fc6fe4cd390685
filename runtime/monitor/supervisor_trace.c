/*
 * Owns the ptrace relation to the container's processes. It has three uses: the kernel
 * kills them when the supervisor ends; nobody sees their exit before the supervisor has
 * reaped them; and the stop at execve is where their rights are looked at. No system
 * call is traced. Cost: one stop for each signal to the traced thread, and one at its end.
 *
 * Who holds the exit back. Checked with engines and their sources: containerd's shim, conmon,
 * Buildah and BuildKit learn of an exit from SIGCHLD and wait(2), which tell of it only when
 * we have reaped. conmon-rs (1.0) polls a pidfd instead, which is readable as soon as the process is
 * dead, and then waits once without blocking: it would take a held exit for a lost one and
 * report -1. So where the parent has a pidfd, the process is held at its exit stop, a moment before
 * it is dead, and let go there without a trace.
 */
#include <assert.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "monitor/supervisor.h"
#include "monitor/verify_status.h"
#include "os/pidfd_watch.h"
#include "os/procfs.h"
#include "os/syscalls.h"

#define TRACE_ALWAYS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT)
#define OWN_NAME     "agentrun\n"

static int on_pidfd(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct sup_process *p = src->arg;

	ev_del(l, src);
	/* Its status is for its parent alone. */
	return sup_process_ended(p, -1, err);
}

int sup_seize(struct sup *s, struct sup_process *p, struct error *err)
{
	if (ptrace(PTRACE_SEIZE, p->pid, NULL, (void *)(uintptr_t)(PTRACE_O_TRACEEXEC | TRACE_ALWAYS)) == 0) {
		p->traced = true;
		return 0;
	}
	if (errno == ESRCH)
		return error_text(err, -ESRCH, "process %d ended before it could be supervised", p->pid);
	if (errno != EPERM && errno != EACCES)
		return error_set(err, -errno, "attach the supervisor to process %d", p->pid);
	/* yama ptrace_scope 3, or rootless beside an undumpable process. */
	return ev_add(&s->loop, &p->end, p->pidfd, EPOLLIN, on_pidfd, p, err);
}

static void pass_on(const struct sup_process *p, int request, int sig)
{
	(void)ptrace(request, p->pid, NULL, (void *)(uintptr_t)sig);
}

/* The execve that START led to: the process is what it was meant to be, or it dies here. */
static int prove(struct sup_process *p, struct error *err)
{
	struct sup *s = p->sup;
	struct error found = ERROR_NULL;
	struct link_msg born = { .type = LINK_BORN, .number = p->number, .pid = p->pid };
	int r;

	r = verify_compare(s->proc_fd, p->pid, &p->expect, &found);
	if (r == 0)
		r = sup_log_prove(s, &found);
	if (r < 0) {
		sup_kill_process(p, EXIT_REASON_POLICY);
		sup_client_answer(p, &found);
		return 0;
	}
	/* Later ones need no look, and so no stop. */
	(void)ptrace(PTRACE_SETOPTIONS, p->pid, NULL, (void *)(uintptr_t)TRACE_ALWAYS);
	p->stage = SUP_RUNNING;
	p->started_ns = ev_now(CLOCK_BOOTTIME);
	r = sup_clock_start(p, err);
	if (r < 0)
		return r;
	sup_monitor_tell(s, &born);
	sup_client_answer(p, NULL);
	pass_on(p, PTRACE_CONT, 0);
	return 0;
}

/* Its parent looks through a pidfd, and is not a command of ours, which waits in earnest. */
static bool parent_is_impatient(const struct sup_process *p)
{
	_cleanup_free_ char *name = NULL;
	struct error ignored;
	bool watched = false;
	char path[32];
	pid_t parent;

	if (pidfd_is_watched(p->sup->proc_fd, p->pid, &parent, &watched, &ignored) < 0 || !watched)
		return false;
	(void)snprintf(path, sizeof(path), "%d/comm", parent);
	return procfs_read(p->sup->proc_fd, path, &name, &ignored) < 0 || strcmp(name, OWN_NAME) != 0;
}

/* It is about to die; its streams are still open, and nobody has seen anything. */
static int on_exit_stop(struct sup_process *p, struct error *err)
{
	unsigned long status = 0;

	if (parent_is_impatient(p) && ptrace(PTRACE_GETEVENTMSG, p->pid, NULL, &status) == 0) {
		p->at_exit_stop = true;
		return sup_process_ended(p, (int)status, err);
	}
	pass_on(p, PTRACE_CONT, 0);
	return 0;
}

static int on_stop(struct sup_process *p, int status, struct error *err)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC && p->stage == SUP_PROVING)
		return prove(p, err);
	if (event == PTRACE_EVENT_EXIT)
		return on_exit_stop(p, err);
	/* A group stop is kept up by LISTEN, so that SIGSTOP and job control work as without us. */
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		pass_on(p, PTRACE_LISTEN, 0);
	else
		pass_on(p, PTRACE_CONT, event == 0 ? sig : 0);
	return 0;
}

/* The trace is gone: an execve by another thread than the first ended it. */
static int seize_again(struct sup *s, struct sup_process *p, struct error *err)
{
	int r;

	p->traced = false;
	r = sup_seize(s, p, err);
	if (r == -ESRCH)
		return sup_process_ended(p, -1, err);
	if (r == 0 && p->traced && p->stage == SUP_RUNNING)
		(void)ptrace(PTRACE_SETOPTIONS, p->pid, NULL, (void *)(uintptr_t)TRACE_ALWAYS);
	return r;
}

/* The exit is looked at, not taken: that would show it to the real parent. */
static int reap_one(struct sup *s, struct sup_process *p, struct error *err)
{
	for (;;) {
		siginfo_t info = { 0 };
		int status, r;

		if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
			return errno == ECHILD ? seize_again(s, p, err) :
						 error_set(err, -errno, "wait for process %d", p->pid);
		if (info.si_pid == 0)
			return 0;
		if (info.si_code == CLD_EXITED)
			return sup_process_ended(p, (info.si_status & 0xff) << 8, err);
		if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
			return sup_process_ended(p, info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0), err);
		if (waitpid(p->pid, &status, __WALL | WNOHANG) != p->pid || !WIFSTOPPED(status))
			return 0;
		r = on_stop(p, status, err);
		if (r < 0)
			return r;
	}
}

int sup_reap(struct sup *s, struct error *err)
{
	struct sup_process *p, *next;
	int r = 0;

	for (p = s->processes; p && r == 0; p = next) {
		next = p->next;
		sup_tty_reap(p);
		if (p->pid > 0 && p->traced && p->stage < SUP_DRAINING)
			r = reap_one(s, p, err);
	}
	return r;
}

void sup_release(struct sup_process *p)
{
	int status;

	/* A kill may have woken it from its stop: then it is reaped as any other. */
	if (p->traced && (!p->at_exit_stop || ptrace(PTRACE_DETACH, p->pid, NULL, NULL) < 0))
		(void)waitpid(p->pid, &status, __WALL);
	p->traced = false;
	p->stage = SUP_GONE;
}
