/*
 * What rules about address ranges mean: turned into tables for the kernel's longest-prefix
 * match, with the floor below them. Pure: no system call.
 *
 * The floor: addresses of clouds' metadata services, of the link, private, shared, special
 * and wrapped ranges and the host's own addresses are closed, whatever a wider rule or a name
 * says. A range of the floor opens for a rule whose scope lies inside it, a metadata address
 * for a rule of exactly that address that says so, reserved addresses never.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "egress/egress_abi.h"
#include "util/error.h"

#define EGRESS_RULES_MAX 20000
#define EGRESS_RANGES_MAX 1024 /* of one rule or set */
#define EGRESS_NETS_MAX	 32768 /* entries of the kernel's table */
#define EGRESS_PORTS_MAX 65536

/* No rule and no name opens it: what the proof after attaching tries. 240.0.0.1 */
extern const uint8_t egress_canary[16];

struct egress_range {
	uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP; in a rule 0 = its own */
	bool verify; /* of a name: TCP only, through the proxy */
	uint16_t first, last;
};

struct egress_rule {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint8_t bits; /* of the 16 bytes: 96 more for IPv4 */
	/*
	 * The floor opens as if it had so many: at most bits, less where somebody chose the range
	 * out of a wider one that is allowed. 0 opens no floor, and no IPv4.
	 */
	uint8_t scope;
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP, 0 = both, and without ports every protocol */
	bool metadata;
	const struct egress_range *ranges; /* none = every port */
	size_t n_ranges;
};

struct egress_table {
	struct egress_net_key *nets;
	struct egress_net *net_values;
	size_t n_nets;
	struct egress_port_key *ports;
	struct egress_port *port_values;
	size_t n_ports;
};
#define EGRESS_TABLE_NULL ((struct egress_table){ 0 })

/* family: AF_INET, AF_INET6 with an address as inet_pton(3) makes it. */
void egress_rules_map(int family, const void *address, uint8_t ret[16]);

/* hosts: the host's own addresses. -E2BIG when the tables would be too large. */
int egress_rules_compile(const struct egress_rule *rules, size_t n, const uint8_t (*hosts)[16], size_t n_hosts,
			 struct egress_table *ret, struct error *err);
void egress_table_done(struct egress_table *t);
#define _cleanup_egress_table_ _cleanup_(egress_table_done)

/*
 * The entries of one set of ports, for names: at most room, *ret_n of them. -EINVAL for a range
 * that is none, -E2BIG.
 */
int egress_ports_expand(uint32_t set, const struct egress_range *ranges, size_t n, struct egress_port_key *keys,
			struct egress_port *values, size_t room, size_t *ret_n);

/* What the kernel would say of an address that no name opened; slow, for tests. */
enum egress_verdict egress_table_judge(const struct egress_table *t, const uint8_t address[16], uint8_t protocol,
				       uint16_t port);
