/*
 * The numbers of a process in the pid namespaces that it is in.
 */
#pragma once

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "audit/audit_kernel_types.h"

#define PID_LEVELS 32u /* as many as the kernel allows */

static __always_inline void *numbers_at(struct pid *pid, __u32 level)
{
	return (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       (level & (PID_LEVELS - 1)) * bpf_core_type_size(struct upid);
}

static __always_inline int pid_at(struct pid *pid, __u32 level)
{
	int nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr), numbers_at(pid, level) + bpf_core_field_offset(struct upid, nr));
	return nr;
}

/*
 * The number in the pid namespace of whoever reads the records, which need not be the first one; 0
 * = a process that is not to be seen from there. pid: address of a struct pid, that the kernel's
 * checks of pointers let pass as a number. Not static for the reason of bound_cgroup().
 */
__attribute__((noinline)) int pid_outside(__u64 pid, __u32 ns)
{
	struct pid *p = (void *)pid;
	__u32 level, last = BPF_CORE_READ(p, level);

	for (level = 0; level < PID_LEVELS && level <= last; level++) {
		struct pid_namespace *at = NULL;

		bpf_probe_read_kernel(&at, sizeof(at), numbers_at(p, level) + bpf_core_field_offset(struct upid, ns));
		if (BPF_CORE_READ(at, ns.inum) == ns)
			return pid_at(p, level);
	}
	return 0;
}
