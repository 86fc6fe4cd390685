/*
 * What `explain` says of the audit log. Private to runtime/container.
 */
#pragma once

#include "container/lifecycle.h"
#include "util/json_write.h"
#include "util/str.h"

/* What is recorded, and where; text or json, the other NULL. */
int explain_audit(const struct container_handle *h, struct buf *text, struct json_writer *json, struct error *err);
