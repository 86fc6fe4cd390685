/*
 * Characters, runs and small questions about texts for the search for secrets. Written
 * by hand because the start of a container waits for it: compiling regular expressions
 * alone would take longer than judging the whole environment.
 */
#include <string.h>
#include <strings.h>

#include "util/secrets.h"
#include "util/cleanup.h"

#define LETTER                                                                                    \
	(1u << SECRET_ALNUM | 1u << SECRET_WORD | 1u << SECRET_URL | 1u << SECRET_DOTTED | 1u << SECRET_BASE64 | \
	 1u << SECRET_BEARER | 1u << SECRET_ANY)
#define UPPER (LETTER | 1u << SECRET_UPPER)
#define HEX   (1u << SECRET_HEX)
#define ANY   (1u << SECRET_ANY)

const uint16_t secret_classes[256] = {
	['!'] = ANY,
	['#' ... '&'] = ANY, /* neither of the quotes */
	['(' ... '*'] = ANY,
	['+'] = ANY | 1u << SECRET_BASE64 | 1u << SECRET_BEARER,
	[','] = ANY,
	['-'] = ANY | 1u << SECRET_URL | 1u << SECRET_DOTTED | 1u << SECRET_BEARER,
	['.'] = ANY | 1u << SECRET_DOTTED | 1u << SECRET_BEARER,
	['/'] = ANY | 1u << SECRET_BASE64 | 1u << SECRET_BEARER,
	['0' ... '9'] = UPPER | HEX | 1u << SECRET_DIGIT,
	[':' ... '<'] = ANY,
	['='] = ANY | 1u << SECRET_BASE64 | 1u << SECRET_BEARER,
	['>' ... '@'] = ANY,
	['A' ... 'F'] = UPPER | HEX,
	['G' ... 'Z'] = UPPER,
	['[' ... '^'] = ANY,
	['_'] = ANY | 1u << SECRET_WORD | 1u << SECRET_URL | 1u << SECRET_DOTTED | 1u << SECRET_BEARER,
	['`'] = ANY,
	['a' ... 'f'] = LETTER | HEX,
	['g' ... 'z'] = LETTER,
	['{' ... '}'] = ANY,
	['~'] = ANY | 1u << SECRET_BEARER,
	[0x80 ... 0xff] = ANY,
};

size_t secret_run(enum secret_set set, struct secret_text t)
{
	size_t i;

	for (i = 0; i < t.len && secret_in_set(set, t.s[i]); i++)
		;
	return i;
}

bool secret_has_digit(struct secret_text t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (t.s[i] >= '0' && t.s[i] <= '9')
			return true;
	return false;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

size_t secret_base64(struct secret_text t, char *ret, size_t room)
{
	unsigned bits = 0, have = 0;
	size_t i, n = 0;
	int d;

	for (i = 0; i < t.len && n < room; i++) {
		d = base64_digit(t.s[i]);
		if (d < 0)
			break;
		bits = (bits << 6 | (unsigned)d) & 0xfff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			ret[n++] = (char)(bits >> have & 0xff);
		}
	}
	return n;
}

bool secret_is(struct secret_text t, const char *word)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (!word[i] || secret_upper(t.s[i]) != word[i])
			return false;
	return !word[i];
}

bool secret_is_truth_value(struct secret_text t)
{
	static const char *const words[] = { "TRUE",	 "FALSE",    "YES",	  "NO",
					     "ON",	 "OFF",	     "0",	  "1",
					     "T",	 "F",	     "Y",	  "N",
					     "NONE",	 "NULL",     "NIL",	  "ENABLED",
					     "DISABLED", "REQUIRED", "REQUESTED", "OPTIONAL" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(words); i++)
		if (secret_is(t, words[i]))
			return true;
	return false;
}

/* "/x/credentials.json": base64 has no dot, and a password hardly an extension. */
static bool has_extension(struct secret_text t)
{
	size_t i = t.len;

	while (i && t.s[i - 1] >= 'a' && t.s[i - 1] <= 'z')
		i--;
	return t.s[0] == '/' && i > 2 && t.s[i - 1] == '.' && t.s[i - 2] != '/' && t.len - i >= 2 &&
	       t.len - i <= 5 && memchr(t.s + 1, '/', i - 2);
}

bool secret_is_path(struct secret_text t)
{
	/* A random secret in base64 begins like one of these once in several million. */
	static const char *const roots[] = { "/etc/",	  "/run/",	 "/var/",    "/usr/",
					     "/opt/",	  "/home/",	 "/root/",   "/tmp/",
					     "/srv/",	  "/mnt/",	 "/dev/",    "/proc/",
					     "/data/",	  "/app/",	 "/certs/",  "/config/",
					     "/secrets/", "/workspace/", "/builds/", "/models/",
					     "./",	  "../",	 "~/",	     "file:///" };
	size_t i;

	for (i = 0; i < t.len; i++)
		if (!secret_in_set(SECRET_BEARER, t.s[i]) && !strchr("@%:,", t.s[i]))
			return false;
	for (i = 0; i < ELEMENTSOF(roots); i++)
		if (secret_begins(t, roots[i]))
			return true;
	return t.len > 0 && has_extension(t);
}
