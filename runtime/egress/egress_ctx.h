/*
 * The inside of struct egress, shared by the files that own its parts. Private to this folder.
 */
#pragma once

#include "egress/egress.h"
#include "os/ebpf.h"

struct egress {
	bool private;
	uint64_t cgroup;
	struct egress_state *state; /* private: the programs' own, read-only after egress_drop() */
	int state_map; /* private: to map it; until egress_drop() */
	int states; /* shared: until egress_drop() */
	int names, name_ports, proxied; /* private */
	int ring_map;
	struct ebpf_ring ring;
	bool sets[EGRESS_NAME_SETS]; /* that are in name_ports */
	/* of egress_watch() */
	struct ev_source source;
	egress_event_fn fn;
	void *arg;
};

/* egress_tables.c: the state of a private set; NULL with errno. */
struct egress_state *egress_state_map(int map, bool writable);
void egress_state_unmap(struct egress_state *state);
void egress_state_counters(const struct egress_state *s, struct egress_counters *ret);
/* Fills the maps of ranges of a private set. */
int egress_tables_write(int nets, int net_ports, const struct egress_table *t, struct error *err);
/* egress_private_set.c */
int egress_private_open(int cgroup_fd, const struct egress_options *o, struct egress *e, struct error *err);
