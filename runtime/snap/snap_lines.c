/*
 * Two texts into unified hunks: Myers' greedy search for the shortest edit between the parts that
 * differ, with a limit on its work; beyond it the rest is replaced as a whole, which is
 * longer and just as true.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "snap/snap_render.h"

#define CONTEXT 3
#define EDITS_MAX 1500 /* its square is the memory of the search */

struct line {
	const char *text;
	size_t len; /* with the newline, where there is one */
	uint64_t hash;
};

struct lines {
	struct line *items;
	size_t n;
};

static int split(const char *text, size_t len, struct lines *ret)
{
	size_t n = 0, i;
	const char *p, *end = text + len;

	for (p = text; p < end; p++)
		n += *p == '\n' || p + 1 == end;
	ret->items = calloc(n + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (p = text; p < end; ret->n++) {
		struct line *l = &ret->items[ret->n];
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		l->text = p;
		l->len = newline ? (size_t)(newline - p) + 1 : (size_t)(end - p);
		l->hash = UINT64_C(14695981039346656037);
		for (i = 0; i < l->len; i++)
			l->hash = (l->hash ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
		p += l->len;
	}
	return 0;
}

static bool equal(const struct line *a, const struct line *b)
{
	return a->hash == b->hash && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Marks the lines that are only in one text. */
struct edit {
	const struct line *a, *b;
	size_t n, m;
	bool *gone, *come;
};

/*
 * Row d of the trace is where each diagonal stood after d edits. Going back through the
 * rows marks the edits.
 */
static void mark(const struct edit *e, int32_t *const *trace, int32_t d, int32_t x, int32_t y)
{
	for (; d > 0; d--) {
		const int32_t *v = trace[d - 1];
		int32_t k = x - y, before;

		before = k == -d || (k != d && v[k - 1 + d - 1 + 1] < v[k + 1 + d - 1 + 1]) ? k + 1 : k - 1;
		if (before == k + 1) {
			x = v[before + d];
			y = x - before;
			e->come[y] = true;
		} else {
			x = v[before + d];
			y = x - before;
			e->gone[x] = true;
		}
	}
}

static int search(const struct edit *e)
{
	int32_t n = (int32_t)e->n, m = (int32_t)e->m, d, k, x, y;
	int32_t **trace = calloc(EDITS_MAX + 1, sizeof(*trace));
	int r = trace ? 0 : -ENOMEM;
	bool found = false;

	/* Row d holds diagonals -d-1 … d+1 at index k+d+1. */
	for (d = 0; r == 0 && !found && d <= EDITS_MAX; d++) {
		const int32_t *v = d > 0 ? trace[d - 1] : NULL;
		int32_t *next = trace[d] = calloc(2 * (size_t)d + 3, sizeof(*next));

		if (!next) {
			r = -ENOMEM;
			break;
		}
		next[0] = next[2 * d + 2] = -1;
		for (k = -d; k <= d; k += 2) {
			if (d == 0)
				x = 0;
			else if (k == -d || (k != d && v[k - 1 + d] < v[k + 1 + d]))
				x = v[k + 1 + d];
			else
				x = v[k - 1 + d] + 1;
			y = x - k;
			while (x < n && y < m && equal(&e->a[x], &e->b[y]))
				x++, y++;
			next[k + d + 1] = x;
			if (x >= n && y >= m) {
				mark(e, trace, d, n, m);
				found = true;
				break;
			}
		}
	}
	if (r == 0 && !found) {
		memset(e->gone, true, e->n);
		memset(e->come, true, e->m);
	}
	for (d = 0; trace && d <= EDITS_MAX; d++)
		free(trace[d]);
	free(trace);
	return r;
}

static void put_line(struct buf *out, char sign, const struct line *l)
{
	buf_add(out, &sign, 1);
	buf_add(out, l->text, l->len);
	if (l->text[l->len - 1] != '\n')
		buf_adds(out, "\n\\ No newline at end of file\n");
}

static void put_range(struct buf *out, char sign, size_t start, size_t count)
{
	buf_addf(out, "%c%zu", sign, count ? start + 1 : start);
	if (count != 1)
		buf_addf(out, ",%zu", count);
}

/* The hunk that begins with the difference at (i, j): up to where more than twice the context is equal. */
static void put_hunk(struct buf *out, const struct lines *a, const struct lines *b, const bool *gone, const bool *come, size_t *i,
		     size_t *j)
{
	size_t si = *i - MIN(*i, (size_t)CONTEXT), sj = *j - MIN(*j, (size_t)CONTEXT), ei = *i, ej = *j, x, y, same = 0;
	size_t lead = MIN(*i - si, *j - sj);

	si = *i - lead;
	sj = *j - lead;
	for (x = *i, y = *j; x < a->n || y < b->n;) {
		if (x < a->n && gone[x]) {
			ei = ++x;
			ej = y;
			same = 0;
		} else if (y < b->n && come[y]) {
			ej = ++y;
			ei = x;
			same = 0;
		} else {
			if (++same > 2 * CONTEXT)
				break;
			x++;
			y++;
		}
	}
	same = MIN((size_t)CONTEXT, MIN(a->n - ei, b->n - ej));
	buf_adds(out, "@@ ");
	put_range(out, '-', si, ei + same - si);
	buf_adds(out, " ");
	put_range(out, '+', sj, ej + same - sj);
	buf_adds(out, " @@\n");
	for (x = si, y = sj; x < ei + same || y < ej + same;) {
		if (x < ei + same && gone[x])
			put_line(out, '-', &a->items[x++]);
		else if (y < ej + same && come[y])
			put_line(out, '+', &b->items[y++]);
		else
			put_line(out, ' ', &a->items[x++]), y++;
	}
	*i = ei;
	*j = ej;
}

static int diff(const struct lines *a, const struct lines *b, struct buf *out)
{
	_cleanup_free_ bool *gone = calloc(a->n + 1, sizeof(bool)), *come = calloc(b->n + 1, sizeof(bool));
	size_t head = 0, tail = 0, i, j;
	struct edit e;
	int r;

	if (!gone || !come)
		return -ENOMEM;
	while (head < a->n && head < b->n && equal(&a->items[head], &b->items[head]))
		head++;
	while (tail < a->n - head && tail < b->n - head && equal(&a->items[a->n - 1 - tail], &b->items[b->n - 1 - tail]))
		tail++;
	e = (struct edit){ a->items + head, b->items + head, a->n - head - tail, b->n - head - tail, gone + head, come + head };
	if (e.n > INT32_MAX / 2 || e.m > INT32_MAX / 2)
		return -E2BIG;
	r = search(&e);
	for (i = j = head; r == 0 && (i < a->n || j < b->n);) {
		if ((i < a->n && gone[i]) || (j < b->n && come[j]))
			put_hunk(out, a, b, gone, come, &i, &j);
		else
			i++, j++;
	}
	return r == 0 && !buf_ok(out) ? -ENOMEM : r;
}

int snap_lines_diff(const char *a_text, size_t a_len, const char *b_text, size_t b_len, struct buf *out)
{
	struct lines a = { 0 }, b = { 0 };
	int r = split(a_text, a_len, &a);

	if (r == 0)
		r = split(b_text, b_len, &b);
	if (r == 0)
		r = diff(&a, &b, out);
	free(a.items);
	free(b.items);
	return r;
}
