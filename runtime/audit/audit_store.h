/*
 * The privileged half of the audit log: files, their names, locks, rotation, the total
 * size, and the index that tells a truncated or swapped log from a whole one. For
 * processes that may write to the log folder: create, the supervisor, delete.
 *
 * A log is called ID-START-ROOT: the container's id (cut when very long), the time in
 * UTC and eight digits of the hash of the root folder, because ids repeat. Its parts are
 * NAME.jsonl, NAME.2.jsonl, ...; a part is never renamed. Whoever writes or may write a
 * log holds a lock on the open file, so a log without a lock is over.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "audit/audit.h"
#include "util/error.h"

#define AUDIT_DIR	  "/var/log/agentrun"
#define AUDIT_NAME_SIZE	  256
#define AUDIT_TOTAL_BYTES (UINT64_C(2) << 30) /* of all logs of a host, when nothing else is asked */

enum audit_store_conditions {
	AUDIT_E_NOT_FOUND = 2, /* no such folder or log */
	AUDIT_E_BUSY = 3,      /* somebody still writes the log */
};

/*
 * The log folder: AUDIT_DIR, or when rootless $XDG_STATE_HOME/agentrun/log; made 0700 when
 * create. One that others may write to, or that belongs to neither root nor the caller, is
 * -EPERM. dir: another one, NULL = that default. AUDIT_E_NOT_FOUND when it is not there and
 * !create.
 */
int audit_store_open(const char *dir, bool rootless, bool create, int *ret_dirfd, struct error *err);
/*
 * A new log, its first part open for appending, 0600, locked. ret_name: without part and
 * suffix; to be kept in the state record.
 */
int audit_store_create(int dirfd, const char *id, const char *root, char ret_name[AUDIT_NAME_SIZE],
		       int *ret_fd, struct error *err);
/* The next part of a log, likewise. part: its number, head.part + 1. */
int audit_store_next(int dirfd, const char *name, uint32_t part, int *ret_fd, struct error *err);
/*
 * Opens the last part of a log whose writer is gone, waiting for its lock up to timeout_ms, and
 * finds where it stands. For delete, and for whoever must write after the monitor died.
 * A line that a dying writer left unfinished is ended, so that a reader finds it broken and the
 * record after it whole. AUDIT_E_NOT_FOUND, AUDIT_E_BUSY.
 */
int audit_store_append(int dirfd, const char *name, int timeout_ms, int *ret_fd,
		       struct audit_head *ret, struct error *err);
/* The whole of the above for one event: lock, append, sync, index (index_dirfd may be -EBADF). */
int audit_store_append_event(int dirfd, int index_dirfd, const char *name, int timeout_ms,
			     const struct audit_event *event, struct error *err);
/* Size of a part: 0 or negative errno. */
int audit_store_part_bytes(int dirfd, const char *name, uint32_t part, uint64_t *ret);
/* False only where it is not there: what cannot be looked at is not taken for removed. */
bool audit_store_has_part(int dirfd, const char *name, uint32_t part);
/* Whether somebody holds the lock of the log: its container runs, as a rule. */
bool audit_store_busy(int dirfd, const char *name);
/*
 * Removes logs that nobody writes, oldest first, until all together have at most total bytes; first of those
 * that have more than a 64th of it.
 * keep: a name that stays, or NULL. *ret_removed counts logs; may be NULL.
 */
int audit_store_prune(int dirfd, int index_dirfd, uint64_t total, const char *keep,
		      size_t *ret_removed, struct error *err);
/*
 * Counts a log that has ended, in a file beside the index. True: since it was last true a 64th of total has come
 * together, or it cannot be counted, and it is time to look at all of them.
 */
bool audit_store_prune_due(int dirfd, int index_dirfd, const char *name, uint32_t parts, uint64_t total);

/*
 * The index: where a log stood when it was last looked at, kept apart from it. Written twice:
 * beside the logs as NAME.head (stays), and below index_dirfd, /run/agentrun/index/audit (root's
 * alone, gone at boot; opened by audit_index_open(), rootless below $XDG_RUNTIME_DIR).
 * closed: the closing record is written. index_dirfd -EBADF: only the first.
 */
int audit_index_open(bool rootless, bool create, int *ret_fd, struct error *err);
int audit_index_write(int dirfd, int index_dirfd, const char *name, const struct audit_head *head,
		      bool closed, struct error *err);
struct audit_index_entry {
	uint64_t records;
	uint32_t part;
	char hash[SHA256_HEX_SIZE];
	bool closed;
};
/* Reads NAME.head below fd (either folder). AUDIT_E_NOT_FOUND. */
int audit_index_read(int fd, const char *name, struct audit_index_entry *ret, struct error *err);
