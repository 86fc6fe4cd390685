/*
 * Exec audit: a record of every program that the kernel executes in a bound cgroup or below
 * it, and of every end of a process that executed one. One pair of programs for the host;
 * each container has its own ring.
 *
 * sched_process_exec comes when the new image is in place and no instruction of it has run:
 * what is read of argv is the kernel's own copy, in a process with one thread, so that nobody
 * can change it after the fact. A SIGKILL sent there acts before the first instruction.
 *
 * Rings are never used twice: a container's ring and counters are made for it and freed
 * after it, so that a reader can never come upon another container's records.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "audit/audit_abi.h"
#include "audit/audit_kernel_maps.h"
#include "audit/audit_kernel_pid.h"
#include "audit/audit_kernel_types.h"

char _license[] SEC("license") = "GPL";

#define SIGKILL 9
#define PF_FORKNOEXEC 0x40
#define SIGNAL_GROUP_EXIT 0x4
#define CORE_DUMPED 0x80
#define CWD_STEPS 128

/* Everything a record goes through. */
struct target {
	__u64 cgroup;
	__u32 flags;
	void *ring;
	struct audit_counters *counters;
};

/*
 * A limit that clang can neither prove superfluous nor move away from its use: verifiers
 * before 6.3 may forget the limits of a register that was kept on the stack, so there must be
 * no other call between it and its use.
 */
static __always_inline __u64 at_most(__u64 value, const __u64 max)
{
	asm volatile("" : "+r"(value));
	if (value > max)
		value = max;
	asm volatile("" : "+r"(value));
	return value > max ? max : value;
}

/*
 * The bound cgroup that the process is in or below; 0 = none. Not static: then it is verified by
 * itself, and not once more for each level at which its loop may end.
 */
__attribute__((noinline)) __u64 bound_cgroup(void)
{
	__u32 level;

	for (level = 1; level <= AUDIT_LEVELS_MAX; level++) {
		__u64 id = bpf_get_current_ancestor_cgroup_id(level);

		if (!id)
			break;
		if (bpf_map_lookup_elem(&bindings, &id))
			return id;
	}
	return 0;
}

static __always_inline bool find_target(struct target *t)
{
	__u64 id = bound_cgroup();
	struct audit_binding *b = bpf_map_lookup_elem(&bindings, &id);
	__u32 slot, zero = 0;
	void *page;

	if (!b)
		return false;
	slot = b->slot;
	t->cgroup = id;
	t->flags = b->flags;
	t->ring = bpf_map_lookup_elem(&rings, &slot);
	page = bpf_map_lookup_elem(&counters, &slot);
	t->counters = page ? bpf_map_lookup_elem(page, &zero) : NULL;
	/* An entry that was freed and taken for another cgroup while we looked. */
	if (t->counters && t->counters->cgroup != id)
		t->counters = NULL;
	return true;
}

static __always_inline void account_lost(struct target *t, bool exec)
{
	bool die = exec && (t->flags & AUDIT_BIND_DIE);

	if (t->counters) {
		__sync_fetch_and_add(&t->counters->lost, 1);
		if (die)
			__sync_fetch_and_add(&t->counters->killed, 1);
	}
	if (die)
		bpf_send_signal(SIGKILL);
}

/*
 * The reader is woken by the first record after a pause and again when a quarter is full; what
 * comes between it collects by its own timer. A wake-up costs more than all the rest.
 */
static __always_inline __u64 wakeup(struct target *t, __u64 now)
{
	__u64 size = bpf_ringbuf_query(t->ring, BPF_RB_RING_SIZE);

	if (now - t->counters->woken_ns < t->counters->wake_after_ns &&
	    bpf_ringbuf_query(t->ring, BPF_RB_AVAIL_DATA) <= size / 4)
		return BPF_RB_NO_WAKEUP;
	t->counters->woken_ns = now;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline void fill_head(struct audit_rec *r, __u16 type, struct target *t,
				      struct task_struct *leader)
{
	__u64 ids = bpf_get_current_uid_gid();
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);

	r->type = type;
	r->mono_ns = bpf_ktime_get_ns();
	r->start_ns = BPF_CORE_READ(leader, start_boottime);
	r->cgroup = t->cgroup;
	r->generation = t->counters->generation;
	r->host_pid = pid_outside((__u64)pid, t->counters->pid_ns);
	r->pid = pid_at(pid, BPF_CORE_READ(pid, level));
	r->uid = (__u32)ids;
	r->gid = ids >> 32;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
}

static __always_inline void fill_parent(struct audit_rec_exec *e, struct target *t, struct task_struct *task)
{
	struct task_struct *parent = BPF_CORE_READ(task, real_parent, group_leader);
	__u32 level = BPF_CORE_READ(task, thread_pid, level);
	struct pid *pid = BPF_CORE_READ(parent, thread_pid);

	e->host_ppid = pid_outside((__u64)pid, t->counters->pid_ns);
	e->ppid = level <= BPF_CORE_READ(pid, level) ? pid_at(pid, level) : 0;
}

