/*
 * Takes secrets out of what will be recorded: by the rules that the environment is
 * scrubbed with, and by the patterns of the policy. A secret becomes "[redacted:RULE]".
 */
#pragma once

#include "audit/audit.h"
#include "util/str.h"

#define AUDIT_PATTERN_MAX 256 /* length of a pattern */

struct audit_redactor;

/* The patterns are copied. -ENOMEM, -E2BIG. */
int audit_redactor_new(const char *const *patterns, size_t n, struct audit_redactor **ret,
		       struct error *err);
void audit_redactor_free(struct audit_redactor *r);
/*
 * Arguments that end in NUL each. False: nothing was in them, out is empty; else out holds them
 * without (check buf_ok()).
 */
bool audit_redact_argv(const struct audit_redactor *r, struct audit_bytes argv, struct buf *out);

/* What a text says of the one that follows it in the same stream. */
struct audit_redact_state {
	const char *until; /* a secret goes on up to this mark... */
	size_t matched;	   /* of which this much has come */
	bool line;	   /* ...and the rest of its line */
	bool word;	   /* a secret goes on to the end of its word */
};
/*
 * One piece of a stream. Of the text, about the first cut bytes are wanted; the bytes behind it
 * only help to see what is in them. Adds the clean text to out and returns how many bytes it
 * stands for: 1 to text.len, fewer than cut where a secret lies across it.
 */
size_t audit_redact_text(const struct audit_redactor *r, struct audit_redact_state *st,
			 struct audit_bytes text, size_t cut, struct buf *out);
