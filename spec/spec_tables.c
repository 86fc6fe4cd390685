/*
 * The words of the OCI specification and the kernel's number for each: one table
 * per enumeration. Knows no JSON.
 */
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "spec/spec.h"

/* Newer than Debian 12's headers: Linux 6.9. */
#define SPEC_MPOL_WEIGHTED_INTERLEAVE 6
/* Reserved by the kernel and never implemented; the specification lists it all the same. */
#define SPEC_SCHED_ISO	 4
#define SPEC_PER_LINUX	 0x0000
#define SPEC_PER_LINUX32 0x0008

/* clang-format off */
static const struct enum_entry namespace_entries[] = {
	{ "pid", CLONE_NEWPID, "process ids" },
	{ "network", CLONE_NEWNET, "network devices, addresses and ports" },
	{ "mount", CLONE_NEWNS, "mounts" },
	{ "ipc", CLONE_NEWIPC, "System V IPC and POSIX message queues" },
	{ "uts", CLONE_NEWUTS, "host and domain name" },
	{ "user", CLONE_NEWUSER, "user and group ids, capabilities" },
	{ "cgroup", CLONE_NEWCGROUP, "view of the cgroup tree" },
	{ "time", CLONE_NEWTIME, "boot and monotonic clock" },
};
const struct enum_table spec_namespace_table = ENUM_TABLE("namespace type", namespace_entries);

