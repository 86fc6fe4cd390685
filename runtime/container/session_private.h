/*
 * What session.c and session_change.c share. Private to them.
 */
#pragma once

#include "container/session.h"

int session_missing(const char *id, struct error *err);
int session_open_kept(const struct container_env *env, const char *id, bool lock, struct snap *ret, struct error *err);
