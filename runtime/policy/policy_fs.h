/*
 * Which host paths a container may have mounted: a pure decision on facts that the caller
 * gathered from the opened source (os/hostpath.h). The built-in rules are data; the policy
 * file can open (allow) and close (deny, readonly) further paths.
 *
 * Names are compared as the kernel spells them, so the caller passes every name that the
 * object has: links, "..", bind mounts and overlay layers are then no disguise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/json_dispatch.h"

/*
 * Absolute paths; '*' stands for any part of one component. allow: the source itself; ending in a
 * component of two stars also what is below. deny: itself, what is below, and folders that
 * hold it. readonly: the same, the whole mount becomes read-only. Entries that are links on this
 * host do not match by themselves: the caller adds their canonical names.
 */
struct policy_fs_rules {
	struct strv allow, deny, readonly;
	bool service_account_token; /* keep the Kubernetes token that the kubelet mounts */
};

enum policy_fs_type {
	POLICY_FS_OTHER, /* also a symbolic link that is mounted as such */
	POLICY_FS_FILE,
	POLICY_FS_DIR,
	POLICY_FS_SOCKET,
	POLICY_FS_FIFO,
	POLICY_FS_CHAR,
	POLICY_FS_BLOCK,
};

enum policy_fs_part_kind {
	POLICY_FS_PART_NAME,  /* an object below that is also reachable as what */
	POLICY_FS_PART_MOUNT, /* a mount below, of filesystem type what; recursive binds only */
	POLICY_FS_PART_SOCKET_LIVE, /* a bound unix socket of the host's network namespace */
	POLICY_FS_PART_SOCKET,	    /* a socket file; whose it is nobody knows */
};

/* Something below the source. */
struct policy_fs_part {
	enum policy_fs_part_kind kind;
	const char *at;	  /* canonical path */
	const char *what; /* NULL for sockets */
};

struct policy_fs_fact {
	const char *id;		 /* the container's, NULL = unknown */
	const char *pod;	 /* uid of its Kubernetes pod, NULL = none or unknown */
	const char *source;	 /* as in the config, for messages */
	const char *destination; /* absolute */
	bool recursive;		 /* rbind */
	bool writable;
	const char *path; /* canonical, on the host */
	/* The path names this object here: not deleted, not of another mount namespace. */
	bool reachable;
	enum policy_fs_type type;
	uint32_t major, minor;	  /* devices */
	const char *fstype;	  /* NULL = an ordinary one */
	const char *const *homes; /* home folders beside /root and those in /home */
	size_t n_homes;
	/* The rest is asked for by policy_fs_needs_tree(). */
	const char *const *aliases; /* other canonical paths of the same object */
	size_t n_aliases;
	const struct policy_fs_part *parts;
	size_t n_parts;
	const char *same_file; /* the watched file (policy_fs_watched()) that this is, by inode; or
				  NULL */
	uint64_t traps;	       /* bit i: policy_fs_trap(i) exists below the source */
};

enum policy_fs_action {
	POLICY_FS_ALLOW,
	POLICY_FS_READONLY, /* only as a read-only mount, submounts as well */
	POLICY_FS_MASK,	    /* an empty read-only folder in its place */
	POLICY_FS_REFUSE,
};

struct policy_fs_verdict {
	enum policy_fs_action action;
	const char *rule;    /* static; what decided; NULL when nothing did */
	const char *warning; /* static; a rule that only warns, or NULL */
	uint64_t traps; /* of a writable workspace: files that the host's tools will run or obey */
	char reason[768]; /* "mount source … refused: …"; empty when nothing was decided */
	char remedy[512]; /* what to change; empty as above */
};

#define POLICY_FS_REFUSED 1

/*
 * Whether the decision needs the facts of the second group. False for the mounts that
 * engines make for themselves (/etc/hosts and the like) and for what is refused anyway.
 */
bool policy_fs_needs_tree(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact);
/* 0 = may be mounted as ret->action says, POLICY_FS_REFUSED = must not be; ret is filled always. */
int policy_fs_check(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
		    struct policy_fs_verdict *ret);

/*
 * The same for the folder that root.path names: engines keep those in their state, all other host
 * trees, kernel interfaces, secrets and programs are refused. Of the fact only path, reachable,
 * same_file (a policy_fs_root_tree()) and the homes count.
 */
int policy_fs_check_root(const struct policy_fs_rules *rules, const struct policy_fs_fact *fact,
			 struct policy_fs_verdict *ret);
/* The i-th host tree whose inode no root may have, NULL behind the last. */
const char *policy_fs_root_tree(size_t i);

/* The i-th name (relative) of a workspace trap, NULL behind the last; at most 64. */
const char *policy_fs_trap(size_t i);
/*
 * Paths whose inodes are worth comparing with a hard-linked file or a socket (folders: with
 * their entries). Allocated in arena; NULL when out of memory.
 */
const char *const *policy_fs_watched(struct arena *arena, const char *const *homes, size_t n_homes,
				     size_t *ret_n);
