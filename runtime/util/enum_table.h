/*
 * One table per enumeration: the parser, the printer, `features`, the help and
 * the completions all read it, so that they cannot disagree.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct enum_entry {
	const char *name;
	uint64_t value;
	const char *help; /* may be NULL */
};

/* A table is an array with its length; ENUM_TABLE(x) builds one from an array. */
struct enum_table {
	const char *what; /* for messages: "capability", "seccomp action" */
	const struct enum_entry *entries;
	size_t count;
};

#define ENUM_TABLE(what_, array_) \
	{ .what = (what_), .entries = (array_), .count = sizeof(array_) / sizeof((array_)[0]) }

/* 0 and *ret_value, or -ENOENT. Exact, case-sensitive match. */
int enum_from_name(const struct enum_table *t, const char *name, uint64_t *ret_value);
/* The first name with that value, or NULL. */
const char *enum_to_name(const struct enum_table *t, uint64_t value);
