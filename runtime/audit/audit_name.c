/*
 * Owns the form of names. They are read from the right, because ids may hold whatever a
 * name holds.
 */
#include "audit/audit_name.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/parse.h"
#include "util/str.h"
#include "util/time.h"

#define SUFFIX	 ".jsonl"
#define TAIL_LEN ((size_t)(1 + AUDIT_START_LEN + 1 + AUDIT_ROOT_DIGITS))

void audit_name_root(const char *root, char ret[AUDIT_ROOT_DIGITS + 1])
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex_of(root, strlen(root), hex);
	memcpy(ret, hex, AUDIT_ROOT_DIGITS);
	ret[AUDIT_ROOT_DIGITS] = '\0';
}

void audit_name_make(const char *id, const char *root, const struct timespec *start,
		     char ret[AUDIT_NAME_SIZE])
{
	char digits[AUDIT_ROOT_DIGITS + 1];
	struct time_utc t;

	assert(id && *id && root && start);
	audit_name_root(root, digits);
	time_to_utc(start->tv_sec, &t);
	(void)snprintf(ret, AUDIT_NAME_SIZE, "%.*s-%04u%02u%02uT%02u%02u%02u.%06uZ-%s", AUDIT_ID_CUT, id,
		       (unsigned)t.year % 10000u, (unsigned)t.month % 100u, (unsigned)t.day % 100u,
		       (unsigned)t.hour % 100u, (unsigned)t.minute % 100u, (unsigned)t.second % 100u,
		       (unsigned)(start->tv_nsec / 1000) % 1000000u, digits);
}

static bool is_start(const char *s)
{
	static const char form[] = "dddddddd" "T" "dddddd" "." "dddddd" "Z";
	size_t i;

	for (i = 0; i < AUDIT_START_LEN; i++)
		if (form[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
			return false;
	return true;
}

bool audit_name_parse(const char *name, struct audit_name *ret)
{
	size_t len = strlen(name);
	const char *tail;

	if (len <= TAIL_LEN || len >= AUDIT_NAME_SIZE)
		return false;
	tail = name + len - TAIL_LEN;
	if (tail[0] != '-' || !is_start(tail + 1) || tail[1 + AUDIT_START_LEN] != '-' ||
	    strspn(tail + 2 + AUDIT_START_LEN, "0123456789abcdef") != AUDIT_ROOT_DIGITS)
		return false;
	ret->id_len = len - TAIL_LEN;
	ret->start = tail + 1;
	ret->root = tail + 2 + AUDIT_START_LEN;
	return ret->id_len <= AUDIT_ID_CUT;
}

void audit_name_file(const char *name, uint32_t part, char ret[AUDIT_FILE_SIZE])
{
	if (part == 1)
		(void)snprintf(ret, AUDIT_FILE_SIZE, "%s" SUFFIX, name);
	else
		(void)snprintf(ret, AUDIT_FILE_SIZE, "%s.%u" SUFFIX, name, part);
}

bool audit_name_of_file(const char *file, char ret_name[AUDIT_NAME_SIZE], uint32_t *ret_part)
{
	size_t len = strlen(file), suffix = strlen(SUFFIX);
	struct audit_name parsed;
	char *dot;

	if (len <= suffix || !str_eq(file + len - suffix, SUFFIX) ||
	    len - suffix >= AUDIT_NAME_SIZE)
		return false;
	memcpy(ret_name, file, len - suffix);
	ret_name[len - suffix] = '\0';
	*ret_part = 1;
	if (audit_name_parse(ret_name, &parsed))
		return true;
	dot = strrchr(ret_name, '.');
	if (!dot || dot[1] == '0' || parse_u32(dot + 1, ret_part) < 0 || *ret_part < 2 ||
	    *ret_part > AUDIT_PARTS_MAX)
		return false;
	*dot = '\0';
	return audit_name_parse(ret_name, &parsed);
}
