/*
 * What the files of the sink share; nobody else includes it.
 */
#pragma once

#include "audit/audit.h"
#include "audit/audit_redact.h"
#include "util/str.h"

struct audit_sink {
	int fd;
	enum audit_on_failure on_failure;
	uint64_t part_bytes, log_bytes, sync_ns;
	struct audit_redactor *redactor;

	struct audit_head head;	   /* with what is queued */
	struct audit_head written; /* as of the last moment when nothing was queued */
	struct buf queue;	   /* whole lines */
	size_t done;		   /* bytes of the queue that are in the file */
	uint64_t queued_gap;	   /* records that gap records in the queue tell of */
	uint64_t queued_gaps;	   /* such gap records */

	uint64_t file_bytes; /* size of the file */
	uint64_t past_bytes; /* of the parts before it */
	uint64_t reserved;   /* up to where it has room on the disk */
	bool full;	     /* it has the size that it may have */
	bool no_reserve;     /* its filesystem cannot keep room */
	bool last_words;     /* what is written now may use the room that is kept */

	uint64_t dirty_since; /* first byte written since the last sync; 0 = none */
	uint64_t retry_at;    /* after a failure; 0 = none */
	int failure;	      /* of the last write, negative errno; 0 = it worked */
	uint64_t gap;	      /* records that were dropped since the last gap record */
	uint64_t gap_since;   /* CLOCK_MONOTONIC */
	int gap_code;	      /* why */
	bool stopped;
	struct error why; /* of stopped */

	uint64_t tails; /* bytes that tails of streams hold */
};

/*
 * A record in the making: between the two calls the caller adds members to s->queue, which
 * must not be looked at otherwise. mono_ns 0 = now. _end: 0 or AUDIT_E_STOP.
 */
void audit_record_begin(struct audit_sink *s, enum audit_type type, int32_t process, uint64_t mono_ns,
			size_t *ret_mark);
int audit_record_end(struct audit_sink *s, enum audit_type type, size_t mark, struct error *err);
/* What could not even become a record: counts as one that is missing. */
int audit_sink_fail(struct audit_sink *s, int code, struct error *err);
uint64_t audit_now(void);
/*
 * Before a record that must not be missing: when nothing can be written, what is queued gives
 * way to a record that counts it. Set until s->last_words is reset.
 */
void audit_last_words(struct audit_sink *s, struct error *err);

/* audit_queue.c: 0 or AUDIT_E_STOP. */
int audit_queue_write(struct audit_sink *s, struct error *err);
int audit_queue_sync(struct audit_sink *s, struct error *err);
/* Takes back what is not in the file yet; it counts as missing. Not in the middle of a line. */
void audit_queue_drop(struct audit_sink *s);
/* From now on the queue goes there. */
void audit_queue_file(struct audit_sink *s, int fd);
/* Nothing can be kept: remembers why, and whether that is the end. */
int audit_fail(struct audit_sink *s, int code, const char *what, struct error *err);
int audit_stop_or_go(struct audit_sink *s, struct error *err);
