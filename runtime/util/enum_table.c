/*
 * Look-ups in name tables; linear, because the longest table has some forty rows.
 */
#include "util/enum_table.h"

#include <errno.h>
#include <string.h>

int enum_from_name(const struct enum_table *t, const char *name, uint64_t *ret_value)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (strcmp(t->entries[i].name, name) == 0) {
			*ret_value = t->entries[i].value;
			return 0;
		}
	}
	return -ENOENT;
}

const char *enum_to_name(const struct enum_table *t, uint64_t value)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->entries[i].value == value)
			return t->entries[i].name;
	return NULL;
}
