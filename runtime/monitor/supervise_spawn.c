/*
 * Starting a supervisor with its monitor. They get a conversation each and nothing else of the
 * caller, but for the places of a user's own log: no engine's stream or socket stays open because of them.
 */
#include "monitor/supervise.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "os/libexec.h"
#include "os/procattr.h"
#include "os/syscalls.h"
#include "util/fd.h"
#include "util/str.h"

#define SUPERVISOR_PROGRAM "agentrun-supervisor"
#define MONITOR_PROGRAM	   "agentrun-monitor"

/* Where a user's own audit log is. */
static const char *const places[] = { "HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=" };

/* What a program is given: a conversation as descriptor 3, and /dev/null for the first three. */
struct program {
	const char *name;
	int exe, null_fd, link_fd;
	int cgroup_fd; /* to be born in; -EBADF = ours */
	int born_fd; /* gets the first word */
	bool apart; /* moves there, if it is not born there */
	char *envp[ELEMENTSOF(places) + 1];
};

static void keep_places(struct program *p)
{
	size_t i, k, n = 0;

	for (i = 0; i < ELEMENTSOF(places); i++)
		for (k = 0; environ[k]; k++)
			if (str_after(environ[k], places[i])) {
				p->envp[n++] = environ[k];
				break;
			}
}

/* In the child; nothing here may change what it shares with the parent. */
static void become(const struct program *p)
{
	char *const argv[] = { (char *)p->name, p->apart ? (char *)LINK_APART : NULL, NULL };
	const uint64_t born = 1;
	int exe, null_fd, link_fd, fd;

	if (p->born_fd >= 0 && write(p->born_fd, &born, sizeof(born)) < 0)
		_exit(125);
	if (signals_reset() < 0)
		_exit(125);
	exe = fcntl(p->exe, F_DUPFD_CLOEXEC, 16);
	null_fd = fcntl(p->null_fd, F_DUPFD_CLOEXEC, 16);
	link_fd = fcntl(p->link_fd, F_DUPFD_CLOEXEC, 16);
	for (fd = 0; fd < 3; fd++)
		if (dup2(null_fd, fd) < 0)
			_exit(125);
	if (dup2(link_fd, 3) < 0)
		_exit(125);
	/* An engine's pipe that stays open here is one that never ends there. */
	if (fd_cloexec_from(4) < 0)
		_exit(125);
	(void)syscall(SYS_execveat, exe, "", argv, p->envp, AT_EMPTY_PATH);
	_exit(126);
}

/* Into its cgroup. Waits, if at all, until it has executed the program or begun to end. */
static pid_t launch_apart(const struct program *p, bool wait)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)p->cgroup_fd };
	pid_t pid;

	if (wait)
		args.flags |= CLONE_VFORK;
	pid = sys_clone3(&args);
	if (pid == 0)
		become(p);
	return pid;
}

static pid_t launch(const struct program *p)
{
	pid_t pid = vfork();

	if (pid == 0)
		become(p);
	return pid;
}

static void end_unborn(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/*
 * False: they must be started in the caller's cgroup, and move by themselves. As cgroup_clone_fd() says, what is
 * cloned out of a cgroup that was killed once dies before its first word.
 */
static bool spawn_apart(struct program *first, pid_t *ret_first, struct program *second, pid_t *ret_second)
{
	uint64_t born = 0;

	if (second->cgroup_fd < 0)
		return false;
	second->born_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret_first = launch_apart(first, false);
	*ret_second = *ret_first > 0 && second->born_fd >= 0 ? launch_apart(second, true) : -1;
	if (*ret_second > 0 && read(second->born_fd, &born, sizeof(born)) < 0)
		born = 0;
	if (second->born_fd >= 0)
		(void)close(take_fd(&second->born_fd));
	if (born > 0)
		return true;
	/* So does the other, or one is of no use without the other. */
	end_unborn(*ret_first);
	end_unborn(*ret_second);
	return false;
}

/* Side by side; the first is the one with the longer way. */
static int spawn(struct program *first, pid_t *ret_first, struct program *second, pid_t *ret_second, struct error *err)
{
	sigset_t all, old;
	int r = 0;

	/* A handler of ours must not run in the child, which may have our memory. */
	(void)sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &old) < 0)
		return error_set(err, -errno, "block signals");
	if (!spawn_apart(first, ret_first, second, ret_second)) {
		*ret_first = launch(first);
		*ret_second = *ret_first > 0 ? launch(second) : -1;
		if (*ret_second < 0)
			r = error_set(err, -errno, "start %s and %s", first->name, second->name);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}

int supervise_spawn(struct supervise *s, int proc_fd, bool apart, struct error *err)
{
	_cleanup_close_ int null_fd = -EBADF, cgroup_fd = -EBADF;
	_cleanup_close_ int to_creator = -EBADF, to_supervisor = -EBADF;
	_cleanup_close_ int supervisor_fd = -EBADF, monitor_fd = -EBADF;
	struct program supervisor, monitor;
	int socks[2];
	int r;

	r = apart ? cgroup_apart_open(MONITOR_CGROUP, &cgroup_fd, err) : 0;
	if (r < 0)
		return r;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		return error_set(err, -errno, "open /dev/null for %s", SUPERVISOR_PROGRAM);
	r = link_pair(socks, err);
	if (r < 0)
		return r;
	to_creator = socks[1];
	s->link = (struct link){ .fd = socks[0], .self = LINK_CREATOR, .peer = LINK_SUPERVISOR };
	r = link_pair(socks, err);
	if (r < 0)
		return r;
	s->to_monitor = socks[0];
	to_supervisor = socks[1];
	r = libexec_open(SUPERVISOR_PROGRAM, &supervisor_fd, err);
	if (r == 0)
		r = libexec_open(MONITOR_PROGRAM, &monitor_fd, err);
	if (r < 0)
		return r;
	supervisor = (struct program){ SUPERVISOR_PROGRAM, supervisor_fd, null_fd, to_creator, cgroup_fd, -EBADF, apart, { NULL } };
	monitor = (struct program){ MONITOR_PROGRAM, monitor_fd, null_fd, to_supervisor, cgroup_fd, -EBADF, apart, { NULL } };
	keep_places(&supervisor);
	/* Alone, each would end with the conversation. */
	r = spawn(&monitor, &s->monitor, &supervisor, &s->ref.pid, err);
	if (r < 0)
		return r;
	/* Our children, which nobody else can have reaped. */
	s->ref.fd = sys_pidfd_open(s->ref.pid, 0);
	s->monitor_fd = sys_pidfd_open(s->monitor, 0);
	if (s->ref.fd < 0 || s->monitor_fd < 0)
		return error_set(err, -errno, "open descriptors of %s and %s", SUPERVISOR_PROGRAM, MONITOR_PROGRAM);
	return pidref_fill(proc_fd, &s->ref, err);
}