static const struct enum_entry capability_entries[] = {
	{ "CAP_CHOWN", CAP_CHOWN, NULL },
	{ "CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE, NULL },
	{ "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, NULL },
	{ "CAP_FOWNER", CAP_FOWNER, NULL },
	{ "CAP_FSETID", CAP_FSETID, NULL },
	{ "CAP_KILL", CAP_KILL, NULL },
	{ "CAP_SETGID", CAP_SETGID, NULL },
	{ "CAP_SETUID", CAP_SETUID, NULL },
	{ "CAP_SETPCAP", CAP_SETPCAP, NULL },
	{ "CAP_LINUX_IMMUTABLE", CAP_LINUX_IMMUTABLE, NULL },
	{ "CAP_NET_BIND_SERVICE", CAP_NET_BIND_SERVICE, NULL },
	{ "CAP_NET_BROADCAST", CAP_NET_BROADCAST, NULL },
	{ "CAP_NET_ADMIN", CAP_NET_ADMIN, NULL },
	{ "CAP_NET_RAW", CAP_NET_RAW, NULL },
	{ "CAP_IPC_LOCK", CAP_IPC_LOCK, NULL },
	{ "CAP_IPC_OWNER", CAP_IPC_OWNER, NULL },
	{ "CAP_SYS_MODULE", CAP_SYS_MODULE, NULL },
	{ "CAP_SYS_RAWIO", CAP_SYS_RAWIO, NULL },
	{ "CAP_SYS_CHROOT", CAP_SYS_CHROOT, NULL },
	{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE, NULL },
	{ "CAP_SYS_PACCT", CAP_SYS_PACCT, NULL },
	{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN, NULL },
	{ "CAP_SYS_BOOT", CAP_SYS_BOOT, NULL },
	{ "CAP_SYS_NICE", CAP_SYS_NICE, NULL },
	{ "CAP_SYS_RESOURCE", CAP_SYS_RESOURCE, NULL },
	{ "CAP_SYS_TIME", CAP_SYS_TIME, NULL },
	{ "CAP_SYS_TTY_CONFIG", CAP_SYS_TTY_CONFIG, NULL },
	{ "CAP_MKNOD", CAP_MKNOD, NULL },
	{ "CAP_LEASE", CAP_LEASE, NULL },
	{ "CAP_AUDIT_WRITE", CAP_AUDIT_WRITE, NULL },
	{ "CAP_AUDIT_CONTROL", CAP_AUDIT_CONTROL, NULL },
	{ "CAP_SETFCAP", CAP_SETFCAP, NULL },
	{ "CAP_MAC_OVERRIDE", CAP_MAC_OVERRIDE, NULL },
	{ "CAP_MAC_ADMIN", CAP_MAC_ADMIN, NULL },
	{ "CAP_SYSLOG", CAP_SYSLOG, NULL },
	{ "CAP_WAKE_ALARM", CAP_WAKE_ALARM, NULL },
	{ "CAP_BLOCK_SUSPEND", CAP_BLOCK_SUSPEND, NULL },
	{ "CAP_AUDIT_READ", CAP_AUDIT_READ, NULL },
	{ "CAP_PERFMON", CAP_PERFMON, NULL },
	{ "CAP_BPF", CAP_BPF, NULL },
	{ "CAP_CHECKPOINT_RESTORE", CAP_CHECKPOINT_RESTORE, NULL },
};
const struct enum_table spec_capability_table = ENUM_TABLE("capability", capability_entries);

static const struct enum_entry rlimit_entries[] = {
	{ "RLIMIT_AS", RLIMIT_AS, NULL },
	{ "RLIMIT_CORE", RLIMIT_CORE, NULL },
	{ "RLIMIT_CPU", RLIMIT_CPU, NULL },
	{ "RLIMIT_DATA", RLIMIT_DATA, NULL },
	{ "RLIMIT_FSIZE", RLIMIT_FSIZE, NULL },
	{ "RLIMIT_LOCKS", RLIMIT_LOCKS, NULL },
	{ "RLIMIT_MEMLOCK", RLIMIT_MEMLOCK, NULL },
	{ "RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE, NULL },
	{ "RLIMIT_NICE", RLIMIT_NICE, NULL },
	{ "RLIMIT_NOFILE", RLIMIT_NOFILE, NULL },
	{ "RLIMIT_NPROC", RLIMIT_NPROC, NULL },
	{ "RLIMIT_RSS", RLIMIT_RSS, NULL },
	{ "RLIMIT_RTPRIO", RLIMIT_RTPRIO, NULL },
	{ "RLIMIT_RTTIME", RLIMIT_RTTIME, NULL },
	{ "RLIMIT_SIGPENDING", RLIMIT_SIGPENDING, NULL },
	{ "RLIMIT_STACK", RLIMIT_STACK, NULL },
};
const struct enum_table spec_rlimit_table = ENUM_TABLE("rlimit type", rlimit_entries);

static const struct enum_entry scheduler_policy_entries[] = {
	{ "SCHED_OTHER", SCHED_NORMAL, NULL },
	{ "SCHED_FIFO", SCHED_FIFO, NULL },
	{ "SCHED_RR", SCHED_RR, NULL },
	{ "SCHED_BATCH", SCHED_BATCH, NULL },
	{ "SCHED_ISO", SPEC_SCHED_ISO, NULL },
	{ "SCHED_IDLE", SCHED_IDLE, NULL },
	{ "SCHED_DEADLINE", SCHED_DEADLINE, NULL },
};
const struct enum_table spec_scheduler_policy_table =
	ENUM_TABLE("scheduling policy", scheduler_policy_entries);

static const struct enum_entry scheduler_flag_entries[] = {
	{ "SCHED_FLAG_RESET_ON_FORK", SCHED_FLAG_RESET_ON_FORK, NULL },
	{ "SCHED_FLAG_RECLAIM", SCHED_FLAG_RECLAIM, NULL },
	{ "SCHED_FLAG_DL_OVERRUN", SCHED_FLAG_DL_OVERRUN, NULL },
	{ "SCHED_FLAG_KEEP_POLICY", SCHED_FLAG_KEEP_POLICY, NULL },
	{ "SCHED_FLAG_KEEP_PARAMS", SCHED_FLAG_KEEP_PARAMS, NULL },
	{ "SCHED_FLAG_UTIL_CLAMP_MIN", SCHED_FLAG_UTIL_CLAMP_MIN, NULL },
	{ "SCHED_FLAG_UTIL_CLAMP_MAX", SCHED_FLAG_UTIL_CLAMP_MAX, NULL },
};
const struct enum_table spec_scheduler_flag_table =
	ENUM_TABLE("scheduling flag", scheduler_flag_entries);

static const struct enum_entry ioprio_class_entries[] = {
	{ "IOPRIO_CLASS_RT", IOPRIO_CLASS_RT, NULL },
	{ "IOPRIO_CLASS_BE", IOPRIO_CLASS_BE, NULL },
	{ "IOPRIO_CLASS_IDLE", IOPRIO_CLASS_IDLE, NULL },
};
const struct enum_table spec_ioprio_class_table =
	ENUM_TABLE("I/O priority class", ioprio_class_entries);

static const struct enum_entry seccomp_action_entries[] = {
	{ "SCMP_ACT_KILL_THREAD", SPEC_SECCOMP_KILL_THREAD, NULL },
	/* The old spelling; libseccomp defines it as the same number. */
	{ "SCMP_ACT_KILL", SPEC_SECCOMP_KILL_THREAD, NULL },
	{ "SCMP_ACT_KILL_PROCESS", SPEC_SECCOMP_KILL_PROCESS, NULL },
	{ "SCMP_ACT_TRAP", SPEC_SECCOMP_TRAP, NULL },
	{ "SCMP_ACT_ERRNO", SPEC_SECCOMP_ERRNO, NULL },
	{ "SCMP_ACT_TRACE", SPEC_SECCOMP_TRACE, NULL },
	{ "SCMP_ACT_ALLOW", SPEC_SECCOMP_ALLOW, NULL },
	{ "SCMP_ACT_LOG", SPEC_SECCOMP_LOG, NULL },
	{ "SCMP_ACT_NOTIFY", SPEC_SECCOMP_NOTIFY, NULL },
};
const struct enum_table spec_seccomp_action_table =
	ENUM_TABLE("seccomp action", seccomp_action_entries);

static const struct enum_entry seccomp_op_entries[] = {
	{ "SCMP_CMP_NE", SPEC_SECCOMP_NE, NULL },
	{ "SCMP_CMP_LT", SPEC_SECCOMP_LT, NULL },
	{ "SCMP_CMP_LE", SPEC_SECCOMP_LE, NULL },
	{ "SCMP_CMP_EQ", SPEC_SECCOMP_EQ, NULL },
	{ "SCMP_CMP_GE", SPEC_SECCOMP_GE, NULL },
	{ "SCMP_CMP_GT", SPEC_SECCOMP_GT, NULL },
	{ "SCMP_CMP_MASKED_EQ", SPEC_SECCOMP_MASKED_EQ, NULL },
};
const struct enum_table spec_seccomp_op_table = ENUM_TABLE("seccomp operator", seccomp_op_entries);

/* The value is only the place in this table: filter/ resolves names with libseccomp. */
static const struct enum_entry seccomp_arch_entries[] = {
	{ "SCMP_ARCH_X86", 0, NULL },
	{ "SCMP_ARCH_X86_64", 1, NULL },
	{ "SCMP_ARCH_X32", 2, NULL },
	{ "SCMP_ARCH_ARM", 3, NULL },
	{ "SCMP_ARCH_AARCH64", 4, NULL },
	{ "SCMP_ARCH_LOONGARCH64", 5, NULL },
	{ "SCMP_ARCH_M68K", 6, NULL },
	{ "SCMP_ARCH_MIPS", 7, NULL },
	{ "SCMP_ARCH_MIPS64", 8, NULL },
	{ "SCMP_ARCH_MIPS64N32", 9, NULL },
	{ "SCMP_ARCH_MIPSEL", 10, NULL },
	{ "SCMP_ARCH_MIPSEL64", 11, NULL },
	{ "SCMP_ARCH_MIPSEL64N32", 12, NULL },
	{ "SCMP_ARCH_PPC", 13, NULL },
	{ "SCMP_ARCH_PPC64", 14, NULL },
	{ "SCMP_ARCH_PPC64LE", 15, NULL },
	{ "SCMP_ARCH_S390", 16, NULL },
	{ "SCMP_ARCH_S390X", 17, NULL },
	{ "SCMP_ARCH_SH", 18, NULL },
	{ "SCMP_ARCH_SHEB", 19, NULL },
	{ "SCMP_ARCH_PARISC", 20, NULL },
	{ "SCMP_ARCH_PARISC64", 21, NULL },
	{ "SCMP_ARCH_RISCV64", 22, NULL },
};
const struct enum_table spec_seccomp_arch_table =
	ENUM_TABLE("seccomp architecture", seccomp_arch_entries);

/* Values are the kernel's bits of seccomp(2). */
static const struct enum_entry seccomp_flag_entries[] = {
	{ "SECCOMP_FILTER_FLAG_TSYNC", 1u << 0, NULL },
	{ "SECCOMP_FILTER_FLAG_LOG", 1u << 1, NULL },
	{ "SECCOMP_FILTER_FLAG_SPEC_ALLOW", 1u << 2, NULL },
	{ "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", 1u << 5, NULL },
};
const struct enum_table spec_seccomp_flag_table = ENUM_TABLE("seccomp flag", seccomp_flag_entries);

static const struct enum_entry memory_policy_mode_entries[] = {
	{ "MPOL_DEFAULT", MPOL_DEFAULT, NULL },
	{ "MPOL_BIND", MPOL_BIND, NULL },
	{ "MPOL_INTERLEAVE", MPOL_INTERLEAVE, NULL },
	{ "MPOL_WEIGHTED_INTERLEAVE", SPEC_MPOL_WEIGHTED_INTERLEAVE, NULL },
	{ "MPOL_PREFERRED", MPOL_PREFERRED, NULL },
	{ "MPOL_PREFERRED_MANY", MPOL_PREFERRED_MANY, NULL },
	{ "MPOL_LOCAL", MPOL_LOCAL, NULL },
};
const struct enum_table spec_memory_policy_mode_table =
	ENUM_TABLE("memory policy mode", memory_policy_mode_entries);

static const struct enum_entry memory_policy_flag_entries[] = {
	{ "MPOL_F_NUMA_BALANCING", MPOL_F_NUMA_BALANCING, NULL },
	{ "MPOL_F_RELATIVE_NODES", MPOL_F_RELATIVE_NODES, NULL },
	{ "MPOL_F_STATIC_NODES", MPOL_F_STATIC_NODES, NULL },
};
const struct enum_table spec_memory_policy_flag_table =
	ENUM_TABLE("memory policy flag", memory_policy_flag_entries);

static const struct enum_entry personality_entries[] = {
	{ "LINUX", SPEC_PER_LINUX, NULL },
	{ "LINUX32", SPEC_PER_LINUX32, NULL },
};
const struct enum_table spec_personality_table =
	ENUM_TABLE("personality domain", personality_entries);

static const struct enum_entry propagation_entries[] = {
	{ "shared", MS_SHARED, NULL },
	{ "rshared", MS_SHARED | MS_REC, NULL },
	{ "slave", MS_SLAVE, NULL },
	{ "rslave", MS_SLAVE | MS_REC, NULL },
	{ "private", MS_PRIVATE, NULL },
	{ "rprivate", MS_PRIVATE | MS_REC, NULL },
	{ "unbindable", MS_UNBINDABLE, NULL },
	{ "runbindable", MS_UNBINDABLE | MS_REC, NULL },
};
const struct enum_table spec_propagation_table =
	ENUM_TABLE("rootfs propagation", propagation_entries);
/* clang-format on */
