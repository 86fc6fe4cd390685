/*
 * The log that engines read: append-only, one record a line, and on stderr the
 * same text. At the default level exactly one error record is written per failed
 * command and nothing else, because podman parses the file as one JSON object
 * and containerd reports the last error record.
 *
 * Only runtime/cli and main report errors; other layers may log debug and
 * warnings. The settings are the one mutable file-scope state of the program.
 */
#pragma once

#include <stdbool.h>

#include "util/error.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/*
 * target: NULL (stderr only), a path, "file:PATH", "syslog:ID" or "journald:ID".
 * A file is opened O_APPEND|O_CREAT 0644 at once, even when nothing will be written.
 * Records on stderr are the bare message, but JSON when the format is JSON and there
 * is no target; in a text log file they are time="…" level=… msg="…". On failure
 * records go to stderr alone.
 */
int log_open(const char *target, enum log_format format, enum log_level level, struct error *err);
enum log_level log_level_get(void);
void log_errorf(const char *fmt, ...) _printf_(1, 2);
void log_warningf(const char *fmt, ...) _printf_(1, 2);
void log_infof(const char *fmt, ...) _printf_(1, 2);
void log_debugf(const char *fmt, ...) _printf_(1, 2);
/* In a child in the container's namespaces: closes the descriptor, further records are dropped. */
void log_forget(void);
