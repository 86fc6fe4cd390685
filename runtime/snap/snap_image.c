/*
 * Image files: made once for each pair of caps by mke2fs(8), copied for each session with
 * their holes. A fresh one takes some hundred KiB on the disk, whatever its size.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/spawn.h"
#include "snap/snap_private.h"
#include "snap/snap_sync.h"
#include "util/fd.h"
#include "util/str.h"

#define MKFS_TIMEOUT_MS 60000
#define BYTES_PER_INODE UINT64_C(8192) /* more inodes would leave no room for files */

int snap_image_caps(uint64_t *size, uint64_t *inodes, struct error *err)
{
	if (*size < SNAP_SIZE_MIN)
		return error_text(err, -EINVAL, "a session of %llu bytes: the least is %llu (disk.session.size of the policy)",
				  (unsigned long long)*size, (unsigned long long)SNAP_SIZE_MIN);
	*size &= ~UINT64_C(4095);
	*inodes = MIN(MAX(*inodes, UINT64_C(64)), *size / BYTES_PER_INODE);
	return 0;
}

/*
 * Features by name, not by the host's mke2fs.conf; tables that are holes until they are used. A journal, so that a
 * crash of the host costs nothing but what was not yet written; what ends with its container starts and ends quicker without.
 */
static int run_mkfs(int top_fd, const char *name, uint64_t size, uint64_t inodes, bool lasting, struct error *err)
{
	static const char *const places[] = { "/usr/sbin/mke2fs", "/sbin/mke2fs" };
	char features[] = "none,ext_attr,dir_index,filetype,extent,flex_bg,large_file,huge_file,dir_nlink,"
			  "extra_isize,metadata_csum,64bit,sparse_super2";
	char path[160], inode_text[24], size_text[24];
	char *argv[] = { "mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-I", "256", "-m", "0", "-O", features,
			 "-E", "num_backup_sb=0,packed_meta_blocks=1,lazy_itable_init=1,lazy_journal_init=1,nodiscard,root_owner=0:0",
			 "-N", inode_text, path, size_text, lasting ? "-J" : NULL, "size=4", NULL };
	char *envp[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "MKE2FS_CONFIG=/dev/null", NULL };
	struct spawn s = { .argv = argv, .envp = envp, .cwd = "/", .timeout_ms = MKFS_TIMEOUT_MS, .output_max = 512 };
	_cleanup_free_ char *out = NULL, *why = NULL;
	int status = 0, r;

	(void)snprintf(path, sizeof(path), SNAP_DIR "/%s", name);
	(void)snprintf(inode_text, sizeof(inode_text), "%llu", (unsigned long long)inodes);
	(void)snprintf(size_text, sizeof(size_text), "%lluk", (unsigned long long)(size / 1024));
	s.path = access(places[0], X_OK) == 0 ? places[0] : places[1];
	if (access(s.path, X_OK) < 0)
		return error_text(err, -ENOENT, "a session needs mke2fs (package e2fsprogs), which is not installed");
	r = spawn_run(&s, &status, &out, &why, err);
	if (r < 0)
		return error_prefix(err, "make the image of a session");
	if (r == SPAWN_E_TIMEOUT || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_text(err, -EIO, "make the image of a session: mke2fs failed: %.300s", why ? why : "");
	return faccessat(top_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? error_set(err, -errno, "make the image of a session") : 0;
}

/* Its name says its caps; whoever comes second finds it, and two at once make equal ones. */
static int template_open(int top_fd, uint64_t size, uint64_t inodes, bool lasting, int *ret_fd, struct error *err)
{
	char name[64], temp[80];
	struct stat st;
	int fd, r;

	(void)snprintf(name, sizeof(name), SNAP_TEMPLATE_PREFIX "%llu-%llu%s", (unsigned long long)size, (unsigned long long)inodes,
		       lasting ? "" : "-plain");
	(void)snprintf(temp, sizeof(temp), "%s.%d", name, (int)getpid());
	fd = openat(top_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		r = run_mkfs(top_fd, temp, size, inodes, lasting, err);
		if (r == 0 && (fd = openat(top_fd, temp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) >= 0 &&
		    (fsync(fd) < 0 || renameat(top_fd, temp, top_fd, name) < 0))
			r = error_set(err, -errno, "keep the template of session images");
		if (r < 0) {
			(void)unlinkat(top_fd, temp, 0);
			cleanup_closep(&fd);
			return r;
		}
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "open the template of session images");
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != size) {
		(void)close(fd);
		return error_text(err, -EIO, "%s/%s has not the size of its name: remove it", SNAP_DIR, name);
	}
	*ret_fd = fd;
	return 0;
}

int snap_image_copy(int from_fd, int dirfd, const char *name, struct error *err)
{
	_cleanup_close_ int to_fd = -EBADF;
	struct stat st;
	int r;

	if (fstat(from_fd, &st) < 0)
		return error_set(err, -errno, "inspect the image of a session");
	to_fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to_fd < 0)
		return error_set(err, -errno, "make the image %s", name);
	r = snap_data_copy(from_fd, to_fd, st.st_size);
	if (r < 0) {
		(void)unlinkat(dirfd, name, 0);
		return error_set(err, r, "copy the image %s", name);
	}
	return 0;
}

int snap_image_make(int top_fd, uint64_t size, uint64_t inodes, bool lasting, int dirfd, const char *name, struct error *err)
{
	_cleanup_close_ int template_fd = -EBADF;
	int r = template_open(top_fd, size, inodes, lasting, &template_fd, err);

	return r < 0 ? r : snap_image_copy(template_fd, dirfd, name, err);
}
