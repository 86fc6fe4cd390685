/*
 * Bytes of a ring's record to a struct, and that to the event of the log. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audit/audit.h"
#include "audit/audit_abi.h"

struct audit_trace_record {
	enum audit_rec_type type;
	unsigned flags; /* enum audit_rec_flags */
	uint64_t seq, mono_ns, start_ns, cgroup;
	uint32_t generation;
	uint32_t host_pid, pid, uid, gid;
	struct audit_bytes comm;
	/* exec; file and argv lie in the bytes that were decoded */
	struct audit_bytes file, argv, cwd;
	uint64_t argv_bytes, env_bytes, exe_inode, exe_dev; /* exe_dev as st_dev */
	uint32_t exe_nlink, host_ppid, ppid, old_tid, euid, egid;
	/* exit */
	uint64_t exec_seq, duration_ns;
	struct audit_status status;

	char comm_text[AUDIT_REC_COMM + 1];
	char cwd_text[AUDIT_REC_PATH_MAX + 8]; /* "..." before what is missing */
};

/*
 * 0, or -EBADMSG when the bytes are no record: lengths that do not add up, an unknown type.
 * data must be aligned to 8 bytes, as records in a ring are.
 */
int audit_trace_decode(const void *data, size_t len, struct audit_trace_record *ret);
/* The log's event; its texts point into the record and what it was decoded from. */
void audit_trace_event(const struct audit_trace_record *rec, struct audit_event *ret);
