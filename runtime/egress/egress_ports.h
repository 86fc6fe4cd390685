/*
 * Sets of ports, for egress_rules.c: put together from rules, each kept once, and turned
 * into entries of a longest-prefix match.
 */
#pragma once

#include "egress/egress_rules.h"

/* Sorted, without overlaps and neighbours. */
struct egress_port_set {
	struct egress_range *ranges;
	size_t n;
	uint64_t hash;
};

struct egress_port_sets {
	struct egress_port_set *sets;
	size_t n, room;
	/* the one that is being put together */
	struct egress_range *ranges;
	size_t n_ranges, room_ranges;
	bool all;
};

void egress_ports_begin(struct egress_port_sets *s);
int egress_ports_add(struct egress_port_sets *s, const struct egress_rule *rule);
/* *ret: EGRESS_SET_ALL, or a number from EGRESS_SET_FIRST on. */
int egress_ports_end(struct egress_port_sets *s, uint32_t *ret);
/* The entries of all sets. */
int egress_ports_tables(const struct egress_port_sets *s, struct egress_table *t);
void egress_ports_done(struct egress_port_sets *s);
