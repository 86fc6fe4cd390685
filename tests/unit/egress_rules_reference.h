/*
 * What rules mean, said a second time and as plainly as possible: no merging, no tables. For
 * comparing with what egress/egress_rules.c makes of them.
 */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "egress/egress_rules.h"

struct reference_floor {
	const char *range;
	unsigned bits;
	char kind; /* r: opens for rules inside, m: metadata, n: never */
};

static const struct reference_floor reference_floors[] = {
	{ "0.0.0.0", 8, 'r' },	       { "10.0.0.0", 8, 'r' },	       { "100.64.0.0", 10, 'r' },
	{ "100.100.100.200", 32, 'm' }, { "127.0.0.0", 8, 'r' },	       { "168.63.129.16", 32, 'm' },
	{ "169.254.0.0", 16, 'r' },     { "169.254.169.254", 32, 'm' }, { "169.254.170.2", 32, 'm' },
	{ "169.254.170.23", 32, 'm' },  { "172.16.0.0", 12, 'r' },      { "192.0.0.0", 24, 'r' },
	{ "192.0.0.192", 32, 'm' },     { "192.168.0.0", 16, 'r' },     { "198.18.0.0", 15, 'r' },
	{ "224.0.0.0", 4, 'r' },	       { "240.0.0.0", 4, 'n' },	       { "::", 96, 'r' },
	{ "64:ff9b:1::", 48, 'r' },     { "100::", 64, 'r' },	       { "2001::", 32, 'r' },
	{ "2002::", 16, 'r' },	       { "fc00::", 7, 'r' },	       { "fd00:ec2::23", 128, 'm' },
	{ "fd00:ec2::254", 128, 'm' },  { "fd20:ce::254", 128, 'm' },   { "fe80::", 10, 'r' },
	{ "fec0::", 10, 'r' },	       { "ff00::", 8, 'r' },
};

static inline bool reference_inside(const uint8_t *range, unsigned bits, const uint8_t *address)
{
	for (unsigned i = 0; i < bits; i++)
		if ((range[i / 8] ^ address[i / 8]) & (0x80u >> (i % 8)))
			return false;
	return true;
}

/* The innermost floor around the address: its bits and kind, 0 = none. */
static inline char reference_floor_of(const uint8_t address[16], const uint8_t (*hosts)[16], size_t n_hosts,
				      unsigned *ret_bits)
{
	static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };
	uint8_t range[16];
	char kind = 0;
	size_t i;

	*ret_bits = 0;
	for (i = 0; i < sizeof(reference_floors) / sizeof(reference_floors[0]); i++) {
		const struct reference_floor *f = &reference_floors[i];
		bool v4 = strchr(f->range, '.');
		unsigned bits = f->bits + (v4 ? 96 : 0);

		inet_pton(v4 ? AF_INET : AF_INET6, f->range, v4 ? range + 12 : range);
		if (v4) {
			memset(range, 0, 10);
			range[10] = range[11] = 0xff;
		}
		if (reference_inside(range, bits, address) && bits >= *ret_bits) {
			*ret_bits = bits;
			kind = f->kind;
		}
		if (!v4)
			continue;
		memcpy(range, nat64, sizeof(nat64));
		if (reference_inside(range, bits, address) && bits >= *ret_bits) {
			*ret_bits = bits;
			kind = f->kind;
		}
	}
	for (i = 0; i < n_hosts && kind != 'm' && kind != 'n'; i++) {
		if (memcmp(hosts[i], address, 16) == 0) {
			*ret_bits = 128;
			kind = 'r';
		}
	}
	return kind;
}

static inline bool reference_port(const struct egress_rule *r, uint8_t protocol, uint16_t port)
{
	size_t i;

	if (r->n_ranges == 0)
		return r->protocol == 0 || r->protocol == protocol;
	for (i = 0; i < r->n_ranges; i++) {
		uint8_t wants = r->ranges[i].protocol ? r->ranges[i].protocol : r->protocol;

		if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
			continue;
		if ((wants == 0 || wants == protocol) && port >= r->ranges[i].first && port <= r->ranges[i].last)
			return true;
	}
	return false;
}

static inline bool reference_allows(const struct egress_rule *rules, size_t n, const uint8_t (*hosts)[16],
				    size_t n_hosts, const uint8_t address[16], uint8_t protocol, uint16_t port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = memcmp(address, mapped, sizeof(mapped)) == 0;
	unsigned floor_bits;
	char kind = reference_floor_of(address, hosts, n_hosts, &floor_bits);
	size_t i;

	for (i = 0; i < n; i++) {
		const struct egress_rule *r = &rules[i];

		if (!reference_inside(r->address, r->bits, address) || (v4 && r->scope < 96))
			continue;
		if (kind == 'n' || (kind == 'r' && r->scope < floor_bits) ||
		    (kind == 'm' && (!r->metadata || r->scope != 128)))
			continue;
		if (reference_port(r, protocol, port))
			return true;
	}
	return false;
}
