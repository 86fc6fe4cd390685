/*
 * Compares paths with patterns and cleans them. Everything is text: whether a name means
 * what it says is settled before, by the facts. Knows no rules.
 */
#include "policy/policy_fs_match.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/str.h"

struct walker {
	const struct policy_fs_pattern *pattern;
	size_t part;
	const char *at;
};

static size_t component_len(const char *s)
{
	return strcspn(s, "/");
}

/* The next component of the pattern; 0 when there is none. */
static size_t walker_next(struct walker *w, const char **ret)
{
	size_t n;

	for (;;) {
		while (w->at && *w->at == '/')
			w->at++;
		if (w->at && *w->at)
			break;
		if (++w->part >= ELEMENTSOF(w->pattern->part) || !w->pattern->part[w->part])
			return 0;
		w->at = w->pattern->part[w->part];
	}
	*ret = w->at;
	n = component_len(w->at);
	w->at += n;
	return n;
}

/* '*' within one component: goes back to the last star only, so the cost is bounded by n * m. */
static bool glob_matches(const char *pattern, size_t n, const char *text, size_t m)
{
	size_t i = 0, j = 0, star = n, mark = 0;

	while (j < m) {
		if (i < n && pattern[i] == '*') {
			star = i++;
			mark = j;
		} else if (i < n && pattern[i] == text[j]) {
			i++;
			j++;
		} else if (star < n) {
			i = star + 1;
			j = ++mark;
		} else {
			return false;
		}
	}
	while (i < n && pattern[i] == '*')
		i++;
	return i == n;
}

static bool component_is(const char *want, const char *text, size_t m)
{
	return strlen(want) == m && memcmp(want, text, m) == 0;
}

static bool component_matches(const struct policy_fs_pattern *pattern, const char *p, size_t n,
			      const char *text, size_t m)
{
	if (n == 1 && *p == '@')
		return pattern->id && component_is(pattern->id, text, m);
	if (n == 1 && *p == '%')
		return !pattern->pod || component_is(pattern->pod, text, m);
	return glob_matches(p, n, text, m);
}

enum policy_fs_relation policy_fs_relate(const struct policy_fs_pattern *pattern, const char *path)
{
	struct walker w = { .pattern = pattern, .at = pattern->part[0] };
	const char *p = NULL;
	size_t n, m;

	assert(pattern && path);

	for (;;) {
		while (*path == '/')
			path++;
		n = walker_next(&w, &p);
		if (n == 0)
			return *path ? POLICY_FS_BELOW : POLICY_FS_SAME;
		if (n == 2 && memcmp(p, "**", 2) == 0)
			return POLICY_FS_SAME;
		if (!*path)
			return POLICY_FS_ABOVE;
		m = component_len(path);
		if (!component_matches(pattern, p, n, path, m))
			return POLICY_FS_APART;
		path += m;
	}
}

/* The same folder on every host of the last ten years; both spellings occur in configs. */
static void shorten_var_run(char *path)
{
	const char *rest = str_after(path, "/var/run");

	if (rest && (*rest == '\0' || *rest == '/'))
		memmove(path, path + strlen("/var"), strlen(path + strlen("/var")) + 1);
}

const char *policy_fs_clean(const char *path, char *buf, size_t size)
{
	size_t len = 0, n;

	if (!path || *path != '/' || size < 2)
		return NULL;
	for (; *path; path += n) {
		while (*path == '/')
			path++;
		n = component_len(path);
		if (n == 0 || (n == 1 && *path == '.'))
			continue;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && buf[--len] != '/')
				;
			continue;
		}
		if (n + 2 > size - len)
			return NULL;
		buf[len++] = '/';
		memcpy(buf + len, path, n);
		len += n;
	}
	if (len == 0)
		buf[len++] = '/';
	buf[len] = '\0';
	shorten_var_run(buf);
	return buf;
}
