/*
 * One row of the score table: what a process with such probes' answers, capabilities and
 * no_new_privs stops.
 */
#pragma once

#include "probe.h"
#include "util/str.h"

/* What all denials of the filter were turned into: no kernel gives it. */
#define SCORE_MARK 177
#define SCORE_PROBES_MAX 256

struct score_results {
	int count;
	int set_up; /* 0, or the errno that stopped it */
	int got[SCORE_PROBES_MAX];
};

struct score_process {
	const char *title;
	uint64_t caps;
	bool no_new_privs;
	const struct score_results *marked;
};

/* The n-th of all lists, NULL behind the last; and the place of a name, -1 = none. */
const struct probe *probe_at(int n);
int probe_place(const char *name);
/* A file below tests/, by $srcdir; malloc'ed. */
char *score_data_path(const char *rest);
/* False when a table cannot be read. */
bool score_row(const struct score_process *p, struct buf *table);
