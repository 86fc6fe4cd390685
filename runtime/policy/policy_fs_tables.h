/*
 * The built-in rules on mount sources as data, shared by the decision and its parts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy_fs.h"
#include "policy/policy_fs_match.h"

/* Which relations of a source to the pattern a rule covers: bits 1 << enum policy_fs_relation. */
#define POLICY_FS_TREE	 ((1u << POLICY_FS_SAME) | (1u << POLICY_FS_ABOVE))
#define POLICY_FS_WHOLE	 (POLICY_FS_TREE | (1u << POLICY_FS_BELOW))
#define POLICY_FS_INSIDE (1u << POLICY_FS_BELOW)

enum policy_fs_effect { POLICY_FS_REFUSES, POLICY_FS_MAKES_READONLY, POLICY_FS_WARNS };

struct policy_fs_class {
	const char *name; /* what the audit log calls the rule */
	const char *what; /* completes "it is …" */
	unsigned relations;
	enum policy_fs_effect effect;
	bool watched;		     /* compare inodes, too: these files can have further names */
	const char *const *patterns; /* NULL-terminated; "~/" stands for every home folder */
};

/* In order of importance; ends with an entry without name. */
extern const struct policy_fs_class policy_fs_classes[];
/* Home folders for "~/", NULL-terminated; the host's accounts come on top. */
extern const char *const policy_fs_home_patterns[];
/* Names of sockets that control the host, wherever they lie; NULL-terminated. */
extern const char *const policy_fs_socket_names[];
/* Filesystems that are interfaces of the kernel; NULL-terminated. */
extern const char *const policy_fs_kernel_types[];

struct policy_fs_device {
	const char *path;
	unsigned major, minor;
};
/* Device nodes that may be mounted; ends with an entry without path. */
extern const struct policy_fs_device policy_fs_devices[];

/* What an engine makes for the container itself. */
enum policy_fs_engine_mount {
	POLICY_FS_NOT_ENGINE,
	POLICY_FS_ENGINE_FILE,	/* private to the container, only root could have disguised it */
	POLICY_FS_ENGINE_DATA,	/* a volume: users chose what it is, so the tree is looked at */
	POLICY_FS_ENGINE_TOKEN, /* the Kubernetes service account */
};

/*
 * How the path is known to the engines. destination NULL: any; it is clean. is_alias: the
 * path is another name of the source; engines make some of these, too.
 */
enum policy_fs_engine_mount policy_fs_engine_lookup(const struct policy_fs_fact *fact,
						    const char *path, const char *destination,
						    bool is_alias);

struct policy_fs_finding {
	const struct policy_fs_class *class;
	enum policy_fs_relation relation;
	const char *pattern;
};
/* The first, that is the most important, class that a name falls into. */
bool policy_fs_classify(const struct policy_fs_fact *fact, const char *path,
			struct policy_fs_finding *ret);
/* The entry of a list of the policy file that the path lies to in one of the ways, or NULL. */
const char *policy_fs_listed(const struct strv *list, const char *path, unsigned relations);
/* Whether one of the patterns (single components) is the name. */
bool policy_fs_in_names(const char *const *names, const char *name);
