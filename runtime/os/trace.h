/*
 * Whether ptrace(2) is to be had at all.
 */
#pragma once

#include <stdbool.h>

/*
 * True where nobody may attach to a process: kernel.yama.ptrace_scope is 3 (Documentation/admin-guide/LSM/Yama.rst),
 * or a seccomp filter that the caller has refuses the call. proc_fd: a procfs of the caller's pid namespace. Traces nobody;
 * false does not say that a certain process may be traced.
 */
bool trace_is_forbidden(int proc_fd);
