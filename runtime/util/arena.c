/*
 * Owns the arena's blocks. Knows nothing of what is stored.
 */
#include "util/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define ARENA_BLOCK_MIN ((size_t)16 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t size;
	_Alignas(max_align_t) unsigned char data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct arena_block *b;
	void *p;

	assert(a);

	if (size == 0)
		size = 1;
	if (size > SIZE_MAX - sizeof(*b) - align)
		return NULL;
	size = (size + align - 1) / align * align;

	if (!a->head || a->head->size - a->used < size) {
		size_t n = MAX(size, ARENA_BLOCK_MIN);

		b = calloc(1, sizeof(*b) + n);
		if (!b)
			return NULL;
		b->size = n;
		b->next = a->head;
		a->head = b;
		a->used = 0;
	}
	p = a->head->data + a->used;
	a->used += size;
	return p;
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		return NULL;
	return arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (p)
		memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	(void)vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_done(struct arena *a)
{
	struct arena_block *b, *next;

	for (b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = ARENA_NULL;
}
