/*
 * Owns the two sockets of the sd_notify(3) relay: the one that the container finds at
 * /run/notify/notify.sock and the connection to the service manager. Judges no text.
 */
#include "container/notify.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/tty.h"
#include "plan/plan.h"
#include "state/state.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

/* For a service manager that is busy; it must not stop the container's terminal for long. */
#define SEND_TIMEOUT_S 2
/* How long to wait until the manager has seen READY. */
#define BARRIER_TIMEOUT_MS 5000
/*
 * The manager is one for all services, so a container may not flood it: this many messages at
 * once and then one per so many milliseconds. The first READY always passes.
 */
#define BUDGET_MAX     50
#define BUDGET_STEP_MS 100
/* More than a queue holds (net.unix.max_dgram_qlen): a survivor that goes on talking is cut off. */
#define DRAIN_MAX 1024

const char *notify_host_socket(void)
{
	const char *s = getenv("NOTIFY_SOCKET");

	return s && *s ? s : NULL;
}

int notify_dir_path(const char *root, const char *id, char **ret, struct error *err)
{
	_cleanup_free_ char *absolute = NULL;

	if (!notify_host_socket())
		return 0;
	absolute = realpath(root, NULL);
	if (!absolute)
		return error_set(err, -errno, "open state folder %s", root);
	*ret = str_printf("%s/%s/" STATE_NOTIFY_DIR, absolute, id);
	return *ret ? 0 : error_oom(err);
}

int notify_dir_make(int dir_fd, struct mount_op *op, int proc_fd, struct error *err)
{
	int r;

	if (mkdirat(dir_fd, STATE_NOTIFY_DIR, 0755) < 0)
		return error_set(err, -errno, "create the folder of the notification socket");
	/* Whatever the umask: users of the container must reach the socket. */
	if (fchmodat(dir_fd, STATE_NOTIFY_DIR, 0755, 0) < 0)
		return error_set(err, -errno, "set mode of the folder of the notification socket");
	if (geteuid() != 0)
		return 0;
	r = mount_source_open(op, -EBADF, err);
	return r < 0 ? r : mount_tree_prepare(op, proc_fd, -EBADF, err);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

int notify_open(int dir_fd, struct notify *ret, struct error *err)
{
	const struct timeval timeout = { .tv_sec = SEND_TIMEOUT_S };
	_cleanup_notify_ struct notify n = NOTIFY_NULL;
	const char *host = notify_host_socket();
	_cleanup_close_ int folder = -EBADF;
	int r;

	if (!host)
		return 0;
	folder = openat(dir_fd, STATE_NOTIFY_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 && errno == ENOENT)
		return 0;
	if (folder < 0)
		return error_set(err, -errno, "open the folder of the notification socket");
	r = unix_connect_datagram(host, &n.host, err);
	if (r < 0)
		return error_prefix(err, "NOTIFY_SOCKET");
	if (setsockopt(n.host, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0)
		return error_set(err, -errno, "set a time limit on NOTIFY_SOCKET");
	r = unix_bind_datagram_at(folder, PLAN_NOTIFY_SOCKET, 0666, &n.sock, err);
	if (r < 0)
		return r;
	n.budget = BUDGET_MAX;
	n.budget_time = now_ms();
	*ret = n;
	n = NOTIFY_NULL;
	return 0;
}

static bool budget_take(struct notify *n)
{
	uint64_t steps = (now_ms() - n->budget_time) / BUDGET_STEP_MS;

	n->budget_time += steps * BUDGET_STEP_MS;
	n->budget = n->budget + steps < BUDGET_MAX ? n->budget + steps : BUDGET_MAX;
	if (n->budget == 0)
		return false;
	n->budget--;
	return true;
}

static void hand_on(struct notify *n, const char *text, size_t len, unsigned state)
{
	bool first = (state & NOTIFY_READY) && !n->ready;

	if (!first && !budget_take(n))
		return;
	/* Only states are worth waiting for. */
	if (send(n->host, text, len, MSG_NOSIGNAL | (state ? 0 : MSG_DONTWAIT)) < 0)
		log_warningf("hand on a notification of the container: %s", error_errno_text(errno));
	if (first)
		n->ready = true;
}

bool notify_relay(struct notify *n)
{
	char data[NOTIFY_MESSAGE_MAX + 1], text[NOTIFY_MESSAGE_MAX + 64];
	unsigned state;
	size_t len;
	ssize_t got;

	/* recv(2) has no place for descriptors: the kernel closes what comes with the message. */
	got = recv(n->sock, data, sizeof(data), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0)
		return false;
	len = (size_t)got > sizeof(data) ? 0 : notify_filter(data, (size_t)got, text, &state);
	if (len == 0) {
		log_debugf("notification of %zd bytes from the container: nothing in it may be handed on", got);
		return true;
	}
	if ((state & NOTIFY_READY) && n->main_pid > 0)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "MAINPID=%d\n", n->main_pid);
	hand_on(n, text, len, state);
	return true;
}

void notify_drain(struct notify *n)
{
	int i;

	for (i = 0; i < DRAIN_MAX && n->sock >= 0 && notify_relay(n); i++)
		;
}

/* sd_notify_barrier(3): the manager closes the pipe when it has read everything before. */
static void barrier(const struct notify *n)
{
	_cleanup_close_ int ours = -EBADF;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	ours = fds[0];
	r = fd_send(n->host, "BARRIER=1", 9, &fds[1], 1);
	(void)close(fds[1]);
	if (r == 0) {
		struct pollfd p = { .fd = ours };

		(void)poll(&p, 1, BARRIER_TIMEOUT_MS);
	}
}

int notify_wait(struct notify *n, const struct pidref *init, pid_t main_pid, struct error *err)
{
	if (n->sock < 0)
		return 0;
	n->main_pid = main_pid;
	while (!n->ready) {
		struct pollfd fds[] = {
			{ .fd = n->sock, .events = POLLIN },
			{ .fd = init->fd, .events = POLLIN },
		};

		if (poll(fds, ELEMENTSOF(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_set(err, -errno, "wait for the container to be ready");
		}
		/* The last words of one that has ended count, too. */
		if (fds[0].revents)
			(void)notify_relay(n);
		else if (fds[1].revents)
			return 0;
	}
	barrier(n);
	return 0;
}

void notify_done(struct notify *n)
{
	if (n->sock >= 0)
		(void)close(take_fd(&n->sock));
	if (n->host >= 0)
		(void)close(take_fd(&n->host));
}
