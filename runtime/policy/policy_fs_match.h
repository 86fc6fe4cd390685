/*
 * Path patterns: how a path lies to a pattern. Pure text; knows no rules.
 */
#pragma once

#include <stddef.h>

/*
 * A pattern is the concatenation of up to three parts, component by component. '*' matches
 * within a component, "@" the container's id, "%" the pod's, two stars at the end anything or
 * nothing.
 */
struct policy_fs_pattern {
	const char *part[3];
	const char *id;	 /* NULL: "@" matches nothing */
	const char *pod; /* NULL: "%" matches any pod: not every engine tells */
};

enum policy_fs_relation {
	POLICY_FS_APART,
	POLICY_FS_SAME,
	POLICY_FS_BELOW, /* the path lies below the pattern */
	POLICY_FS_ABOVE, /* the path is a folder on the way to the pattern */
};

/* path: absolute and clean. */
enum policy_fs_relation policy_fs_relate(const struct policy_fs_pattern *pattern, const char *path);
/*
 * Cleans an absolute path into buf: no "//", ".", "..", no slash at the end, /run for
 * /var/run. NULL when it does not fit or is not absolute.
 */
const char *policy_fs_clean(const char *path, char *buf, size_t size);
