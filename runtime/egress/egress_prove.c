/*
 * Owns the proof that the programs act: a child in the cgroup tries what must not work.
 * Programs can be attached and yet not run, on kernels that lose a socket's cgroup, or where
 * a vendor changed something.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "egress/egress.h"
#include "egress/egress_sets.h"
#include "os/syscalls.h"
#include "util/cleanup.h"

/* Nobody listens, and a connected datagram socket sends nothing. */
#define CANARY_PORT 9

enum step { STEP_OK, STEP_SOCKET, STEP_CONNECT4, STEP_CONNECT6, STEP_SENDMSG, STEP_RAW, STEP_LOOPBACK };

static const char *const step_texts[] = {
	[STEP_SOCKET] = "a datagram socket could not be made",
	[STEP_CONNECT4] = "connecting to a closed address was not refused",
	[STEP_CONNECT6] = "connecting an IPv6 socket to a closed address was not refused",
	[STEP_SENDMSG] = "a datagram to a closed address was not refused",
	[STEP_RAW] = "a raw socket was not refused",
	[STEP_LOOPBACK] = "loopback is not as it should be",
};

static bool refused(int r)
{
	return r < 0 && errno == EPERM;
}

/* In the child: system calls only. */
static enum step try_all(bool loopback_open)
{
	struct sockaddr_in closed = { .sin_family = AF_INET, .sin_port = htons(CANARY_PORT) };
	struct sockaddr_in6 closed6 = { .sin6_family = AF_INET6, .sin6_port = htons(CANARY_PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd6;
	bool was_refused;

	if (fd < 0)
		return STEP_SOCKET;
	memcpy(&closed.sin_addr, egress_canary + 12, 4);
	if (!refused(connect(fd, (struct sockaddr *)&closed, sizeof(closed))))
		return STEP_CONNECT4;
	if (!refused((int)sendto(fd, "", 0, MSG_DONTWAIT, (struct sockaddr *)&closed, sizeof(closed))))
		return STEP_SENDMSG;
	fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(&closed6.sin6_addr, egress_canary, 16);
	if (fd6 >= 0 && !refused(connect(fd6, (struct sockaddr *)&closed6, sizeof(closed6))))
		return STEP_CONNECT6;
	if (!refused(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP)))
		return STEP_RAW;
	closed.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	was_refused = refused(connect(fd, (struct sockaddr *)&closed, sizeof(closed)));
	return was_refused == loopback_open ? STEP_LOOPBACK : STEP_OK;
}

static int check_attached(int cgroup_fd, struct error *err)
{
	size_t n;
	int r;

	r = egress_set_find(cgroup_fd, EGRESS_PRIVATE_PREFIX, &n, NULL, err);
	if (r == 0 && n != EGRESS_PROGRAMS)
		r = egress_set_find(cgroup_fd, EGRESS_SHARED_PREFIX, &n, NULL, err);
	if (r == 0 && n != EGRESS_PROGRAMS)
		return error_text(err, -EPERM, "only %zu of %d egress programs are attached to the cgroup", n,
				  EGRESS_PROGRAMS);
	return r;
}

int egress_prove(int cgroup_fd, unsigned flags, struct error *err)
{
	/* No signal at its end: the caller may wait for other children by SIGCHLD. */
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .cgroup = (uint64_t)cgroup_fd };
	int status = 0, r;
	pid_t pid;

	r = check_attached(cgroup_fd, err);
	if (r < 0)
		return r;
	pid = sys_clone3(&args);
	if (pid < 0)
		return error_set(err, -errno, "put a process into the cgroup to prove egress");
	if (pid == 0)
		_exit((int)try_all(!(flags & EGRESS_F_HOST_NETNS)));
	while ((r = waitpid(pid, &status, __WALL)) < 0 && errno == EINTR)
		;
	if (r < 0)
		return error_set(err, -errno, "wait for the process that proves egress");
	if (!WIFEXITED(status))
		return error_text(err, -EIO, "the process that proves egress was killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == STEP_OK)
		return 0;
	return error_text(err, -EPERM, "egress control is attached but does not act on this kernel: %s",
			  (size_t)WEXITSTATUS(status) < ELEMENTSOF(step_texts) ? step_texts[WEXITSTATUS(status)] :
										  "the proof failed");
}
