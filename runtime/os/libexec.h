/*
 * Our own helper programs: where they are, and that nobody but root can have changed
 * them. They are looked for beside agentrun itself (a build tree), then in the folder
 * given to configure.
 */
#pragma once

#include "util/error.h"

/* Set by the re-execution from a protected copy, which hides where the program came from. */
#define LIBEXEC_SELF_ENV "_AGENTRUN_DIR"

/* Remembers the folder of this program for the program that takes its place. */
int libexec_remember(struct error *err);
/*
 * Opens the helper O_PATH, for execveat(2) with AT_EMPTY_PATH. -EPERM when its
 * file or folder could be changed by others than root and the caller; -ENOENT when it is missing.
 */
int libexec_open(const char *name, int *ret_fd, struct error *err);
