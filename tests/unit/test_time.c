/* UTC dates: known ones, both sides of every kind of leap year, and all days against the C library. */
#include <limits.h>
#include <time.h>

#include "tap.h"
#include "util/cleanup.h"
#include "util/time.h"

static void test_known(void)
{
	static const struct {
		int64_t seconds;
		long nsec;
		const char *want;
	} cases[] = {
		{ 0, 0, "1970-01-01T00:00:00.000000000Z" },
		{ 0, 1, "1970-01-01T00:00:00.000000001Z" },
		{ -1, 999999999, "1969-12-31T23:59:59.999999999Z" },
		{ 86399, 500000000, "1970-01-01T23:59:59.500000000Z" },
		{ 86400, 0, "1970-01-02T00:00:00.000000000Z" },
		/* 1972: leap by 4 */
		{ 68169599, 0, "1972-02-28T23:59:59.000000000Z" },
		{ 68169600, 0, "1972-02-29T00:00:00.000000000Z" },
		{ 68256000, 0, "1972-03-01T00:00:00.000000000Z" },
		/* 2000: leap by 400 */
		{ 951782399, 0, "2000-02-28T23:59:59.000000000Z" },
		{ 951782400, 0, "2000-02-29T00:00:00.000000000Z" },
		{ 951868800, 0, "2000-03-01T00:00:00.000000000Z" },
		{ 978220800, 0, "2000-12-31T00:00:00.000000000Z" },
		{ 978307200, 0, "2001-01-01T00:00:00.000000000Z" },
		/* 2023: none */
		{ 1677628799, 0, "2023-02-28T23:59:59.000000000Z" },
		{ 1677628800, 0, "2023-03-01T00:00:00.000000000Z" },
		/* 2100: none by 100 */
		{ 4107542399, 0, "2100-02-28T23:59:59.000000000Z" },
		{ 4107542400, 0, "2100-03-01T00:00:00.000000000Z" },
		/* the ends of 32 bits */
		{ INT32_MAX, 0, "2038-01-19T03:14:07.000000000Z" },
		{ UINT32_MAX, 0, "2106-02-07T06:28:15.000000000Z" },
		/* the ends of what can be written */
		{ -62167219200, 0, "0000-01-01T00:00:00.000000000Z" },
		{ -62167219201, 0, "0000-01-01T00:00:00.000000000Z" },
		{ INT64_MIN, 0, "0000-01-01T00:00:00.000000000Z" },
		{ 253402300799, 0, "9999-12-31T23:59:59.000000000Z" },
		{ 253402300800, 0, "9999-12-31T23:59:59.000000000Z" },
		{ INT64_MAX, 0, "9999-12-31T23:59:59.000000000Z" },
	};
	char buf[TIME_RFC3339_SIZE];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		struct timespec ts = { .tv_sec = cases[i].seconds, .tv_nsec = cases[i].nsec };

		time_rfc3339(&ts, true, buf);
		is_str(buf, cases[i].want, "date of a number of seconds");
	}
}

static void test_whole_seconds(void)
{
	struct timespec ts = { .tv_sec = 1796072203, .tv_nsec = 999999999 };
	char buf[TIME_RFC3339_SIZE];

	time_rfc3339(&ts, false, buf);
	is_str(buf, "2026-11-30T20:56:43Z", "without a fraction, rounded down");
}

static bool same(int64_t seconds)
{
	time_t t = seconds;
	struct time_utc got;
	struct tm want;

	time_to_utc(seconds, &got);
	if (gmtime_r(&t, &want) && got.year == want.tm_year + 1900 && got.month == want.tm_mon + 1 &&
	    got.day == want.tm_mday && got.hour == want.tm_hour && got.minute == want.tm_min &&
	    got.second == want.tm_sec)
		return true;
	printf("# %lld: %04d-%02d-%02d %02d:%02d:%02d\n", (long long)seconds, got.year, got.month, got.day,
	       got.hour, got.minute, got.second);
	return false;
}

static void test_library(void)
{
	bool good = true;
	int64_t s;

	/* Two eras of 400 years, at a second of the day that moves. */
	for (s = -62167219200 + 146097LL * 86400 * 4; good && s < -62167219200 + 146097LL * 86400 * 6; s += 86399)
		good = same(s);
	ok(good, "every day of the years 1600 to 2400 as the C library");
	for (good = true, s = -62167219200; good && s < 253402300800; s += 86400 * 17 + 4567)
		good = same(s);
	ok(good, "samples of the years 0 to 9999 as the C library");
}

int main(void)
{
	TAP_BEGIN();
	test_known();
	test_whole_seconds();
	test_library();
	return TAP_END();
}
