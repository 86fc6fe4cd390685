/*
 * Names of logs and of their files. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "audit/audit_store.h"

#define AUDIT_ID_CUT	  190 /* characters of an id that go into the name */
#define AUDIT_START_LEN	  23  /* "20261130T234044.123456Z" */
#define AUDIT_ROOT_DIGITS 8
#define AUDIT_FILE_SIZE	  (AUDIT_NAME_SIZE + 24)
#define AUDIT_HEAD_SUFFIX ".head"
#define AUDIT_PARTS_MAX	  100000u

/* A name taken apart; the pointers are into it. */
struct audit_name {
	size_t id_len; /* AUDIT_ID_CUT: the id may be longer */
	const char *start, *root;
};

/* The time of day that a name holds is the only thing that parts logs of one id. */
void audit_name_make(const char *id, const char *root, const struct timespec *start,
		     char ret[AUDIT_NAME_SIZE]);
void audit_name_root(const char *root, char ret[AUDIT_ROOT_DIGITS + 1]);
bool audit_name_parse(const char *name, struct audit_name *ret);
/* The file of a part. */
void audit_name_file(const char *name, uint32_t part, char ret[AUDIT_FILE_SIZE]);
/* The log and the part that a file belongs to; false: it is none of a log. */
bool audit_name_of_file(const char *file, char ret_name[AUDIT_NAME_SIZE], uint32_t *ret_part);
