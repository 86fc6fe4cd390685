/*
 * The books of the ring pool: which slot is empty, ready, taken, bound or used up. Atomic
 * operations on shared memory and nothing else, so that a start never waits for a lock that
 * somebody holds who fills the pool.
 *
 *   EMPTY, USED  --take-->  MAKING  --ready-->  READY  --take-->  TAKEN  --bound-->  BOUND
 *   BOUND --> USED when the container has ended; MAKING and TAKEN --> USED when their process died.
 *
 * A ring serves one container only: USED means that its maps are still in place and must be
 * replaced before the slot can be READY again. The generation grows with every new ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit_abi.h"

enum audit_slot_state {
	AUDIT_SLOT_EMPTY,
	AUDIT_SLOT_MAKING,
	AUDIT_SLOT_READY,
	AUDIT_SLOT_TAKEN,
	AUDIT_SLOT_BOUND,
	AUDIT_SLOT_USED,
	AUDIT_SLOT_STATES,
};

/* Sizes of rings: 64 KiB, 256 KiB, 1 MiB, 4 MiB. */
enum audit_ring_class {
	AUDIT_RING_SMALL,
	AUDIT_RING_NORMAL,
	AUDIT_RING_LARGE,
	AUDIT_RING_HUGE,
	AUDIT_RING_CLASSES,
};

#define AUDIT_SLOT_NONE UINT32_MAX
/* A binding takes milliseconds, a refill some hundred: who is at it for ten minutes is dead. */
#define AUDIT_SLOT_STALE_NS UINT64_C(600000000000)

struct audit_slot_view {
	enum audit_slot_state state;
	enum audit_ring_class class;
	uint32_t generation;
	uint64_t cgroup, since_ns;
};

static inline uint32_t audit_ring_bytes(enum audit_ring_class class)
{
	return UINT32_C(65536) << (2 * (uint32_t)class);
}

void audit_pool_view(const struct audit_book *book, uint32_t slot, struct audit_slot_view *ret);
/* Moves the first slot of that state and class from one state to another; AUDIT_SLOT_NONE = none. */
uint32_t audit_pool_take_ready(struct audit_book *book, enum audit_ring_class class, uint64_t now);
/* One that has no ring or a used one; it is going to have one of that class, and a new generation. */
uint32_t audit_pool_take_for_making(struct audit_book *book, enum audit_ring_class class, uint64_t now);
/*
 * Changes a slot that is in state from with that generation; false when it is not: somebody
 * has taken it away as stale. cgroup is noted for BOUND.
 */
bool audit_pool_move(struct audit_book *book, uint32_t slot, uint32_t generation,
		     enum audit_slot_state from, enum audit_slot_state to, uint64_t cgroup,
		     uint64_t now);
/* MAKING and TAKEN since AUDIT_SLOT_STALE_NS become USED. Returns how many. */
uint32_t audit_pool_expire(struct audit_book *book, uint64_t now);
uint32_t audit_pool_count(const struct audit_book *book, enum audit_slot_state state,
			  enum audit_ring_class class);
