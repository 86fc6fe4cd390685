/*
 * The maps of the exec audit. All but the last two are pinned, and changed by user space: see
 * audit_trace_pool.h for who changes what and when.
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "audit/audit_abi.h"

#define NAME_SIZE 256u

struct dentry;
struct vfsmount;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

/* Sizes instead of types: clang 14 leaves only a declaration of an inner map's types. */
struct counters {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct audit_counters));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, AUDIT_SLOTS_MAX);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, AUDIT_SLOTS_MAX);
	__type(key, __u32);
	__array(values, struct counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AUDIT_SLOTS_MAX);
	__type(key, __u64);
	__type(value, struct audit_binding);
} bindings SEC(".maps");

/* The programs do not look into it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct audit_book);
} book SEC(".maps");

/* On the way from the working directory to the root. */
struct walk {
	struct dentry *dentry, *root_dentry;
	struct vfsmount *mnt, *root_mnt;
	__u32 at, end; /* in the scratch */
	__u32 flags;
};

/* One for each CPU (the loader sets how many): per-CPU arrays end at 32 KiB. */
struct scratch {
	unsigned char bytes[AUDIT_REC_MAX + NAME_SIZE];
	struct walk walk; /* here, because verifiers follow what a loop does to values on the stack */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* The last exec of a process, kept at its first thread. */
struct last_exec {
	__u64 seq, mono_ns;
	__u64 ended;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct last_exec);
} last_execs SEC(".maps");
