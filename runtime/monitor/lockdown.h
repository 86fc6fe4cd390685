/*
 * What a resident program gives up before it reads the first byte from inside a container.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define LOCKDOWN_CALLS_MAX 128
#define LOCKDOWN_FORMS_MAX 24

/*
 * A call of which only some forms are allowed, by one of its arguments (a 32-bit one, counted from
 * 0): one entry each, together. Others get the error of the last.
 */
struct lockdown_form {
	int call, index;
	uint32_t argument;
	int otherwise; /* errno */
};

/* A user of its own (unless keep_user), no capabilities, no new privileges, undumpable. */
int lockdown_rights(bool keep_user, struct error *err);
/* Any other system call than these kills the process. */
int lockdown_calls(const int *calls, size_t n, const struct lockdown_form *forms, size_t n_forms, struct error *err);