static __always_inline void fill_program(struct audit_rec_exec *e, struct mm_struct *mm)
{
	struct file *exe = BPF_CORE_READ(mm, exe_file);
	struct inode *inode = BPF_CORE_READ(exe, f_inode);
	char name[8] = "";

	e->exe_inode = BPF_CORE_READ(inode, i_ino);
	e->exe_dev = BPF_CORE_READ(inode, i_sb, s_dev);
	e->exe_nlink = BPF_CORE_READ(inode, i_nlink);
	if (e->exe_nlink)
		return;
	e->head.flags |= AUDIT_REC_UNLINKED;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(exe, f_path.dentry, d_name.name));
	if (name[0] == 'm' && name[1] == 'e' && name[2] == 'm' && name[3] == 'f' && name[4] == 'd' &&
	    name[5] == ':')
		e->head.flags |= AUDIT_REC_MEMFD;
}

/* One step from the working directory to the root: out of a mount, or to the parent folder. */
static long walk_step(__u32 index, void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct scratch *s = bpf_map_lookup_elem(&scratches, &cpu);
	struct dentry *dentry;
	struct vfsmount *mnt;
	const void *name;
	long len;
	__u64 at;

	if (!s)
		return 1;
	dentry = s->walk.dentry;
	mnt = s->walk.mnt;
	if (dentry == s->walk.root_dentry && mnt == s->walk.root_mnt) {
		s->walk.flags = 0;
		return 1;
	}
	if (dentry == BPF_CORE_READ(mnt, mnt_root)) {
		struct mount *here = (void *)mnt - bpf_core_field_offset(struct mount, mnt);
		struct mount *parent = BPF_CORE_READ(here, mnt_parent);

		if (parent == here) {
			s->walk.flags = AUDIT_REC_CWD_OUTSIDE;
			return 1;
		}
		s->walk.dentry = BPF_CORE_READ(here, mnt_mountpoint);
		s->walk.mnt = (void *)parent + bpf_core_field_offset(struct mount, mnt);
		return 0;
	}
	name = BPF_CORE_READ(dentry, d_name.name);
	if (s->walk.at + NAME_SIZE > s->walk.end)
		return 1;
	at = at_most(s->walk.at, sizeof(s->bytes) - NAME_SIZE);
	len = bpf_probe_read_kernel_str(s->bytes + at, NAME_SIZE, name);
	if (len <= 0)
		return 1;
	s->walk.at += len;
	s->walk.dentry = BPF_CORE_READ(dentry, d_parent);
	return 0;
}

/* Both return the place after what they have written. */
static __always_inline __u32 put_file(struct scratch *s, struct linux_binprm *bprm)
{
	struct audit_rec_exec *e = (void *)s->bytes;
	const char *file = BPF_CORE_READ(bprm, filename);
	long len = bpf_probe_read_kernel_str(s->bytes + sizeof(*e), AUDIT_REC_PATH_MAX, file);

	if (file != BPF_CORE_READ(bprm, interp))
		e->head.flags |= AUDIT_REC_SCRIPT;
	if (len <= 0)
		len = 1;
	if (len == AUDIT_REC_PATH_MAX)
		e->head.flags |= AUDIT_REC_FILE_CUT;
	e->file_len = at_most(len - 1, AUDIT_REC_PATH_MAX - 1);
	return sizeof(*e) + e->file_len;
}

static __always_inline __u32 put_cwd(struct scratch *s, struct task_struct *task, __u32 at)
{
	struct audit_rec_exec *e = (void *)s->bytes;
	struct fs_struct *fs = BPF_CORE_READ(task, fs);

	s->walk.dentry = BPF_CORE_READ(fs, pwd.dentry);
	s->walk.mnt = BPF_CORE_READ(fs, pwd.mnt);
	s->walk.root_dentry = BPF_CORE_READ(fs, root.dentry);
	s->walk.root_mnt = BPF_CORE_READ(fs, root.mnt);
	s->walk.at = at;
	s->walk.end = at + AUDIT_REC_PATH_MAX;
	s->walk.flags = AUDIT_REC_CWD_CUT; /* unless it comes to an end */
	bpf_loop(CWD_STEPS, walk_step, NULL, 0);
	e->head.flags |= s->walk.flags;
	e->names_len = s->walk.at - at;
	return s->walk.at;
}

