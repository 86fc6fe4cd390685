/* Whether a parent holds a pidfd of its child. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/pidfd_watch.h"
#include "os/procfs.h"
#include "os/syscalls.h"
#include "tests/unit/tap.h"

static struct error err;
static int proc = -1;

static bool watched(pid_t pid)
{
	bool yes = false;
	pid_t parent = 0;

	is_int(pidfd_is_watched(proc, pid, &parent, &yes, &err), 0, "look");
	is_int(parent, getpid(), "the parent");
	return yes;
}

int main(void)
{
	bool yes = false;
	int a, b, other;
	pid_t parent;
	pid_t pid, second;

	TAP_BEGIN();
	is_int(procfs_open(&proc, &err), 0, "proc");
	pid = fork();
	if (pid == 0) {
		/* A name that would mislead whoever takes the first bracket for the last. */
		(void)prctl(PR_SET_NAME, "x) Z 1 (y");
		for (;;)
			pause();
	}
	second = fork();
	if (second == 0)
		for (;;)
			pause();
	usleep(20000);
	ok(!watched(pid), "nobody looks");
	other = sys_pidfd_open(second, 0);
	ok(other >= 0 && !watched(pid), "at somebody else only");
	a = sys_pidfd_open(pid, 0);
	b = fcntl(a, F_DUPFD_CLOEXEC, 100);
	ok(a >= 0 && watched(pid), "seen");
	close(a);
	ok(watched(pid), "by its copy, too");
	close(b);
	ok(!watched(pid), "closed");
	close(other);
	kill(pid, SIGKILL);
	kill(second, SIGKILL);
	waitpid(second, NULL, 0);
	waitpid(pid, NULL, 0);
	ok(pidfd_is_watched(proc, pid, &parent, &yes, &err) < 0, "no such process: %s", err.text);
	close(proc);
	return TAP_END();
}
