/*
 * What session.c and session_change.c share. Private to them.
 */
#pragma once

#include "container/session.h"

/*
 * The container an id means: without --root a unique beginning of a session's id will do, below
 * whatever root. *ret: env, or a copy with that root in own.
 */
struct session_search {
	struct container_env own;
	char *id, *root;
};
int session_search(const struct container_env *env, const char *id, struct session_search *s, struct error *err);
void session_search_done(struct session_search *s);

int session_missing(const char *id, struct error *err);
int session_open_kept(const struct container_env *env, const char *id, bool lock, struct snap *ret, struct error *err);
