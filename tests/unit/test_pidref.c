/* Processes by pidfd: identity, signals, waiting, reaping. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/pidref.h"
#include "os/procfs.h"
#include "os/syscalls.h"
#include "tests/unit/tap.h"

static struct error err;

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static long long ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void test_identity(int proc)
{
	struct pidref a = PIDREF_NULL, b = PIDREF_NULL;
	pid_t pid = sleeper();

	is_int(pidref_open(proc, pid, 0, &a, &err), 0, "open a child");
	is_int(a.pid, pid, "pid");
	ok(a.start > 0, "start time is filled");
	ok(a.fd >= 0, "pidfd is open");
	is_int(pidref_open(proc, pid, a.start, &b, &err), 0, "open it again with its start time");
	pidref_done(&b);
	is_int(b.fd, -EBADF, "done closes");
	is_int(pidref_open(proc, pid, a.start + 1, &b, &err), PIDREF_E_GONE, "another start time: gone");
	is_int(b.fd, -EBADF, "nothing was written");

	b = (struct pidref){ .pid = pid, .fd = -EBADF };
	is_int(pidref_fill(proc, &b, &err), 0, "fill");
	ok(b.start == a.start, "the same start time");

	kill(pid, SIGKILL);
	is_int(pidref_wait_exit(&a, 5000), 0, "wait for its end");
	is_int(pidref_open(proc, pid, a.start, &b, &err), 0, "a zombie is there");
	pidref_done(&b);
	waitpid(pid, NULL, 0);
	is_int(pidref_open(proc, pid, a.start, &b, &err), PIDREF_E_GONE, "reaped: gone");
	is_int(pidref_open(proc, 0, 0, &b, &err), PIDREF_E_GONE, "pid 0: gone");
	is_int(pidref_signal(&a, SIGTERM), -ESRCH, "signal after the end");
	pidref_done(&a);
}

static void test_wait(int proc)
{
	struct pidref a = PIDREF_NULL;
	long long t;
	int status = -1;

	(void)pidref_open(proc, sleeper(), 0, &a, &err);
	ok(!pidref_exited(&a), "running");
	t = ms();
	is_int(pidref_wait_exit(&a, 50), -ETIMEDOUT, "wait times out");
	t = ms() - t;
	ok(t >= 49 && t < 2000, "after the given time (%lld ms)", t);
	is_int(pidref_signal(&a, SIGTERM), 0, "signal");
	is_int(pidref_wait_exit(&a, -1), 0, "wait without limit");
	ok(pidref_exited(&a), "exited");
	is_int(pidref_signal(&a, 0), -ESRCH, "signal to a zombie");
	is_int(pidref_reap(&a, &status, &err), 0, "reap");
	is_int(status, 128 + SIGTERM, "status of a signal");
	is_int(pidref_reap(&a, &status, &err), -ECHILD, "reap twice");
	pidref_done(&a);
}

static void test_status(int proc)
{
	struct pidref a = PIDREF_NULL;
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(42);
	a.pid = pid;
	is_int(pidref_reap(&a, &status, &err), 0, "reap without a pidfd");
	is_int(status, 42, "exit code");
	pidref_done(&a);
}

int main(void)
{
	int proc = -1;

	TAP_BEGIN();
	is_int(procfs_open(&proc, &err), 0, "open /proc");
	test_identity(proc);
	test_wait(proc);
	test_status(proc);
	return TAP_END();
}
