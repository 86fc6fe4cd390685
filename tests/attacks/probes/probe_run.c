/*
 * Runs a probe in a child, so that a kill, a namespace or a tracee of it is the child's alone.
 */
#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

const struct probe *const probe_lists[PROBE_LISTS] = { probe_calls, probe_sockets, probe_entries };

const char *const probe_profile_names[PROBE_PROFILES] = { "agent-default", "agent-strict", "agent-build",
							  "agent-nested" };

int probe_run(const struct probe *p)
{
	int fds[2], result = -1, status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fds) < 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		(void)alarm(3);
		errno = 0;
		result = p->call() < 0 ? errno : 0;
		n = write(fds[1], &result, sizeof(result));
		_exit(n == sizeof(result) ? 0 : 1);
	}
	(void)close(fds[1]);
	n = read(fds[0], &result, sizeof(result));
	(void)close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n == sizeof(result))
		return result;
	/* A core file may be made or not: the low bits are the signal. */
	return (status & 0x7f) == SIGSYS ? PROBE_KILLED : -1;
}
