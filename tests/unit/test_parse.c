/*
 * Numbers from text: the accepted forms with their values, and the refused ones
 * with their reason. A refusal must leave the result untouched.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "tap.h"
#include "util/cleanup.h"
#include "util/parse.h"

struct row {
	const char *text;
	int code;
	long long value;
};

#define UNTOUCHED 77

static void test_integers(void)
{
	static const struct row i64[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "007", 0, 7 },
		{ "9223372036854775807", 0, LLONG_MAX },
		{ "-9223372036854775808", 0, LLONG_MIN },
		{ "9223372036854775808", -ERANGE, UNTOUCHED },
		{ "-9223372036854775809", -ERANGE, UNTOUCHED },
		{ "", -EINVAL, UNTOUCHED },
		{ "-", -EINVAL, UNTOUCHED },
		{ "+1", -EINVAL, UNTOUCHED },
		{ " 1", -EINVAL, UNTOUCHED },
		{ "1 ", -EINVAL, UNTOUCHED },
		{ "--1", -EINVAL, UNTOUCHED },
		{ "0x10", -EINVAL, UNTOUCHED },
		{ "1.0", -EINVAL, UNTOUCHED },
		{ "1e3", -EINVAL, UNTOUCHED },
		{ "99999999999999999999999x", -EINVAL, UNTOUCHED },
	};
	static const struct row i32[] = {
		{ "2147483647", 0, INT_MAX },
		{ "-2147483648", 0, INT_MIN },
		{ "2147483648", -ERANGE, UNTOUCHED },
		{ "-2147483649", -ERANGE, UNTOUCHED },
	};
	uint64_t u64 = UNTOUCHED;
	uint32_t u32 = UNTOUCHED;
	size_t i;

	for (i = 0; i < ELEMENTSOF(i64); i++) {
		int64_t v = UNTOUCHED;
		int r = parse_i64(i64[i].text, &v);

		ok(r == i64[i].code && v == i64[i].value, "i64 \"%s\"", i64[i].text);
	}
	for (i = 0; i < ELEMENTSOF(i32); i++) {
		int32_t v = UNTOUCHED;
		int r = parse_i32(i32[i].text, &v);

		ok(r == i32[i].code && v == i32[i].value, "i32 \"%s\"", i32[i].text);
	}
	is_int(parse_u64("18446744073709551616", &u64), -ERANGE, "u64 over the top");
	ok(u64 == UNTOUCHED, "a refused number leaves the result alone");
	is_int(parse_u64("-1", &u64), -EINVAL, "u64 has no sign");
	is_int(parse_u64("18446744073709551615", &u64), 0, "the largest u64");
	ok(u64 == UINT64_MAX, "is exact");
	is_int(parse_u32("4294967296", &u32), -ERANGE, "u32 over the top");
	is_int(parse_u32("4294967295", &u32), 0, "the largest u32");
	ok(u32 == UINT32_MAX, "is exact");
}

static void test_octal_bool(void)
{
	static const char *const yes[] = { "true", "1", "t", "T", "TRUE", "True" };
	static const char *const no[] = { "false", "0", "f", "F", "FALSE", "False" };
	uint32_t mode = UNTOUCHED;
	bool b;
	size_t i;

	is_int(parse_octal("07777", &mode), 0, "octal with a leading zero");
	is_int(mode, 07777, "octal value");
	is_int(parse_octal("10000", &mode), -ERANGE, "octal beyond mode bits");
	is_int(parse_octal("8", &mode), -EINVAL, "8 is no octal digit");
	is_int(parse_octal("0o7", &mode), -EINVAL, "no Go prefix");
	is_int(parse_octal("", &mode), -EINVAL, "empty octal");
	for (i = 0; i < ELEMENTSOF(yes); i++) {
		b = false;
		ok(parse_bool(yes[i], &b) == 0 && b, "%s is true", yes[i]);
		ok(parse_bool(no[i], &b) == 0 && !b, "%s is false", no[i]);
	}
	is_int(parse_bool("yes", &b), -EINVAL, "yes is no boolean");
	is_int(parse_bool("", &b), -EINVAL, "empty is no boolean");
}

static void test_bytes(void)
{
	static const struct row rows[] = {
		{ "0", 0, 0 },
		{ "-1", 0, -1 },
		{ "512", 0, 512 },
		{ "512b", 0, 512 },
		{ "1k", 0, 1024 },
		{ "1K", 0, 1024 },
		{ "1kb", 0, 1024 },
		{ "1KiB", 0, 1024 },
		{ "64m", 0, 64LL << 20 },
		{ "2G", 0, 2LL << 30 },
		{ "3t", 0, 3LL << 40 },
		{ "1.5g", 0, 3LL << 29 },
		{ "0.5", 0, 0 },
		{ "0.1k", 0, 102 },
		{ "0.12345678901234567890123k", 0, 126 },
		{ "8388607t", 0, 8388607LL << 40 },
		{ "8388608t", -ERANGE, UNTOUCHED },
		{ "9223372036854775807", 0, LLONG_MAX },
		{ "9223372036854775807.9", 0, LLONG_MAX },
		{ "9223372036854775808", -ERANGE, UNTOUCHED },
		{ "-2", -EINVAL, UNTOUCHED },
		{ "1kk", -EINVAL, UNTOUCHED },
		{ "1bb", -EINVAL, UNTOUCHED },
		{ "1ib", -EINVAL, UNTOUCHED },
		{ "1x", -EINVAL, UNTOUCHED },
		{ "1.", -EINVAL, UNTOUCHED },
		{ ".5", -EINVAL, UNTOUCHED },
		{ "1 k", -EINVAL, UNTOUCHED },
		{ "k", -EINVAL, UNTOUCHED },
		{ "", -EINVAL, UNTOUCHED },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		int64_t v = UNTOUCHED;
		int r = parse_bytes(rows[i].text, &v);

		ok(r == rows[i].code && v == rows[i].value, "bytes \"%s\" (%d, %lld)", rows[i].text,
		   r, (long long)v);
	}
}

static void test_durations(void)
{
	static const struct row rows[] = {
		{ "0", 0, 0 },
		{ "0s", 0, 0 },
		{ "5s", 0, 5000000000 },
		{ "1m30s", 0, 90000000000 },
		{ "2h", 0, 7200000000000 },
		{ "100ms", 0, 100000000 },
		{ "1.5h", 0, 5400000000000 },
		{ "10us", 0, 10000 },
		{ "10\xc2\xb5s", 0, 10000 },
		{ "10\xce\xbcs", 0, 10000 },
		{ "7ns", 0, 7 },
		{ "1h1m1s1ms1us1ns", 0, 3661001001001 },
		{ "9223372036854775807ns", 0, LLONG_MAX },
		{ "9223372036854775807ns1ns", -ERANGE, UNTOUCHED },
		{ "99999999h", -ERANGE, UNTOUCHED },
		{ "5", -EINVAL, UNTOUCHED },
		{ "-5s", -EINVAL, UNTOUCHED },
		{ "5s ", -EINVAL, UNTOUCHED },
		{ "5d", -EINVAL, UNTOUCHED },
		{ "", -EINVAL, UNTOUCHED },
		{ "s", -EINVAL, UNTOUCHED },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		uint64_t v = UNTOUCHED;
		int r = parse_duration(rows[i].text, &v);

		ok(r == rows[i].code && v == (uint64_t)rows[i].value, "duration \"%s\" (%d, %llu)",
		   rows[i].text, r, (unsigned long long)v);
	}
}

static void test_signals(void)
{
	static const struct row rows[] = {
		{ "SIGKILL", 0, SIGKILL },
		{ "kill", 0, SIGKILL },
		{ "KILL", 0, SIGKILL },
		{ "sigTerm", 0, SIGTERM },
		{ "9", 0, 9 },
		{ "64", 0, 64 },
		{ "IOT", 0, SIGABRT },
		{ "CLD", 0, SIGCHLD },
		{ "IO", 0, SIGIO },
		{ "POLL", 0, SIGPOLL },
		{ "STKFLT", 0, SIGSTKFLT },
		{ "SIGRTMIN", 0, 34 },
		{ "SIGRTMIN+3", 0, 37 },
		{ "rtmin+30", 0, 64 },
		{ "SIGRTMAX", 0, 64 },
		{ "SIGRTMAX-14", 0, 50 },
		{ "SIGRTMIN+31", -ERANGE, UNTOUCHED },
		{ "SIGRTMIN-1", -EINVAL, UNTOUCHED },
		{ "SIGRTMAX+1", -EINVAL, UNTOUCHED },
		{ "RTMIN+", -EINVAL, UNTOUCHED },
		{ "0", -ERANGE, UNTOUCHED },
		{ "65", -ERANGE, UNTOUCHED },
		{ "-9", -EINVAL, UNTOUCHED },
		{ "99999999999999999999", -ERANGE, UNTOUCHED },
		{ "SIGSIGKILL", -EINVAL, UNTOUCHED },
		{ "SIG", -EINVAL, UNTOUCHED },
		{ "RT", -EINVAL, UNTOUCHED },
		{ "", -EINVAL, UNTOUCHED },
		{ "BOGUS", -EINVAL, UNTOUCHED },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		int v = UNTOUCHED;
		int r = parse_signal(rows[i].text, &v);

		ok(r == rows[i].code && v == rows[i].value, "signal \"%s\" (%d, %d)", rows[i].text,
		   r, v);
	}
}

int main(void)
{
	TAP_BEGIN();
	test_integers();
	test_octal_bool();
	test_bytes();
	test_durations();
	test_signals();
	return TAP_END();
}
