/*
 * Owns the arithmetic between the units of cgroup v1 and v2. Pure: no file, no state.
 *
 * The weight curve needs a logarithm and a power; both are done in fixed point, because
 * libm would be one more library to map at every start for this one number.
 */
#include "cgroup/cgroup_convert.h"

#include <inttypes.h>
#include <stdio.h>

#define SHARES_MIN	 2
#define SHARES_MAX	 262144
#define WEIGHT_MIN	 1
#define WEIGHT_MAX	 10000

#define BLKIO_WEIGHT_MIN 10
#define BLKIO_WEIGHT_MAX 1000

/* Fractions of logarithms have 40 bits, mantissas 62. */
#define LOG_BITS  40
#define MANT_BITS 62
/* log2(10) with 60 bits of fraction. */
#define LOG2_10_Q60 UINT64_C(3829922337353294527)

typedef unsigned __int128 u128;

static uint64_t log2_fixed(uint64_t v)
{
	unsigned whole = 63 - (unsigned)__builtin_clzll(v);
	uint64_t log = whole, mant = v << (MANT_BITS - whole);
	int i;

	/* Squaring doubles the logarithm: each carry out of the mantissa is its next bit. */
	for (i = 0; i < LOG_BITS; i++) {
		mant = (uint64_t)(((u128)mant * mant) >> MANT_BITS);
		log <<= 1;
		if (mant >> (MANT_BITS + 1)) {
			log |= 1;
			mant >>= 1;
		}
	}
	return log;
}

static uint64_t sqrt_fixed(u128 v)
{
	u128 x = (u128)1 << (MANT_BITS + 1), next;

	/* Newton's method from above falls until it has arrived. */
	for (;;) {
		next = (x + v / x) / 2;
		if (next >= x)
			return (uint64_t)x;
		x = next;
	}
}

/* 2^(log / 2^40), rounded up unless it is an integer within the error of the method. */
static uint64_t exp2_ceil(uint64_t log)
{
	uint64_t whole = log >> LOG_BITS, y = UINT64_C(1) << MANT_BITS;
	unsigned shift;
	u128 slack, scaled;
	int i;

	/* 2^0.abc = sqrt(2^a * sqrt(2^b * sqrt(2^c))) */
	for (i = 0; i < LOG_BITS; i++)
		y = sqrt_fixed((u128)y << (MANT_BITS + ((log >> i) & 1)));

	shift = MANT_BITS - (unsigned)whole;
	slack = ((u128)1 << shift) / 10000000;
	scaled = (u128)y + ((u128)1 << shift) - 1;
	return (uint64_t)((scaled - slack) >> shift);
}

uint64_t cgroup_convert_shares(uint64_t shares)
{
	uint64_t l, exponent;
	u128 l2;

	if (shares <= SHARES_MIN)
		return WEIGHT_MIN;
	if (shares >= SHARES_MAX)
		return WEIGHT_MAX;

	/* weight = 10^((l*l + 125*l)/612 - 7/34) with l = log2(shares); 7/34 = 126/612 */
	l = log2_fixed(shares);
	l2 = ((u128)l * l) >> LOG_BITS;
	exponent = (uint64_t)((l2 + (u128)125 * l - ((u128)126 << LOG_BITS)) / 612);
	return exp2_ceil((uint64_t)(((u128)exponent * LOG2_10_Q60) >> 60));
}

int cgroup_convert_io_weight(uint32_t weight, uint32_t *ret)
{
	if (weight < BLKIO_WEIGHT_MIN || weight > BLKIO_WEIGHT_MAX)
		return -ERANGE;
	*ret = 1 + (weight - BLKIO_WEIGHT_MIN) * 9999 / 990;
	return 0;
}

void cgroup_convert_cpu_max(int64_t quota, uint64_t period, char buf[CGROUP_CPU_MAX_SIZE])
{
	char q[24] = "max";

	if (quota > 0)
		(void)snprintf(q, sizeof(q), "%" PRId64, quota);
	if (period > 0)
		(void)snprintf(buf, CGROUP_CPU_MAX_SIZE, "%s %" PRIu64, q, period);
	else
		(void)snprintf(buf, CGROUP_CPU_MAX_SIZE, "%s", q);
}

int cgroup_convert_swap(int64_t swap, int64_t limit, int64_t *ret, struct error *err)
{
	if (swap < 0) {
		*ret = -1;
		return 0;
	}
	if (limit <= 0)
		return error_text(err, -EINVAL,
				  "memory swap limit %" PRId64 " needs a memory limit: "
				  "it counts memory and swap together",
				  swap);
	if (swap < limit)
		return error_text(err, -EINVAL,
				  "memory+swap limit %" PRId64
				  " is below the memory limit %" PRId64,
				  swap, limit);
	*ret = swap - limit;
	return 0;
}
