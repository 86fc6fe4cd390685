/*
 * Sessions on a real filesystem: the place, the caps, and overlays made both ways (of
 * detached mounts, and in a mount namespace of their own as older kernels need it).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/mount.h"
#include "snap/snap_ids.h"
#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "tap.h"
#include "util/fd.h"

static char scratch[] = "/tmp/agentrun-snap-XXXXXX";

static void caps(void)
{
	struct error err = ERROR_NULL;
	uint64_t size = SNAP_SIZE_MIN, inodes = 1000000;

	is_int(snap_image_caps(&size, &inodes, &err), 0, "smallest size");
	is_int(inodes, SNAP_SIZE_MIN / 8192, "not more inodes than there is room for");
	size = SNAP_SIZE_MIN - 1;
	is_int(snap_image_caps(&size, &inodes, &err), -EINVAL, "too small");
	size = SNAP_SIZE_MIN + 4097;
	inodes = 0;
	is_int(snap_image_caps(&size, &inodes, &err), 0, "odd size");
	is_int(size, SNAP_SIZE_MIN + 4096, "whole blocks");
	is_int(inodes, 64, "some inodes");
}

static void places(void)
{
	static const char *const bad[] = { "/tmp/x", SNAP_DIR, SNAP_DIR "/0123456789abcdef", SNAP_DIR "/0123456789abcdef/",
					   SNAP_DIR "/0123456789abcdef/..", SNAP_DIR "/0123456789abcdef/a/b", SNAP_DIR "/short/a",
					   SNAP_DIR "/../../../../x/a", SNAP_DIR "/.template-333333/a" };
	struct error err = ERROR_NULL;
	int fd = -EBADF;
	size_t i;

	for (i = 0; i < ELEMENTSOF(bad); i++)
		ok(snap_dir_open(bad[i], false, &fd, &err) < 0, "no place: %s", bad[i]);
}

static bool lower_open(struct snap_over *over)
{
	_cleanup_close_ int fd = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct error err = ERROR_NULL;

	*over = SNAP_OVER_NULL;
	over->source = scratch;
	return fd >= 0 && mount_tree_clone(fd, &over->lower_fd, &err) == 0;
}

/* One layer over the scratch folder in the session, mounted the given way. */
static void overlay(int dir_fd, bool attach)
{
	_cleanup_close_ int image_fd = openat(dir_fd, SNAP_IMAGE_FILE, O_RDWR | O_CLOEXEC);
	_cleanup_close_ int mount_fd = -EBADF, read_fd = -EBADF;
	const char *how = attach ? "attached" : "detached";
	struct error err = ERROR_NULL;
	struct snap_over over;
	struct stat st;
	int r;

	if (!ok(image_fd >= 0 && lower_open(&over), "%s: original", how))
		return;
	r = snap_image_mount(image_fd, 0, &mount_fd, &err);
	if (!ok(r == 0, "%s: image: %s", how, err.text))
		return;
	r = snap_overlays(mount_fd, &over, 1, attach, &err);
	if (ok(r == 0, "%s: overlay: %s", how, err.text)) {
		if (!attach) {
			ok(fstatat(over.mount_fd, "original", &st, 0) == 0, "%s: shows the original", how);
			ok(unlinkat(over.mount_fd, "original", 0) == 0, "%s: takes a deletion", how);
		}
		ok(fstatat(over.mount_fd, "original", &st, 0) < 0, "%s: shows it", how);
		/* The same superblock, while the overlay has it. */
		r = snap_image_mount(image_fd, SNAP_MOUNT_READONLY, &read_fd, &err);
		if (ok(r == 0, "%s: mounted once more: %s", how, err.text))
			ok(fstatat(read_fd, "0/upper/original", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) &&
				   st.st_rdev == 0 && unlinkat(read_fd, "0/upper/original", 0) < 0 && errno == EROFS,
			   "%s: the whiteout is seen and cannot be changed", how);
		ok(mkdirat(over.mount_fd, "original", 0700) == 0 && unlinkat(over.mount_fd, "original", AT_REMOVEDIR) == 0,
		   "%s: the overlay goes on", how);
	}
	cleanup_closep(&over.lower_fd);
	cleanup_closep(&over.mount_fd);
}