static __always_inline __u32 put_argv(struct scratch *s, struct mm_struct *mm, __u32 argv_max, __u32 at)
{
	struct audit_rec_exec *e = (void *)s->bytes;
	unsigned long start = BPF_CORE_READ(mm, arg_start);
	__u64 to, len;

	e->argv_bytes = BPF_CORE_READ(mm, arg_end) - start;
	e->env_bytes = BPF_CORE_READ(mm, env_end) - BPF_CORE_READ(mm, env_start);
	len = e->argv_bytes;
	if (len > argv_max) {
		e->head.flags |= AUDIT_REC_ARGV_CUT;
		len = argv_max;
	}
	to = at_most(at, sizeof(*e) + 2 * AUDIT_REC_PATH_MAX + NAME_SIZE);
	len = at_most(len, AUDIT_REC_ARGV_MAX);
	if (bpf_probe_read_user(s->bytes + to, len, (void *)start)) {
		e->head.flags |= AUDIT_REC_ARGV_UNREAD;
		len = 0;
	}
	e->argv_len = len;
	return to + len;
}

static __always_inline void remember(struct task_struct *task, __u64 seq, __u64 now)
{
	struct last_exec *last =
		bpf_task_storage_get(&last_execs, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!last)
		return;
	last->seq = seq;
	last->mono_ns = now;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(audit_exec, struct task_struct *task, int old_tid, struct linux_binprm *bprm)
{
	struct target t = {};
	struct audit_rec_exec *e;
	struct mm_struct *mm;
	struct scratch *s;
	__u32 cpu = bpf_get_smp_processor_id(), at;
	__u64 seq, len, flags;
	bool unread;

	if (!find_target(&t))
		return 0;
	s = bpf_map_lookup_elem(&scratches, &cpu);
	if (!s || !t.counters || !t.ring) {
		account_lost(&t, true);
		return 0;
	}
	e = (void *)s->bytes;
	__builtin_memset(e, 0, sizeof(*e));
	mm = BPF_CORE_READ(task, mm);
	fill_head(&e->head, AUDIT_REC_EXEC, &t, task);
	fill_parent(e, &t, task);
	fill_program(e, mm);
	e->euid = BPF_CORE_READ(task, cred, euid.val);
	e->egid = BPF_CORE_READ(task, cred, egid.val);
	e->old_tid = old_tid;
	if (old_tid != task->pid)
		e->head.flags |= AUDIT_REC_THREAD;
	at = put_file(s, bprm);
	at = put_cwd(s, task, at);
	at = put_argv(s, mm, t.counters->argv_max, at);
	unread = e->head.flags & AUDIT_REC_ARGV_UNREAD;

	seq = __sync_fetch_and_add(&t.counters->seq, 1);
	e->head.seq = seq;
	remember(task, seq, e->head.mono_ns);
	flags = wakeup(&t, e->head.mono_ns);
	len = at_most(at, sizeof(s->bytes));
	if (bpf_ringbuf_output(t.ring, s->bytes, len, flags))
		account_lost(&t, true);
	else if (unread && (t.flags & AUDIT_BIND_DIE))
		bpf_send_signal(SIGKILL);
	return 0;
}

/* Whether this is the thread with which the process ends; every process has one such. */
static __always_inline bool ends_process(struct task_struct *task, struct last_exec *last)
{
	if (BPF_CORE_READ(task, signal, live.counter) > 0)
		return false;
	/* Two last threads at the same time both see that none is left. */
	return !last || __sync_lock_test_and_set(&last->ended, 1) == 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(audit_exit, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct signal_struct *signal = task->signal;
	struct audit_rec_exit e = { .exec_seq = AUDIT_SEQ_NONE };
	struct last_exec *last;
	struct target t = {};

	/* Of the first thread: the flag is set anew for each further one. */
	if (leader->flags & PF_FORKNOEXEC)
		return 0;
	if (!find_target(&t))
		return 0;
	if (!t.counters || !t.ring) {
		account_lost(&t, false);
		return 0;
	}
	last = bpf_task_storage_get(&last_execs, leader, NULL, 0);
	if (!ends_process(task, last))
		return 0;
	fill_head(&e.head, AUDIT_REC_EXIT, &t, leader);
	/* The first thread's status counts, unless all were ended together. */
	e.status = BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT ?
			   BPF_CORE_READ(signal, group_exit_code) :
			   BPF_CORE_READ(leader, exit_code);
	if (e.status & CORE_DUMPED)
		e.head.flags |= AUDIT_REC_CORE;
	if (BPF_CORE_READ(signal, oom_mm))
		e.head.flags |= AUDIT_REC_OOM;
	if (last) {
		e.exec_seq = last->seq;
		e.duration_ns = e.head.mono_ns - last->mono_ns;
	}
	e.head.seq = __sync_fetch_and_add(&t.counters->seq, 1);
	if (bpf_ringbuf_output(t.ring, &e, sizeof(e), wakeup(&t, e.head.mono_ns)))
		account_lost(&t, false);
	return 0;
}
