/*
 * A privileged sequence is an array of named phases run in order. The names are
 * printed by a golden test, so that reordering is a visible change.
 */
#pragma once

#include <stddef.h>

#include "util/error.h"

struct phase {
	const char *name;
	int (*run)(void *ctx, struct error *err);
	const char *why_here; /* which step it must follow or precede, and what breaks otherwise */
};

/* Runs them in order; the first failure ends it. */
int phases_run(const struct phase *phases, size_t count, void *ctx, struct error *err);

/* One of the sequences by index, for the golden test; NULL past the last. */
struct phase_list {
	const char *name;
	const struct phase *phases;
	size_t count;
};
const struct phase_list *phase_list_get(size_t i);
