/*
 * What a resident program gives up before it reads the first byte from inside a container.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

#define LOCKDOWN_CALLS_MAX 128

/* A user of its own (unless keep_user), no capabilities, no new privileges, undumpable. */
int lockdown_rights(bool keep_user, struct error *err);
/* Any other system call than these kills the process. */
int lockdown_calls(const int *calls, size_t n, struct error *err);
