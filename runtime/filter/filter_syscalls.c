/*
 * The system calls that agentrun knows, up to Linux 6.18: number on x86_64 and aarch64 and
 * how wide the kernel takes each argument. Own tables, because the installed libseccomp does
 * not know new names, and a deny rule for a name that nobody resolves denies nothing.
 * Knows nothing of profiles.
 */
#include "filter/filter_syscalls.h"

#include <assert.h>
#include <linux/audit.h>
#include <stdlib.h>

#include "util/str.h"

/*
 * Sorted by name. -1 = not on that architecture. One letter per argument: l 64 bits, i 32,
 * s 16 (umode_t). clone: the kernel cuts the flags to 32 bits (lower_32_bits in
 * SYSCALL_DEFINE5(clone)). Calls that the kernel never implements take none.
 */
/* clang-format off */
const struct filter_syscall filter_syscalls[FILTER_SYSCALLS] = {
	{ "_sysctl", 156, -1, "" }, { "accept", 43, 202, "ill" }, { "accept4", 288, 242, "illi" },
	{ "access", 21, -1, "li" }, { "acct", 163, 89, "l" }, { "add_key", 248, 217, "lllli" },
	{ "adjtimex", 159, 171, "l" }, { "afs_syscall", 183, -1, "" }, { "alarm", 37, -1, "i" },
	{ "arch_prctl", 158, -1, "il" }, { "bind", 49, 200, "ili" }, { "bpf", 321, 280, "ili" },
	{ "brk", 12, 214, "l" }, { "cachestat", 451, 451, "illi" }, { "capget", 125, 90, "ll" },
	{ "capset", 126, 91, "ll" }, { "chdir", 80, 49, "l" }, { "chmod", 90, -1, "ls" },
	{ "chown", 92, -1, "lii" }, { "chroot", 161, 51, "l" }, { "clock_adjtime", 305, 266, "il" },
	{ "clock_getres", 229, 114, "il" }, { "clock_gettime", 228, 113, "il" },
	{ "clock_nanosleep", 230, 115, "iill" }, { "clock_settime", 227, 112, "il" },
	{ "clone", 56, 220, "illll" }, { "clone3", 435, 435, "ll" }, { "close", 3, 57, "i" },
	{ "close_range", 436, 436, "iii" }, { "connect", 42, 203, "ili" },
	{ "copy_file_range", 326, 285, "ililli" }, { "creat", 85, -1, "ls" },
	{ "create_module", 174, -1, "" }, { "delete_module", 176, 106, "li" },
	{ "dup", 32, 23, "i" }, { "dup2", 33, -1, "ii" }, { "dup3", 292, 24, "iii" },
	{ "epoll_create", 213, -1, "i" }, { "epoll_create1", 291, 20, "i" },
	{ "epoll_ctl", 233, 21, "iiil" }, { "epoll_ctl_old", 214, -1, "" },
	{ "epoll_pwait", 281, 22, "iliill" }, { "epoll_pwait2", 441, 441, "ililll" },
	{ "epoll_wait", 232, -1, "ilii" }, { "epoll_wait_old", 215, -1, "" },
	{ "eventfd", 284, -1, "i" }, { "eventfd2", 290, 19, "ii" }, { "execve", 59, 221, "lll" },
	{ "execveat", 322, 281, "illli" }, { "exit", 60, 93, "i" }, { "exit_group", 231, 94, "i" },
	{ "faccessat", 269, 48, "ili" }, { "faccessat2", 439, 439, "ilii" },
	{ "fadvise64", 221, 223, "illi" }, { "fallocate", 285, 47, "iill" },
	{ "fanotify_init", 300, 262, "ii" }, { "fanotify_mark", 301, 263, "iilil" },
	{ "fchdir", 81, 50, "i" }, { "fchmod", 91, 52, "is" }, { "fchmodat", 268, 53, "ils" },
	{ "fchmodat2", 452, 452, "ilsi" }, { "fchown", 93, 55, "iii" },
	{ "fchownat", 260, 54, "iliii" }, { "fcntl", 72, 25, "iil" }, { "fdatasync", 75, 83, "i" },
	{ "fgetxattr", 193, 10, "illl" }, { "file_getattr", 468, 468, "illli" },
	{ "file_setattr", 469, 469, "illli" }, { "finit_module", 313, 273, "ili" },
	{ "flistxattr", 196, 13, "ill" }, { "flock", 73, 32, "ii" }, { "fork", 57, -1, "" },
	{ "fremovexattr", 199, 16, "il" }, { "fsconfig", 431, 431, "iilli" },
	{ "fsetxattr", 190, 7, "illli" }, { "fsmount", 432, 432, "iii" },
	{ "fsopen", 430, 430, "li" }, { "fspick", 433, 433, "ili" }, { "fstat", 5, 80, "il" },
	{ "fstatfs", 138, 44, "il" }, { "fsync", 74, 82, "i" }, { "ftruncate", 77, 46, "il" },
	{ "futex", 202, 98, "liilli" }, { "futex_requeue", 456, 456, "liii" },
	{ "futex_wait", 455, 455, "lllili" }, { "futex_waitv", 449, 449, "liili" },
	{ "futex_wake", 454, 454, "llii" }, { "futimesat", 261, -1, "ill" },
	{ "get_kernel_syms", 177, -1, "" }, { "get_mempolicy", 239, 236, "lllll" },
	{ "get_robust_list", 274, 100, "ill" }, { "get_thread_area", 211, -1, "l" },
	{ "getcpu", 309, 168, "lll" }, { "getcwd", 79, 17, "ll" }, { "getdents", 78, -1, "ili" },
	{ "getdents64", 217, 61, "ili" }, { "getegid", 108, 177, "" }, { "geteuid", 107, 175, "" },
	{ "getgid", 104, 176, "" }, { "getgroups", 115, 158, "il" }, { "getitimer", 36, 102, "il" },
	{ "getpeername", 52, 205, "ill" }, { "getpgid", 121, 155, "i" }, { "getpgrp", 111, -1, "" },
	{ "getpid", 39, 172, "" }, { "getpmsg", 181, -1, "" }, { "getppid", 110, 173, "" },
	{ "getpriority", 140, 141, "ii" }, { "getrandom", 318, 278, "lli" },
	{ "getresgid", 120, 150, "lll" }, { "getresuid", 118, 148, "lll" },
	{ "getrlimit", 97, 163, "il" }, { "getrusage", 98, 165, "il" }, { "getsid", 124, 156, "i" },
	{ "getsockname", 51, 204, "ill" }, { "getsockopt", 55, 209, "iiill" },
	{ "gettid", 186, 178, "" }, { "gettimeofday", 96, 169, "ll" }, { "getuid", 102, 174, "" },
	{ "getxattr", 191, 8, "llll" }, { "getxattrat", 464, 464, "ililll" },
	{ "init_module", 175, 105, "lll" }, { "inotify_add_watch", 254, 27, "ili" },
	{ "inotify_init", 253, -1, "" }, { "inotify_init1", 294, 26, "i" },
	{ "inotify_rm_watch", 255, 28, "ii" }, { "io_cancel", 210, 3, "lll" },
	{ "io_destroy", 207, 1, "l" }, { "io_getevents", 208, 4, "lllll" },
	{ "io_pgetevents", 333, 292, "llllll" }, { "io_setup", 206, 0, "il" },
	{ "io_submit", 209, 2, "lll" }, { "io_uring_enter", 426, 426, "iiiill" },
	{ "io_uring_register", 427, 427, "iili" }, { "io_uring_setup", 425, 425, "il" },
	{ "ioctl", 16, 29, "iil" }, { "ioperm", 173, -1, "lli" }, { "iopl", 172, -1, "i" },
	{ "ioprio_get", 252, 31, "ii" }, { "ioprio_set", 251, 30, "iii" },
	{ "kcmp", 312, 272, "iiill" }, { "kexec_file_load", 320, 294, "iilll" },
	{ "kexec_load", 246, 104, "llll" }, { "keyctl", 250, 219, "illll" },
	{ "kill", 62, 129, "ii" }, { "landlock_add_rule", 445, 445, "iili" },
	{ "landlock_create_ruleset", 444, 444, "lli" },
	{ "landlock_restrict_self", 446, 446, "ii" }, { "lchown", 94, -1, "lii" },
	{ "lgetxattr", 192, 9, "llll" }, { "link", 86, -1, "ll" }, { "linkat", 265, 37, "ilili" },
	{ "listen", 50, 201, "ii" }, { "listmount", 458, 458, "llli" },
	{ "listxattr", 194, 11, "lll" }, { "listxattrat", 465, 465, "ilill" },
	{ "llistxattr", 195, 12, "lll" }, { "lookup_dcookie", 212, 18, "lll" },
	{ "lremovexattr", 198, 15, "ll" }, { "lseek", 8, 62, "ili" },
	{ "lsetxattr", 189, 6, "lllli" }, { "lsm_get_self_attr", 459, 459, "illi" },
	{ "lsm_list_modules", 461, 461, "lli" }, { "lsm_set_self_attr", 460, 460, "illi" },
	{ "lstat", 6, -1, "ll" }, { "madvise", 28, 233, "lli" },
	{ "map_shadow_stack", 453, 453, "lli" }, { "mbind", 237, 235, "llllli" },
	{ "membarrier", 324, 283, "iii" }, { "memfd_create", 319, 279, "li" },
	{ "memfd_secret", 447, 447, "i" }, { "migrate_pages", 256, 238, "illl" },
	{ "mincore", 27, 232, "lll" }, { "mkdir", 83, -1, "ls" }, { "mkdirat", 258, 34, "ils" },
	{ "mknod", 133, -1, "lsi" }, { "mknodat", 259, 33, "ilsi" }, { "mlock", 149, 228, "ll" },
	{ "mlock2", 325, 284, "lli" }, { "mlockall", 151, 230, "i" }, { "mmap", 9, 222, "llliil" },
	{ "modify_ldt", 154, -1, "ill" }, { "mount", 165, 40, "lllll" },
	{ "mount_setattr", 442, 442, "ilill" }, { "move_mount", 429, 429, "ilili" },
	{ "move_pages", 279, 239, "illlli" }, { "mprotect", 10, 226, "lll" },
	{ "mq_getsetattr", 245, 185, "ill" }, { "mq_notify", 244, 184, "il" },
	{ "mq_open", 240, 180, "lisl" }, { "mq_timedreceive", 243, 183, "illll" },
	{ "mq_timedsend", 242, 182, "illil" }, { "mq_unlink", 241, 181, "l" },
	{ "mremap", 25, 216, "lllll" }, { "mseal", 462, 462, "lll" }, { "msgctl", 71, 187, "iil" },
	{ "msgget", 68, 186, "ii" }, { "msgrcv", 70, 188, "illli" }, { "msgsnd", 69, 189, "illi" },
	{ "msync", 26, 227, "lli" }, { "munlock", 150, 229, "ll" }, { "munlockall", 152, 231, "" },
	{ "munmap", 11, 215, "ll" }, { "name_to_handle_at", 303, 264, "illli" },
	{ "nanosleep", 35, 101, "ll" }, { "newfstatat", 262, 79, "illi" },
	{ "nfsservctl", 180, 42, "" }, { "open", 2, -1, "lis" },
	{ "open_by_handle_at", 304, 265, "ili" }, { "open_tree", 428, 428, "ili" },
	{ "open_tree_attr", 467, 467, "ilill" }, { "openat", 257, 56, "ilis" },
	{ "openat2", 437, 437, "illl" }, { "pause", 34, -1, "" },
	{ "perf_event_open", 298, 241, "liiil" }, { "personality", 135, 92, "i" },
	{ "pidfd_getfd", 438, 438, "iii" }, { "pidfd_open", 434, 434, "ii" },
	{ "pidfd_send_signal", 424, 424, "iili" }, { "pipe", 22, -1, "l" },
	{ "pipe2", 293, 59, "li" }, { "pivot_root", 155, 41, "ll" },
	{ "pkey_alloc", 330, 289, "ll" }, { "pkey_free", 331, 290, "i" },
	{ "pkey_mprotect", 329, 288, "llli" }, { "poll", 7, -1, "lii" },
	{ "ppoll", 271, 73, "lilll" }, { "prctl", 157, 167, "illll" },
	{ "pread64", 17, 67, "illl" }, { "preadv", 295, 69, "lllll" },
	{ "preadv2", 327, 286, "llllli" }, { "prlimit64", 302, 261, "iill" },
	{ "process_madvise", 440, 440, "illii" }, { "process_mrelease", 448, 448, "ii" },
	{ "process_vm_readv", 310, 270, "illlll" }, { "process_vm_writev", 311, 271, "illlll" },
	{ "pselect6", 270, 72, "illlll" }, { "ptrace", 101, 117, "llll" },
	{ "putpmsg", 182, -1, "" }, { "pwrite64", 18, 68, "illl" }, { "pwritev", 296, 70, "lllll" },
	{ "pwritev2", 328, 287, "llllli" }, { "query_module", 178, -1, "" },
	{ "quotactl", 179, 60, "ilil" }, { "quotactl_fd", 443, 443, "iiil" },
	{ "read", 0, 63, "ill" }, { "readahead", 187, 213, "ill" }, { "readlink", 89, -1, "lli" },
	{ "readlinkat", 267, 78, "illi" }, { "readv", 19, 65, "lll" },
	{ "reboot", 169, 142, "iiil" }, { "recvfrom", 45, 207, "illill" },
	{ "recvmmsg", 299, 243, "iliil" }, { "recvmsg", 47, 212, "ili" },
	{ "remap_file_pages", 216, 234, "lllll" }, { "removexattr", 197, 14, "ll" },
	{ "removexattrat", 466, 466, "ilil" }, { "rename", 82, -1, "ll" },
	{ "renameat", 264, 38, "ilil" }, { "renameat2", 316, 276, "ilili" },
	{ "request_key", 249, 218, "llli" }, { "restart_syscall", 219, 128, "" },
	{ "rmdir", 84, -1, "l" }, { "rseq", 334, 293, "liii" }, { "rt_sigaction", 13, 134, "illl" },
	{ "rt_sigpending", 127, 136, "ll" }, { "rt_sigprocmask", 14, 135, "illl" },
	{ "rt_sigqueueinfo", 129, 138, "iil" }, { "rt_sigreturn", 15, 139, "" },
	{ "rt_sigsuspend", 130, 133, "ll" }, { "rt_sigtimedwait", 128, 137, "llll" },
	{ "rt_tgsigqueueinfo", 297, 240, "iiil" }, { "sched_get_priority_max", 146, 125, "i" },
	{ "sched_get_priority_min", 147, 126, "i" }, { "sched_getaffinity", 204, 123, "iil" },
	{ "sched_getattr", 315, 275, "ilii" }, { "sched_getparam", 143, 121, "il" },
	{ "sched_getscheduler", 145, 120, "i" }, { "sched_rr_get_interval", 148, 127, "il" },
	{ "sched_setaffinity", 203, 122, "iil" }, { "sched_setattr", 314, 274, "ili" },
	{ "sched_setparam", 142, 118, "il" }, { "sched_setscheduler", 144, 119, "iil" },
	{ "sched_yield", 24, 124, "" }, { "seccomp", 317, 277, "iil" }, { "security", 185, -1, "" },
	{ "select", 23, -1, "illll" }, { "semctl", 66, 191, "iiil" }, { "semget", 64, 190, "iii" },
	{ "semop", 65, 193, "ili" }, { "semtimedop", 220, 192, "ilil" },
	{ "sendfile", 40, 71, "iill" }, { "sendmmsg", 307, 269, "ilii" },
	{ "sendmsg", 46, 211, "ili" }, { "sendto", 44, 206, "illili" },
	{ "set_mempolicy", 238, 237, "ill" }, { "set_mempolicy_home_node", 450, 450, "llll" },
	{ "set_robust_list", 273, 99, "ll" }, { "set_thread_area", 205, -1, "l" },
	{ "set_tid_address", 218, 96, "l" }, { "setdomainname", 171, 162, "li" },
	{ "setfsgid", 123, 152, "i" }, { "setfsuid", 122, 151, "i" }, { "setgid", 106, 144, "i" },
	{ "setgroups", 116, 159, "il" }, { "sethostname", 170, 161, "li" },
	{ "setitimer", 38, 103, "ill" }, { "setns", 308, 268, "ii" }, { "setpgid", 109, 154, "ii" },
	{ "setpriority", 141, 140, "iii" }, { "setregid", 114, 143, "ii" },
	{ "setresgid", 119, 149, "iii" }, { "setresuid", 117, 147, "iii" },
	{ "setreuid", 113, 145, "ii" }, { "setrlimit", 160, 164, "il" }, { "setsid", 112, 157, "" },
	{ "setsockopt", 54, 208, "iiili" }, { "settimeofday", 164, 170, "ll" },
	{ "setuid", 105, 146, "i" }, { "setxattr", 188, 5, "lllli" },
	{ "setxattrat", 463, 463, "ililll" }, { "shmat", 30, 196, "ili" },
	{ "shmctl", 31, 195, "iil" }, { "shmdt", 67, 197, "l" }, { "shmget", 29, 194, "ili" },
	{ "shutdown", 48, 210, "ii" }, { "sigaltstack", 131, 132, "ll" },
	{ "signalfd", 282, -1, "ill" }, { "signalfd4", 289, 74, "illi" },
	{ "socket", 41, 198, "iii" }, { "socketpair", 53, 199, "iiil" },
	{ "splice", 275, 76, "ililli" }, { "stat", 4, -1, "ll" }, { "statfs", 137, 43, "ll" },
	{ "statmount", 457, 457, "llli" }, { "statx", 332, 291, "iliil" },
	{ "swapoff", 168, 225, "l" }, { "swapon", 167, 224, "li" }, { "symlink", 88, -1, "ll" },
	{ "symlinkat", 266, 36, "lil" }, { "sync", 162, 81, "" },
	{ "sync_file_range", 277, 84, "illi" }, { "syncfs", 306, 267, "i" },
	{ "sysfs", 139, -1, "ill" }, { "sysinfo", 99, 179, "l" }, { "syslog", 103, 116, "ili" },
	{ "tee", 276, 77, "iili" }, { "tgkill", 234, 131, "iii" }, { "time", 201, -1, "l" },
	{ "timer_create", 222, 107, "ill" }, { "timer_delete", 226, 111, "i" },
	{ "timer_getoverrun", 225, 109, "i" }, { "timer_gettime", 224, 108, "il" },
	{ "timer_settime", 223, 110, "iill" }, { "timerfd_create", 283, 85, "ii" },
	{ "timerfd_gettime", 287, 87, "il" }, { "timerfd_settime", 286, 86, "iill" },
	{ "times", 100, 153, "l" }, { "tkill", 200, 130, "ii" }, { "truncate", 76, 45, "ll" },
	{ "tuxcall", 184, -1, "" }, { "umask", 95, 166, "i" }, { "umount2", 166, 39, "li" },
	{ "uname", 63, 160, "l" }, { "unlink", 87, -1, "l" }, { "unlinkat", 263, 35, "ili" },
	{ "unshare", 272, 97, "l" }, { "uprobe", 336, -1, "" }, { "uretprobe", 335, -1, "" },
	{ "uselib", 134, -1, "l" }, { "userfaultfd", 323, 282, "i" }, { "ustat", 136, -1, "il" },
	{ "utime", 132, -1, "ll" }, { "utimensat", 280, 88, "illi" }, { "utimes", 235, -1, "ll" },
	{ "vfork", 58, -1, "" }, { "vhangup", 153, 58, "" }, { "vmsplice", 278, 75, "illi" },
	{ "vserver", 236, -1, "" }, { "wait4", 61, 260, "ilil" }, { "waitid", 247, 95, "iilil" },
	{ "write", 1, 64, "ill" }, { "writev", 20, 66, "lll" },
};
/* clang-format on */

