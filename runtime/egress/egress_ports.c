/*
 * Owns sets of ports. Thousands of rules name few different ones, so each is kept once; a
 * range of ports becomes at most 30 prefixes, which the kernel finds in one look-up where
 * a list of ranges would have to be walked.
 */
#include "egress/egress_ports.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

#define PORT_BITS_ALL 40u /* set and protocol */

static int push(struct egress_port_sets *s, uint8_t protocol, uint16_t first, uint16_t last)
{
	if (s->n_ranges == s->room_ranges) {
		size_t room = s->room_ranges ? 2 * s->room_ranges : 64;
		struct egress_range *grown;

		if (room > EGRESS_PORTS_MAX)
			return -E2BIG;
		grown = reallocarray(s->ranges, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->ranges = grown;
		s->room_ranges = room;
	}
	s->ranges[s->n_ranges++] = (struct egress_range){ .protocol = protocol, .first = first, .last = last };
	return 0;
}

static int push_both(struct egress_port_sets *s, uint8_t protocol, uint16_t first, uint16_t last)
{
	int r;

	if (protocol != 0)
		return push(s, protocol, first, last);
	r = push(s, IPPROTO_TCP, first, last);
	return r < 0 ? r : push(s, IPPROTO_UDP, first, last);
}

void egress_ports_begin(struct egress_port_sets *s)
{
	s->n_ranges = 0;
	s->all = false;
}

int egress_ports_add(struct egress_port_sets *s, const struct egress_rule *rule)
{
	size_t i;
	int r;

	if (rule->n_ranges > EGRESS_RANGES_MAX)
		return -E2BIG;
	if (rule->n_ranges == 0) {
		if (rule->protocol == 0)
			s->all = true;
		return rule->protocol == 0 ? 0 : push(s, rule->protocol, 0, UINT16_MAX);
	}
	for (i = 0; i < rule->n_ranges; i++) {
		const struct egress_range *range = &rule->ranges[i];

		if (range->first > range->last)
			return -EINVAL;
		r = push_both(s, range->protocol ? range->protocol : rule->protocol, range->first, range->last);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct egress_range *a = pa, *b = pb;

	if (a->protocol != b->protocol)
		return (int)a->protocol - (int)b->protocol;
	return (int)a->first - (int)b->first;
}

/* Sorted, overlapping and touching ones made one. */
static size_t merge(struct egress_range *ranges, size_t n)
{
	size_t kept = 0, i;

	if (n == 0)
		return 0;
	qsort(ranges, n, sizeof(*ranges), compare);
	for (i = 1; i < n; i++) {
		struct egress_range *last = &ranges[kept];

		if (ranges[i].protocol == last->protocol && ranges[i].first <= (uint32_t)last->last + 1)
			last->last = MAX(last->last, ranges[i].last);
		else
			ranges[++kept] = ranges[i];
	}
	return kept + 1;
}

static uint64_t hash(const struct egress_range *ranges, size_t n)
{
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ ranges[i].protocol) * 1099511628211u;
		h = (h ^ ranges[i].first) * 1099511628211u;
		h = (h ^ ranges[i].last) * 1099511628211u;
	}
	return h;
}

static int find(const struct egress_port_sets *s, const struct egress_range *ranges, size_t n, uint64_t h)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->sets[i].hash == h && s->sets[i].n == n &&
		    memcmp(s->sets[i].ranges, ranges, n * sizeof(*ranges)) == 0)
			return (int)i;
	return -ENOENT;
}

static int keep(struct egress_port_sets *s, const struct egress_range *ranges, size_t n, uint64_t h)
{
	struct egress_port_set *set;

	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct egress_port_set *grown = reallocarray(s->sets, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->sets = grown;
		s->room = room;
	}
	set = &s->sets[s->n];
	set->ranges = calloc(n, sizeof(*ranges));
	if (!set->ranges)
		return -ENOMEM;
	memcpy(set->ranges, ranges, n * sizeof(*ranges));
	set->n = n;
	set->hash = h;
	return (int)s->n++;
}

int egress_ports_end(struct egress_port_sets *s, uint32_t *ret)
{
	size_t n;
	uint64_t h;
	int r;

	if (s->all) {
		*ret = EGRESS_SET_ALL;
		return 0;
	}
	n = merge(s->ranges, s->n_ranges);
	assert(n > 0);
	h = hash(s->ranges, n);
	r = find(s, s->ranges, n, h);
	if (r < 0)
		r = keep(s, s->ranges, n, h);
	if (r < 0)
		return r;
	*ret = EGRESS_SET_FIRST + (uint32_t)r;
	return 0;
}

