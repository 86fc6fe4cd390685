/*
 * Owns the place where BPF objects are pinned: a bpffs of our own, so that nobody else's
 * tidying removes them and nobody but root sees them.
 */
#include "os/ebpf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "util/cleanup.h"

int ebpf_fs_mount(const char *path, struct error *err)
{
	struct statfs fs;
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make %s", path);
	if (statfs(path, &fs) < 0)
		return error_set(err, -errno, "examine %s", path);
	if (fs.f_type != BPF_FS_MAGIC &&
	    mount("agentrun", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
		return error_set(err, -errno, "mount a bpf filesystem at %s", path);
	if (stat(path, &st) < 0)
		return error_set(err, -errno, "examine %s", path);
	if (st.st_uid != 0 || (st.st_mode & 077))
		return error_text(err, -EPERM, "%s is open to others than root: unmount it and try again", path);
	return 0;
}
