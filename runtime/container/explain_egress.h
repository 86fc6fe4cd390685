/*
 * What `explain` says of egress. Private to runtime/container.
 */
#pragma once

#include "container/lifecycle.h"
#include "policy/policy.h"
#include "util/json_write.h"
#include "util/str.h"

/* What is in force and what was denied; text or json, the other NULL. */
int explain_egress(const struct container_handle *h, const struct policy_profile *profile, struct buf *text,
		   struct json_writer *json, struct error *err);