/* What is made through an id-mapped layer has the original's ids in the image, and so have whiteouts. */
static void mapped(bool attach)
{
	static const struct id_map map = { 0, 100000, 65536 };
	struct snap_layer layer = { .source = scratch, .uids = { &map, 1 }, .gids = { &map, 1 } };
	_cleanup_close_ int image_fd = -EBADF, mount_fd = -EBADF, read_fd = -EBADF, fd = -EBADF;
	_cleanup_(snap_over_done) struct snap_over over = SNAP_OVER_NULL;
	const char *how = attach ? "attached" : "detached";
	_cleanup_close_ int top_fd = -EBADF;
	struct error err = ERROR_NULL;
	struct snap_ids saved;
	struct stat st;

	if (!ok(lower_open(&over), "mapped, %s: original", how) || !ok(snap_over_map(&over, &layer, &err) == 0, "mapping: %s", err.text))
		return;
	over.plain_fd = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount_tree_map(over.lower_fd, over.userns_fd) < 0) {
		ok(true, "this filesystem cannot map ids # SKIP");
		return;
	}
	ok(snap_top_open(true, &top_fd, &err) == 0, "top: %s", err.text);
	(void)unlinkat(top_fd, ".unit-mapped", 0);
	ok(snap_image_make(top_fd, SNAP_SIZE_MIN, 100, attach, top_fd, ".unit-mapped", &err) == 0, "image: %s", err.text);
	image_fd = openat(top_fd, ".unit-mapped", O_RDWR | O_CLOEXEC);
	(void)unlinkat(top_fd, ".unit-mapped", 0);
	if (!ok(snap_image_mount(image_fd, SNAP_MOUNT_FRESH, &mount_fd, &err) == 0, "mount: %s", err.text) ||
	    !ok(snap_upper_make(mount_fd, 0, &over, &layer, &err) == 0, "upper: %s", err.text) ||
	    !ok(snap_overlays(mount_fd, &over, 1, attach, &err) == 0, "mapped, %s: overlay: %s", how, err.text))
		return;
	if (attach)
		ok(snap_image_mount(image_fd, 0, &read_fd, &err) == 0, "look at it: %s", err.text);
	ok(fstatat(over.mount_fd, "original", &st, 0) == 0 && st.st_uid == 100000, "%s: seen with mapped ids", how);
	ok(snap_ids_assume(over.uid, over.gid, &saved, &err) == 0, "ids: %s", err.text);
	fd = openat(over.mount_fd, "made", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ok(fd >= 0 && unlinkat(over.mount_fd, "original", 0) == 0, "%s: changed in the name of a mapped id", how);
	ok(snap_ids_restore(&saved, &err) == 0, "ids again: %s", err.text);
	ok(openat(over.mount_fd, "other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EOVERFLOW, "%s: not by an id without", how);
	ok(fstatat(attach ? read_fd : mount_fd, "0/upper/made", &st, 0) == 0 && st.st_uid == 0 && st.st_gid == 0, "%s: kept as in the original", how);
	ok(fstatat(attach ? read_fd : mount_fd, "0/upper/original", &st, 0) == 0 && snap_is_whiteout(&st), "%s: a whiteout", how);
}

static void session(void)
{
	struct snap_layer layer = { .destination = "/work", .source = scratch };
	struct snap_record rec = { .id = "unit", .root = scratch, .size = SNAP_SIZE_MIN, .inodes = 100, .layers = &layer, .n_layers = 1 };
	struct snap_over over;
	_cleanup_free_ char *path = NULL;
	_cleanup_snap_ struct snap s = SNAP_NULL;
	struct error err = ERROR_NULL;
	int r;

	if (!ok(lower_open(&over), "original") || !ok(snap_path(scratch, "unit", &path, &err) == 0, "path: %s", err.text))
		return;
	is_int(snap_open(path, false, &s, &err), SNAP_E_NOT_FOUND, "none yet");
	r = snap_make(path, &rec, &over, &err);
	cleanup_closep(&over.lower_fd);
	if (!ok(r == 0, "make: %s", err.text))
		return;
	cleanup_closep(&over.mount_fd);
	r = snap_open(path, true, &s, &err);
	if (ok(r == 0, "open: %s", err.text)) {
		is_str(s.record->layers[0].source, scratch, "source");
		is_str(s.record->boot, rec.boot, "boot");
		is_int(s.record->since.tv_nsec, rec.since.tv_nsec, "time");
		is_int(s.record->layers[0].ino, layer.ino, "inode");
		overlay(s.dir_fd, false);
		overlay(s.dir_fd, true);
	}
	is_int(snap_remove(path, &err), 0, "remove");
	is_int(snap_remove(path, &err), 0, "remove nothing");
	ok(access(path, F_OK) < 0, "gone");
	arena_done(&rec.arena);
}

int main(void)
{
	struct error err = ERROR_NULL;
	int fd;

	if (geteuid() != 0 || access("/dev/loop-control", R_OK | W_OK) < 0)
		return TAP_SKIP_ALL("needs root and loop devices");
	TAP_BEGIN();
	umask(022);
	caps();
	places();
	if (ok(mkdtemp(scratch) != NULL, "scratch folder")) {
		fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ok(file_replace(fd, "original", "x", 1, 0644, 0, &err) == 0, "original: %s", err.text);
		session();
		mapped(false);
		mapped(true);
		ok(unlinkat(fd, "original", 0) == 0, "the original was not touched");
		(void)close(fd);
		(void)rmdir(scratch);
	}
	return TAP_END();
}
