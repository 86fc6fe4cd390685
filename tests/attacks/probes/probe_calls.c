/*
 * Calls other than those on sockets. Those that the host's state hangs on get arguments that the
 * kernel refuses before it does anything, also for root.
 */
#include "probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define HIGH 0x100000000ull
#define BAD ((void *)-1L)
/* Newer than the oldest headers that this builds with. */
#define NR_CACHESTAT 451
#define NR_STATMOUNT 457
#define NR_LISTMOUNT 458
#define NR_OPEN_TREE_ATTR 467
#define NR_FILE_GETATTR 468

#define CALL(name, ...)                                                                            \
	static long name(void)                                                                     \
	{                                                                                          \
		return syscall(__VA_ARGS__);                                                       \
	}

static long finish(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, 0);
	return pid;
}

static long clone_with(uint64_t flags)
{
	return finish(syscall(SYS_clone, flags | 17, 0, 0, 0, 0));
}

static long clone_userns(void) { return clone_with(0x10000000); }
static long clone_userns_hi32(void) { return clone_with(HIGH | 0x10000000); }
static long clone_netns(void) { return clone_with(0x40000000); }
static long clone_plain(void) { return clone_with(0); }

static long clone3_userns(void)
{
	/* struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, … */
	uint64_t args[8] = { 0x10000000, 0, 0, 0, 17 };

	return finish(syscall(SYS_clone3, args, sizeof(args)));
}

static long proc_self_mem(void) { return open("/proc/self/mem", O_RDWR | O_CLOEXEC); }

