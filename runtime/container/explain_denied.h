/*
 * The part of `explain` that says which system calls a container was denied. Private to
 * runtime/container.
 */
#pragma once

#include "state/state.h"
#include "util/json_write.h"
#include "util/str.h"

/* text or json; what the log does not say any more is left out. */
int explain_denied(const struct state_record *rec, struct buf *text, struct json_writer *json, struct error *err);
