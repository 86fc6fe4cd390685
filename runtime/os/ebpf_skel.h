/*
 * What the generated headers of BPF programs (NAME.skel.h, made from NAME.bpf.c) stand on.
 * They are light skeletons: the programs are loaded by a small program in the kernel, so no
 * library that reads ELF is linked and a program that loads BPF stays small.
 *
 * The names without our prefix are those that the generator writes.
 */
#pragma once

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/error.h"

struct bpf_map_desc {
	int map_fd;	       /* set by loading */
	__u32 max_entries;     /* 0 = as compiled; may be set before loading */
	__aligned_u64 initial_value;
};

struct bpf_prog_desc {
	int prog_fd;
};

/* The head of every skeleton: read by the loading program in the kernel. */
struct bpf_loader_ctx {
	__u32 sz;
	__u32 flags;
	__u32 log_level;
	__u32 log_size;
	__u64 log_buf;
};

struct bpf_load_and_run_opts {
	struct bpf_loader_ctx *ctx;
	const void *data;
	const void *insns;
	__u32 data_sz;
	__u32 insns_sz;
	const char *errstr;
};

/* 0 or negative errno. All descriptors it makes are close-on-exec, and closed when it fails. */
int ebpf_load_and_run(struct bpf_load_and_run_opts *opts);
#define bpf_load_and_run ebpf_load_and_run

/* For EBPF_LOAD(): the verifier's words for a failure. */
void ebpf_log_begin(struct bpf_loader_ctx *ctx);
int ebpf_log_end(struct bpf_loader_ctx *ctx, int code, int again, const char *name, struct error *err);

/*
 * Loads an opened skeleton (NAME__open(), .rodata and max_entries may have been changed).
 * When that fails it is tried again with the verifier's log, whose last line is added to the
 * message. 0 or negative errno.
 */
#define EBPF_LOAD(name, skel, err)                                                  \
	__extension__({                                                             \
		int load_ = name##__load(skel);                                     \
		if (load_ < 0) {                                                    \
			ebpf_log_begin(&(skel)->ctx);                               \
			load_ = ebpf_log_end(&(skel)->ctx, load_, name##__load(skel), #name, err); \
		}                                                                   \
		load_;                                                              \
	})

static inline void *skel_alloc(size_t size)
{
	return calloc(1, size);
}

static inline void skel_free(void *p)
{
	free(p);
}

static inline int skel_closenz(int fd)
{
	return fd > 0 ? close(fd) : -EINVAL;
}

/* Sections with variables: a private copy until loading, then the map itself. */
static inline void *skel_prep_map_data(const void *value, size_t map_size, size_t size)
{
	void *p = mmap(NULL, map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, value, size);
	return p;
}

static inline void *skel_finalize_map_data(__u64 *value, size_t map_size, int prot, int fd)
{
	void *p = mmap((void *)(uintptr_t)*value, map_size, prot, MAP_SHARED | MAP_FIXED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static inline void skel_free_map_data(void *p, __u64 address, size_t size)
{
	if (p)
		(void)munmap(p, size);
}

/* Called by the attach functions that the generator writes. */
static inline int skel_raw_tracepoint_open(const char *name, int prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)name;
	attr.raw_tracepoint.prog_fd = (__u32)prog;
	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

static inline int skel_link_create(int prog, int target, int type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (__u32)prog;
	attr.link_create.target_fd = (__u32)target;
	attr.link_create.attach_type = (__u32)type;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}
