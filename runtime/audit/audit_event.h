/*
 * From an event to the members of its record. Between the files of the sink.
 */
#pragma once

#include "audit/audit.h"
#include "util/str.h"

/* Adds everything behind "type"; argv is taken as it is, redacted by the caller. */
void audit_event_members(struct buf *b, const struct audit_event *e);
/* The argv of an event that has one, else NULL. */
struct audit_bytes *audit_event_argv(struct audit_event *e);
