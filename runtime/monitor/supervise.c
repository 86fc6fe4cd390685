/*
 * Starting a supervisor with its monitor, and speaking to one. They get their conversations
 * and nothing else of the caller, but for the places of a user's own log:
 * no engine's stream or socket stays open because of them.
 */
#include "monitor/supervise.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "os/libexec.h"
#include "os/procattr.h"
#include "os/syscalls.h"
#include "os/tty.h"
#include "util/fd.h"
#include "util/str.h"

#define SUPERVISOR_PROGRAM "agentrun-supervisor"
#define MONITOR_PROGRAM	   "agentrun-monitor"
#define WHO		   "the container's supervisor"
/* It may have to write a last record and close the log. */
#define END_TIMEOUT_MS 10000
#define TELL_TIMEOUT_S 2
#define LAST_WORDS_MS  1000

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
	(void)fd_cloexec_from(4);
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

int supervise_await(struct supervise *s, char ret_log[AUDIT_NAME_SIZE], struct error *err)
{
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	int r;

	r = link_expect(&s->link, LINK_READY, WHO, &msg, fds, err);
	if (r == 0)
		(void)snprintf(ret_log, AUDIT_NAME_SIZE, "%.*s", AUDIT_NAME_SIZE - 1, msg.text);
	return r;
}

bool supervise_last_words(struct supervise *s, struct error *err)
{
	struct pollfd p = { .fd = s->link.fd, .events = POLLIN };
	int fds[LINK_FDS_MAX];
	struct error ignored;
	struct link_msg msg;

	/* It may have said that all is ready before something went wrong. */
	while (s->link.fd >= 0 && poll(&p, 1, LAST_WORDS_MS) > 0 && link_recv(&s->link, &msg, fds, &ignored) == 0) {
		link_close_fds(fds);
		if (msg.type != LINK_ERROR)
			continue;
		*err = msg.error;
		return true;
	}
	return false;
}

int supervise_begin(struct supervise *s, int dir_fd, struct error *err)
{
	struct link_msg msg = { .type = LINK_SETUP };
	char log[AUDIT_NAME_SIZE];
	struct error why;
	int r;

	r = link_send(&s->link, &msg, (int[]){ dir_fd, s->to_monitor, s->monitor_fd }, 3, err);
	(void)close(take_fd(&s->to_monitor));
	(void)close(take_fd(&s->monitor_fd));
	/* It has ended: its last words say more. One that has not, says nothing. */
	if ((r == -EPIPE || r == -ECONNRESET) && supervise_await(s, log, &why) < 0)
		*err = why;
	return r;
}

int supervise_hand_over(struct supervise *s, const struct pidref *init, int netns_fd, int reports_fd, struct error *err)
{
	struct link_msg msg = { .type = LINK_CONTAINER, .pid = init->pid };
	int fds[3] = { init->fd, netns_fd, reports_fd };
	char log[AUDIT_NAME_SIZE];
	struct error why;
	int r;

	r = link_send(&s->link, &msg, fds, reports_fd >= 0 ? 3 : 2, err);
	/* It has ended: its last words say more. One that has not, says nothing. */
	if ((r == -EPIPE || r == -ECONNRESET) && supervise_await(s, log, &why) < 0)
		*err = why;
	return r;
}

int supervise_commit(struct supervise *s, struct error *err)
{
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	int r;

	r = link_send_type(&s->link, LINK_COMMIT, 0, err);
	return r < 0 ? r : link_expect(&s->link, LINK_OK, WHO, &msg, fds, err);
}

void supervise_done(struct supervise *s)
{
	if (s->to_monitor >= 0)
		(void)close(take_fd(&s->to_monitor));
	if (s->monitor_fd >= 0)
		(void)close(take_fd(&s->monitor_fd));
	supervise_close(&s->link);
	pidref_done(&s->ref);
}

int supervise_open(int dir_fd, struct link *ret, struct error *err)
{
	int fd = -EBADF, r;

	r = unix_connect_at(dir_fd, LINK_CONTROL_FILE, &fd, err);
	if (r == -ENOENT || r == -ECONNREFUSED)
		return error_text(err, -ESRCH, "connect to %s: it is gone, and the container with it", WHO);
	if (r == -ETIMEDOUT)
		return error_text(err, r, "connect to %s: it does not answer (is it stopped?)", WHO);
	if (r < 0)
		return r;
	*ret = (struct link){ .fd = fd, .self = LINK_COMMAND, .peer = LINK_SUPERVISOR };
	return 0;
}

