/*
 * --rootless=auto: whether cgroup rights are to be expected. Decided from facts of
 * this process only, because create and start run with different environments.
 */
#include <unistd.h>

#include "container/container.h"
#include "container/create.h"
#include "os/procfs.h"

int container_rootless_detect(bool *ret, struct error *err)
{
	_cleanup_close_ int proc_fd = -EBADF;
	int r;

	if (geteuid() != 0) {
		*ret = true;
		return 0;
	}
	r = procfs_open(&proc_fd, err);
	if (r < 0)
		return r;
	return in_user_namespace(proc_fd, ret, err);
}
