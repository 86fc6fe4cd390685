/*
 * Identity and privilege of the process about to be executed: groups, ids,
 * capability sets, no_new_privs. Each drop is proved by trying to undo it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct caps_sets { uint64_t bounding, effective, inheritable, permitted, ambient; };

struct creds {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n_groups;
	bool keep_groups; /* run.oci.keep_original_groups, or setgroups denied in a rootless namespace */
	bool set_caps; /* caps below are to be applied */
	struct caps_sets caps;
	bool no_new_privs;
};

/* Bits the running kernel knows (from /proc/sys/kernel/cap_last_cap, read through proc_fd early). */
int caps_known(int proc_fd, uint64_t *ret_mask, struct error *err);
/* The five sets of this process as /proc shows them (through capget, prctl). */
int caps_current(struct caps_sets *ret, struct error *err);
/* Only permitted, effective and inheritable: one system call instead of many. */
int caps_held(struct caps_sets *ret, struct error *err);
/*
 * The sets reduced to what the process holds; *ret_dropped are the bits that were
 * asked for but cannot be granted (a warning, not an error: runtime-spec).
 */
void caps_grantable(const struct caps_sets *want, const struct caps_sets *have, struct caps_sets *ret, uint64_t *ret_dropped);
/* capset(2) of permitted, effective and inheritable of this process: 0 or negative errno. */
int caps_set(const struct caps_sets *sets);
/* Phase 1, still privileged: bounding set, proved in phase 3. Without set_caps: nothing. */
int creds_drop_bounding(const struct creds *c, struct error *err);
/*
 * Phase 2: groups, gid, uid, then proof. With set_caps the permitted capabilities are kept and
 * effective again afterwards (the steps in between may need them); without, the kernel's
 * rules apply: leaving uid 0 loses them.
 */
int creds_set_ids(const struct creds *c, struct error *err);
/* Phase 3: permitted, effective, inheritable, ambient, then proof. Without set_caps: nothing. */
int creds_set_caps(const struct creds *c, struct error *err);
int creds_set_no_new_privs(struct error *err);
