/*
 * Call names of other architectures. Docker's profile lists them beside ours; telling them
 * from a misspelt name is all that they are for, so they have no numbers.
 */
#include "filter/filter_syscalls.h"

#include <stdlib.h>

#include "util/str.h"

/* Sorted. */
/* clang-format off */
static const char *const foreign[] = {
	"_llseek", "_newselect", "arm_fadvise64_64", "arm_sync_file_range", "bdflush", "break",
	"breakpoint", "cachectl", "cacheflush", "chown32", "clock_adjtime64", "clock_getres_time64",
	"clock_gettime64", "clock_nanosleep_time64", "clock_settime64", "fadvise64_64", "fchown32",
	"fcntl64", "fstat64", "fstatat64", "fstatfs64", "ftime", "ftruncate64", "futex_time64",
	"get_tls", "getegid32", "geteuid32", "getgid32", "getgroups32", "getresgid32",
	"getresuid32", "getuid32", "gtty", "idle", "io_pgetevents_time64", "ipc", "lchown32",
	"lock", "lstat64", "mmap2", "mpx", "mq_timedreceive_time64", "mq_timedsend_time64",
	"multiplexer", "nice", "oldfstat", "oldlstat", "oldolduname", "oldstat", "olduname",
	"pciconfig_iobase", "pciconfig_read", "pciconfig_write", "ppoll_time64", "prof", "profil",
	"pselect6_time64", "readdir", "recv", "recvmmsg_time64", "riscv_flush_icache",
	"riscv_hwprobe", "rt_sigtimedwait_time64", "rtas", "s390_guarded_storage",
	"s390_pci_mmio_read", "s390_pci_mmio_write", "s390_runtime_instr", "s390_sthyi",
	"sched_rr_get_interval_time64", "semtimedop_time64", "send", "sendfile64", "set_tls",
	"setfsgid32", "setfsuid32", "setgid32", "setgroups32", "setregid32", "setresgid32",
	"setresuid32", "setreuid32", "setuid32", "sgetmask", "sigaction", "signal", "sigpending",
	"sigprocmask", "sigreturn", "sigsuspend", "socketcall", "spu_create", "spu_run", "ssetmask",
	"stat64", "statfs64", "stime", "stty", "subpage_prot", "swapcontext", "switch_endian",
	"sync_file_range2", "sys_debug_setcontext", "syscall", "sysmips", "timer_gettime64",
	"timer_settime64", "timerfd", "timerfd_gettime64", "timerfd_settime64", "truncate64",
	"ugetrlimit", "ulimit", "umount", "usr26", "usr32", "utimensat_time64", "vm86", "vm86old",
	"waitpid",
};
/* clang-format on */

static int compare_text(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

bool filter_syscall_foreign(const char *name)
{
	return bsearch(name, foreign, sizeof(foreign) / sizeof(foreign[0]), sizeof(foreign[0]),
		       compare_text) != NULL;
}
