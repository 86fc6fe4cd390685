/*
 * Owns the rules for what a container may say to the host's service manager. Pure; knows no
 * socket.
 */
#include <assert.h>
#include <string.h>

#include "container/notify.h"
#include "util/parse.h"
#include "util/str.h"

#define ERRNO_MAX 4095 /* MAX_ERRNO of the kernel */

static bool is_one(const char *value)
{
	return str_eq(value, "1");
}

static bool is_errno(const char *value)
{
	uint32_t n;

	return parse_u32(value, &n) == 0 && n <= ERRNO_MAX;
}

static bool is_number(const char *value)
{
	uint64_t n;

	return parse_u64(value, &n) == 0;
}

/* Shown on administrators' terminals: no control characters, neither of ASCII nor U+0080 to U+009F. */
static bool is_printable(const char *value)
{
	size_t left = strlen(value), n;

	if (left > NOTIFY_STATUS_MAX)
		return false;
	for (; left > 0; value += n, left -= n) {
		unsigned char c = (unsigned char)value[0];

		n = str_utf8_len(value, left);
		if (n == 0 || c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)value[1] < 0xa0))
			return false;
	}
	return true;
}

static const struct rule {
	const char *name; /* with the equals sign */
	bool (*good)(const char *value);
	unsigned state;
} rules[] = {
	{ "READY=", is_one, NOTIFY_READY },
	{ "RELOADING=", is_one, NOTIFY_RELOADING },
	{ "STOPPING=", is_one, NOTIFY_STOPPING },
	{ "WATCHDOG=", is_one, 0 },
	{ "STATUS=", is_printable, 0 },
	{ "ERRNO=", is_errno, 0 },
	/* Goes with RELOADING (systemd 253). */
	{ "MONOTONIC_USEC=", is_number, 0 },
};

/* The rule that lets the line pass, or NULL. */
static const struct rule *rule_for(const char *line)
{
	const char *value;
	size_t i;

	for (i = 0; i < ELEMENTSOF(rules); i++) {
		value = str_after(line, rules[i].name);
		if (value)
			return rules[i].good(value) ? &rules[i] : NULL;
	}
	return NULL;
}

size_t notify_filter(const char *data, size_t len, char ret[NOTIFY_MESSAGE_MAX + 2], unsigned *ret_state)
{
	char copy[NOTIFY_MESSAGE_MAX + 1];
	char *line, *next = copy;
	unsigned seen = 0, state = 0;
	size_t out = 0;

	assert(data && ret && ret_state);

	*ret_state = 0;
	ret[0] = '\0';
	if (len > NOTIFY_MESSAGE_MAX || memchr(data, '\0', len))
		return 0;
	memcpy(copy, data, len);
	copy[len] = '\0';
	while ((line = strsep(&next, "\n"))) {
		const struct rule *rule = rule_for(line);
		size_t n = strlen(line);

		if (!rule || (seen & (1u << (rule - rules))))
			continue;
		seen |= 1u << (rule - rules);
		state |= rule->state;
		/* Lines of the input and their newlines: no longer than it, but for a last newline. */
		memcpy(ret + out, line, n);
		out += n;
		ret[out++] = '\n';
	}
	ret[out] = '\0';
	*ret_state = state;
	return out;
}
