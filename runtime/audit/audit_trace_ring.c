/*
 * Owns the positions of a ring and the mapping of what lies between them. The kernel writes
 * both the records and the end; the beginning is ours, and whatever is in it, every record is
 * compared with what is mapped.
 */
#include "audit/audit_trace_ring.h"

#include <assert.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/ebpf.h"

#define HEADER ((size_t)BPF_RINGBUF_HDR_SZ)

int audit_trace_ring_open(int fd, struct audit_trace_ring *ret, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;
	uint32_t size;
	int r;

	assert(fd >= 0);

	r = ebpf_map_max_entries(fd, &size);
	if (r < 0)
		return error_set(err, r, "exec audit: ask for the size of the ring");
	if (size < page || (size & (size - 1)) != 0)
		return error_text(err, -EINVAL, "exec audit: a ring of %u bytes", size);
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return error_set(err, -errno, "exec audit: map the ring");
	producer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (producer == MAP_FAILED) {
		r = error_set(err, -errno, "exec audit: map the ring");
		(void)munmap(consumer, page);
		return r;
	}
	*ret = (struct audit_trace_ring){
		.fd = fd, .consumed = consumer, .produced = producer, .size = size, .page = page
	};
	return 0;
}

void audit_trace_ring_close(struct audit_trace_ring *ring)
{
	if (ring->consumed) {
		(void)munmap((void *)ring->consumed, ring->page);
		(void)munmap((void *)ring->produced, ring->page);
	}
	*ring = AUDIT_TRACE_RING_NULL;
}

/* Both as one look: what is produced later is for the next one. */
static void positions(const struct audit_trace_ring *ring, uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from = __atomic_load_n(ring->consumed, __ATOMIC_RELAXED);
	*ret_to = __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE);
}

struct window {
	char *base; /* mapped */
	size_t len;
	size_t skip; /* to the first record */
};

/* The data is mapped twice in a row by the kernel, so that no record has a seam. */
static int map_window(const struct audit_trace_ring *ring, uint64_t from, uint64_t to, struct window *ret)
{
	size_t at = (size_t)(from & (ring->size - 1));

	ret->skip = at & (ring->page - 1);
	ret->len = (ret->skip + (size_t)(to - from) + ring->page - 1) & ~(ring->page - 1);
	ret->base = mmap(NULL, ret->len, PROT_READ, MAP_SHARED, ring->fd,
			 (off_t)(2 * ring->page + (at - ret->skip)));
	return ret->base == MAP_FAILED ? -errno : 0;
}

int audit_trace_ring_read(struct audit_trace_ring *ring,
			  int (*fn)(void *userdata, const void *data, size_t len, struct error *err),
			  void *userdata, size_t max, struct error *err)
{
	struct window w;
	uint64_t from, to;
	size_t count = 0;
	int r;

	positions(ring, &from, &to);
	if (from == to)
		return 0;
	if (to - from > ring->size || from % 8 != 0)
		return error_text(err, -EBADMSG, "exec audit: the ring is damaged");
	r = map_window(ring, from, to, &w);
	if (r < 0)
		return error_set(err, r, "exec audit: map the records");
	while (count < max && from < to && r >= 0) {
		const char *record = w.base + w.skip;
		uint32_t header = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		size_t len = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		size_t step = (HEADER + len + 7) & ~(size_t)7;

		/* Not complete: it will be in a moment. */
		if (header & BPF_RINGBUF_BUSY_BIT)
			break;
		if (step > to - from) {
			r = error_text(err, -EBADMSG, "exec audit: the ring is damaged");
			break;
		}
		if (!(header & BPF_RINGBUF_DISCARD_BIT)) {
			r = fn(userdata, record + HEADER, len, err);
			count++;
		}
		from += step;
		w.skip += step;
		__atomic_store_n(ring->consumed, from, __ATOMIC_RELEASE);
	}
	(void)munmap(w.base, w.len);
	return r < 0 ? r : (int)count;
}

bool audit_trace_ring_empty(const struct audit_trace_ring *ring)
{
	uint64_t from, to;

	positions(ring, &from, &to);
	return from == to;
}
