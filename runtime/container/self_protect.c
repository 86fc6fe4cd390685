/*
 * Our own program file must not be writable through /proc/PID/exe of a process that
 * a container can reach (CVE-2019-5736). The commands that make such a process run from
 * a private read-only mount of the file, or, where mounting is not allowed, from a
 * sealed copy in memory: a write through either fails whatever rights the container has.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "container/container.h"
#include "os/libexec.h"
#include "util/fd.h"

#define CMDLINE_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static int is_protected(int exe_fd, bool *ret, struct error *err)
{
	struct statvfs st;
	int seals;

	if (fstatvfs(exe_fd, &st) < 0)
		return error_set(err, -errno, "examine the mount of agentrun's own program file");
	seals = fcntl(exe_fd, F_GET_SEALS);
	*ret = (st.f_flag & ST_RDONLY) || (seals >= 0 && (seals & SEALS) == SEALS);
	return 0;
}

static int open_readonly_mount(int exe_fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	_cleanup_close_ int fd = -EBADF;

	fd = open_tree(exe_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (fd < 0)
		return -errno;
	if (mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return take_fd(&fd);
}

static int open_sealed_copy(int exe_fd)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	off_t done = 0;

	if (fstat(exe_fd, &st) < 0)
		return -errno;
	/* Kernels with vm.memfd_noexec=1 (6.3) want the wish to execute said; older ones do not know the flag. */
	fd = memfd_create("agentrun", MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x0010U /* MFD_EXEC */);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("agentrun", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	while (done < st.st_size) {
		ssize_t n = sendfile(fd, exe_fd, &done, (size_t)(st.st_size - done));

		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
	}
	if (fchmod(fd, 0500) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	return take_fd(&fd);
}

/* argv from the kernel's copy: this is called deep below main. */
static int read_argv(char **ret_text, char ***ret_argv, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char **argv = NULL;
	size_t len, n = 0, i;
	char *p;
	int r;

	r = file_read_all(AT_FDCWD, "/proc/self/cmdline", CMDLINE_BYTES_MAX, &text, &len, err);
	if (r < 0)
		return r;
	for (i = 0; i < len; i++)
		n += text[i] == '\0';
	argv = calloc(n + 1, sizeof(char *));
	if (!argv)
		return error_oom(err);
	for (i = 0, p = text; i < n; i++, p += strlen(p) + 1)
		argv[i] = p;
	*ret_text = take_ptr(text);
	*ret_argv = take_ptr(argv);
	return 0;
}

int container_self_protect(struct error *err)
{
	_cleanup_close_ int exe_fd = -EBADF;
	_cleanup_close_ int safe_fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char **argv = NULL;
	bool done;
	int r;

	exe_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (exe_fd < 0)
		return error_set(err, -errno, "open agentrun's own program file (is /proc mounted?)");
	r = is_protected(exe_fd, &done, err);
	if (r < 0 || done)
		return r;

	safe_fd = open_readonly_mount(exe_fd);
	if (safe_fd < 0)
		safe_fd = open_sealed_copy(exe_fd);
	if (safe_fd < 0)
		return error_set(err, safe_fd, "make a protected copy of agentrun's own program file");
	r = is_protected(safe_fd, &done, err);
	if (r < 0)
		return r;
	if (!done)
		return error_text(err, -EPERM, "protect agentrun's own program file: the copy is still writable");
	r = read_argv(&text, &argv, err);
	if (r == 0)
		r = libexec_remember(err);
	if (r < 0)
		return r;
	(void)fexecve(safe_fd, argv, environ);
	return error_set(err, -errno, "execute the protected copy of agentrun's own program file");
}
