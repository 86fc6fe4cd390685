/*
 * Dates in UTC by arithmetic alone. The C library's gmtime_r() and strftime() read
 * /etc/localtime first, which is a file too many on the start path and belongs to
 * somebody else once the root has changed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct time_utc {
	int year; /* 0 to 9999, all that RFC 3339 can write */
	int month, day; /* from 1 */
	int hour, minute, second;
};

/* Proleptic Gregorian calendar; seconds outside the years 0 to 9999 give the nearest end. */
void time_to_utc(int64_t unix_seconds, struct time_utc *ret);

/* "2026-11-30T20:56:43.123456789Z" and the NUL. */
#define TIME_RFC3339_SIZE 31
/* In UTC; with fraction nine digits, else whole seconds (rounded down). */
void time_rfc3339(const struct timespec *ts, bool fraction, char buf[TIME_RFC3339_SIZE]);
