/*
 * Owns the place where BPF objects are pinned: a bpffs of our own, so that nobody else's
 * tidying removes them and nobody but root sees them.
 */
#include "os/ebpf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/str.h"

static bool is_mounted(const char *path, struct error *err, int *ret)
{
	struct statfs fs;

	*ret = statfs(path, &fs) < 0 ? error_set(err, -errno, "examine %s", path) : 0;
	return *ret == 0 && fs.f_type == BPF_FS_MAGIC;
}

/* Two at the same time would mount one over the other. */
static int mount_locked(const char *path, struct error *err)
{
	_cleanup_free_ char *name = str_printf("%s.lock", path);
	_cleanup_close_ int lock = -EBADF;
	int r;

	if (!name)
		return error_oom(err);
	lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0)
		return error_set(err, -errno, "open %s", name);
	if (flock(lock, LOCK_EX) < 0)
		return error_set(err, -errno, "lock %s", name);
	if (is_mounted(path, err, &r) || r < 0)
		return r;
	if (mount("agentrun", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
		return error_set(err, -errno, "mount a bpf filesystem at %s", path);
	return 0;
}

int ebpf_fs_mount(const char *path, struct error *err)
{
	struct stat st;
	int r;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make %s", path);
	if (!is_mounted(path, err, &r) && r == 0)
		r = mount_locked(path, err);
	if (r < 0)
		return r;
	if (stat(path, &st) < 0)
		return error_set(err, -errno, "examine %s", path);
	if (st.st_uid != 0 || (st.st_mode & 077))
		return error_text(err, -EPERM, "%s is open to others than root: unmount it and try again", path);
	return 0;
}
