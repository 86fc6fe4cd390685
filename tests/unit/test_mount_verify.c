/* The read-back of mounts: what was asked passes, and each thing taken away is found. */
#include <sys/mount.h>

#include "mount_fixture.h"
#include "os/mount_verify.h"
#include "util/str.h"

#define OPS_MAX 8

static struct mount_op ops[OPS_MAX];
static size_t n_ops;
static char *masked[] = { "/mask-dir", "/mask-file", "/not-there" };
static char *readonly_paths[] = { "/fixed", "/not-there-either" };

static void add(const char *type, const char *source, const char *dest, const char *options)
{
	must(parse(&ops[n_ops], type, source, dest, options));
	must(mount_apply(&ops[n_ops], &ctx, &err));
	n_ops++;
}

/* The mounts of every case, inside a root of their own that becomes the process's. */
static void set_up(void)
{
	_cleanup_close_ int null_fd = -EBADF;

	must(unshare(CLONE_NEWNS));
	if (!fixture_begin())
		_exit(99);
	put_dir("src");
	put_dir("src/sub");
	must(mount("below", in_scratch("src/sub"), "tmpfs", 0, NULL));
	put_dir("root/mask-dir");
	put_file("root/mask-file", "secret");
	put_dir("root/fixed");
	put_dir("root/old");
	add("tmpfs", "tmpfs", "/tmp", "nosuid,nodev,noexec");
	add("bind", in_scratch("src"), "/tree", "rbind,rnosuid,rnodev,rro,rprivate");
	add("bind", in_scratch("src"), "/flat", "bind,nosuid,nodev,ro");
	add("bind", in_scratch("src"), "/free", "bind,rw");
	add("tmpfs", "tmpfs", "/late", "ro,nosuid");
	must(mount_finish_readonly(ops, n_ops, &err));
	must(rootfs_null_open(&null_fd, &err));
	must(rootfs_pivot(ctx.rootfs_fd, &err));
	close(ctx.rootfs_fd);
	ctx.rootfs_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	must(rootfs_readonly_paths(readonly_paths, ELEMENTSOF(readonly_paths), &err));
	must(rootfs_mask_paths(masked, ELEMENTSOF(masked), null_fd, NULL, &err));
	must(rootfs_finish(true, MS_PRIVATE | MS_REC, &err));
}

static int verify(void)
{
	struct mount_verify v = {
		.proc_fd = ctx.proc_fd,
		.root_fd = ctx.rootfs_fd,
		.ops = ops,
		.n_ops = n_ops,
		.masked = masked,
		.n_masked = ELEMENTSOF(masked),
		.readonly = readonly_paths,
		.n_readonly = ELEMENTSOF(readonly_paths),
		.root_readonly = true,
		.root_propagation = MS_PRIVATE | MS_REC,
	};

	memset(&err, 0, sizeof(err));
	return mount_verify(&v, &err);
}

/* One change by somebody else, and what the read-back says of it. */
struct change {
	const char *path;
	unsigned long flags; /* of mount(2) */
	const char *says; /* NULL = no fault */
};

static const struct change changes[] = {
	{ "/tmp", MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL },
	{ "/tmp", MS_REMOUNT | MS_BIND | MS_NODEV | MS_NOEXEC, "/tmp is not nosuid" },
	{ "/tmp", MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NOEXEC, "/tmp is not nodev" },
	{ "/tmp", MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, "/tmp is not noexec" },
	{ "/tmp", MS_SHARED, "/tmp is not private" },
	{ "/tree", MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, "/tree is not read-only" },
	{ "/tree/sub", MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, "below it: verification of mounts failed: the mount on /tree is not read-only" },
	{ "/tree/sub", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NODEV, "/tree is not nosuid" },
	{ "/flat", MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, "/flat is not read-only" },
	{ "/free", MS_REMOUNT | MS_BIND, NULL },
	{ "/late", MS_REMOUNT | MS_BIND | MS_NOSUID, "/late is not read-only" },
	{ "/fixed", MS_REMOUNT | MS_BIND, "read-only paths failed: /fixed can be written" },
	{ "/mask-dir", MS_REMOUNT | MS_BIND, "masked paths failed: /mask-dir shows" },
	{ "/", MS_REMOUNT | MS_BIND, "on / is not read-only" },
	{ "/", MS_SHARED, "on / is not private" },
};

static int unmounted(void)
{
	int failed = 0;

	must(umount2("/mask-file", MNT_DETACH));
	check(failed, verify() == -EPERM && strstr(err.text, "/mask-file shows its content"));
	must(umount2("/mask-dir", MNT_DETACH));
	check(failed, verify() == -EPERM && strstr(err.text, "/mask-dir shows its content"));
	must(umount2("/flat", MNT_DETACH)); /* what covered it */
	must(umount2("/flat", MNT_DETACH));
	check(failed, verify() == -EPERM && strstr(err.text, "what was mounted on /flat is gone"));
	if (failed)
		printf("# %s\n", err.text);
	return failed;
}

static int covered(void)
{
	int failed = 0;

	must(mount("other", "/flat", "tmpfs", 0, NULL));
	check(failed, verify() == 0);
	return failed;
}

static int all_changes(void)
{
	size_t i;
	int failed = 0;

	set_up();
	check(failed, verify() == 0);
	if (failed)
		printf("# %s\n", err.text);
	for (i = 0; i < ELEMENTSOF(changes) && !failed; i++) {
		const struct change *now = &changes[i];
		unsigned long undo;
		int r;

		must(mount(NULL, now->path, NULL, now->flags, NULL));
		r = verify();
		check(failed, now->says ? r == -EPERM && strstr(err.text, now->says) != NULL : r == 0);
		if (failed)
			printf("# %s, %lx: %s\n", now->path, now->flags, err.text);
		undo = now->flags == MS_SHARED ? MS_PRIVATE :
						 MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
		must(mount(NULL, now->path, NULL, undo, NULL));
	}
	failed += covered();
	failed += unmounted();
	return failed;
}

int main(void)
{
	if (!scratch_begin())
		return TAP_SKIP_ALL("mounting needs root");
	TAP_BEGIN();
	is_int(in_child(all_changes), 0, "each change is found, and no other");
	scratch_end();
	return TAP_END();
}
