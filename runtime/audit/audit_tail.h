/*
 * The end of a file of a log, without reading all of it.
 */
#pragma once

#include <stdbool.h>

#include "audit/audit.h"

/*
 * Number and hash of the last whole record, and the size of the file; records 0 when there is
 * none. *ret_torn: a line without its end follows. 0 or negative errno.
 */
int audit_tail_read(int fd, struct audit_head *ret, bool *ret_torn);
/* The last bytes of the file, at most max, from the begin of a line on; malloc'ed, NUL-terminated. */
int audit_tail_text(int fd, size_t max, char **ret, size_t *ret_len);
/* What stands in a line without parsing JSON; false: it is no record's. */
bool audit_tail_seal(const char *line, size_t len, uint64_t *ret_seq, uint8_t ret_hash[SHA256_BYTES]);
