/*
 * The system calls that a log says were denied, added up: for people who want to know what a container lacked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/error.h"

#define AUDIT_DENIED_KINDS   64 /* the others are only counted */
#define AUDIT_DENIED_RECORDS 200000 /* of the log that are read */

/* Denials that differ only in when, and by whom. All texts are printable. */
struct audit_denied {
	const char *what; /* "mount(pointer, pointer)" */
	const char *error; /* "EPERM"; never NULL */
	const char *rule, *allowed_by; /* NULL = none */
	uint64_t count;
};

struct audit_denied_list {
	struct arena arena;
	struct audit_denied items[AUDIT_DENIED_KINDS];
	size_t count;
	uint64_t others;
	bool cut; /* the log has more records than are read */
};

/* Denials of the container's own processes, the first first; name: of the log. AUDIT_E_NOT_FOUND, or a negative errno. */
int audit_denied_read(int dirfd, const char *name, struct audit_denied_list *ret, struct error *err);
void audit_denied_done(struct audit_denied_list *l);
