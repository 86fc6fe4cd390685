/*
 * The captured configurations under the shipped profiles: which profiles there are, and
 * what the captures themselves do not say about the hosts they were made on.
 */
#pragma once

#include <linux/sched.h>

#include "tests/unit/test_policy_fixture.h"

/* All that decide anything: passthrough changes nothing. */
static const char *const captured_profiles[] _unused_ = {
	"default", "strict", "build", "nested", "service", "sandbox"
};

#define CAPTURED_NAMESPACES_MAX 16

/*
 * Whose the joined namespaces were when the capture was made: Docker keeps the host's
 * network under a name of its own, a pod with hostPID has those of the host that its
 * sandbox does not make. All others are a pod's.
 */
static inline void captured_owners(const char *file, const struct spec *s,
				   enum policy_ns_owner *owners)
{
	const struct spec_namespace *ns;
	size_t i;

	for (i = 0; i < s->linux_cfg->namespaces.count && i < CAPTURED_NAMESPACES_MAX; i++) {
		ns = &s->linux_cfg->namespaces.items[i];
		owners[i] = POLICY_NS_OTHER;
		if (ns->path && (str_eq(ns->path, "/var/run/docker/netns/default") ||
				 (str_after(file, "cri-hostpid") && ns->type == CLONE_NEWPID)))
			owners[i] = POLICY_NS_HOST;
	}
}
