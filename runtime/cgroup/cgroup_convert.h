/*
 * Pure conversions from the specification's (cgroup v1) units to those of cgroup v2.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define CGROUP_CPU_MAX_SIZE 48

/*
 * cpu.shares (2..262144) to cpu.weight (1..10000) along the curve that runc 1.3.2 and crun
 * 1.23 agreed on, which keeps the default at the default: 2 gives 1, 1024 gives 100,
 * 262144 gives 10000. Values outside are clamped.
 */
uint64_t cgroup_convert_shares(uint64_t shares);
/* blkio.weight (10..1000) to io.weight (1..10000), linear; -ERANGE outside. */
int cgroup_convert_io_weight(uint32_t weight, uint32_t *ret);
/*
 * "QUOTA PERIOD" of cpu.max. quota <= 0 gives "max"; period 0 leaves it out, so that the
 * kernel keeps its own.
 */
void cgroup_convert_cpu_max(int64_t quota, uint64_t period, char buf[CGROUP_CPU_MAX_SIZE]);
/*
 * The specification's swap counts memory and swap together, v2 counts swap alone.
 * -1 = unlimited on both sides. -EINVAL with a text when the pair makes no sense.
 */
int cgroup_convert_swap(int64_t swap, int64_t limit, int64_t *ret, struct error *err);
