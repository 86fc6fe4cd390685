/*
 * The smallest TAP producer that tells where a test failed. One program = one file. What failed is told on standard
 * error, which prove lets through: it keeps the comments of a passing stream to itself.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count;
static int tap_failed;

__attribute__((format(printf, 4, 5))) static inline bool tap_result(bool good, const char *file,
								    int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!good) {
		tap_failed++;
		fprintf(stderr, "# test %d failed at %s:%d: ", tap_count, file, line);
		va_start(ap, fmt);
		vfprintf(stderr, fmt, ap);
		va_end(ap);
		fputc('\n', stderr);
	}
	fflush(stdout);
	return good;
}

static inline bool tap_is_int(long long got, long long want, const char *name, const char *file,
			      int line)
{
	bool good = tap_result(got == want, file, line, "%s", name);

	if (!good)
		fprintf(stderr, "#   got %lld, want %lld\n", got, want);
	return good;
}

static inline bool tap_is_str(const char *got, const char *want, const char *name, const char *file,
			      int line)
{
	bool good = got == want || (got && want && strcmp(got, want) == 0);

	tap_result(good, file, line, "%s", name);
	if (!good)
		fprintf(stderr, "#   got  \"%s\"\n#   want \"%s\"\n", got ? got : "(null)", want ? want : "(null)");
	return good;
}

#define TAP_BEGIN() (tap_count = 0, tap_failed = 0)
#define TAP_END() (printf("1..%d\n", tap_count), tap_failed ? 1 : 0)
#define ok(cond, ...) tap_result((cond), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, name) tap_is_int((long long)(got), (long long)(want), (name), __FILE__, __LINE__)
#define is_str(got, want, name) tap_is_str((got), (want), (name), __FILE__, __LINE__)
/* A whole program that cannot run here. */
#define TAP_SKIP_ALL(reason) (printf("1..0 # SKIP %s\n", (reason)), 0)
