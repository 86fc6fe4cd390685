/*
 * Why something ended: from what was seen to one word and a sentence of facts. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "monitor/exit_record.h"

enum exit_oom_mark {
	EXIT_OOM_UNKNOWN, /* no exit record of the exec audit */
	EXIT_OOM_SPARED,
	EXIT_OOM_CHOSEN, /* AUDIT_REC_OOM: by the kernel's OOM killer */
};

/* Zeros and NULL = not known, or none. */
struct exit_evidence {
	int status; /* as wait(2); -1 = nobody saw it */
	enum exit_reason ordered; /* for what one of ours ended it; UNKNOWN = none did */
	const char *why; /* words for that */
	bool container_ending; /* a command, and its container is being ended */
	enum exit_oom_mark oom; /* of this very process */
	/* What its cgroup counted meanwhile, whoever it hit. */
	uint64_t oom_kills, pids_refused;
	uint64_t memory_limit, pids_limit; /* bytes, processes */
	const char *disk_full; /* the mount point of a file system that had no room left; NULL = none */
	uint64_t unrecorded; /* programs killed because they could not be recorded */
};

#define EXIT_DETAIL_MAX 256

struct exit_verdict {
	enum exit_reason reason;
	char detail[EXIT_DETAIL_MAX]; /* "" = the word says it all */
};

/*
 * A reason is what happened, not what is likely: a limit that was hit is the reason of a
 * failure only, never of success, and only when nothing nearer is known.
 */
void exit_reason_judge(const struct exit_evidence *e, struct exit_verdict *ret);
