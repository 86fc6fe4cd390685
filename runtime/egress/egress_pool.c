/*
 * Owns who has which ring. The book is an array of cgroup ids in memory that all share, and
 * a ring is taken by one compare-and-exchange: no lock that somebody could hold.
 */
#include "egress/egress_pool.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "egress/egress_abi.h"
#include "os/ebpf.h"
#include "util/cleanup.h"

#define FILL 16

/* What is no cgroup's id. */
#define OWNER_NO_RING 0
#define OWNER_FREE    UINT64_MAX
#define OWNER_MAKING  (UINT64_MAX - 1)

struct book {
	uint64_t *owners;
	size_t n;
};

static void book_close(struct book *b)
{
	if (b->owners)
		(void)munmap(b->owners, b->n * sizeof(*b->owners));
}

static int book_open(int owners, struct book *ret, struct error *err)
{
	uint32_t n;
	void *p;
	int r = ebpf_map_max_entries(owners, &n);

	if (r < 0)
		return error_set(err, r, "examine the pool of egress rings");
	p = mmap(NULL, n * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, owners, 0);
	if (p == MAP_FAILED)
		return error_set(err, -errno, "map the pool of egress rings");
	*ret = (struct book){ .owners = p, .n = n };
	return 0;
}

static bool exchange(struct book *b, uint32_t slot, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&b->owners[slot], &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static uint64_t owner(const struct book *b, uint32_t slot)
{
	return __atomic_load_n(&b->owners[slot], __ATOMIC_ACQUIRE);
}

/* The number of rings made. */
static int fill(int rings, struct book *b, struct error *err)
{
	uint32_t slots[FILL], slot;
	int fds[FILL], n = 0, r = 0, i;

	for (slot = 0; slot < b->n && n < FILL; slot++)
		if (owner(b, slot) == OWNER_NO_RING && exchange(b, slot, OWNER_NO_RING, OWNER_MAKING))
			slots[n++] = slot;
	for (i = 0; i < n; i++)
		fds[i] = -EBADF;
	for (i = 0; i < n && r == 0; i++) {
		fds[i] = ebpf_map_create(BPF_MAP_TYPE_RINGBUF, "egress_ring", 0, 0, EGRESS_RING_BYTES, 0);
		if (fds[i] < 0)
			r = error_set(err, fds[i], "make a ring of %u bytes for egress denials", EGRESS_RING_BYTES);
	}
	if (r == 0 && n > 0) {
		r = ebpf_map_update_many(rings, slots, sizeof(*slots), fds, sizeof(*fds), (size_t)n);
		if (r < 0)
			(void)error_set(err, r, "put rings into the pool for egress denials");
	}
	for (i = 0; i < n; i++) {
		cleanup_closep(&fds[i]);
		__atomic_store_n(&b->owners[slots[i]], r == 0 ? OWNER_FREE : OWNER_NO_RING, __ATOMIC_RELEASE);
	}
	return r == 0 ? n : r;
}

int egress_pool_fill(int rings, int owners, struct error *err)
{
	_cleanup_(book_close) struct book b = { 0 };
	int r = book_open(owners, &b, err);

	if (r == 0)
		r = fill(rings, &b, err);
	return r < 0 ? r : 0;
}

static int take_free(struct book *b, uint64_t cgroup, uint32_t *ret)
{
	uint32_t slot;

	for (slot = 0; slot < b->n; slot++) {
		if (owner(b, slot) == OWNER_FREE && exchange(b, slot, OWNER_FREE, cgroup)) {
			*ret = slot;
			return 0;
		}
	}
	return -ENOENT;
}

/* From a cgroup that is no more. */
static int take_over(struct book *b, int states, uint64_t cgroup, uint32_t *ret)
{
	struct egress_state state;
	uint32_t slot;
	uint64_t has;

	for (slot = 0; slot < b->n; slot++) {
		has = owner(b, slot);
		if (has == OWNER_NO_RING || has == OWNER_FREE || has == OWNER_MAKING)
			continue;
		if (ebpf_map_lookup(states, &has, &state) == -ENOENT &&
		    exchange(b, slot, has, cgroup)) {
			*ret = slot;
			return 0;
		}
	}
	return -ENOENT;
}

int egress_pool_take(int rings, int owners, int states, uint64_t cgroup, uint32_t *ret_slot, int *ret_ring,
		     struct error *err)
{
	_cleanup_(book_close) struct book b = { 0 };
	uint32_t slot, id;
	int r, ring;

	assert(cgroup != OWNER_NO_RING && cgroup < OWNER_MAKING);

	r = book_open(owners, &b, err);
	if (r < 0)
		return r;
	r = take_free(&b, cgroup, &slot);
	if (r < 0)
		r = take_over(&b, states, cgroup, &slot);
	if (r < 0) {
		r = fill(rings, &b, err);
		if (r < 0)
			return r;
		r = take_free(&b, cgroup, &slot);
	}
	if (r < 0)
		return error_text(err, -ENOSPC, "all %zu rings for egress denials are in use", b.n);
	r = ebpf_map_lookup(rings, &slot, &id);
	ring = r < 0 ? r : ebpf_map_by_id(id, 0);
	if (ring < 0) {
		(void)exchange(&b, slot, cgroup, OWNER_FREE);
		return error_set(err, ring, "open a ring for egress denials");
	}
	*ret_slot = slot;
	*ret_ring = ring;
	return 0;
}