static int compare_name(const void *name, const void *entry)
{
	return strcmp(name, ((const struct filter_syscall *)entry)->name);
}

const struct filter_syscall *filter_syscall_by_name(const char *name)
{
	return bsearch(name, filter_syscalls, FILTER_SYSCALLS, sizeof(filter_syscalls[0]),
		       compare_name);
}

int filter_syscall_nr(const struct filter_syscall *s, uint32_t arch)
{
	assert(filter_syscall_arch_known(arch));

	return arch == AUDIT_ARCH_X86_64 ? s->x86_64 : s->aarch64;
}

bool filter_syscall_arch_known(uint32_t arch)
{
	return arch == AUDIT_ARCH_X86_64 || arch == AUDIT_ARCH_AARCH64;
}

const struct filter_syscall *filter_syscall_by_nr(uint32_t arch, int nr)
{
	size_t i;

	for (i = 0; nr >= 0 && i < FILTER_SYSCALLS; i++)
		if (filter_syscall_nr(&filter_syscalls[i], arch) == nr)
			return &filter_syscalls[i];
	return NULL;
}

uint64_t filter_syscall_arg_mask(const struct filter_syscall *s, uint32_t index)
{
	assert(index < strlen(s->args));

	switch (s->args[index]) {
	case 's':
		return UINT16_MAX;
	case 'i':
		return UINT32_MAX;
	default:
		return UINT64_MAX;
	}
}
