/*
 * The policy in the life of a container: which profile it gets, what the host is like,
 * what becomes of its specification, and what is remembered of that. policy/ decides; this
 * gathers and stores. Private to runtime/container.
 */
#pragma once

#include <stdbool.h>

#include "container/container.h"
#include "os/hostpath.h"
#include "policy/policy.h"
#include "util/sha256.h"

/* A bind source that was judged: the same descriptor is mounted. */
struct guard_source {
	const char *source; /* the spec's string, by identity */
	struct hostpath path;
};

struct guard {
	struct arena arena;
	struct policy *policy;
	struct policy_profile profile;
	struct policy_request request;
	struct policy_verdict verdict;
	char policy_hash[SHA256_HEX_SIZE]; /* of the file; "" = built in */
	struct guard_source *sources;
	size_t n_sources;
};

#define GUARD_NULL ((struct guard){ .policy = NULL })

/* Where a command stands; all borrowed. */
struct guard_host {
	int proc_fd, bundle_fd;
	const char *id, *rootfs; /* rootfs: absolute */
	bool rootless, no_pivot;
	bool host_root; /* root of the initial user namespace, whatever an engine says of it */
	const struct cgroup_request *place; /* of a create: where its cgroup will be; else NULL */
	const struct cgroup *cgroup; /* of an update: its limits are facts; else NULL */
};

/*
 * Reads the policy file, or the built-in policy when there is none at the default place, and
 * selects the profile: env->policy and env->profile are the operator's flags, refused
 * where the host's policy is sealed. A file that is not root's, writable by others or broken is
 * an error that names it.
 */
int guard_open(const struct container_env *env, const struct str_map *annotations, struct guard *ret, struct error *err);
/* The profile a container was created under: profile and folder from its record. */
int guard_reopen(int dir_fd, const char *profile, struct guard *ret, struct error *err);
void guard_done(struct guard *g);
#define _cleanup_guard_ _cleanup_(guard_done)

/* Judges the sources, scrubs the environment and narrows the specification; read-only on the host. */
int guard_narrow(struct guard *g, struct spec *spec, const struct guard_host *host, struct error *err);
/* The same for the process of an exec, and for what it takes from spec: the container's own process and filter. */
int guard_narrow_process(struct guard *g, struct spec_process *proc, struct spec *spec, struct arena *arena,
			 const struct guard_host *host, struct error *err);
/* The same for an update. */
int guard_narrow_resources(struct guard *g, struct spec_resources *res, struct arena *arena,
			   const struct guard_host *host, struct error *err);

/*
 * Hands the judged descriptors to the plan's binds. A bind that nobody judged, whichever way
 * it came into the plan, is an error: only the source's own descriptor may be mounted.
 */
struct plan;
int guard_give_sources(struct guard *g, struct plan *plan, struct error *err);
/* Writes policy.json and verdict.json into the state folder. */
int guard_store(const struct guard *g, int dir_fd, struct error *err);

/* guard_facts.c: the host as the decision needs it; everything lives in arena. */
int guard_facts(const struct guard *g, const struct spec *spec, const struct guard_host *host, struct arena *arena,
		struct policy_facts *ret, struct error *err);
/* guard_file.c: a policy file's text after the checks of ownership and mode; -ENOENT when it is missing. */
int guard_file_read(const char *path, char **ret_text, size_t *ret_len, struct error *err);
