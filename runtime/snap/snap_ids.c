/*
 * Id-mapped originals. The upper folder is reached through the same mapping, so it holds ids as
 * the original does: diff and commit, which see both without it, need not translate. Whoever makes an
 * object through the mapping must be somebody who has an id in it, which the host's root has not.
 */
#include <assert.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "os/ns.h"
#include "os/procfs.h"
#include "snap/snap_ids.h"
#include "util/cleanup.h"

int snap_ids_assume(uid_t uid, gid_t gid, struct snap_ids *ret, struct error *err)
{
	int r = caps_held(&ret->caps, err);

	if (r < 0)
		return r;
	ret->dumpable = prctl(PR_GET_DUMPABLE);
	ret->gid = (gid_t)setfsgid(gid);
	ret->uid = (uid_t)setfsuid(uid);
	/* A change away from 0 drops those for files. */
	r = caps_set(&ret->caps);
	if (r == 0 && ((uid_t)setfsuid((uid_t)-1) != uid || (gid_t)setfsgid((gid_t)-1) != gid))
		r = -EPERM;
	if (r < 0) {
		struct error ignored = ERROR_NULL;

		(void)snap_ids_restore(ret, &ignored);
		return error_set(err, r, "work with the ids %u:%u, which the mapping has", uid, gid);
	}
	return 0;
}

int snap_ids_restore(const struct snap_ids *saved, struct error *err)
{
	int r;

	(void)setfsuid(saved->uid);
	(void)setfsgid(saved->gid);
	r = caps_set(&saved->caps);
	if (saved->dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1);
	if (r == 0 && ((uid_t)setfsuid((uid_t)-1) != saved->uid || (gid_t)setfsgid((gid_t)-1) != saved->gid))
		r = -EPERM;
	return r < 0 ? error_set(err, r, "work with our own ids again") : 0;
}

int snap_over_map(struct snap_over *over, const struct snap_layer *layer, struct error *err)
{
	_cleanup_close_ int proc_fd = -EBADF;
	int r;

	if (layer->uids.count == 0)
		return 0;
	assert(layer->gids.count > 0 && over->userns_fd < 0);
	r = procfs_open(&proc_fd, err);
	if (r == 0)
		r = ns_userns_for_maps(proc_fd, &layer->uids, &layer->gids, &over->userns_fd, err);
	over->uid = layer->uids.items[0].host_id;
	over->gid = layer->gids.items[0].host_id;
	return r;
}

void snap_over_done(struct snap_over *over)
{
	cleanup_closep(&over->lower_fd);
	cleanup_closep(&over->mount_fd);
	cleanup_closep(&over->plain_fd);
	cleanup_closep(&over->userns_fd);
	*over = SNAP_OVER_NULL;
}
