/*
 * Resource limits and the OOM killer's preference of one process.
 */
#include "os/procattr.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "os/procfs.h"

int rlimit_apply(pid_t pid, const struct rlimit_op *ops, size_t count, struct error *err)
{
	size_t i;

	assert(count == 0 || ops);

	for (i = 0; i < count; i++) {
		const struct rlimit lim = { .rlim_cur = ops[i].soft, .rlim_max = ops[i].hard };

		if (prlimit(pid, (__rlimit_resource_t)ops[i].resource, &lim, NULL) < 0)
			return error_set(err, -errno, "error setting rlimit type %d",
					 ops[i].resource);
	}
	return 0;
}

int oom_score_adj_write(int proc_fd, int64_t value, bool rootless, struct error *err)
{
	char text[24];
	int r;

	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	r = procfs_write_self(proc_fd, "oom_score_adj", text, strlen(text), err);
	/* Lowering it needs CAP_SYS_RESOURCE in the initial user namespace. */
	if (rootless && (r == -EPERM || r == -EACCES))
		return 0;
	if (r < 0)
		return error_prefix(err, "set oom_score_adj to %" PRId64, value);
	return 0;
}
