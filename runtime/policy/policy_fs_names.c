/*
 * What the tables and the lists of the policy file say about one clean path. Knows neither
 * verdicts nor what the object behind the path is.
 */
#include <string.h>

#include "policy/policy_fs_tables.h"
#include "util/str.h"

#define PATH_ROOM	  4096
#define HOME_PATTERNS_MAX 8

static enum policy_fs_relation relate(const char *a, const char *b, const char *path)
{
	const struct policy_fs_pattern pattern = { .part = { a, b } };

	return policy_fs_relate(&pattern, path);
}

static bool covers(const struct policy_fs_class *c, enum policy_fs_relation r)
{
	return c->relations & (1u << r);
}

/* An account whose home is / or a tree of the system says nothing about a home folder. */
static bool home_usable(const char *home)
{
	const char *second = *home == '/' ? strchr(home + 1, '/') : NULL;

	return second && second[1] && second[1] != '/';
}

static enum policy_fs_relation relate_home(const struct policy_fs_class *c, const char *below,
					   const struct policy_fs_fact *fact, const char *path)
{
	enum policy_fs_relation r = POLICY_FS_APART;
	size_t i;

	for (i = 0; policy_fs_home_patterns[i]; i++) {
		r = relate(policy_fs_home_patterns[i], below, path);
		if (covers(c, r))
			return r;
	}
	for (i = 0; i < fact->n_homes; i++) {
		if (!home_usable(fact->homes[i]))
			continue;
		r = relate(fact->homes[i], below, path);
		if (covers(c, r))
			return r;
	}
	return POLICY_FS_APART;
}

/* The first, that is the most important, class that the name falls into. */
bool policy_fs_classify(const struct policy_fs_fact *fact, const char *path,
			struct policy_fs_finding *ret)
{
	const struct policy_fs_class *c;
	enum policy_fs_relation r;
	const char *below;
	size_t i;

	for (c = policy_fs_classes; c->name; c++) {
		for (i = 0; c->patterns[i]; i++) {
			below = str_after(c->patterns[i], "~");
			r = below ? relate_home(c, below, fact, path)
				  : relate(c->patterns[i], NULL, path);
			if (!covers(c, r))
				continue;
			*ret = (struct policy_fs_finding){ c, r, c->patterns[i] };
			return true;
		}
	}
	return false;
}

bool policy_fs_in_names(const char *const *names, const char *name)
{
	size_t i;

	for (i = 0; names[i]; i++)
		if (relate(names[i], NULL, name) == POLICY_FS_SAME)
			return true;
	return false;
}

const char *policy_fs_listed(const struct strv *list, const char *path, unsigned relations)
{
	char entry[PATH_ROOM];
	size_t i;

	for (i = 0; i < list->count; i++)
		if (policy_fs_clean(list->items[i], entry, sizeof(entry)) &&
		    relations & (1u << relate(entry, NULL, path)))
			return list->items[i];
	return NULL;
}

/* Adds head + tail to the list unless a star makes it no path. */
static bool add_watched(struct arena *arena, const char **list, size_t *n, const char *head,
			const char *tail)
{
	if (strchr(head, '*') || strchr(tail, '*'))
		return true;
	list[*n] = arena_printf(arena, "%s%s", head, tail);
	return list[(*n)++] != NULL;
}

static bool add_class(struct arena *arena, const struct policy_fs_class *c, const char **list,
		      size_t *n, const char *const *homes, size_t n_homes)
{
	const char *below;
	bool good = true;
	size_t i, h;

	for (i = 0; c->patterns[i] && good; i++) {
		below = str_after(c->patterns[i], "~");
		if (!below) {
			good = add_watched(arena, list, n, c->patterns[i], "");
			continue;
		}
		for (h = 0; policy_fs_home_patterns[h] && good; h++)
			good = add_watched(arena, list, n, policy_fs_home_patterns[h], below);
		for (h = 0; h < n_homes && good; h++)
			if (home_usable(homes[h]))
				good = add_watched(arena, list, n, homes[h], below);
	}
	return good;
}

const char *const *policy_fs_watched(struct arena *arena, const char *const *homes, size_t n_homes,
				     size_t *ret_n)
{
	const struct policy_fs_class *c;
	size_t rows = 0, n = 0, i;
	const char **list;

	for (c = policy_fs_classes; c->name; c++)
		for (i = 0; c->patterns[i]; i++)
			rows++;
	list = arena_calloc(arena, rows * (n_homes + HOME_PATTERNS_MAX), sizeof(*list));
	if (!list)
		return NULL;
	for (c = policy_fs_classes; c->name; c++)
		if (c->watched && !add_class(arena, c, list, &n, homes, n_homes))
			return NULL;
	*ret_n = n;
	return list;
}