static long remap(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mremap(p, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0;
}

static long timer_cpu(void)
{
	int timer;

	return syscall(SYS_timer_create, 3 /* CLOCK_THREAD_CPUTIME_ID */, 0, &timer);
}

CALL(keyctl_join, SYS_keyctl, 0, BAD, 0, 0, 0)
CALL(add_key_call, SYS_add_key, BAD, BAD, 0, 0, 0)
CALL(request_key_call, SYS_request_key, BAD, 0, 0, 0)
CALL(bpf_call, SYS_bpf, 5, BAD, 1)
CALL(dontneed, SYS_madvise, 0, 0, 4)
CALL(ptrace_traceme, SYS_ptrace, 0, 0, 0, 0)
CALL(vm_readv, SYS_process_vm_readv, 0, 0, 0, 0, 0, 0)
CALL(waitid_call, SYS_waitid, 1, 0x7ffffff0, 0, 4, 0)
CALL(mq_notify_call, SYS_mq_notify, -1, 0)
CALL(mq_open_call, SYS_mq_open, BAD, 0, 0, 0)
CALL(msgget_call, SYS_msgget, 0x7ff0ff0f, 0)
CALL(shmget_call, SYS_shmget, 0x7ff0ff0f, 1, 0)
CALL(mount_call, SYS_mount, BAD, BAD, BAD, 0, 0)
CALL(umount_call, SYS_umount2, BAD, 0)
CALL(pivot_call, SYS_pivot_root, BAD, BAD)
CALL(chroot_call, SYS_chroot, BAD)
CALL(setns_call, SYS_setns, -1, 0)
CALL(unshare_userns, SYS_unshare, 0x10000000)
CALL(unshare_timens, SYS_unshare, 0x80)
CALL(fsopen_call, SYS_fsopen, BAD, 0)
CALL(fsconfig_call, SYS_fsconfig, -1, 0, 0, 0, 0)
CALL(fsmount_call, SYS_fsmount, -1, 0, 0)
CALL(open_tree_call, SYS_open_tree, -1, BAD, 0)
CALL(move_mount_call, SYS_move_mount, -1, BAD, -1, BAD, 0)
CALL(mount_setattr_call, SYS_mount_setattr, -1, BAD, 0, 0, 0)
CALL(statmount_call, NR_STATMOUNT, 0, 0, 0, 0)
CALL(listmount_call, NR_LISTMOUNT, 0, 0, 0, 0)
CALL(open_tree_attr_call, NR_OPEN_TREE_ATTR, -1, BAD, 0, 0, 0)
CALL(file_getattr_call, NR_FILE_GETATTR, -1, BAD, 0, 0, 0)
CALL(cachestat_call, NR_CACHESTAT, -1, 0, 0, 0)
CALL(memfd_secret_call, SYS_memfd_secret, -1)
CALL(io_uring_setup_call, SYS_io_uring_setup, 0, 0)
CALL(io_uring_enter_call, SYS_io_uring_enter, -1, 0, 0, 0, 0, 0)
CALL(splice_call, SYS_splice, -1, 0, -1, 0, 1, 0)
CALL(tee_call, SYS_tee, -1, -1, 1, 0)
CALL(vmsplice_call, SYS_vmsplice, -1, 0, 0, 0)
CALL(sendfile_call, SYS_sendfile, -1, -1, 0, 1)
CALL(pipe_notification, SYS_pipe2, BAD, 0x80)
CALL(pipe_notification_hi32, SYS_pipe2, BAD, HIGH | 0x80)
CALL(pipe_plain, SYS_pipe2, BAD, 0)
CALL(perf_call, SYS_perf_event_open, BAD, 0, 0, -1, 0)
CALL(userfaultfd_call, SYS_userfaultfd, -1)
CALL(pidfd_getfd_call, SYS_pidfd_getfd, -1, 0, 0)
CALL(kcmp_call, SYS_kcmp, 0, 0, 99, 0, 0)
CALL(handle_open, SYS_open_by_handle_at, -1, BAD, 0)
CALL(handle_name, SYS_name_to_handle_at, -1, BAD, BAD, BAD, 0)
CALL(fanotify_call, SYS_fanotify_init, -1, 0)
CALL(execveat_call, SYS_execveat, -1, BAD, 0, 0, 0)
CALL(mbind_call, SYS_mbind, 0, 0, 99, 0, 0, 0)
CALL(kexec_call, SYS_kexec_load, 0, 0, 0, -1L)
CALL(finit_module_call, SYS_finit_module, -1, BAD, 0)
CALL(reboot_call, SYS_reboot, 0, 0, 0, 0)
CALL(swapon_call, SYS_swapon, BAD, 0)
CALL(syslog_call, SYS_syslog, 99, 0, 0)
CALL(settimeofday_call, SYS_settimeofday, BAD, BAD)
CALL(sethostname_call, SYS_sethostname, BAD, -1L)
CALL(acct_call, SYS_acct, BAD)
CALL(tiocsti, SYS_ioctl, -1, 0x5412, 0)
CALL(tiocsti_hi32, SYS_ioctl, -1, HIGH | 0x5412, 0)
CALL(tioclinux, SYS_ioctl, -1, 0x541c, 0)
CALL(tioccons, SYS_ioctl, -1, 0x541d, 0)
CALL(tiocsetd, SYS_ioctl, -1, 0x5423, 0)
CALL(watch_queue, SYS_ioctl, -1, 0x5760, 0)
CALL(tcgets, SYS_ioctl, -1, 0x5401, 0)
CALL(prctl_mm, SYS_prctl, PR_SET_MM, 0, 0, 0, 0)
CALL(prctl_mm_hi32, SYS_prctl, HIGH | PR_SET_MM, 0, 0, 0, 0)
CALL(prctl_dispatch, SYS_prctl, 59, 99, 0, 0, 0)
CALL(prctl_core, SYS_prctl, 62, 99, 0, 0, 0)
CALL(prctl_name, SYS_prctl, PR_GET_NAME, BAD, 0, 0, 0)
CALL(no_randomize, SYS_personality, 0x40000)
CALL(implies_exec, SYS_personality, 0x400000)
CALL(implies_exec_hi32, SYS_personality, HIGH | 0x400000)
CALL(personality_query, SYS_personality, 0xffffffff)
CALL(mknod_device, SYS_mknodat, -1, "", 0x2000 | 0600, 0x103)
CALL(mknod_device_bit16, SYS_mknodat, -1, "", 0x10000 | 0x6000, 0x103)
CALL(mknod_fifo, SYS_mknodat, -1, "", 0x1000 | 0600, 0)

const struct probe probe_calls[] = {
	{ "keyctl", keyctl_join, PROBE_ALL(EPERM) },
	{ "add_key", add_key_call, PROBE_ALL(EPERM) },
	{ "request_key", request_key_call, PROBE_ALL(EPERM) },
	{ "bpf", bpf_call, PROBE_ALL(EPERM) },
	{ "madvise_dontneed", dontneed, PROBE_ALL(PROBE_REACHES) },
	{ "proc_self_mem_write", proc_self_mem, PROBE_ALL(PROBE_REACHES) },
	{ "mremap", remap, PROBE_ALL(PROBE_REACHES) },
	{ "timer_create_cpu", timer_cpu, PROBE_ALL(PROBE_REACHES) },
	{ "waitid", waitid_call, PROBE_ALL(PROBE_REACHES) },
	{ "ptrace", ptrace_traceme, PROBE_NOT_BUILD(EPERM) },
	{ "process_vm_readv", vm_readv, PROBE_NOT_BUILD(EPERM) },
	{ "mq_notify", mq_notify_call, PROBE_ALL(ENOSYS) },
	{ "mq_open", mq_open_call, PROBE_ALL(ENOSYS) },
	{ "msgget", msgget_call, PROBE_NOT_BUILD(ENOSYS) },
	{ "shmget", shmget_call, { PROBE_REACHES, ENOSYS, PROBE_REACHES, PROBE_REACHES } },
	{ "mount", mount_call, PROBE_NOT_NESTED(EPERM) },
	{ "umount2", umount_call, PROBE_NOT_NESTED(EPERM) },
	{ "pivot_root", pivot_call, PROBE_NOT_NESTED(EPERM) },
	{ "chroot", chroot_call, PROBE_NOT_NESTED(EPERM) },
	{ "setns", setns_call, PROBE_NOT_NESTED(EPERM) },
	{ "unshare_userns", unshare_userns, PROBE_NOT_NESTED(EPERM) },
	{ "unshare_timens", unshare_timens, PROBE_ALL(EPERM) },
	{ "clone_userns", clone_userns, PROBE_NOT_NESTED(EPERM) },
	{ "clone_userns_hi32", clone_userns_hi32, PROBE_NOT_NESTED(EPERM) },
	{ "clone_netns", clone_netns, PROBE_NOT_NESTED(EPERM) },
	{ "clone3_userns", clone3_userns, PROBE_ALL(ENOSYS) },
	{ "clone", clone_plain, PROBE_ALL(PROBE_REACHES) },
	{ "fsopen", fsopen_call, PROBE_ALL(ENOSYS) },
	{ "fsconfig", fsconfig_call, PROBE_ALL(ENOSYS) },
	{ "fsmount", fsmount_call, PROBE_ALL(ENOSYS) },
	{ "open_tree", open_tree_call, PROBE_ALL(ENOSYS) },
	{ "move_mount", move_mount_call, PROBE_ALL(ENOSYS) },
	{ "mount_setattr", mount_setattr_call, PROBE_ALL(ENOSYS) },
	{ "statmount", statmount_call, PROBE_ALL(ENOSYS) },
	{ "listmount", listmount_call, PROBE_ALL(ENOSYS) },
	{ "open_tree_attr", open_tree_attr_call, PROBE_ALL(ENOSYS) },
	{ "file_getattr", file_getattr_call, PROBE_ALL(ENOSYS) },
	{ "cachestat", cachestat_call, PROBE_ALL(ENOSYS) },
	{ "memfd_secret", memfd_secret_call, PROBE_ALL(ENOSYS) },
	{ "io_uring_setup", io_uring_setup_call, PROBE_ALL(ENOSYS) },
	{ "io_uring_enter", io_uring_enter_call, PROBE_ALL(ENOSYS) },
	{ "splice", splice_call, PROBE_ALL(EINVAL) },
	{ "tee", tee_call, PROBE_ALL(EINVAL) },
	{ "vmsplice", vmsplice_call, PROBE_ALL(EINVAL) },
	{ "sendfile_to_pipe", sendfile_call, PROBE_ALL(PROBE_REACHES) },
	{ "NOTIFICATION_PIPE", pipe_notification, PROBE_ALL(EINVAL) },
	{ "NOTIFICATION_PIPE_hi32", pipe_notification_hi32, PROBE_ALL(EINVAL) },
	{ "pipe2", pipe_plain, PROBE_ALL(PROBE_REACHES) },
	{ "perf_event_open", perf_call, PROBE_ALL(EPERM) },
	{ "userfaultfd", userfaultfd_call, PROBE_ALL(EPERM) },
	{ "pidfd_getfd", pidfd_getfd_call, PROBE_NOT_NESTED(EPERM) },
	{ "kcmp", kcmp_call, PROBE_ALL(ENOSYS) },
	{ "open_by_handle_at", handle_open, PROBE_ALL(EPERM) },
	{ "name_to_handle_at", handle_name, PROBE_ALL(ENOSYS) },
	{ "fanotify_init", fanotify_call, PROBE_ALL(EPERM) },
	{ "execveat", execveat_call, { PROBE_REACHES, ENOSYS, PROBE_REACHES, PROBE_REACHES } },
	{ "mbind", mbind_call, PROBE_ALL(ENOSYS) },
	{ "kexec_load", kexec_call, PROBE_ALL(EPERM) },
	{ "finit_module", finit_module_call, PROBE_ALL(EPERM) },
	{ "reboot", reboot_call, PROBE_ALL(EPERM) },
	{ "swapon", swapon_call, PROBE_ALL(EPERM) },
	{ "syslog", syslog_call, PROBE_ALL(EPERM) },
	{ "settimeofday", settimeofday_call, PROBE_ALL(EPERM) },
	{ "sethostname", sethostname_call, PROBE_NOT_NESTED(EPERM) },
	{ "acct", acct_call, PROBE_ALL(EPERM) },
	{ "TIOCSTI", tiocsti, PROBE_ALL(EPERM) },
	{ "TIOCSTI_hi32", tiocsti_hi32, PROBE_ALL(EPERM) },
	{ "TIOCLINUX", tioclinux, PROBE_ALL(EPERM) },
	{ "TIOCCONS", tioccons, PROBE_ALL(EPERM) },
	{ "TIOCSETD", tiocsetd, PROBE_ALL(EPERM) },
	{ "IOC_WATCH_QUEUE", watch_queue, PROBE_ALL(ENOTTY) },
	{ "TCGETS", tcgets, PROBE_ALL(PROBE_REACHES) },
	{ "PR_SET_MM", prctl_mm, PROBE_ALL(EPERM) },
	{ "PR_SET_MM_hi32", prctl_mm_hi32, PROBE_ALL(EPERM) },
	{ "PR_SET_SYSCALL_USER_DISPATCH", prctl_dispatch, PROBE_ALL(EINVAL) },
	{ "PR_SCHED_CORE", prctl_core, PROBE_ALL(EINVAL) },
	{ "PR_GET_NAME", prctl_name, PROBE_ALL(PROBE_REACHES) },
	{ "ADDR_NO_RANDOMIZE", no_randomize, PROBE_NOT_BUILD(EPERM) },
	{ "READ_IMPLIES_EXEC", implies_exec, PROBE_ALL(EPERM) },
	{ "READ_IMPLIES_EXEC_hi32", implies_exec_hi32, PROBE_ALL(EPERM) },
	{ "personality_query", personality_query, PROBE_ALL(PROBE_REACHES) },
	{ "mknod_device", mknod_device, PROBE_ALL(EPERM) },
	{ "mknod_device_bit16", mknod_device_bit16, PROBE_ALL(EPERM) },
	{ "mknod_fifo", mknod_fifo, PROBE_ALL(PROBE_REACHES) },
	{ 0 },
};
