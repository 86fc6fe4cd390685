/*
 * The reason of a failure, owned by the caller and passed as last argument.
 *
 * A function returns 0 when done, a negative errno when it failed (and then has
 * filled *err), or a positive condition that its own header names and its direct
 * caller handles. struct error is plain data of fixed size: it can be written to
 * a socket as it is, and filling it allocates nothing.
 *
 * Texts use the lower-case errno spelling of Go ("no such file or directory"),
 * because engines match on it (case-sensitively in the docker client).
 */
#pragma once

#include "util/cleanup.h"

#define ERROR_TEXT_MAX 1016

struct error {
	int code; /* negative errno, 0 = no error */
	int exit_status; /* wish for the process exit status, 0 = the command's default */
	char text[ERROR_TEXT_MAX];
};

#define ERROR_NULL ((struct error){ 0 })

/*
 * Sets "TEXT: errno text of -code" and returns code. code must be negative.
 * A text longer than the buffer keeps its head and ends in "...".
 */
int error_set(struct error *err, int code, const char *fmt, ...) _printf_(3, 4);

/* As error_set() without the errno text: for failures that no system call reported. */
int error_text(struct error *err, int code, const char *fmt, ...) _printf_(3, 4);

/* Puts "PREFIX: " before the present text on the way up; returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) _printf_(2, 3);

/* Sets "out of memory" and returns -ENOMEM. */
int error_oom(struct error *err);

/* Lower-case text for an errno number (positive or negative); never NULL, static storage. */
const char *error_errno_text(int errnum);
