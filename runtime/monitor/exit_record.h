/*
 * How a container or a command ended, and the record of it that stays in the state folder
 * until `delete`.
 */
#pragma once

#include <stdint.h>

#include "util/enum_table.h"
#include "util/error.h"

enum exit_reason {
	EXIT_REASON_UNKNOWN, /* said, never guessed */
	EXIT_REASON_EXITED,
	EXIT_REASON_SIGNAL,
	EXIT_REASON_OOM,
	EXIT_REASON_DEADLINE, /* the container's time */
	EXIT_REASON_EXEC_DEADLINE,
	EXIT_REASON_CLIENT, /* a foreground exec whose client went away */
	EXIT_REASON_POLICY, /* a control could not be kept up */
	EXIT_REASON_CONTAINER, /* a command that ended with its container */
	EXIT_REASON_OOM_CHILD, /* it failed, and the kernel had killed others of it for memory */
	EXIT_REASON_PIDS, /* it failed, and had been refused processes */
	EXIT_REASON_DISK, /* it failed, and a file system of it was full */
};

extern const struct enum_table exit_reason_table;

struct exit_record {
	int status; /* as wait(2); -1 = not known */
	enum exit_reason reason;
	const char *detail; /* for people; NULL = none */
	const char *finished; /* RFC 3339 */
	uint64_t oom_kills, pids_refused; /* in its cgroup, whoever it hit */
	uint64_t memory_peak, pids_peak, cpu_ns, wall_ns; /* 0 = unknown */
};

/* Writes exit.json into the state folder, atomically. */
int exit_record_write(int dir_fd, const struct exit_record *rec, struct error *err);
struct exit_record_doc; /* malloc'ed: what was read, with its strings */
/* EXIT_RECORD_E_NONE: it has not ended, or nobody stood by. */
enum { EXIT_RECORD_E_NONE = 1 };
int exit_record_read(int dir_fd, struct exit_record_doc **ret, struct exit_record *ret_rec, struct error *err);
struct exit_record_doc *exit_record_free(struct exit_record_doc *doc);