void egress_ports_done(struct egress_port_sets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->sets[i].ranges);
	free(s->sets);
	free(s->ranges);
	*s = (struct egress_port_sets){ 0 };
}

/* Largest aligned blocks first: the way to the first one that does not fit, and back down. */
static int expand(uint32_t set, const struct egress_range *range, struct egress_port_key *keys,
		  struct egress_port *values, size_t room, size_t *n)
{
	uint32_t at = range->first, end = (uint32_t)range->last + 1, size;

	while (at < end) {
		for (size = 1; (at & (2 * size - 1)) == 0 && at + 2 * size <= end && size < 65536; size *= 2)
			;
		if (*n == room)
			return -E2BIG;
		keys[*n] = (struct egress_port_key){
			.bits = PORT_BITS_ALL + 16 - (uint32_t)__builtin_ctz(size),
			.set = set,
			.protocol = range->protocol,
			.port_be = { (uint8_t)(at >> 8), (uint8_t)at },
		};
		values[(*n)++].verdict = range->verify ? EGRESS_PROXY : EGRESS_ALLOW;
		at += size;
	}
	return 0;
}

int egress_ports_expand(uint32_t set, const struct egress_range *ranges, size_t n, struct egress_port_key *keys,
			struct egress_port *values, size_t room, size_t *ret_n)
{
	size_t used = 0, i;
	int r;

	if (n > EGRESS_RANGES_MAX)
		return -E2BIG;
	for (i = 0; i < n; i++) {
		if (ranges[i].first > ranges[i].last || ranges[i].protocol == 0 ||
		    (ranges[i].verify && ranges[i].protocol != IPPROTO_TCP))
			return -EINVAL;
		r = expand(set, &ranges[i], keys, values, room, &used);
		if (r < 0)
			return r;
	}
	*ret_n = used;
	return 0;
}

int egress_ports_tables(const struct egress_port_sets *s, struct egress_table *t)
{
	size_t room = 0, i, k;
	int r;

	/* a range of ports is at most 30 blocks */
	for (i = 0; i < s->n; i++)
		room += 30 * s->sets[i].n;
	if (room == 0)
		return 0;
	t->ports = calloc(room, sizeof(*t->ports));
	t->port_values = calloc(room, sizeof(*t->port_values));
	if (!t->ports || !t->port_values)
		return -ENOMEM;
	for (i = 0; i < s->n; i++) {
		for (k = 0; k < s->sets[i].n; k++) {
			r = expand(EGRESS_SET_FIRST + (uint32_t)i, &s->sets[i].ranges[k], t->ports,
				   t->port_values, room, &t->n_ports);
			if (r < 0)
				return r;
		}
	}
	return t->n_ports > EGRESS_PORTS_MAX ? -E2BIG : 0;
}

static bool key_covers(const uint8_t *have, unsigned bits, const uint8_t *want)
{
	if (memcmp(have, want, bits / 8) != 0)
		return false;
	return bits % 8 == 0 || ((have[bits / 8] ^ want[bits / 8]) & (uint8_t)(0xff00u >> bits % 8)) == 0;
}

enum egress_verdict egress_table_judge(const struct egress_table *t, const uint8_t address[16], uint8_t protocol,
				       uint16_t port)
{
	struct egress_port_key want = { .protocol = protocol, .port_be = { (uint8_t)(port >> 8), (uint8_t)port } };
	const struct egress_net_key *best = NULL;
	size_t i;

	for (i = 0; i < t->n_nets; i++) {
		if (!key_covers(t->nets[i].address, t->nets[i].bits, address) || (best && best->bits > t->nets[i].bits))
			continue;
		best = &t->nets[i];
		want.set = t->net_values[i].set;
	}
	if (!best || want.set == EGRESS_SET_CLOSED || want.set == EGRESS_SET_NONE)
		return EGRESS_DENY;
	if (want.set == EGRESS_SET_ALL)
		return EGRESS_ALLOW;
	for (i = 0; i < t->n_ports; i++)
		if (key_covers((const uint8_t *)&t->ports[i].set, t->ports[i].bits, (const uint8_t *)&want.set))
			return EGRESS_ALLOW;
	return EGRESS_DENY;
}
