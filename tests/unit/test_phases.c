/*
 * The privileged sequences, printed and compared with the golden file: a reordering
 * is a visible change there, and every entry must say why it stands where it stands.
 */
#include <stdlib.h>

#include "container/phase.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

#include <fcntl.h>

int main(void)
{
	const char *srcdir = getenv("srcdir") ? getenv("srcdir") : ".";
	_cleanup_buf_ struct buf got = BUF_NULL;
	_cleanup_free_ char *path = str_printf("%s/tests/golden/phases.txt", srcdir);
	_cleanup_free_ char *want = NULL;
	struct error err = ERROR_NULL;
	const struct phase_list *list;
	size_t i, j, len;

	TAP_BEGIN();
	for (i = 0; (list = phase_list_get(i)); i++) {
		buf_addf(&got, "%s\n", list->name);
		for (j = 0; j < list->count; j++) {
			buf_addf(&got, "  %s\n", list->phases[j].name);
			ok(list->phases[j].why_here && strlen(list->phases[j].why_here) > 10,
			   "%s: %s says why it is there", list->name, list->phases[j].name);
		}
	}
	if (getenv("UPDATE_GOLDEN"))
		ok(file_replace(AT_FDCWD, path, got.data, got.len, 0644, 0, &err) == 0, "golden file rewritten: %s", err.text);
	ok(file_read_all(AT_FDCWD, path, 1 << 20, &want, &len, &err) == 0, "golden file read: %s", err.text);
	is_str(got.data, want, "phases are as in tests/golden/phases.txt");
	return TAP_END();
}
