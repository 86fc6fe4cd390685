/*
 * The consumer side of a ring of which nothing is mapped but its two positions: the records
 * are mapped while they are read, and only the pages they are on. A mapped ring would count
 * as the memory of every idle monitor.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct audit_trace_ring {
	int fd; /* of the map; stays the caller's, open as long as the ring is */
	volatile uint64_t *consumed, *produced;
	size_t size, page;
};

#define AUDIT_TRACE_RING_NULL ((struct audit_trace_ring){ .fd = -EBADF })

/* Asks the kernel for the size with bpf(2), which needs no privilege since Linux 5.19. */
int audit_trace_ring_open(int fd, struct audit_trace_ring *ret, struct error *err);
void audit_trace_ring_close(struct audit_trace_ring *ring);
/*
 * Hands at most max records to fn, which must not keep data. fn's negative result stops (its
 * record counts as consumed) and is returned; else the number of records.
 */
int audit_trace_ring_read(struct audit_trace_ring *ring,
			  int (*fn)(void *userdata, const void *data, size_t len, struct error *err),
			  void *userdata, size_t max, struct error *err);
/* Nothing is there, not even a record that is not complete. */
bool audit_trace_ring_empty(const struct audit_trace_ring *ring);
