/*
 * From what was found on the host to what the policy judges, for the tests that do both.
 */
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/hostpath.h"
#include "policy/policy_fs.h"

static inline enum policy_fs_type facts_type(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return POLICY_FS_FILE;
	case S_IFDIR:
		return POLICY_FS_DIR;
	case S_IFSOCK:
		return POLICY_FS_SOCKET;
	case S_IFIFO:
		return POLICY_FS_FIFO;
	case S_IFCHR:
		return POLICY_FS_CHAR;
	case S_IFBLK:
		return POLICY_FS_BLOCK;
	default:
		return POLICY_FS_OTHER;
	}
}

static inline struct policy_fs_fact facts_shallow(const struct hostpath *hp)
{
	return (struct policy_fs_fact){
		.source = hp->source,
		.path = hp->path,
		.reachable = hp->reachable,
		.type = facts_type(hp->mode),
		.major = major(hp->rdev),
		.minor = minor(hp->rdev),
		.fstype = hp->fstype,
	};
}

static inline void facts_deep(const struct hostpath *hp, struct arena *arena,
			      struct policy_fs_fact *f)
{
	static const enum policy_fs_part_kind kinds[] = {
		[HOSTPATH_PART_NAME] = POLICY_FS_PART_NAME,
		[HOSTPATH_PART_MOUNT] = POLICY_FS_PART_MOUNT,
		[HOSTPATH_PART_SOCKET_LIVE] = POLICY_FS_PART_SOCKET_LIVE,
		[HOSTPATH_PART_SOCKET] = POLICY_FS_PART_SOCKET,
	};
	struct policy_fs_part *parts = arena_calloc(arena, hp->n_parts, sizeof(*parts));
	size_t i;

	for (i = 0; i < hp->n_parts; i++)
		parts[i] = (struct policy_fs_part){ kinds[hp->parts[i].kind], hp->parts[i].at,
						    hp->parts[i].what };
	f->reachable = hp->reachable;
	f->fstype = hp->fstype;
	f->aliases = hp->aliases;
	f->n_aliases = hp->n_aliases;
	f->parts = parts;
	f->n_parts = hp->n_parts;
	f->traps = S_ISDIR(hp->mode) ? hostpath_probe(hp, policy_fs_trap) : 0;
}
