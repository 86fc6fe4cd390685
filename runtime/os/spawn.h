/*
 * Helper programs run clean: absolute path, given environment, default signals,
 * only descriptors 0-2, a timeout, and the errno of a failed exec reported.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct spawn {
	const char *path; /* executed as given, no PATH search */
	char *const *argv; /* NULL-terminated */
	char *const *envp; /* NULL-terminated; NULL = empty */
	const char *cwd; /* NULL = stay */
	const char *input; /* written to stdin, then closed; EPIPE is ignored; NULL: empty */
	size_t input_len;
	uint64_t timeout_ms; /* 0 = none; at the end SIGKILL and SPAWN_E_TIMEOUT */
	size_t output_max; /* bytes of stdout and of stderr kept, each; the rest is drained */
	int out_fd, err_fd; /* > 2: the stream goes there instead of being captured (borrowed) */
	/*
	 * Descriptors >= 3 are marked already, and a system call filter may deny close_range(2).
	 */
	bool swept;
};
enum { SPAWN_E_TIMEOUT = 1 };

/*
 * Runs the program to its end and reaps it. *ret_status: wait(2) status. *ret_out and
 * *ret_err (each may be NULL: drained, not kept): malloc'ed, NUL-terminated text of the
 * two streams. They and the status are set on 0 and on SPAWN_E_TIMEOUT. A failed exec is
 * an error: "exec PATH: no such file or directory".
 *
 * The end of the program ends the run: a descendant that keeps the streams open is not waited for.
 */
int spawn_run(const struct spawn *s, int *ret_status, char **ret_out, char **ret_err,
	      struct error *err);
