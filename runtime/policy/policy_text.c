/*
 * Values as people write them. What is printed here can be written into a policy file
 * and means the same number.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "policy/policy_internal.h"
#include "util/str.h"

#define LIST_TEXT_MAX 400

const char *policy_bytes_text(char buf[POLICY_TEXT_MAX], uint64_t bytes)
{
	static const char *const units[] = { "", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	if (bytes == POLICY_UNLIMITED) {
		(void)snprintf(buf, POLICY_TEXT_MAX, "unlimited");
		return buf;
	}
	if (bytes == POLICY_AUTO) {
		(void)snprintf(buf, POLICY_TEXT_MAX, "auto");
		return buf;
	}
	while (i + 1 < ELEMENTSOF(units) && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	(void)snprintf(buf, POLICY_TEXT_MAX, "%" PRIu64 "%s", bytes, units[i]);
	return buf;
}

const char *policy_time_text(char buf[POLICY_TEXT_MAX], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = { { 3600000000000, "h" }, { 60000000000, "m" }, { 1000000000, "s" },
		      { 1000000, "ms" },      { 1000, "us" },	    { 1, "ns" } };
	size_t i, len = 0;
	int n;

	if (ns == POLICY_UNLIMITED || ns == 0) {
		(void)snprintf(buf, POLICY_TEXT_MAX, ns ? "off" : "0s");
		return buf;
	}
	for (i = 0; i < ELEMENTSOF(units); i++) {
		if (ns < units[i].ns)
			continue;
		n = snprintf(buf + len, POLICY_TEXT_MAX - len, "%" PRIu64 "%s", ns / units[i].ns,
			     units[i].unit);
		ns %= units[i].ns;
		len += (size_t)n;
		if (len >= POLICY_TEXT_MAX)
			break;
	}
	return buf;
}

const char *policy_cpus_text(char buf[POLICY_TEXT_MAX], uint64_t thousandths)
{
	size_t n;

	if (thousandths == POLICY_UNLIMITED) {
		(void)snprintf(buf, POLICY_TEXT_MAX, "unlimited");
		return buf;
	}
	n = (size_t)snprintf(buf, POLICY_TEXT_MAX, "%" PRIu64 ".%03u", thousandths / 1000,
			     (unsigned)(thousandths % 1000));
	while (buf[n - 1] == '0')
		buf[--n] = '\0';
	if (buf[n - 1] == '.')
		buf[--n] = '\0';
	return buf;
}

const char *policy_count_text(char buf[POLICY_TEXT_MAX], uint64_t n)
{
	if (n == POLICY_UNLIMITED)
		(void)snprintf(buf, POLICY_TEXT_MAX, "unlimited");
	else
		(void)snprintf(buf, POLICY_TEXT_MAX, "%" PRIu64, n);
	return buf;
}

void policy_list_add(struct buf *b, const char *fmt, ...)
{
	char item[128];
	va_list ap;

	if (b->len >= LIST_TEXT_MAX) {
		if (b->len < LIST_TEXT_MAX + sizeof(item) && !str_eq(b->data + b->len - 3, "..."))
			buf_adds(b, ", ...");
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(item, sizeof(item), fmt, ap);
	va_end(ap);
	buf_addf(b, "%s%s", b->len ? ", " : "", item);
}
