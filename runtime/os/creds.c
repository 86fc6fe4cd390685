/*
 * The three privileged steps that turn the runtime into the container's user:
 * bounding set, ids, capability sets. After each step the forbidden thing is
 * tried; if it works the process must not go on.
 */
#include "os/creds.h"

#include <assert.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "os/syscalls.h"

#define CAP_BIT(n) (UINT64_C(1) << (n))

/* A process that has left uid 0 must not find the way back. */
static int prove_not_root(const struct creds *c, struct error *err)
{
	struct caps_sets now;
	int r;

	if (c->uid == 0)
		return 0;
	r = caps_held(&now, err);
	if (r < 0)
		return r;
	if (now.effective & CAP_BIT(CAP_SETUID))
		return 0; /* granted on purpose, or still to be taken away by creds_set_caps() */
	if (setresuid((uid_t)-1, 0, (uid_t)-1) == 0)
		return error_text(err, -EPERM, "user id 0 could be taken back after the drop to %u",
				  c->uid);
	return 0;
}

static int prove_ids(const struct creds *c, struct error *err)
{
	uid_t r_uid, e_uid, s_uid;
	gid_t r_gid, e_gid, s_gid;

	if (getresuid(&r_uid, &e_uid, &s_uid) < 0 || getresgid(&r_gid, &e_gid, &s_gid) < 0)
		return error_set(err, -errno, "read user and group ids");
	if (r_uid != c->uid || e_uid != c->uid || s_uid != c->uid)
		return error_text(err, -EPERM, "user ids are %u %u %u after the change to %u",
				  r_uid, e_uid, s_uid, c->uid);
	if (r_gid != c->gid || e_gid != c->gid || s_gid != c->gid)
		return error_text(err, -EPERM, "group ids are %u %u %u after the change to %u",
				  r_gid, e_gid, s_gid, c->gid);
	return prove_not_root(c, err);
}

static int set_groups(const struct creds *c, struct error *err)
{
	struct caps_sets now;
	int code, r;

	if (c->keep_groups)
		return 0;
	if (setgroups(c->n_groups, c->groups) == 0)
		return 0;
	code = -errno;
	if (code == -EPERM && c->n_groups == 0) {
		/*
		 * With the capability, EPERM can only mean that the user namespace
		 * gave up setgroups(2): nobody in it can do better.
		 */
		r = caps_held(&now, err);
		if (r < 0)
			return r;
		if ((now.effective & CAP_BIT(CAP_SETGID)) || getgroups(0, NULL) == 0)
			return 0;
	}
	if (code == -EINVAL)
		return error_set(
			err, code,
			"set supplementary groups (not all are mapped in the user namespace)");
	return error_set(err, code, "set supplementary groups");
}

int creds_drop_bounding(const struct creds *c, struct error *err)
{
	unsigned bit;
	int code, r;

	assert(c);

	if (!c->set_caps)
		return 0;
	/* Read back once, with all other sets, by creds_set_caps(). */
	for (bit = 0; bit < 64; bit++) {
		if ((c->caps.bounding & CAP_BIT(bit)) || prctl(PR_CAPBSET_DROP, bit, 0, 0, 0) == 0)
			continue;
		code = -errno;
		if (code == -EINVAL)
			break; /* unknown to this kernel, and so are the higher ones */
		/* Without CAP_SETPCAP: what is not there needs no drop. */
		r = prctl(PR_CAPBSET_READ, bit, 0, 0, 0);
		if (r < 0)
			break;
		if (r > 0)
			return error_set(err, code, "drop capability %u from the bounding set", bit);
	}
	return 0;
}

int creds_set_ids(const struct creds *c, struct error *err)
{
	struct caps_sets now;
	int r;

	assert(c);
	assert(c->n_groups == 0 || c->groups);

	if (c->set_caps && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return error_set(err, -errno, "keep capabilities over the change of user");
	r = set_groups(c, err);
	if (r < 0)
		return r;
	if (setresgid(c->gid, c->gid, c->gid) < 0)
		return error_set(err, -errno, "set group id %u%s", c->gid,
				 errno == EINVAL ? " (not mapped in the user namespace)" : "");
	if (setresuid(c->uid, c->uid, c->uid) < 0)
		return error_set(err, -errno, "set user id %u%s", c->uid,
				 errno == EINVAL ? " (not mapped in the user namespace)" : "");
	/* The effective set is empty here after leaving uid 0: the honest moment for the proof. */
	r = prove_ids(c, err);
	if (r < 0 || !c->set_caps)
		return r;

	r = caps_held(&now, err);
	if (r < 0)
		return r;
	now.effective = now.permitted;
	r = caps_set(&now);
	if (r < 0)
		return error_set(err, r, "make kept capabilities effective");
	return 0;
}

static int prove_caps(const struct caps_sets *want, struct error *err)
{
	struct caps_sets now;
	int r;

	r = caps_current(&now, err);
	if (r < 0)
		return r;
	if (now.permitted != want->permitted || now.effective != want->effective ||
	    now.inheritable != want->inheritable || now.ambient != want->ambient ||
	    now.bounding != want->bounding)
		return error_text(
			err, -EPERM,
			"capabilities are not as set (permitted 0x%" PRIx64 " effective 0x%" PRIx64
			" inheritable 0x%" PRIx64 " bounding 0x%" PRIx64 " ambient 0x%" PRIx64 ")",
			now.permitted, now.effective, now.inheritable, now.bounding, now.ambient);
	return 0;
}

/* Raising a bit that was not permitted must fail, else "permitted" means nothing. */
static int prove_no_raise(const struct caps_sets *set, uint64_t had, struct error *err)
{
	struct caps_sets more = *set;
	uint64_t gone = had & ~set->permitted;

	if (!gone)
		return 0;
	more.permitted |= gone;
	if (caps_set(&more) == 0)
		return error_text(err, -EPERM,
				  "dropped capabilities 0x%" PRIx64 " could be raised again", gone);
	return 0;
}

int creds_set_caps(const struct creds *c, struct error *err)
{
	struct caps_sets have, set;
	uint64_t dropped;
	unsigned bit;
	int r;

	assert(c);

	if (!c->set_caps)
		return 0;
	r = caps_held(&have, err);
	if (r < 0)
		return r;
	/* Of the bounding set only what is wanted matters here; the proof reads all of it. */
	for (bit = 0; bit < 64; bit++)
		if ((c->caps.bounding & CAP_BIT(bit)) && prctl(PR_CAPBSET_READ, bit, 0, 0, 0) > 0)
			have.bounding |= CAP_BIT(bit);
	caps_grantable(&c->caps, &have, &set, &dropped);

	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return error_set(err, -errno, "stop keeping capabilities");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return error_set(err, -errno, "clear ambient capabilities");
	r = caps_set(&set);
	if (r < 0)
		return error_set(err, r, "set capabilities");
	for (bit = 0; bit < 64; bit++)
		if ((set.ambient & CAP_BIT(bit)) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, bit, 0, 0) < 0)
			return error_set(err, -errno, "raise ambient capability %u", bit);

	r = prove_caps(&set, err);
	if (r == 0)
		r = prove_no_raise(&set, have.permitted, err);
	if (r == 0 && (have.effective & CAP_BIT(CAP_SETUID)))
		r = prove_not_root(c, err);
	return r;
}

int creds_set_no_new_privs(struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, -errno, "set no_new_privs");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return error_text(err, -EPERM, "no_new_privs is not set after setting it");
	return 0;
}
