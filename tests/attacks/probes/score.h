/*
 * Which published exploits a context stops: tables of what each needs, against a function that
 * tells whether one such thing is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a primitive is refused; ctx is the caller's. Unknown names end the program. */
typedef bool (*score_refused_fn)(const char *primitive, void *ctx);

struct score {
	int rows;
	int closed; /* something that the published exploit needs is refused */
	int strict; /* and the known ways round it are, too */
	char open[1024]; /* the names of those that are not closed */
};

/*
 * Reads a table: a name first, then in columns of the given numbers (from 0) what is needed ("A &
 * B|C": A and one of B and C) and the variants ("X ; Y", "OPEN"; -1 = no such column). The first
 * line is a heading. False when it cannot be read.
 */
bool score_table(const char *path, int needs, int variants, score_refused_fn refused, void *ctx,
		 struct score *ret);
