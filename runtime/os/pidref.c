/*
 * Processes by pidfd and start time. Knows no containers; the caller decides
 * what a vanished process means.
 */
#include "os/pidref.h"

#include <assert.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "os/procfs.h"
#include "os/syscalls.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int pidref_open(int proc_fd, pid_t pid, unsigned long long start, struct pidref *ret,
		struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	unsigned long long seen;
	char state;
	int r;

	assert(ret);

	if (pid <= 0)
		return PIDREF_E_GONE;
	fd = sys_pidfd_open(pid, 0);
	if (fd < 0) {
		if (errno == ESRCH || errno == EINVAL) /* EINVAL: the number is a thread's by now */
			return PIDREF_E_GONE;
		return error_set(err, -errno, "open pidfd of process %d", pid);
	}
	r = procfs_stat(proc_fd, pid, &seen, &state, err);
	if (r == -ESRCH)
		return PIDREF_E_GONE;
	if (r < 0)
		return r;
	if (start != 0 && seen != start)
		return PIDREF_E_GONE;
	/*
	 * The number may have been given to another process between the two steps:
	 * only while the pidfd's process is not reaped is the stat file its own.
	 */
	if (sys_pidfd_send_signal(fd, 0) < 0 && errno == ESRCH)
		return PIDREF_E_GONE;
	*ret = (struct pidref){ .pid = pid, .start = seen, .fd = take_fd(&fd) };
	return 0;
}

int pidref_fill(int proc_fd, struct pidref *ref, struct error *err)
{
	unsigned long long start;
	char state;
	int r;

	assert(ref && ref->pid > 0);

	r = procfs_stat(proc_fd, ref->pid, &start, &state, err);
	if (r < 0)
		return r;
	ref->start = start;
	return 0;
}

bool pidref_exited(const struct pidref *ref)
{
	assert(ref && ref->fd >= 0);

	return pidref_wait_exit(ref, 0) == 0;
}

int pidref_signal(const struct pidref *ref, int sig)
{
	assert(ref && ref->fd >= 0);

	/* The kernel accepts signals to a zombie; callers want to know. */
	if (pidref_exited(ref))
		return -ESRCH;
	return sys_pidfd_send_signal(ref->fd, sig) < 0 ? -errno : 0;
}

int pidref_wait_exit(const struct pidref *ref, int timeout_ms)
{
	int64_t end = timeout_ms > 0 ? now_ms() + timeout_ms : 0;
	int left = timeout_ms;

	assert(ref && ref->fd >= 0);

	for (;;) {
		struct pollfd p = { .fd = ref->fd, .events = POLLIN };
		int n = poll(&p, 1, left);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
		if (timeout_ms > 0)
			left = (int)MAX(end - now_ms(), 0);
	}
}

int pidref_reap(const struct pidref *ref, int *ret_status, struct error *err)
{
	siginfo_t si = { 0 };
	int r;

	assert(ref && ref->pid > 0);
	assert(ret_status);

	do {
		if (ref->fd >= 0)
			r = waitid((idtype_t)P_PIDFD, (id_t)ref->fd, &si, WEXITED);
		else
			r = waitid(P_PID, (id_t)ref->pid, &si, WEXITED);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_set(err, -errno, "wait for process %d", ref->pid);
	*ret_status = si.si_code == CLD_EXITED ? si.si_status : 128 + si.si_status;
	return 0;
}

void pidref_done(struct pidref *ref)
{
	assert(ref);

	cleanup_closep(&ref->fd);
	*ref = PIDREF_NULL;
}
