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
#include "os/threads.h"

#define TRACE_ALWAYS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT)
#define LOOK_NS	     UINT64_C(100000000)
#define FAULT_NS     UINT64_C(1000000000) /* for a process to die of its fault, once it is let go */
#define OWN_NAME     "agentrun\n"

/* Without it: yama ptrace_scope 3, or rootless beside an undumpable process. */
static int attach(struct sup_process *p, struct error *err)
{
	uintptr_t options = p->stage < SUP_RUNNING ? PTRACE_O_TRACEEXEC | TRACE_ALWAYS : TRACE_ALWAYS;

	p->traced = ptrace(PTRACE_SEIZE, p->pid, NULL, (void *)options) == 0;
	if (p->traced || errno == EPERM || errno == EACCES)
		return 0;
	if (errno == ESRCH)
		return error_text(err, -ESRCH, "process %d ended before it could be supervised", p->pid);
	return error_set(err, -errno, "attach the supervisor to process %d", p->pid);
}

/*
 * ESRCH: a kill was quicker. Anything else would leave it stopped for ever, where not even a kill
 * reaches it at its exit: then our own end sets it free, and the kernel kills it.
 */
static int pass_on(const struct sup_process *p, int request, int sig, struct error *err)
{
	if (ptrace(request, p->pid, NULL, (void *)(uintptr_t)sig) < 0 && errno != ESRCH)
		return error_set(err, -errno, "let process %d go on", p->pid);
	return 0;
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
	r = sup_clock_start(p, &found);
	if (r < 0) {
		/* Nothing runs without its clock. */
		sup_kill_process(p, EXIT_REASON_POLICY);
		sup_client_answer(p, &found);
		return 0;
	}
	sup_monitor_tell(s, &born);
	r = pass_on(p, PTRACE_CONT, 0, err);
	sup_client_answer(p, r < 0 ? err : NULL);
	return r;
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

/*
 * conmon and others look for OOM kills when they see the exit, in a cgroup that systemd removes as soon
 * as nobody is in it: so where there were some, both happen at once, as they do without us.
 */
static bool must_stay(const struct sup_process *p, int status)
{
	return p->number == 0 && sup_evidence_settled(p, status);
}

/* Its first thread is about to die; the streams are still open, and nobody has seen anything. */
static int on_exit_stop(struct sup_process *p, struct error *err)
{
	struct error ignored;
	unsigned long status = 0;
	bool whole = false;

	if (threads_all_ending(p->sup->proc_fd, p->pid, &whole, &ignored) < 0)
		whole = false;
	if (ptrace(PTRACE_GETEVENTMSG, p->pid, NULL, &status) < 0)
		whole = false;
	if (whole && p->number == 0)
		sup_evidence_take(p, (int)status);
	if (whole && (must_stay(p, (int)status) || parent_is_impatient(p))) {
		p->at_exit_stop = true;
		return sup_process_ended(p, (int)status, err);
	}
	p->headless = !whole;
	return pass_on(p, PTRACE_CONT, 0, err);
}

static bool catches(const struct sup_process *p, int sig)
{
	_cleanup_free_ char *status = NULL;
	unsigned long long caught = 0;
	struct error ignored;
	const char *line;
	char path[32];

	(void)snprintf(path, sizeof(path), "%d/status", p->pid);
	if (procfs_read(p->sup->proc_fd, path, &status, &ignored) < 0)
		return false;
	line = strstr(status, "\nSigCgt:");
	return line && sscanf(line + strlen("\nSigCgt:"), "%llx", &caught) == 1 && (caught & (1ull << (sig - 1)));
}

/*
 * The first process of a pid namespace dies of its own fault (kernel/signal.c, force_sig_info_to_task) unless it is
 * traced: then the kernel drops the signal and it faults at the same instruction for ever. By now the
 * kernel has blocks and SIG_IGN out of the way, so what is not caught is fatal.
 */
static bool is_fatal_fault(const struct sup_process *p, int sig)
{
	siginfo_t info;

	if (p->number != 0 || !p->sup->record->pid_ns_private)
		return false;
	if (sig != SIGSEGV && sig != SIGBUS && sig != SIGILL && sig != SIGFPE && sig != SIGTRAP && sig != SIGSYS)
		return false;
	/* Sent by a process: the first one of a namespace is immune, with us or without. */
	if (ptrace(PTRACE_GETSIGINFO, p->pid, NULL, &info) < 0 || info.si_code <= 0)
		return false;
	return !catches(p, sig);
}

/* As at its exit stop: nobody has seen anything, and its output goes out before it is let go to die. */
static int on_fault(struct sup_process *p, int sig, struct error *err)
{
	sup_evidence_take(p, sig);
	p->at_exit_stop = true;
	/* The instruction is run again and faults again; a trap or a refused call has been passed. */
	p->faulted = sig != SIGTRAP && sig != SIGSYS;
	return sup_process_ended(p, p->faulted ? sig : SIGKILL, err);
}

static int on_stop(struct sup_process *p, int status, struct error *err)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC && p->stage == SUP_PROVING)
		return prove(p, err);
	if (event == PTRACE_EVENT_EXIT)
		return on_exit_stop(p, err);
	if (event == 0 && is_fatal_fault(p, sig))
		return on_fault(p, sig, err);
	/* A group stop is kept up by LISTEN, so that SIGSTOP and job control work as without us. */
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		return pass_on(p, PTRACE_LISTEN, 0, err);
	return pass_on(p, PTRACE_CONT, event == 0 ? sig : 0, err);
}

