/*
 * The smaller attributes of the process about to be executed. Each function is
 * one step, takes plain arguments and names itself in its error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "util/error.h"

struct rlimit_op { int resource; rlim_t soft, hard; };
/* prlimit on pid (0 = self). Message: error setting rlimit type N: operation not permitted. */
int rlimit_apply(pid_t pid, const struct rlimit_op *ops, size_t count, struct error *err);

/* PROC/self/oom_score_adj; a refusal is ignored when rootless. */
int oom_score_adj_write(int proc_fd, int64_t value, bool rootless, struct error *err);

struct sched_op { uint64_t policy; int32_t nice, priority; uint64_t flags, runtime, deadline, period; };
int sched_apply(const struct sched_op *op, struct error *err);
int ioprio_apply(int class_, int priority, struct error *err);
/* "0-3,5": affinity of this process. */
int affinity_apply(const char *list, struct error *err);
/* -EPERM when the process may run on a CPU outside of the list. */
int affinity_verify(pid_t pid, const char *list, struct error *err);
/* Whether every CPU (or node) of inner is in outer; a text that is no such list is within nothing. */
bool cpu_list_within(const char *inner, const char *outer);
/* All possible CPUs: undo an affinity inherited from the caller. Never an error. */
void affinity_reset(void);
int personality_apply(unsigned long domain, struct error *err);
/* set_mempolicy; nodes as a list "0-1,3". */
int mempolicy_apply(int mode, const char *nodes, unsigned long flags, struct error *err);
/*
 * Joins a new session keyring _ses.ID and sets its permissions; kernels without keyrings: done.
 * label: SELinux, may be NULL; set through the proc handle, as a container may have no /proc.
 */
int keyring_join(int proc_fd, const char *id, const char *label, struct error *err);

/*
 * Labels of the next execve, through the verified proc handle. -EOPNOTSUPP when the LSM is not
 * active; the profile "unconfined" is in force then.
 */
int lsm_apparmor_exec(int proc_fd, const char *profile, struct error *err);
int lsm_selinux_exec(int proc_fd, const char *label, struct error *err);
bool lsm_apparmor_enabled(int proc_fd);
bool lsm_selinux_enabled(int proc_fd);

/*
 * Pure: whether the key belongs to a namespace in own_ns (CLONE_NEW* mask of those that are the
 * container's own). Dots or slashes separate, as in sysctl(8). kernel.hostname is refused, the
 * configuration has a field for it; and kernel.domainname with other_domainname, another one there.
 */
int sysctl_check(const char *key, uint64_t own_ns, bool other_domainname, struct error *err);
/* One write below PROC/sys, of the namespaces that the caller is in. */
int sysctl_write(int proc_fd, const char *key, const char *value, struct error *err);
/* Whether the write is for the root of the initial user namespace alone (Linux 6.18). */
bool sysctl_needs_host_root(const char *key);
/* -EIO when it reads other numbers or words than value has. */
int sysctl_verify(int proc_fd, const char *key, const char *value, struct error *err);

/* Brings lo up in the current network namespace. */
int net_loopback_up(struct error *err);
/*
 * Parent side: moves a host device into the namespace and renames it (%d = lowest free number; NULL = same
 * name), keeps its permanent global addresses, sets it up. netns_fd: the container's (for setns,
 * no O_PATH). -EEXIST: the name is taken there, nothing was moved. -ENODEV: no such host device.
 */
int net_device_move(const char *host_name, const char *name, int netns_fd, struct error *err);

/* All signals unblocked and default, as a container process expects. 0 or negative errno. */
int signals_reset(void);
