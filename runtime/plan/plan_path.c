/*
 * Paths as text, for comparisons inside the plan. A container's links can make two
 * different texts one file: what must hold against an attacker is checked on
 * descriptors when the plan is carried out.
 */
#include "plan/plan_internal.h"
#include "util/str.h"

char *plan_path_clean(struct arena *a, const char *path)
{
	/* One byte more for the leading slash of a relative path, one for the end. */
	char *clean = arena_alloc(a, strlen(path) + 2);
	size_t len = 0, n;

	if (!clean)
		return NULL;
	for (; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && clean[--len] != '/')
				;
			continue;
		}
		clean[len++] = '/';
		memcpy(clean + len, path, n);
		len += n;
	}
	if (len == 0)
		clean[len++] = '/';
	clean[len] = '\0';
	return clean;
}

bool plan_path_within(const char *path, const char *folder)
{
	const char *rest = str_after(path, folder);

	if (str_eq(folder, "/"))
		return true;
	return rest && (*rest == '\0' || *rest == '/');
}

int plan_paths_unique(struct arena *a, const struct strv *list, char ***ret, size_t *ret_count,
		      struct error *err)
{
	char **items = arena_calloc(a, list->count, sizeof(*items));
	char **clean = arena_calloc(a, list->count, sizeof(*clean));
	size_t i, k, n = 0;

	if (!items || !clean)
		return error_oom(err);
	for (i = 0; i < list->count; i++) {
		clean[n] = plan_path_clean(a, list->items[i]);
		if (!clean[n])
			return error_oom(err);
		for (k = 0; k < n && !str_eq(clean[k], clean[n]); k++)
			;
		if (k == n)
			items[n++] = list->items[i];
	}
	*ret = items;
	*ret_count = n;
	return 0;
}
