/*
 * Mounts as the kernel has them against what was asked. Child side, after the pivot and all
 * hooks that could change them. What hooks have mounted is not judged.
 */
#pragma once

#include "os/mount.h"

struct mount_verify {
	int proc_fd;
	int root_fd; /* of the container */
	const struct mount_op *ops; /* after mount_apply() */
	size_t n_ops;
	char *const *masked, *const *readonly;
	size_t n_masked, n_readonly;
	bool root_readonly;
	unsigned long root_propagation; /* MS_*, 0 = none asked */
	bool hooked; /* hooks ran: a mount inside a recursive bind may be theirs */
};

/* -EPERM names the place and what it lacks. */
int mount_verify(const struct mount_verify *v, struct error *err);
