/*
 * Unified hunks: known ones by text, and random texts whose hunks are applied again and must
 * give the other text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "snap/snap_render.h"
#include "tap.h"

static void known(const char *name, const char *a, const char *b, const char *want)
{
	_cleanup_buf_ struct buf out = BUF_NULL;

	is_int(snap_lines_diff(a, strlen(a), b, strlen(b), &out), 0, name);
	is_str(out.data ? out.data : "", want, name);
}

static const char *next_line(const char *p)
{
	const char *newline = strchr(p, '\n');

	return newline ? newline + 1 : p + strlen(p);
}

/* Applies hunks to text as patch(1) would, checking every context line; false when they do not fit. */
static bool apply(const char *text, const char *hunks, struct buf *out)
{
	const char *at = text, *p = hunks;
	size_t line = 1;

	while (*p) {
		unsigned long start, count = 1;
		int n = 0;

		if (sscanf(p, "@@ -%lu%n", &start, &n) != 1)
			return false;
		if (p[n] == ',' && sscanf(p + n, ",%lu", &count) != 1)
			return false;
		if (count == 0)
			start++;
		for (; line < start; line++) {
			buf_add(out, at, (size_t)(next_line(at) - at));
			at = next_line(at);
		}
		for (p = next_line(p); *p && *p != '@'; p = next_line(p)) {
			const char *end = next_line(p);
			bool cut = str_after(end, "\\ ") != NULL;
			size_t len = (size_t)(end - p) - 1 - (cut ? 1 : 0);

			if (*p == '\\')
				continue;
			if (*p != '+') {
				if ((size_t)(next_line(at) - at) != len || memcmp(at, p + 1, len) != 0)
					return false;
				at = next_line(at);
				line++;
			}
			if (*p != '-')
				buf_add(out, p + 1, len);
		}
	}
	buf_adds(out, at);
	return true;
}

static uint64_t state = 88172645463325252;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

static void make_text(struct buf *b, unsigned lines, unsigned words)
{
	unsigned i;

	buf_adds(b, "");
	for (i = 0; i < lines; i++)
		buf_addf(b, "w%u%s", below(words), i + 1 < lines || below(4) ? "\n" : "");
}

static void edit_text(const char *from, struct buf *b)
{
	const char *p = from;

	buf_adds(b, "");
	while (*p) {
		const char *end = next_line(p);
		unsigned what = below(12);

		if (what == 0)
			buf_addf(b, "new%u\n", below(5));
		if (what != 1)
			buf_add(b, p, (size_t)(end - p));
		p = end;
	}
}

static bool one_round(void)
{
	_cleanup_buf_ struct buf a = BUF_NULL, b = BUF_NULL, hunks = BUF_NULL, got = BUF_NULL;

	make_text(&a, below(40), 1 + below(20));
	if (below(3))
		edit_text(a.data, &b);
	else
		make_text(&b, below(40), 1 + below(20));
	buf_adds(&hunks, "");
	buf_adds(&got, "");
	if (snap_lines_diff(a.data, a.len, b.data, b.len, &hunks) < 0 || !apply(a.data, hunks.data, &got) || !str_eq(got.data, b.data)) {
		printf("# from:\n%s\n# to:\n%s\n# hunks:\n%s\n# got:\n%s\n", a.data, b.data, hunks.data, got.data);
		return false;
	}
	/* Equal texts have no hunks. */
	return str_eq(a.data, b.data) == (hunks.len == 0);
}

int main(void)
{
	_cleanup_buf_ struct buf a = BUF_NULL, b = BUF_NULL, hunks = BUF_NULL, got = BUF_NULL;
	unsigned i;

	TAP_BEGIN();
	known("equal", "a\nb\n", "a\nb\n", "");
	known("a line changed", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
	known("from nothing", "", "a\n", "@@ -0,0 +1 @@\n+a\n");
	known("to nothing", "a\nb", "", "@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n");
	known("newline added", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
	known("two hunks", "x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\n8\nY\n",
	      "@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-y\n+Y\n");
	known("hunks that touch are one", "x\n1\n2\n3\n4\n5\n6\ny\n", "X\n1\n2\n3\n4\n5\n6\nY\n",
	      "@@ -1,8 +1,8 @@\n-x\n+X\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n+Y\n");
	for (i = 0; i < 20000; i++)
		if (!one_round())
			break;
	is_int(i, 20000, "random texts");
	/* More differences than the search looks for. */
	make_text(&a, 5000, 1000000);
	make_text(&b, 5000, 1000000);
	buf_adds(&hunks, "");
	buf_adds(&got, "");
	ok(snap_lines_diff(a.data, a.len, b.data, b.len, &hunks) == 0 && apply(a.data, hunks.data, &got) && str_eq(got.data, b.data),
	   "beyond the limit of the search");
	return TAP_END();
}
