/*
 * Error texts: Go's errno spelling, prefixes, and what happens at the end of the
 * buffer.
 */
#include <string.h>

#include "tap.h"
#include "util/error.h"

int main(void)
{
	struct error err = ERROR_NULL;
	char longtext[ERROR_TEXT_MAX + 100];

	TAP_BEGIN();

	is_int(error_set(&err, -ENOENT, "open %s", "/x"), -ENOENT, "set returns the code");
	is_str(err.text, "open /x: no such file or directory", "lower-case text");
	is_int(error_prefix(&err, "step %d", 2), -ENOENT, "prefix returns the code");
	is_str(err.text, "step 2: open /x: no such file or directory", "prefix text");
	is_int(error_text(&err, -EINVAL, "bad %s", "thing"), -EINVAL, "text returns the code");
	is_str(err.text, "bad thing", "text has no errno");
	is_int(error_oom(&err), -ENOMEM, "out of memory");
	is_str(err.text, "out of memory", "out of memory text");

	is_str(error_errno_text(EACCES), "permission denied", "EACCES");
	is_str(error_errno_text(-EPERM), "operation not permitted", "EPERM, negative");
	is_str(error_errno_text(ENOTDIR), "not a directory", "ENOTDIR");
	is_str(error_errno_text(EISDIR), "is a directory", "EISDIR");
	is_str(error_errno_text(ESRCH), "no such process", "ESRCH");
	is_str(error_errno_text(ENOEXEC), "exec format error", "ENOEXEC");
	is_str(error_errno_text(123456), "errno 123456", "an unknown number");

	memset(longtext, 'x', sizeof(longtext) - 1);
	longtext[sizeof(longtext) - 1] = '\0';
	(void)error_text(&err, -EINVAL, "%s", longtext);
	is_int(strlen(err.text), ERROR_TEXT_MAX - 1, "a long text fills the buffer");
	is_str(err.text + ERROR_TEXT_MAX - 4, "...", "and says that it was cut");
	(void)error_set(&err, -EINVAL, "%s", longtext);
	is_str(err.text + ERROR_TEXT_MAX - 4, "...", "so does one with errno");
	(void)error_text(&err, -EINVAL, "%.1010s", longtext);
	(void)error_prefix(&err, "a prefix that pushes the end out");
	ok(strncmp(err.text, "a prefix", 8) == 0, "a prefix on a full text keeps the head");
	is_str(err.text + ERROR_TEXT_MAX - 4, "...", "and marks the cut");
	return TAP_END();
}
