/*
 * The inside of struct egress_names, shared by the files that own its parts: the sets of
 * ports (egress_names_sets.c), the patterns (egress_names.c) and the leases
 * (egress_names_leases.c).
 */
#pragma once

#include "egress/egress_names.h"
#include "util/arena.h"

/* All rules for one pattern. */
struct name_pattern {
	uint32_t next; /* in its bucket, index + 1 */
	uint16_t set;
	uint8_t len;
	bool below; /* the names below, not the name itself */
	const uint8_t *wire;
};

/* A name that holds addresses open; one for all of its leases. */
struct lease_name {
	uint32_t leases;
	uint8_t len;
	uint8_t wire[];
};

/* A name holds an address open. */
struct name_lease {
	uint8_t address[16];
	struct lease_name *name;
	uint64_t answered, expires;
	uint16_t set;
};

struct set_union {
	uint16_t a, b, result;
};

struct egress_names {
	struct arena arena; /* wire names and ranges of sets */
	struct name_pattern *patterns;
	uint32_t *buckets; /* index + 1 */
	size_t n_patterns, n_buckets;
	struct egress_name_set *sets;
	size_t n_sets, room_sets;
	struct set_union *unions; /* what was computed before */
	size_t n_unions, room_unions;
	struct name_lease *leases;
	size_t n_leases, room_leases;
	uint64_t next_end; /* of all leases the first to end */
	const struct egress_name_net *open, *never;
	size_t n_open, n_never;
	struct egress_names_ops ops;
};

/* The set of these ranges, which may overlap in any order; ranges open without a check win. */
int names_set_make(struct egress_names *n, const struct egress_name_port *ports, size_t count, unsigned *ret);
int names_set_union(struct egress_names *n, unsigned a, unsigned b, unsigned *ret);
/* Doubles an array of elements of size when it is full. */
int names_grow(void *array, size_t size, size_t used, size_t *room, size_t max);
uint64_t names_hash(const uint8_t *wire, size_t len);
/* Frees them; tells nobody. */
void egress_names_leases_done(struct egress_names *n);
