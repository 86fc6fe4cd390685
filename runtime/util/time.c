/*
 * Owns the conversion of seconds since 1970 to a UTC date, and its RFC 3339 form.
 * Must not call anything of the C library that looks at time zones.
 */
#include "util/time.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define DAY_SECONDS 86400
/* The calendar repeats every 400 years. Counted from 1 March, so that a leap day ends its year. */
#define ERA_DAYS       146097
#define CENTURY_DAYS   36524
#define LEAP_CYCLE     1461 /* four years */
#define YEAR_DAYS      365
#define EPOCH_DAYS     719468 /* from 0000-03-01 to 1970-01-01 */
#define SECONDS_YEAR_0 (-62167219200LL)
#define SECONDS_MAX    253402300799LL /* 9999-12-31T23:59:59 */

/* Division for a divisor that fits several times into a last, longer period: never past `most`. */
static int quotient(int *rest, int divisor, int most)
{
	int n = *rest / divisor;

	if (n > most)
		n = most;
	*rest -= n * divisor;
	return n;
}

static void date_of_days(int64_t days, struct time_utc *ret)
{
	/* Days before each month of a year that begins in March. */
	static const int before[] = { 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337 };
	int64_t era;
	int rest, year, month = 11;

	days += EPOCH_DAYS;
	era = (days >= 0 ? days : days - (ERA_DAYS - 1)) / ERA_DAYS;
	rest = (int)(days - era * ERA_DAYS);
	year = (int)era * 400;
	year += 100 * quotient(&rest, CENTURY_DAYS, 3);
	year += 4 * quotient(&rest, LEAP_CYCLE, 24);
	year += quotient(&rest, YEAR_DAYS, 3);
	while (before[month] > rest)
		month--;
	ret->day = rest - before[month] + 1;
	ret->month = month < 10 ? month + 3 : month - 9;
	ret->year = month < 10 ? year : year + 1;
}

void time_to_utc(int64_t unix_seconds, struct time_utc *ret)
{
	int64_t days;
	int rest;

	assert(ret);

	if (unix_seconds < SECONDS_YEAR_0)
		unix_seconds = SECONDS_YEAR_0;
	if (unix_seconds > SECONDS_MAX)
		unix_seconds = SECONDS_MAX;
	days = unix_seconds / DAY_SECONDS;
	rest = (int)(unix_seconds % DAY_SECONDS);
	if (rest < 0) {
		rest += DAY_SECONDS;
		days--;
	}
	date_of_days(days, ret);
	ret->hour = rest / 3600;
	ret->minute = rest / 60 % 60;
	ret->second = rest % 60;
}

void time_rfc3339(const struct timespec *ts, bool fraction, char buf[TIME_RFC3339_SIZE])
{
	char nanoseconds[16] = "";
	struct time_utc t;

	assert(ts && ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000);

	time_to_utc(ts->tv_sec, &t);
	if (fraction)
		(void)snprintf(nanoseconds, sizeof(nanoseconds), ".%09u", (unsigned)ts->tv_nsec % 1000000000u);
	(void)snprintf(buf, TIME_RFC3339_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u%sZ", (unsigned)t.year % 10000u,
		       (unsigned)t.month % 100u, (unsigned)t.day % 100u, (unsigned)t.hour % 100u,
		       (unsigned)t.minute % 100u, (unsigned)t.second % 100u, nanoseconds);
}
