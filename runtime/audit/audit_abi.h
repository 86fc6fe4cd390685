/*
 * What the exec audit's programs in the kernel and their user-space side agree on: records
 * of a ring, the page of counters beside it, and the entries of the shared maps. Also
 * compiled for BPF, so only fixed-size types of <linux/types.h>.
 *
 * Every change of a layout gives another object, and with it another folder of pins:
 * nothing here needs to be compatible with an older one.
 */
#pragma once

#include <linux/types.h>

#define AUDIT_SLOTS_MAX	    4096u  /* containers with a ring at the same time */
#define AUDIT_LEVELS_MAX    16u	   /* how deep a container's cgroup may lie */
#define AUDIT_REC_PATH_MAX  4096u  /* file, and names of the working directory */
#define AUDIT_REC_ARGV_MAX  32768u /* bytes of argv in a record */
#define AUDIT_REC_COMM	    16u

enum audit_rec_type {
	AUDIT_REC_EXEC = 1,
	AUDIT_REC_EXIT = 2,
};

enum audit_rec_flags {
	/* exec */
	AUDIT_REC_SCRIPT = 1u << 0,	 /* an interpreter was started for the file */
	AUDIT_REC_UNLINKED = 1u << 1,	 /* the program has no name any more */
	AUDIT_REC_MEMFD = 1u << 2,	 /* and never had one: memfd_create(2) */
	AUDIT_REC_ARGV_CUT = 1u << 3,	 /* argv_bytes tells the full length */
	AUDIT_REC_ARGV_UNREAD = 1u << 4, /* argv was not in memory */
	AUDIT_REC_FILE_CUT = 1u << 5,
	AUDIT_REC_CWD_CUT = 1u << 6,	 /* the names nearest to the root are missing */
	AUDIT_REC_CWD_OUTSIDE = 1u << 7, /* not below the process's root */
	AUDIT_REC_THREAD = 1u << 8,	 /* called by another thread than the first: old_tid */
	/* exit */
	AUDIT_REC_OOM = 1u << 9,	 /* chosen by the OOM killer */
	AUDIT_REC_CORE = 1u << 10,	 /* dumped core */
};

/* The head of both. A record's cgroup is the container's, not that of the process. */
struct audit_rec {
	__u16 type;
	__u16 pad;
	__u32 flags;
	__u64 seq; /* from 0; also taken by records for which there was no room */
	__u64 mono_ns;
	__u64 start_ns; /* start of the process since boot, as in /proc/PID/stat */
	__u64 cgroup;
	__u32 generation;
	__u32 host_pid; /* in the binder's pid namespace; 0 = not to be seen from there */
	__u32 pid; /* in the innermost pid namespace */
	__u32 uid;
	__u32 gid;
	char comm[AUDIT_REC_COMM];
	__u32 pad2;
};

/* Then file, names and argv follow, with these lengths and nothing between. */
struct audit_rec_exec {
	struct audit_rec head;
	__u64 argv_bytes, env_bytes; /* as the process has them */
	__u64 exe_inode;
	__u32 exe_dev; /* major << 20 | minor */
	__u32 exe_nlink;
	__u32 host_ppid, ppid; /* ppid 0: not to be seen from the process's pid namespace */
	__u32 old_tid;
	__u32 euid, egid;
	__u32 file_len;
	__u32 names_len; /* of the working directory, innermost first, each ends in NUL */
	__u32 argv_len;	 /* each argument ends in NUL */
};

struct audit_rec_exit {
	struct audit_rec head;
	__u64 exec_seq; /* record of the program that ended; AUDIT_SEQ_NONE = unknown */
	__u64 duration_ns; /* since then; 0 = unknown */
	__u32 status;	/* as wait(2) gives it */
	__u32 pad;
};

#define AUDIT_SEQ_NONE ((__u64)-1)

/* What may lie in a ring at most: also the size of the buffer in which it is put together. */
#define AUDIT_REC_MAX \
	(sizeof(struct audit_rec_exec) + 2 * AUDIT_REC_PATH_MAX + AUDIT_REC_ARGV_MAX)

enum audit_bind_flags {
	AUDIT_BIND_DIE = 1u << 0, /* an exec that cannot be recorded is killed */
};

/* Which ring a cgroup has: value of the map that all execs look into. */
struct audit_binding {
	__u32 slot;
	__u32 flags; /* enum audit_bind_flags */
};

/* The books of the slots: memory shared by privileged processes (audit_trace_pool.c). */
struct audit_slot {
	__u64 word; /* state, class and generation, changed as one */
	__u64 cgroup;
	__u64 since_ns; /* CLOCK_BOOTTIME of the last change */
};

struct audit_book {
	__u64 bound, grown; /* containers so far; how many of them found no ring ready */
	struct audit_slot slots[AUDIT_SLOTS_MAX];
};

/*
 * The page beside a ring, mapped by its reader. The first half is set before the binding and
 * constant from then on, the second is the programs'.
 */
struct audit_counters {
	__u64 cgroup;
	__u64 wake_after_ns; /* at most so often is the reader woken before a quarter is full */
	__u32 generation;
	__u32 argv_max;
	__u32 pid_ns; /* inode number of the binder's pid namespace */
	__u32 pad;

	__u64 seq; /* records so far, the lost ones included */
	__u64 lost;
	__u64 killed; /* of the lost ones: programs ended before their first instruction */
	__u64 woken_ns;
};
