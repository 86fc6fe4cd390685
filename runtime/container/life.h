/*
 * How a container's life went, as its supervisor tells or told it. Private to runtime/container.
 */
#pragma once

#include "container/lifecycle.h"
#include "monitor/exit_record.h"
#include "util/json_write.h"
#include "util/str.h"

/* Fills exit and exit_doc of the view, when there is a record. */
int life_exit_read(int dir_fd, struct container_view *v, struct error *err);
void life_exit_done(struct container_view *v);
void life_exit_write(struct json_writer *w, const char *key, const struct exit_record *rec);

/* The last record of the audit log. A log that is gone or full does not keep a container from being deleted. */
void life_log_delete(const struct state_record *rec, bool forced);

/* For explain: the time that is left, or how it ended. */
int life_explain(const struct container_handle *h, struct buf *text, struct json_writer *json, struct error *err);
