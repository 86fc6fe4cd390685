/*
 * What an analyzer cannot see, because it looks at one file at a time. Included before everything else by
 * tests/static/analyze; nothing of this is in a program that is built.
 */
#pragma once

#include "util/error.h"

/* They return what was put in, which is negative: error.c asserts it. Without this, each failure could go on. */
static inline int known_negative(int r)
{
	if (r >= 0)
		__builtin_unreachable();
	return r;
}

#define error_set(...) known_negative(error_set(__VA_ARGS__))
#define error_text(...) known_negative(error_text(__VA_ARGS__))
#define error_prefix(...) known_negative(error_prefix(__VA_ARGS__))
#define error_oom(err) known_negative(error_oom(err))
