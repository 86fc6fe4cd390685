/*
 * Reads back from /proc/PID/status what execve made of capabilities, no_new_privs and
 * filters. They are final only then: the executed file can raise or drop some of them.
 */
#include "container/verify.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "os/pidref.h"
#include "util/parse.h"
#include "util/str.h"

void verify_expect(const struct plan_process *p, const struct process_filters *f, bool passthrough, struct state_expect *ret)
{
	*ret = (struct state_expect){
		.set = !passthrough,
		.uid = p->creds.uid,
		.gid = p->creds.gid,
		.bounding = p->creds.caps.bounding,
		.ambient = p->creds.caps.ambient,
		.inheritable = p->creds.caps.inheritable,
		.no_new_privs = p->creds.no_new_privs,
		.filters = (uint64_t)(f->spec.count > 0) + (f->agent.count > 0),
	};
}

int verify_begin(pid_t pid, int proc_fd, struct verify *ret, struct error *err)
{
	*ret = (struct verify){ .pid = pid, .proc_fd = proc_fd };
	/* Should we die, a half-verified process dies with us. */
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) == 0)
		ret->traced = true;
	else if (errno != EPERM && errno != EACCES)
		return error_set(err, -errno, "attach to the container's process %d for its verification", pid);
	return 0;
}

/* One stop of the tracee: 1 = its execve, 0 = another one, which was passed on. */
static int handle_stop(pid_t pid, int status, struct error *err)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	bool group_stop = event == PTRACE_EVENT_STOP && sig != SIGTRAP;

	if (event == PTRACE_EVENT_EXEC)
		return 1;
	if (event != 0)
		sig = 0;
	if (ptrace(group_stop ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL, (void *)(uintptr_t)sig) < 0 && errno != ESRCH)
		return error_set(err, -errno, "let the container's process %d go on to its execve", pid);
	return 0;
}

/* The end of a process that may be our own child is only looked at: its status is for the caller. */
static int wait_exec_stop(struct verify *v, struct error *err)
{
	for (;;) {
		siginfo_t info = { 0 };
		int status, r;

		if (waitid(P_PID, (id_t)v->pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return error_set(err, -errno, "wait for the execve of the container's process %d", v->pid);
		}
		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
			return VERIFY_E_ENDED;
		if (waitpid(v->pid, &status, __WALL | WNOHANG) != v->pid || !WIFSTOPPED(status))
			continue;
		r = handle_stop(v->pid, status, err);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

int verify_exec(struct verify *v, const struct state_expect *want, const char **ret_how, struct error *err)
{
	int r;

	*ret_how = v->traced ? "exec-stop" : "after-exec";
	if (v->traced) {
		r = wait_exec_stop(v, err);
		if (r != 0)
			return r;
	}
	r = verify_compare(v->proc_fd, v->pid, want, err);
	if (r < 0) {
		(void)kill(v->pid, SIGKILL);
		return r;
	}
	if (v->traced && ptrace(PTRACE_DETACH, v->pid, NULL, NULL) < 0 && errno != ESRCH)
		return error_set(err, -errno, "let the verified process %d run", v->pid);
	return 0;
}
