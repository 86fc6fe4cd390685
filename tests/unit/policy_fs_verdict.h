/*
 * One fact and its verdict as short text, for the tests of the mount source rules.
 */
#pragma once

#include <stdio.h>

#include "policy/policy_fs.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const struct policy_fs_rules no_rules;

static inline struct policy_fs_fact fact_of(const char *path, const char *destination,
				     enum policy_fs_type type)
{
	return (struct policy_fs_fact){ .id = ID,
					.source = path,
					.destination = destination,
					.recursive = true,
					.writable = true,
					.path = path,
					.reachable = true,
					.type = type };
}

static inline const char *action_name(enum policy_fs_action a)
{
	static const char *const names[] = { "allow", "readonly", "mask", "refuse" };

	return names[a];
}

/* "allow", "refuse RULE", "readonly RULE", … of one fact. */
static inline const char *verdict_of(const struct policy_fs_rules *rules, const struct policy_fs_fact *f)
{
	static char text[256];
	struct policy_fs_verdict v;
	int r = policy_fs_check(rules, f, &v);

	if ((r == POLICY_FS_REFUSED) != (v.action == POLICY_FS_REFUSE))
		return "result and action differ";
	if (r == POLICY_FS_REFUSED && (!v.rule || !v.reason[0] || !v.remedy[0]))
		return "refused without rule, reason or remedy";
	(void)snprintf(text, sizeof(text), "%s%s%s", action_name(v.action), v.rule ? " " : "",
		       v.rule ? v.rule : "");
	return text;
}
