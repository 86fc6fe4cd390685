/*
 * The JSON reader on any bytes: no crash, and each node's place lies in the text.
 */
#include <stdlib.h>

#include "util/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json *j, size_t size)
{
	if (j->offset >= size)
		abort();
	if (j->type == JSON_ARRAY || j->type == JSON_OBJECT)
		for (j = j->kids.first; j; j = j->next)
			walk(j, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct error err = ERROR_NULL;
	struct json *root;

	if (json_parse("fuzz", (const char *)data, size, size % 2 ? JSON_COMMENTS : 0, &a, &root,
		       &err) == 0)
		walk(root, size);
	return 0;
}
