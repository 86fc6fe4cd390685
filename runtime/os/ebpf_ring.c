/*
 * Owns the consumer side of a BPF ring buffer: two positions and the records between them.
 * The kernel writes the records and we map them read-only, so their lengths are trusted as
 * far as the programs that reserved them; a record is still checked against the ring.
 */
#include "os/ebpf.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int ebpf_ring_open(int map, struct ebpf_ring *ret, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;
	uint32_t size;
	int r;

	assert(map >= 0);

	r = ebpf_map_max_entries(map, &size);
	if (r < 0)
		return error_set(err, r, "ask the size of a BPF ring buffer");
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (consumer == MAP_FAILED)
		return error_set(err, -errno, "map the consumer page of a BPF ring buffer");
	producer = mmap(NULL, page + 2 * (size_t)size, PROT_READ, MAP_SHARED, map, (off_t)page);
	if (producer == MAP_FAILED) {
		r = error_set(err, -errno, "map a BPF ring buffer of %u bytes", size);
		(void)munmap(consumer, page);
		return r;
	}
	*ret = (struct ebpf_ring){
		.consumed = consumer, .produced = producer, .size = size, .page = page
	};
	return 0;
}

void ebpf_ring_reset(struct ebpf_ring *ring)
{
	__atomic_store_n(ring->consumed, __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

void ebpf_ring_close(struct ebpf_ring *ring)
{
	if (!ring->consumed)
		return;
	(void)munmap((void *)ring->consumed, ring->page);
	(void)munmap((void *)ring->produced, ring->page + 2 * ring->size);
	*ring = EBPF_RING_NULL;
}

int ebpf_ring_consume(struct ebpf_ring *ring, int (*fn)(void *userdata, const void *data, size_t len),
		      void *userdata, size_t max)
{
	const char *data = (const char *)ring->produced + ring->page;
	uint64_t at = __atomic_load_n(ring->consumed, __ATOMIC_RELAXED);
	int count = 0, r;

	while ((size_t)count < max && at < __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE)) {
		const char *record = data + (at & (ring->size - 1));
		uint32_t header = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		uint32_t len = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		/* Reserved and not yet submitted: the kernel wakes us when it is. */
		if (header & BPF_RINGBUF_BUSY_BIT)
			break;
		if (len > ring->size - BPF_RINGBUF_HDR_SZ)
			return -EBADMSG;
		r = 0;
		if (!(header & BPF_RINGBUF_DISCARD_BIT)) {
			r = fn(userdata, record + BPF_RINGBUF_HDR_SZ, len);
			count++;
		}
		at += (BPF_RINGBUF_HDR_SZ + (uint64_t)len + 7) & ~(uint64_t)7;
		__atomic_store_n(ring->consumed, at, __ATOMIC_RELEASE);
		if (r < 0)
			return r;
	}
	return count;
}
