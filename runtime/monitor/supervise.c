/*
 * Speaking to a supervisor: as the one who starts a container, and as any command later.
 */
#include "monitor/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "os/tty.h"
#include "util/fd.h"

#define WHO "the container's supervisor"
/* It may have to write a last record and close the log. */
#define END_TIMEOUT_MS 10000
#define TELL_TIMEOUT_S 2
#define LAST_WORDS_MS  1000

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
