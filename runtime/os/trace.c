/*
 * Owns the question whether ptrace(2) is to be had at all.
 */
#include "os/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "os/procfs.h"
#include "util/cleanup.h"
#include "util/error.h"

#define SCOPE_NO_ATTACH '3'

bool trace_is_forbidden(int proc_fd)
{
	_cleanup_close_ int fd = -EBADF;
	struct error ignored = ERROR_NULL;
	char scope = '\0';

	/* No kernel has a process of that number: what gets through is answered with ESRCH. */
	if (ptrace(PTRACE_SEIZE, INT_MAX, NULL, NULL) < 0 && errno != ESRCH)
		return true;
	if (procfs_openat(proc_fd, "sys/kernel/yama/ptrace_scope", O_RDONLY, &fd, &ignored) < 0)
		return false;
	return read(fd, &scope, 1) == 1 && scope == SCOPE_NO_ATTACH;
}
