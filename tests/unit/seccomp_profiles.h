/*
 * Real profiles as engines send them (architectures x86_64, x86, x32), as data for the
 * filter tests: Docker 20.10's default and podman 4.3's default.
 */
#pragma once

#include "spec/spec.h"
#include "util/cleanup.h"

struct raw_rule {
	const char *const *names;
	size_t n_names;
	uint64_t action;
	int errno_ret; /* -1 = not given */
	const struct spec_seccomp_arg *args;
	size_t n_args;
};

struct raw_profile {
	uint64_t default_action;
	int default_errno; /* -1 = not given */
	const struct raw_rule *rules;
	size_t n_rules;
};

static const char *const docker_names_0[] = {
	"accept", "accept4", "access", "adjtimex", "alarm", "bind", "brk", "capget", "capset",
	"chdir", "chmod", "chown", "chown32", "clock_adjtime", "clock_adjtime64", "clock_getres",
	"clock_getres_time64", "clock_gettime", "clock_gettime64", "clock_nanosleep",
	"clock_nanosleep_time64", "close", "close_range", "connect", "copy_file_range", "creat",
	"dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old",
	"epoll_pwait", "epoll_pwait2", "epoll_wait", "epoll_wait_old", "eventfd", "eventfd2",
	"execve", "execveat", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64",
	"fadvise64_64", "fallocate", "fanotify_mark", "fchdir", "fchmod", "fchmodat", "fchown",
	"fchown32", "fchownat", "fcntl", "fcntl64", "fdatasync", "fgetxattr", "flistxattr",
	"flock", "fork", "fremovexattr", "fsetxattr", "fstat", "fstat64", "fstatat64", "fstatfs",
	"fstatfs64", "fsync", "ftruncate", "ftruncate64", "futex", "futex_time64", "futex_waitv",
	"futimesat", "getcpu", "getcwd", "getdents", "getdents64", "getegid", "getegid32",
	"geteuid", "geteuid32", "getgid", "getgid32", "getgroups", "getgroups32", "getitimer",
	"getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
	"getresgid", "getresgid32", "getresuid", "getresuid32", "getrlimit", "get_robust_list",
	"getrusage", "getsid", "getsockname", "getsockopt", "get_thread_area", "gettid",
	"gettimeofday", "getuid", "getuid32", "getxattr", "inotify_add_watch", "inotify_init",
	"inotify_init1", "inotify_rm_watch", "io_cancel", "ioctl", "io_destroy", "io_getevents",
	"io_pgetevents", "io_pgetevents_time64", "ioprio_get", "ioprio_set", "io_setup",
	"io_submit", "io_uring_enter", "io_uring_register", "io_uring_setup", "ipc", "kill",
	"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "lchown",
	"lchown32", "lgetxattr", "link", "linkat", "listen", "listxattr", "llistxattr",
	"_llseek", "lremovexattr", "lseek", "lsetxattr", "lstat", "lstat64", "madvise",
	"membarrier", "memfd_create", "memfd_secret", "mincore", "mkdir", "mkdirat", "mknod",
	"mknodat", "mlock", "mlock2", "mlockall", "mmap", "mmap2", "mprotect", "mq_getsetattr",
	"mq_notify", "mq_open", "mq_timedreceive", "mq_timedreceive_time64", "mq_timedsend",
	"mq_timedsend_time64", "mq_unlink", "mremap", "msgctl", "msgget", "msgrcv", "msgsnd",
	"msync", "munlock", "munlockall", "munmap", "nanosleep", "newfstatat", "_newselect",
	"open", "openat", "openat2", "pause", "pidfd_open", "pidfd_send_signal", "pipe", "pipe2",
	"poll", "ppoll", "ppoll_time64", "prctl", "pread64", "preadv", "preadv2", "prlimit64",
	"process_mrelease", "pselect6", "pselect6_time64", "pwrite64", "pwritev", "pwritev2",
	"read", "readahead", "readlink", "readlinkat", "readv", "recv", "recvfrom", "recvmmsg",
	"recvmmsg_time64", "recvmsg", "remap_file_pages", "removexattr", "rename", "renameat",
	"renameat2", "restart_syscall", "rmdir", "rseq", "rt_sigaction", "rt_sigpending",
	"rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
	"rt_sigtimedwait_time64", "rt_tgsigqueueinfo", "sched_getaffinity", "sched_getattr",
	"sched_getparam", "sched_get_priority_max", "sched_get_priority_min",
	"sched_getscheduler", "sched_rr_get_interval", "sched_rr_get_interval_time64",
	"sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler",
	"sched_yield", "seccomp", "select", "semctl", "semget", "semop", "semtimedop",
	"semtimedop_time64", "send", "sendfile", "sendfile64", "sendmmsg", "sendmsg", "sendto",
	"setfsgid", "setfsgid32", "setfsuid", "setfsuid32", "setgid", "setgid32", "setgroups",
	"setgroups32", "setitimer", "setpgid", "setpriority", "setregid", "setregid32",
	"setresgid", "setresgid32", "setresuid", "setresuid32", "setreuid", "setreuid32",
	"setrlimit", "set_robust_list", "setsid", "setsockopt", "set_thread_area",
	"set_tid_address", "setuid", "setuid32", "setxattr", "shmat", "shmctl", "shmdt",
	"shmget", "shutdown", "sigaltstack", "signalfd", "signalfd4", "sigprocmask", "sigreturn",
	"socket", "socketcall", "socketpair", "splice", "stat", "stat64", "statfs", "statfs64",
	"statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "sysinfo", "tee",
	"tgkill", "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
	"timer_gettime64", "timer_settime", "timer_settime64", "timerfd_create",
	"timerfd_gettime", "timerfd_gettime64", "timerfd_settime", "timerfd_settime64", "times",
	"tkill", "truncate", "truncate64", "ugetrlimit", "umask", "uname", "unlink", "unlinkat",
	"utime", "utimensat", "utimensat_time64", "utimes", "vfork", "vmsplice", "wait4",
	"waitid", "waitpid", "write", "writev",
};
static const char *const docker_names_1[] = {
	"ptrace",
};
static const char *const docker_names_2[] = {
	"personality",
};
static const struct spec_seccomp_arg docker_args_2[] = {
	{ .index = 0, .value = 0, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const docker_names_3[] = {
	"personality",
};
static const struct spec_seccomp_arg docker_args_3[] = {
	{ .index = 0, .value = 8, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const docker_names_4[] = {
	"personality",
};
static const struct spec_seccomp_arg docker_args_4[] = {
	{ .index = 0, .value = 131072, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const docker_names_5[] = {
	"personality",
};
static const struct spec_seccomp_arg docker_args_5[] = {
	{ .index = 0, .value = 131080, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const docker_names_6[] = {
	"personality",
};
static const struct spec_seccomp_arg docker_args_6[] = {
	{ .index = 0, .value = 4294967295, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const docker_names_7[] = {
	"arch_prctl",
};
static const char *const docker_names_8[] = {
	"modify_ldt",
};
static const char *const docker_names_9[] = {
	"clone",
};
static const struct spec_seccomp_arg docker_args_9[] = {
	{ .index = 0, .value = 2114060288, .value_two = 0, .op = SPEC_SECCOMP_MASKED_EQ },
};
static const char *const docker_names_10[] = {
	"clone3",
};
static const char *const docker_names_11[] = {
	"chroot",
};
static const struct raw_rule docker_rules[] = {
	{ docker_names_0, 346, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ docker_names_1, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ docker_names_2, 1, SPEC_SECCOMP_ALLOW, -1, docker_args_2, 1 },
	{ docker_names_3, 1, SPEC_SECCOMP_ALLOW, -1, docker_args_3, 1 },
	{ docker_names_4, 1, SPEC_SECCOMP_ALLOW, -1, docker_args_4, 1 },
	{ docker_names_5, 1, SPEC_SECCOMP_ALLOW, -1, docker_args_5, 1 },
	{ docker_names_6, 1, SPEC_SECCOMP_ALLOW, -1, docker_args_6, 1 },
	{ docker_names_7, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ docker_names_8, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ docker_names_9, 1, SPEC_SECCOMP_ALLOW, -1, docker_args_9, 1 },
	{ docker_names_10, 1, SPEC_SECCOMP_ERRNO, 38, NULL, 0 },
	{ docker_names_11, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
};
static const struct raw_profile docker_profile = {
	.default_action = SPEC_SECCOMP_ERRNO,
	.default_errno = -1,
	.rules = docker_rules,
	.n_rules = ELEMENTSOF(docker_rules),
};

static const char *const podman_names_0[] = {
	"bdflush", "io_pgetevents", "kexec_file_load", "kexec_load", "migrate_pages",
	"move_pages", "nfsservctl", "nice", "oldfstat", "oldlstat", "oldolduname", "oldstat",
	"olduname", "pciconfig_iobase", "pciconfig_read", "pciconfig_write", "sgetmask",
	"ssetmask", "swapcontext", "swapoff", "swapon", "sysfs", "uselib", "userfaultfd",
	"ustat", "vm86", "vm86old", "vmsplice",
};
static const char *const podman_names_1[] = {
	"_llseek", "_newselect", "accept", "accept4", "access", "adjtimex", "alarm", "bind",
	"brk", "capget", "capset", "chdir", "chmod", "chown", "chown32", "clock_adjtime",
	"clock_adjtime64", "clock_getres", "clock_getres_time64", "clock_gettime",
	"clock_gettime64", "clock_nanosleep", "clock_nanosleep_time64", "clone", "clone3",
	"close", "close_range", "connect", "copy_file_range", "creat", "dup", "dup2", "dup3",
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait",
	"epoll_pwait2", "epoll_wait", "epoll_wait_old", "eventfd", "eventfd2", "execve",
	"execveat", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64", "fadvise64_64",
	"fallocate", "fanotify_mark", "fchdir", "fchmod", "fchmodat", "fchown", "fchown32",
	"fchownat", "fcntl", "fcntl64", "fdatasync", "fgetxattr", "flistxattr", "flock", "fork",
	"fremovexattr", "fsconfig", "fsetxattr", "fsmount", "fsopen", "fspick", "fstat",
	"fstat64", "fstatat64", "fstatfs", "fstatfs64", "fsync", "ftruncate", "ftruncate64",
	"futex", "futex_time64", "futimesat", "get_mempolicy", "get_robust_list",
	"get_thread_area", "getcpu", "getcwd", "getdents", "getdents64", "getegid", "getegid32",
	"geteuid", "geteuid32", "getgid", "getgid32", "getgroups", "getgroups32", "getitimer",
	"getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
	"getresgid", "getresgid32", "getresuid", "getresuid32", "getrlimit", "getrusage",
	"getsid", "getsockname", "getsockopt", "gettid", "gettimeofday", "getuid", "getuid32",
	"getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
	"io_cancel", "io_destroy", "io_getevents", "io_setup", "io_submit", "ioctl",
	"ioprio_get", "ioprio_set", "ipc", "keyctl", "kill", "landlock_add_rule",
	"landlock_create_ruleset", "landlock_restrict_self", "lchown", "lchown32", "lgetxattr",
	"link", "linkat", "listen", "listxattr", "llistxattr", "lremovexattr", "lseek",
	"lsetxattr", "lstat", "lstat64", "madvise", "mbind", "membarrier", "memfd_create",
	"memfd_secret", "mincore", "mkdir", "mkdirat", "mknod", "mknodat", "mlock", "mlock2",
	"mlockall", "mmap", "mmap2", "mount", "mount_setattr", "move_mount", "mprotect",
	"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedreceive_time64",
	"mq_timedsend", "mq_timedsend_time64", "mq_unlink", "mremap", "msgctl", "msgget",
	"msgrcv", "msgsnd", "msync", "munlock", "munlockall", "munmap", "name_to_handle_at",
	"nanosleep", "newfstatat", "open", "open_tree", "openat", "openat2", "pause",
	"pidfd_getfd", "pidfd_open", "pidfd_send_signal", "pipe", "pipe2", "pivot_root",
	"pkey_alloc", "pkey_free", "pkey_mprotect", "poll", "ppoll", "ppoll_time64", "prctl",
	"pread64", "preadv", "preadv2", "prlimit64", "process_mrelease", "process_vm_readv",
	"process_vm_writev", "pselect6", "pselect6_time64", "ptrace", "pwrite64", "pwritev",
	"pwritev2", "read", "readahead", "readdir", "readlink", "readlinkat", "readv", "reboot",
	"recv", "recvfrom", "recvmmsg", "recvmmsg_time64", "recvmsg", "remap_file_pages",
	"removexattr", "rename", "renameat", "renameat2", "restart_syscall", "rmdir", "rseq",
	"rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
	"rt_sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64", "rt_tgsigqueueinfo",
	"sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
	"sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
	"sched_rr_get_interval_time64", "sched_setaffinity", "sched_setattr", "sched_setparam",
	"sched_setscheduler", "sched_yield", "seccomp", "select", "semctl", "semget", "semop",
	"semtimedop", "semtimedop_time64", "send", "sendfile", "sendfile64", "sendmmsg",
	"sendmsg", "sendto", "set_mempolicy", "set_robust_list", "set_thread_area",
	"set_tid_address", "setfsgid", "setfsgid32", "setfsuid", "setfsuid32", "setgid",
	"setgid32", "setgroups", "setgroups32", "setitimer", "setns", "setpgid", "setpriority",
	"setregid", "setregid32", "setresgid", "setresgid32", "setresuid", "setresuid32",
	"setreuid", "setreuid32", "setrlimit", "setsid", "setsockopt", "setuid", "setuid32",
	"setxattr", "shmat", "shmctl", "shmdt", "shmget", "shutdown", "sigaction", "sigaltstack",
	"signal", "signalfd", "signalfd4", "sigpending", "sigprocmask", "sigreturn",
	"sigsuspend", "socketcall", "socketpair", "splice", "stat", "stat64", "statfs",
	"statfs64", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs",
	"syscall", "sysinfo", "syslog", "tee", "tgkill", "time", "timer_create", "timer_delete",
	"timer_getoverrun", "timer_gettime", "timer_gettime64", "timer_settime",
	"timer_settime64", "timerfd", "timerfd_create", "timerfd_gettime", "timerfd_gettime64",
	"timerfd_settime", "timerfd_settime64", "times", "tkill", "truncate", "truncate64",
	"ugetrlimit", "umask", "umount", "umount2", "uname", "unlink", "unlinkat", "unshare",
	"utime", "utimensat", "utimensat_time64", "utimes", "vfork", "wait4", "waitid",
	"waitpid", "write", "writev",
};
static const char *const podman_names_2[] = {
	"personality",
};
static const struct spec_seccomp_arg podman_args_2[] = {
	{ .index = 0, .value = 0, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const podman_names_3[] = {
	"personality",
};
static const struct spec_seccomp_arg podman_args_3[] = {
	{ .index = 0, .value = 8, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const podman_names_4[] = {
	"personality",
};
static const struct spec_seccomp_arg podman_args_4[] = {
	{ .index = 0, .value = 131072, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const podman_names_5[] = {
	"personality",
};
static const struct spec_seccomp_arg podman_args_5[] = {
	{ .index = 0, .value = 131080, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const podman_names_6[] = {
	"personality",
};
static const struct spec_seccomp_arg podman_args_6[] = {
	{ .index = 0, .value = 4294967295, .value_two = 0, .op = SPEC_SECCOMP_EQ },
};
static const char *const podman_names_7[] = {
	"arch_prctl",
};
static const char *const podman_names_8[] = {
	"modify_ldt",
};
static const char *const podman_names_9[] = {
	"open_by_handle_at",
};
static const char *const podman_names_10[] = {
	"bpf", "fanotify_init", "lookup_dcookie", "perf_event_open", "quotactl", "setdomainname",
	"sethostname", "setns",
};
static const char *const podman_names_11[] = {
	"chroot",
};
static const char *const podman_names_12[] = {
	"delete_module", "finit_module", "init_module", "query_module",
};
static const char *const podman_names_13[] = {
	"acct",
};
static const char *const podman_names_14[] = {
	"kcmp", "process_madvise",
};
static const char *const podman_names_15[] = {
	"ioperm", "iopl",
};
static const char *const podman_names_16[] = {
	"clock_settime", "clock_settime64", "settimeofday", "stime",
};
static const char *const podman_names_17[] = {
	"vhangup",
};
static const char *const podman_names_18[] = {
	"socket",
};
static const struct raw_rule podman_rules[] = {
	{ podman_names_0, 28, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_1, 374, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ podman_names_2, 1, SPEC_SECCOMP_ALLOW, -1, podman_args_2, 1 },
	{ podman_names_3, 1, SPEC_SECCOMP_ALLOW, -1, podman_args_3, 1 },
	{ podman_names_4, 1, SPEC_SECCOMP_ALLOW, -1, podman_args_4, 1 },
	{ podman_names_5, 1, SPEC_SECCOMP_ALLOW, -1, podman_args_5, 1 },
	{ podman_names_6, 1, SPEC_SECCOMP_ALLOW, -1, podman_args_6, 1 },
	{ podman_names_7, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ podman_names_8, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ podman_names_9, 1, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_10, 8, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_11, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
	{ podman_names_12, 4, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_13, 1, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_14, 2, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_15, 2, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_16, 4, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_17, 1, SPEC_SECCOMP_ERRNO, 1, NULL, 0 },
	{ podman_names_18, 1, SPEC_SECCOMP_ALLOW, -1, NULL, 0 },
};
static const struct raw_profile podman_profile = {
	.default_action = SPEC_SECCOMP_ERRNO,
	.default_errno = 38,
	.rules = podman_rules,
	.n_rules = ELEMENTSOF(podman_rules),
};
