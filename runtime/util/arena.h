/*
 * An arena: many allocations, one release. Parsed documents and plans live in
 * one, so that half-built ones are released as easily as whole ones.
 */
#pragma once

#include <stddef.h>

#include "util/cleanup.h"

struct arena_block;

struct arena {
	struct arena_block *head;
	size_t used; /* bytes used in head */
};

#define ARENA_NULL ((struct arena){ 0 })

/* Zeroed, aligned for any type, valid until arena_done(); NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t size);
/* As arena_alloc() for count elements; NULL also when count * size overflows. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) _printf_(2, 3);
/* Releases everything; the arena may be used again. Takes a zeroed arena. */
void arena_done(struct arena *a);
