/*
 * What relay.c and relay_stream.c share.
 */
#pragma once

#include "monitor/relay.h"

size_t relay_stream_waiting(const struct relay_stream *s);
/* Hands data to the tap, and before it the number of bytes that it missed. */
int relay_stream_tap(struct relay_stream *s, const char *data, size_t len, struct error *err);
/* Both ends, without a word. */
void relay_stream_release(struct relay_stream *s);
int relay_stream_end(struct relay_stream *s, enum relay_end how, struct error *err);
/* Everything that can be done now, then waits for what can be next. */
int relay_stream_run(struct relay_stream *s, struct error *err);
int relay_stream_watch(struct relay_stream *s, struct error *err);
int relay_from_ready(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err);
int relay_to_ready(struct evloop *l, struct ev_source *source, uint32_t events, struct error *err);
/* Answers a drain, if one was asked for and it is done. */
int relay_drain_check(struct relay *r, struct error *err);