static bool is_there(const struct sup_process *p)
{
	return sys_pidfd_send_signal(p->pidfd, 0) == 0;
}

/* A stranger who got the number between our look and our grasp. */
static void let_go(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

/* The trace is gone: an execve by another thread than the first ended it. */
static int seize_again(struct sup *s, struct sup_process *p, struct error *err)
{
	int r = -ESRCH;

	p->traced = false;
	if (is_there(p))
		r = attach(p, err);
	/* The number was ours only if the descriptor's process still is there. */
	if (p->traced && !is_there(p)) {
		let_go(p->pid);
		p->traced = false;
		r = -ESRCH;
	}
	if (r == -ESRCH)
		return sup_process_ended(p, -1, err);
	p->headless = false;
	return r;
}

/*
 * One event: whatever comes after it brings a SIGCHLD of its own. The exit is looked at, not
 * taken: that would show it to the real parent.
 */
static int reap_one(struct sup *s, struct sup_process *p, struct error *err)
{
	siginfo_t info = { 0 };
	int status;
	pid_t pid;

	if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
		return errno == ECHILD ? seize_again(s, p, err) : error_set(err, -errno, "wait for process %d", p->pid);
	if (info.si_pid == 0)
		return 0;
	if (info.si_code == CLD_EXITED)
		return sup_process_ended(p, (info.si_status & 0xff) << 8, err);
	if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
		return sup_process_ended(p, info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0), err);
	do
		pid = waitpid(p->pid, &status, __WALL | WNOHANG);
	while (pid < 0 && errno == EINTR);
	/* Nothing tells of this stop again: it would never go on. */
	if (pid < 0 && errno != ECHILD)
		return error_set(err, -errno, "take the stop of process %d", p->pid);
	if (pid != p->pid || !WIFSTOPPED(status))
		return 0;
	return on_stop(p, status, err);
}

/* Whoever is still there dies of this, and init's death is everybody's. */
static void make_sure(const struct sup_process *p)
{
	struct error ignored = ERROR_NULL;

	(void)sys_pidfd_send_signal(p->pidfd, SIGKILL);
	if (p->number == 0)
		(void)cgroup_kill(&p->sup->cgroup, &ignored);
}

static int on_look(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct sup_process *p = t->arg;
	int r;

	if (p->stage == SUP_GONE) {
		/* Another thread has repaired what it had faulted for; its end is recorded already. */
		make_sure(p);
		return 0;
	}
	r = p->traced && p->stage < SUP_DRAINING ? reap_one(p->sup, p, err) : 0;

	if (r < 0 || !p->headless || p->stage >= SUP_DRAINING)
		return r;
	return ev_timer_at(t, ev_now(CLOCK_BOOTTIME) + LOOK_NS, err);
}

static int look_after(struct sup_process *p, uint64_t ns, struct error *err)
{
	int r = 0;

	if (p->look.source.fd < 0)
		r = ev_timer_init(&p->sup->loop, &p->look, CLOCK_BOOTTIME, on_look, p, err);
	return r < 0 ? r : ev_timer_at(&p->look, ev_now(CLOCK_BOOTTIME) + ns, err);
}

/*
 * Not the end of the process, and maybe that of the trace, of which nothing would tell: an execve by
 * another thread takes the number over without us. So it is looked after until then.
 */
static int watch_headless(struct sup_process *p, struct error *err)
{
	if (!p->headless || p->stage >= SUP_DRAINING || p->look.armed)
		return 0;
	return look_after(p, LOOK_NS, err);
}

/* The whole process is dead: the last word where the trace was forbidden or lost. */
static int on_pidfd(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct sup_process *p = src->arg;
	int r = 0;

	ev_del(l, src);
	/* It was let go at its exit stop: its last records are there now. */
	if (p->stage == SUP_GONE)
		return p->number == 0 && !p->sup->end_sent ? sup_finish(p->sup, err) : 0;
	if (p->traced && p->stage < SUP_DRAINING)
		r = reap_one(p->sup, p, err);
	/* Its status is for its parent alone. */
	return r == 0 && p->stage < SUP_DRAINING ? sup_process_ended(p, -1, err) : r;
}

int sup_seize(struct sup *s, struct sup_process *p, struct error *err)
{
	int r = attach(p, err);

	return r < 0 ? r : ev_add(&s->loop, &p->end, p->pidfd, EPOLLIN, on_pidfd, p, err);
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
		if (r == 0)
			r = watch_headless(p, err);
	}
	return r;
}

bool sup_release(struct sup_process *p)
{
	struct error ignored = ERROR_NULL;
	bool let_off = p->traced && p->at_exit_stop && ptrace(PTRACE_DETACH, p->pid, NULL, NULL) == 0;
	int status;

	/* A kill may have woken it from its stop: then it is reaped as any other. */
	if (p->traced && !let_off)
		(void)waitpid(p->pid, &status, __WALL);
	/* It is dying and this changes nothing; a thread that we had overlooked does not get away. */
	if (let_off && (!p->faulted || look_after(p, FAULT_NS, &ignored) < 0))
		make_sure(p);
	p->traced = false;
	p->stage = SUP_GONE;
	return !let_off;
}
