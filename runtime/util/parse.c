/*
 * Owns the conversion of command line and configuration text into numbers.
 * Everything is decided on ASCII digits, so that no locale, sign or leading
 * blank can slip through as it does with the strtol family.
 */
#include "util/parse.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "util/cleanup.h"
#include "util/str.h"

#define SIGNAL_MAX 64
/* The first real-time signal that glibc leaves to programs; names count from here. */
#define SIGNAL_RTMIN 34

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads at least one digit from *s and moves *s behind the last one. */
static int take_digits(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	*s = p;
	*ret = v;
	return 0;
}

static bool all_digits(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!is_digit(*s))
			return false;
	return true;
}

int parse_u64(const char *s, uint64_t *ret)
{
	/* First the form, then the range: "99999999999999999999x" is not a number. */
	if (!all_digits(s))
		return -EINVAL;
	return take_digits(&s, ret);
}

int parse_u32(const char *s, uint32_t *ret)
{
	uint64_t v;
	int r = parse_u64(s, &v);

	if (r < 0)
		return r;
	if (v > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)v;
	return 0;
}

int parse_i64(const char *s, int64_t *ret)
{
	bool negative = *s == '-';
	uint64_t v;
	int r = parse_u64(s + negative, &v);

	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int parse_i32(const char *s, int32_t *ret)
{
	int64_t v;
	int r = parse_i64(s, &v);

	if (r < 0)
		return r;
	if (v < INT32_MIN || v > INT32_MAX)
		return -ERANGE;
	*ret = (int32_t)v;
	return 0;
}

int parse_octal(const char *s, uint32_t *ret)
{
	uint32_t v = 0;

	if (!all_digits(s) || strpbrk(s, "89"))
		return -EINVAL;
	for (; *s; s++) {
		v = v * 8 + (uint32_t)(*s - '0');
		if (v > 07777)
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int parse_bool(const char *s, bool *ret)
{
	static const char *const yes[] = { "true", "1", "t", "T", "TRUE", "True" };
	static const char *const no[] = { "false", "0", "f", "F", "FALSE", "False" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(yes); i++) {
		if (str_eq(s, yes[i])) {
			*ret = true;
			return 0;
		}
		if (str_eq(s, no[i])) {
			*ret = false;
			return 0;
		}
	}
	return -EINVAL;
}

/*
 * Reads digits with an optional fraction as value = number / scale. Fraction
 * digits beyond the twelfth, or beyond 64 bits, are checked but do not count:
 * they are worth less than a byte or a nanosecond in any value that is in range.
 */
static int take_decimal(const char **s, uint64_t *ret_number, uint64_t *ret_scale)
{
	uint64_t number, scale = 1;
	const char *p = *s;
	int r = take_digits(&p, &number);

	if (r < 0)
		return r;
	if (*p == '.') {
		if (!is_digit(*++p))
			return -EINVAL;
		for (; is_digit(*p); p++) {
			if (scale >= 1000000000000 || number > UINT64_MAX / 10 - 1)
				continue;
			number = number * 10 + (uint64_t)(*p - '0');
			scale *= 10;
		}
	}
	*s = p;
	*ret_number = number;
	*ret_scale = scale;
	return 0;
}

static uint64_t byte_unit(const char *suffix)
{
	static const char letters[] = "kmgt";
	const char *at;
	uint64_t unit;

	if (!*suffix || strcasecmp(suffix, "b") == 0)
		return 1;
	at = memchr(letters, *suffix | 0x20, sizeof(letters) - 1);
	if (!at)
		return 0;
	unit = (uint64_t)1024 << (10 * (at - letters));
	suffix++;
	if (*suffix && strcasecmp(suffix, "b") != 0 && strcasecmp(suffix, "ib") != 0)
		return 0;
	return unit;
}

int parse_bytes(const char *s, int64_t *ret)
{
	uint64_t number, scale, unit;
	unsigned __int128 v;
	int r;

	if (str_eq(s, "-1")) {
		*ret = -1;
		return 0;
	}
	r = take_decimal(&s, &number, &scale);
	if (r < 0)
		return r;
	unit = byte_unit(s);
	if (unit == 0)
		return -EINVAL;
	v = (unsigned __int128)number * unit / scale;
	if (v > INT64_MAX)
		return -ERANGE;
	*ret = (int64_t)v;
	return 0;
}

static uint64_t take_time_unit(const char **s)
{
	/* "ms" before "m" and "s"; both spellings of the micro sign. */
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		/* clang-format off */
		{ "ns", 1 },
		{ "us", 1000 },
		{ "\xc2\xb5s", 1000 },
		{ "\xce\xbcs", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", 60000000000 },
		{ "h", 3600000000000 },
		/* clang-format on */
	};
	const char *rest;
	size_t i;

	for (i = 0; i < ELEMENTSOF(units); i++) {
		rest = str_after(*s, units[i].name);
		if (rest) {
			*s = rest;
			return units[i].ns;
		}
	}
	return 0;
}

int parse_duration(const char *s, uint64_t *ret_ns)
{
	uint64_t number, scale, unit, total = 0;
	unsigned __int128 v;
	int r;

	if (str_eq(s, "0")) {
		*ret_ns = 0;
		return 0;
	}
	do {
		r = take_decimal(&s, &number, &scale);
		if (r < 0)
			return r;
		unit = take_time_unit(&s);
		if (unit == 0)
			return -EINVAL;
		v = (unsigned __int128)number * unit / scale + total;
		if (v > INT64_MAX) /* Go's limit, some 292 years */
			return -ERANGE;
		total = (uint64_t)v;
	} while (*s);
	*ret_ns = total;
	return 0;
}

/* "RTMIN", "RTMIN+3", "RTMAX-2". */
static int parse_rt_signal(const char *name, int *ret)
{
	uint64_t n = 0;
	bool from_max = strncasecmp(name, "RTMAX", 5) == 0;
	char sign;

	if (!from_max && strncasecmp(name, "RTMIN", 5) != 0)
		return -EINVAL;
	sign = name[5];
	if (sign && (sign != (from_max ? '-' : '+') || parse_u64(name + 6, &n) < 0))
		return -EINVAL;
	if (n > SIGNAL_MAX - SIGNAL_RTMIN)
		return -ERANGE;
	*ret = from_max ? SIGNAL_MAX - (int)n : SIGNAL_RTMIN + (int)n;
	return 0;
}

int parse_signal(const char *s, int *ret)
{
	static const struct {
		const char *name;
		int num;
	} aliases[] = {
		{ "IOT", SIGIOT }, { "CLD", SIGCHLD }, { "IO", SIGIO }, { "POLL", SIGPOLL }
	};
	const char *abbrev;
	uint64_t n;
	size_t i;
	int sig;

	if (all_digits(s)) {
		if (parse_u64(s, &n) < 0 || n < 1 || n > SIGNAL_MAX)
			return -ERANGE;
		*ret = (int)n;
		return 0;
	}
	if (strncasecmp(s, "SIG", 3) == 0)
		s += 3;
	for (sig = 1; sig < 32; sig++) {
		abbrev = sigabbrev_np(sig);
		if (abbrev && strcasecmp(s, abbrev) == 0) {
			*ret = sig;
			return 0;
		}
	}
	for (i = 0; i < ELEMENTSOF(aliases); i++) {
		if (strcasecmp(s, aliases[i].name) == 0) {
			*ret = aliases[i].num;
			return 0;
		}
	}
	return parse_rt_signal(s, ret);
}