int supervise_ask(struct link *l, struct link_msg *msg, const int *fds, size_t n_fds, struct link_msg *ret,
		  int ret_fds[LINK_FDS_MAX], struct error *err)
{
	int r = link_send(l, msg, fds, n_fds, err);

	return r < 0 ? r : link_expect(l, msg->type == LINK_STATUS ? LINK_STATUS : LINK_OK, WHO, ret, ret_fds, err);
}

/* Its answer waits for nobody but itself; a kill does not wait for a supervisor that is stuck. */
static int limit_wait(int fd, const char *who, struct error *err)
{
	const struct timeval limit = { .tv_sec = TELL_TIMEOUT_S };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return error_set(err, -errno, "limit the wait for %s", who);
	return 0;
}

static int tell(int dir_fd, struct link_msg *msg, const int *fds, size_t n_fds, struct link_msg *ret, struct error *err)
{
	int got[LINK_FDS_MAX], r;
	struct link l = LINK_NULL;
	struct link_msg answer;

	r = supervise_open(dir_fd, &l, err);
	if (r < 0)
		return r;
	r = limit_wait(l.fd, WHO, err);
	if (r == 0)
		r = supervise_ask(&l, msg, fds, n_fds, ret ? ret : &answer, got, err);
	if (r == 0)
		link_close_fds(got);
	supervise_close(&l);
	return r;
}

int supervise_tell(int dir_fd, struct link_msg *msg, struct link_msg *ret, struct error *err)
{
	return tell(dir_fd, msg, NULL, 0, ret, err);
}

int supervise_egress(int dir_fd, unsigned what, struct error *err)
{
	struct link_msg msg = { .type = LINK_EGRESS, .number = what }, answer;
	_cleanup_close_ int ours = -EBADF, theirs = -EBADF, fd = openat(dir_fd, STATE_MONITOR_FILE, O_RDONLY | O_CLOEXEC);
	struct link l = { .self = LINK_COMMAND, .peer = LINK_MONITOR };
	int fds[LINK_FDS_MAX], pair[2], r;

	r = fd < 0 ? error_set(err, -errno, "open %s", STATE_MONITOR_FILE) : link_pair(pair, err);
	if (r < 0)
		return r;
	l.fd = ours = pair[0];
	theirs = pair[1];
	r = limit_wait(ours, "the monitor", err);
	if (r == 0)
		r = tell(dir_fd, &msg, (const int[]){ fd, theirs }, 2, NULL, err);
	/* Then its end of the pair is the only one. */
	(void)close(take_fd(&theirs));
	if (r == 0)
		r = link_expect(&l, LINK_OK, "the monitor", &answer, fds, err);
	if (r == 0)
		link_close_fds(fds);
	return r;
}

void supervise_close(struct link *l)
{
	if (l->fd >= 0)
		(void)close(take_fd(&l->fd));
}

/* Its end, or that of its work: the connection closes, or there is nobody to connect to. */
static int await_close(int fd)
{
	struct pollfd p = { .fd = fd, .events = 0 };
	int r;

	do
		r = poll(&p, 1, END_TIMEOUT_MS);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r == 0 ? -ETIMEDOUT : 0;
}

int supervise_kill(int proc_fd, const struct state_record *rec, struct error *err)
{
	struct pidref ref = PIDREF_NULL;
	int r;

	if (rec->supervisor_pid == 0)
		return 0;
	r = pidref_open(proc_fd, rec->supervisor_pid, rec->supervisor_start, &ref, err);
	if (r != 0)
		return r < 0 ? r : 0;
	(void)pidref_signal(&ref, SIGKILL);
	r = pidref_wait_exit(&ref, END_TIMEOUT_MS);
	pidref_done(&ref);
	return r < 0 ? error_set(err, r, "end %s, which does not end by itself", WHO) : 0;
}

int supervise_await_end(int dir_fd, int proc_fd, const struct state_record *rec, struct error *err)
{
	struct link l = LINK_NULL;
	int r;

	if (rec->supervisor_pid == 0)
		return 0;
	r = supervise_open(dir_fd, &l, err);
	if (r == -ESRCH)
		return 0;
	if (r < 0)
		return supervise_kill(proc_fd, rec, err);
	r = await_close(l.fd);
	supervise_close(&l);
	if (r != -ETIMEDOUT)
		return r < 0 ? error_set(err, r, "wait for the end of %s", WHO) : 0;
	return supervise_kill(proc_fd, rec, err);
}
