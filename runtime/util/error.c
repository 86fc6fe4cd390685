/*
 * Owns struct error: texts, prefixes and the errno spelling. Prints nothing.
 */
#include "util/error.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

struct errno_name {
	int num;
	const char *text;
};

/* glibc's words differ from Go's only here; all others differ in the first letter alone. */
static const struct errno_name errno_names[] = {
	{ ENOTDIR, "not a directory" },
	{ EISDIR, "is a directory" },
	{ EBUSY, "device or resource busy" },
	{ EINVAL, "invalid argument" },
	{ ENOTTY, "inappropriate ioctl for device" },
	{ EOPNOTSUPP, "operation not supported" },
	{ ENOEXEC, "exec format error" },
	{ EIO, "input/output error" },
	{ EXDEV, "invalid cross-device link" },
};

static void text_truncated(char *buf, size_t size)
{
	memcpy(buf + size - 4, "...", 4);
}

static int text_vformat(char *buf, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf, size, fmt, ap);

	if (n < 0) {
		buf[0] = '\0';
		return 0;
	}
	if ((size_t)n >= size) {
		text_truncated(buf, size);
		return (int)size - 1;
	}
	return n;
}

const char *error_errno_text(int errnum)
{
	static char lowered[128];
	const char *s;
	size_t i;

	if (errnum < 0)
		errnum = -errnum;
	for (i = 0; i < ELEMENTSOF(errno_names); i++)
		if (errno_names[i].num == errnum)
			return errno_names[i].text;

	s = strerrordesc_np(errnum);
	if (!s) {
		(void)snprintf(lowered, sizeof(lowered), "errno %d", errnum);
		return lowered;
	}
	(void)snprintf(lowered, sizeof(lowered), "%s", s);
	/* "RPC struct is bad" and the like keep their acronym. */
	if (lowered[0] && !isupper((unsigned char)lowered[1]))
		lowered[0] = (char)tolower((unsigned char)lowered[0]);
	return lowered;
}

int error_text(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	assert(err);
	assert(code < 0);

	err->code = code;
	va_start(ap, fmt);
	(void)text_vformat(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	assert(err);
	assert(code < 0);

	err->code = code;
	va_start(ap, fmt);
	n = (size_t)text_vformat(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (snprintf(err->text + n, sizeof(err->text) - n, ": %s", error_errno_text(code)) >=
	    (int)(sizeof(err->text) - n))
		text_truncated(err->text, sizeof(err->text));
	return code;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[ERROR_TEXT_MAX];
	va_list ap;
	size_t n;

	assert(err);
	assert(err->code < 0);

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	n = (size_t)text_vformat(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (snprintf(err->text + n, sizeof(err->text) - n, ": %s", old) >=
	    (int)(sizeof(err->text) - n))
		text_truncated(err->text, sizeof(err->text));
	return err->code;
}

int error_oom(struct error *err)
{
	return error_text(err, -ENOMEM, "out of memory");
}
