/*
 * Plain bpf(2): what programs and maps need after they are loaded, and the consumer side of
 * a ring buffer. No library: the runtime and the resident programs stay small. Loading is
 * ebpf_skel.h's.
 *
 * All functions return 0 or a descriptor, or a negative errno.
 */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* type: enum bpf_map_type; name: at most 15 of letters, digits, "_" and ".". Close-on-exec. */
int ebpf_map_create(unsigned type, const char *name, size_t key_size, size_t value_size,
		    size_t entries, unsigned flags);
/* What a lookup in a map of maps gives. flags: 0 or BPF_F_RDONLY. Needs CAP_SYS_ADMIN. */
int ebpf_map_by_id(uint32_t id, unsigned flags);
int ebpf_map_lookup(int map, const void *key, void *ret_value);
/* flags: BPF_ANY, BPF_NOEXIST, BPF_EXIST */
int ebpf_map_update(int map, const void *key, const void *value, uint64_t flags);
int ebpf_map_delete(int map, const void *key);
/* key NULL: the first one. -ENOENT at the end. */
int ebpf_map_next_key(int map, const void *key, void *ret_next);
/*
 * count entries in arrays with the map's key and value sizes. In one call where the kernel
 * can (hash 5.6, trie 5.13), else one by one; after a failure some may be there.
 */
int ebpf_map_update_many(int map, const void *keys, size_t key_size, const void *values,
			 size_t value_size, size_t count);
/* Size of a ring buffer in bytes, or of any other map in entries. */
int ebpf_map_max_entries(int map, uint32_t *ret);
/* Against later changes by bpf(2); lookups stay possible (Linux 5.2). */
int ebpf_map_freeze(int map);

/*
 * Mounts a bpffs at path (0700, made when missing), if there is none. Others may do so at the
 * same time; PATH.lock keeps them apart.
 */
int ebpf_fs_mount(const char *path, struct error *err);

/* Pins in a bpffs. The descriptor of ebpf_obj_get() is close-on-exec. */
int ebpf_obj_pin(int fd, const char *path);
int ebpf_obj_get(const char *path);

/* type: enum bpf_attach_type. With BPF_F_ALLOW_MULTI, other programs stay, and all must agree. */
int ebpf_prog_attach(int cgroup, int prog, unsigned type, unsigned flags);
int ebpf_prog_detach(int cgroup, int prog, unsigned type);
/* Programs attached right here; *ret_count is set to their number, -ENOSPC when more than room. */
int ebpf_prog_query(int cgroup, unsigned type, uint32_t *ids, size_t room, size_t *ret_count);
int ebpf_prog_id(int prog, uint32_t *ret);
/* *ret_count: in room, out how many maps the program uses; of more than room the first are given. */
int ebpf_prog_info(int prog, char ret_name[BPF_OBJ_NAME_LEN], uint32_t *maps, size_t *ret_count);
int ebpf_map_name(int map, char ret_name[BPF_OBJ_NAME_LEN]);
int ebpf_prog_by_id(uint32_t id);

/* A mapped ring buffer. The map's descriptor is readable (epoll) when there are records. */
struct ebpf_ring {
	volatile uint64_t *consumed; /* one page that we may write */
	volatile uint64_t *produced; /* one page, then the data twice */
	size_t size, page;
};
#define EBPF_RING_NULL ((struct ebpf_ring){ 0 })

/* The map stays the caller's and must outlive nothing: the mapping holds it. */
int ebpf_ring_open(int map, struct ebpf_ring *ret, struct error *err);
/* Passes over what is there, whatever another reader left in the consumer's page. */
void ebpf_ring_reset(struct ebpf_ring *ring);
void ebpf_ring_close(struct ebpf_ring *ring);
/*
 * Hands at most max records to fn, which must not keep data. fn's negative return stops (its
 * record counts as consumed) and is returned; else the number of records.
 */
int ebpf_ring_consume(struct ebpf_ring *ring, int (*fn)(void *userdata, const void *data, size_t len),
		      void *userdata, size_t max);
