/*
 * Members of state.json for the read-back. Private to runtime/state.
 */
#pragma once

#include "state/state.h"
#include "util/json_dispatch.h"
#include "util/json_write.h"

extern const struct json_object state_limit_type;
extern const struct json_object state_readback_type;
void state_write_proof(struct json_writer *w, const struct state_record *rec);
