/*
 * Option words of a mount, one a line: no crash, every refusal names the option, and what is
 * accepted means the same when it is read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "os/mount.h"
#include "util/str.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(struct arena *arena, char *const *words, size_t n, struct mount_op *op, struct error *err)
{
	*op = (struct mount_op)MOUNT_OP_NULL;
	return mount_options_parse(arena, words, n, op, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	char *text = strndup((const char *)data, size), *rest = text, *word;
	struct error err = ERROR_NULL;
	struct mount_op op, again;
	char *words[WORDS_MAX];
	size_t n = 0;
	int r;

	while (n < WORDS_MAX && (word = strsep(&rest, "\n")))
		words[n++] = word;
	r = parse(&arena, words, n, &op, &err);
	if (r < 0 && (!err.text[0] || err.code >= 0))
		abort();
	if (r == 0 && (parse(&arena, words, n, &again, &err) < 0 || again.attr_set != op.attr_set ||
		       again.attr_clr != op.attr_clr))
		abort();
	free(text);
	return 0;
}
