/*
 * Any bytes through the redactor, in pieces of any size: all of them are accounted for, what is
 * no secret comes out as it was, and a pattern's text never does.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/audit_redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *patterns[] = { "QQ*Z", "*#*", "~" };
	_cleanup_buf_ struct buf out = BUF_NULL, argv = BUF_NULL;
	struct audit_redact_state st = { 0 };
	struct audit_redactor *r = NULL;
	struct error err = ERROR_NULL;
	size_t window, cut, at = 1, n, used;

	if (size < 2)
		return 0;
	if (audit_redactor_new(patterns, 3, &r, &err) < 0)
		abort();
	window = 1 + data[0] % 64u * 7;
	while (at < size) {
		/* A copy of its own for each piece, so that a read behind its end is seen. */
		char *piece;

		n = MIN(window, size - at);
		cut = 1 + data[at] % n;
		piece = malloc(n);
		if (!piece)
			abort();
		memcpy(piece, data + at, n);
		used = audit_redact_text(r, &st, (struct audit_bytes){ piece, n }, cut, &out);
		if (used == 0 || used > n)
			abort();
		at += used;
		free(piece);
	}
	if (out.len && memchr(out.data, '~', out.len))
		abort();
	if (audit_redact_argv(r, (struct audit_bytes){ (const char *)data, size }, &argv) && memchr(argv.data, '~', argv.len))
		abort();
	audit_redactor_free(r);
	return 0;
}
