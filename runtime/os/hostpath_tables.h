/*
 * The host's mounts and bound unix sockets, as hostpath.c uses them.
 */
#pragma once

#include "os/hostpath.h"

/* A growing list in the arena; failed = out of memory or over its limit. */
struct hostpath_parts {
	struct arena *arena;
	struct hostpath_part *items;
	size_t count, room;
	bool failed;
};
void hostpath_parts_add(struct hostpath_parts *list, enum hostpath_part_kind kind, const char *at,
			const char *what);

/* path with its slash-separated start replaced: the rest behind base, or NULL when not at or below
 * it. */
const char *hostpath_rest(const char *path, const char *base);

int hostpath_mounts_read(struct hostpath_host *host, struct error *err);
/*
 * Names of hp through other mounts, and what its subtree holds. hp->reachable and
 * hp->fstype are corrected.
 */
int hostpath_mounts_apply(const struct hostpath_host *host, struct hostpath *hp, bool recursive,
			  struct hostpath_parts *parts, struct error *err);

int hostpath_sockets_read(struct hostpath_host *host, struct error *err);
/* Bound sockets at or below path. */
void hostpath_sockets_apply(const struct hostpath_host *host, const char *path,
			    struct hostpath_parts *parts);
/* A bounded look for socket files near the top of the folder. */
void hostpath_sockets_walk(const struct hostpath *hp, struct hostpath_parts *parts);
