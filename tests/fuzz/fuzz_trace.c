/*
 * The decoder of the exec audit's records, with any bytes as a record. What it accepts must
 * point into the bytes or into itself.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit_trace_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct audit_bytes text, const char *begin, size_t size)
{
	assert(text.data >= begin && text.len <= size && text.data + text.len <= begin + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct audit_trace_record rec;
	struct audit_event event;
	/* A copy of just this size: the sanitizer sees a step beyond it. */
	char *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (audit_trace_decode(copy, size, &rec) == 0) {
		inside(rec.comm, rec.comm_text, sizeof(rec.comm_text));
		if (rec.type == AUDIT_REC_EXEC) {
			inside(rec.file, copy, size);
			inside(rec.argv, copy, size);
			inside(rec.cwd, rec.cwd_text, sizeof(rec.cwd_text));
			assert(rec.cwd.len == strlen(rec.cwd_text) && rec.cwd.len > 0);
		}
		audit_trace_event(&rec, &event);
		assert(event.type == (rec.type == AUDIT_REC_EXEC ? AUDIT_EXEC : AUDIT_EXEC_EXIT));
	}
	free(copy);
	return 0;
}
