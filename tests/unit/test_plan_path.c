/*
 * Paths as text: cleaning, containment, duplicates.
 */
#include "plan/plan_internal.h"
#include "tests/unit/tap.h"

static void test_clean(void)
{
	static const char *const cases[][2] = {
		{ "/", "/" },
		{ "", "/" },
		{ "//", "/" },
		{ "/.", "/" },
		{ "/a", "/a" },
		{ "a", "/a" },
		{ "/a/", "/a" },
		{ "//a///b", "/a/b" },
		{ "/a/./b/.", "/a/b" },
		{ "/a/../b", "/b" },
		{ "/..", "/" },
		{ "/../../a", "/a" },
		{ "/a/b/../..", "/" },
		{ "/a/b/../../../c", "/c" },
		{ "/..a/b..", "/..a/b.." },
		{ "../a", "/a" },
		{ "/aa/../bb/../cc", "/cc" },
	};
	struct arena a = ARENA_NULL;
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++)
		is_str(plan_path_clean(&a, cases[i][0]), cases[i][1], cases[i][0]);
	arena_done(&a);
}

static void test_within(void)
{
	ok(plan_path_within("/a", "/a"), "itself");
	ok(plan_path_within("/a/b", "/a"), "below");
	ok(!plan_path_within("/ab", "/a"), "a longer name");
	ok(!plan_path_within("/a", "/a/b"), "above");
	ok(plan_path_within("/a", "/"), "everything is in /");
}

static void test_unique(void)
{
	char *items[] = { "/proc/a", "/proc//a", "/b", "/proc/a/", "/b/c/..", "/c", NULL };
	struct strv list = { .items = items, .count = 6, .set = true };
	struct strv empty = { 0 };
	struct arena a = ARENA_NULL;
	struct error err;
	char **out = NULL;
	size_t n = 0;

	is_int(plan_paths_unique(&a, &list, &out, &n, &err), 0, "unique");
	is_int(n, 3, "three differ");
	is_str(out[0], "/proc/a", "first");
	is_str(out[1], "/b", "second");
	is_str(out[2], "/c", "third");
	is_int(plan_paths_unique(&a, &empty, &out, &n, &err), 0, "no paths");
	is_int(n, 0, "none");
	arena_done(&a);
}

int main(void)
{
	TAP_BEGIN();
	test_clean();
	test_within();
	test_unique();
	return TAP_END();
}
