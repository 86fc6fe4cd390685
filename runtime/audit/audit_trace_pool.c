/*
 * Owns the state changes of slots. A slot's state, class and generation are one word that is
 * compared and exchanged; whoever succeeds owns the slot until the next change. Other members
 * are written by the owner alone.
 */
#include "audit/audit_trace_pool.h"

#include <assert.h>
#include <stddef.h>

#define WORD(state_, class_, generation_) \
	((uint64_t)(generation_) << 8 | (uint64_t)(class_) << 4 | (uint64_t)(state_))

static enum audit_slot_state word_state(uint64_t word)
{
	return (enum audit_slot_state)(word & 15);
}

static enum audit_ring_class word_class(uint64_t word)
{
	return (enum audit_ring_class)(word >> 4 & 15);
}

static uint32_t word_generation(uint64_t word)
{
	return (uint32_t)(word >> 8);
}

static uint64_t slot_word(const struct audit_book *book, uint32_t slot)
{
	return __atomic_load_n((const uint64_t *)&book->slots[slot].word, __ATOMIC_ACQUIRE);
}

static bool exchange(struct audit_book *book, uint32_t slot, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n((uint64_t *)&book->slots[slot].word, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Before the word, so that a new state is never seen with the time of the old one as stale. */
static void set_since(struct audit_book *book, uint32_t slot, uint64_t now)
{
	__atomic_store_n((uint64_t *)&book->slots[slot].since_ns, now, __ATOMIC_RELEASE);
}

static bool take(struct audit_book *book, uint32_t slot, uint64_t from, uint64_t to, uint64_t now)
{
	set_since(book, slot, now);
	return exchange(book, slot, from, to);
}

void audit_pool_view(const struct audit_book *book, uint32_t slot, struct audit_slot_view *ret)
{
	uint64_t word;

	assert(slot < AUDIT_SLOTS_MAX);

	word = slot_word(book, slot);
	*ret = (struct audit_slot_view){
		.state = word_state(word),
		.class = word_class(word),
		.generation = word_generation(word),
		.cgroup = __atomic_load_n((const uint64_t *)&book->slots[slot].cgroup,
					  __ATOMIC_RELAXED),
		.since_ns = __atomic_load_n((const uint64_t *)&book->slots[slot].since_ns,
					    __ATOMIC_RELAXED),
	};
}

uint32_t audit_pool_take_ready(struct audit_book *book, enum audit_ring_class class, uint64_t now)
{
	uint32_t slot;

	for (slot = 0; slot < AUDIT_SLOTS_MAX; slot++) {
		uint64_t word = slot_word(book, slot);

		if (word_state(word) == AUDIT_SLOT_READY && word_class(word) == class &&
		    take(book, slot, word, WORD(AUDIT_SLOT_TAKEN, class, word_generation(word)), now))
			return slot;
	}
	return AUDIT_SLOT_NONE;
}

uint32_t audit_pool_take_for_making(struct audit_book *book, enum audit_ring_class class, uint64_t now)
{
	uint32_t slot;

	for (slot = 0; slot < AUDIT_SLOTS_MAX; slot++) {
		uint64_t word = slot_word(book, slot);
		enum audit_slot_state state = word_state(word);

		if ((state == AUDIT_SLOT_EMPTY || state == AUDIT_SLOT_USED) &&
		    take(book, slot, word, WORD(AUDIT_SLOT_MAKING, class, word_generation(word) + 1),
			 now))
			return slot;
	}
	return AUDIT_SLOT_NONE;
}

bool audit_pool_move(struct audit_book *book, uint32_t slot, uint32_t generation,
		     enum audit_slot_state from, enum audit_slot_state to, uint64_t cgroup,
		     uint64_t now)
{
	uint64_t word;

	assert(slot < AUDIT_SLOTS_MAX);

	word = slot_word(book, slot);
	if (word_state(word) != from || word_generation(word) != generation)
		return false;
	set_since(book, slot, now);
	if (to == AUDIT_SLOT_BOUND)
		__atomic_store_n((uint64_t *)&book->slots[slot].cgroup, cgroup, __ATOMIC_RELAXED);
	return exchange(book, slot, word, WORD(to, word_class(word), generation));
}

uint32_t audit_pool_expire(struct audit_book *book, uint64_t now)
{
	uint32_t slot, expired = 0;

	for (slot = 0; slot < AUDIT_SLOTS_MAX; slot++) {
		uint64_t word = slot_word(book, slot);
		enum audit_slot_state state = word_state(word);
		struct audit_slot_view view;

		if (state != AUDIT_SLOT_MAKING && state != AUDIT_SLOT_TAKEN)
			continue;
		audit_pool_view(book, slot, &view);
		if (now - view.since_ns < AUDIT_SLOT_STALE_NS || view.since_ns > now)
			continue;
		expired += exchange(book, slot, word,
				    WORD(AUDIT_SLOT_USED, word_class(word), word_generation(word)));
	}
	return expired;
}

uint32_t audit_pool_count(const struct audit_book *book, enum audit_slot_state state,
			  enum audit_ring_class class)
{
	uint32_t slot, count = 0;

	for (slot = 0; slot < AUDIT_SLOTS_MAX; slot++) {
		uint64_t word = slot_word(book, slot);

		count += word_state(word) == state && word_class(word) == class;
	}
	return count;
}
