/*
 * Rings for the denials of the shared set: made ahead, because putting one in its place
 * waits for the kernel's readers, and handed out by a number that costs nothing. Private to
 * this folder.
 */
#pragma once

#include <stdint.h>

#include "util/error.h"

/* Makes some more. Waits for the kernel. */
int egress_pool_fill(int rings, int owners, struct error *err);
/*
 * Takes a ring for the cgroup; a ring belongs to it until its state in states is gone, which
 * is when the cgroup is. *ret_slot counts from 0.
 */
int egress_pool_take(int rings, int owners, int states, uint64_t cgroup, uint32_t *ret_slot, int *ret_ring,
		     struct error *err);
