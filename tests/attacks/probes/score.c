/*
 * Counts exploits closed. Owns the little language of the tables' columns.
 */
#include "score.h"

#include <stdio.h>
#include <string.h>

#define CELLS 8

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " ");
	n = strlen(s);
	while (n > 0 && s[n - 1] == ' ')
		s[--n] = '\0';
	return s;
}

/* Cuts the next piece off *s at any of the separators; NULL at the end. */
static char *piece(char **s, const char *separators)
{
	char *p = *s;

	if (!p)
		return NULL;
	*s = strpbrk(p, separators);
	if (*s)
		*(*s)++ = '\0';
	return trim(p);
}

/* All alternatives are refused. */
static bool alternatives_refused(char *text, score_refused_fn refused, void *ctx)
{
	char *one;

	while ((one = piece(&text, "|")))
		if (!refused(one, ctx))
			return false;
	return true;
}

static bool needs_refused(const char *cell, score_refused_fn refused, void *ctx)
{
	char copy[256], *text = copy, *one;

	(void)snprintf(copy, sizeof(copy), "%s", cell);
	while ((one = piece(&text, "&")))
		if (alternatives_refused(one, refused, ctx))
			return true;
	return false;
}

static bool variants_refused(const char *cell, score_refused_fn refused, void *ctx)
{
	char copy[256], *text = copy, *one;

	(void)snprintf(copy, sizeof(copy), "%s", cell);
	while ((one = piece(&text, ";")))
		if (*one && (strcmp(one, "OPEN") == 0 || !refused(one, ctx)))
			return false;
	return true;
}

static int split(char *line, char *cells[CELLS])
{
	int n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && n < CELLS) {
		char *end = strchr(line, '\t');

		if (end)
			*end++ = '\0';
		cells[n++] = line;
		line = end;
	}
	return n;
}

bool score_table(const char *path, int needs, int variants, score_refused_fn refused, void *ctx,
		 struct score *ret)
{
	char line[1024], *cells[CELLS];
	FILE *f = fopen(path, "re");
	bool heading = true;
	int n;

	memset(ret, 0, sizeof(*ret));
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		n = split(line, cells);
		if (heading || n <= needs) {
			heading = false;
			continue;
		}
		ret->rows++;
		if (!needs_refused(cells[needs], refused, ctx)) {
			size_t len = strlen(ret->open);

			(void)snprintf(ret->open + len, sizeof(ret->open) - len, "%s%s",
				       len ? ", " : "", cells[0]);
			continue;
		}
		ret->closed++;
		if (variants < 0 || n <= variants || variants_refused(cells[variants], refused, ctx))
			ret->strict++;
	}
	(void)fclose(f);
	return ret->rows > 0;
}
