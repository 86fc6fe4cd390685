/*
 * Reading and writing /proc through one verified descriptor. This file and no
 * other resolves names below /proc; everyone else passes the handle around. It
 * knows nothing of what the files mean.
 */
#include "os/procfs.h"

#include <assert.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "os/syscalls.h"
#include "util/fd.h"
#include "util/parse.h"

#define PROCFS_READ_MAX ((size_t)64 * 1024)
/* The root directory of every procfs instance has this inode number (PROC_ROOT_INO). */
#define PROCFS_ROOT_INO 1
/* Field 22 of stat counted from the state letter, which is field 3. */
#define STAT_START_FIELD 22
#define STAT_STATE_FIELD 3

static int procfs_resolve(int proc_fd, const char *path, int flags)
{
	/*
	 * "self" and "thread-self" are ordinary relative links, so NO_SYMLINKS
	 * would be too strict; NO_XDEV is what defeats a mount over a leaf.
	 */
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	int fd = sys_openat2(proc_fd, path, &how);

	return fd < 0 ? -errno : fd;
}

static int procfs_verify(int fd, struct error *err)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "stat /proc");
	if (fs.f_type != PROC_SUPER_MAGIC || st.st_ino != PROCFS_ROOT_INO)
		return error_text(err, -EXDEV,
				  "/proc is not the root of a proc filesystem; mount one there");
	return 0;
}

/*
 * Follows the magic link dir/name on purpose. The O_PATH open before it fails with
 * EXDEV when something is mounted over the link itself.
 */
static int procfs_follow(int proc_fd, const char *dir, const char *name, int flags)
{
	_cleanup_close_ int dir_fd = -EBADF;
	_cleanup_close_ int link_fd = -EBADF;
	int fd;

	dir_fd = procfs_resolve(proc_fd, dir, O_PATH | O_DIRECTORY);
	if (dir_fd < 0)
		return dir_fd;
	link_fd = procfs_resolve(dir_fd, name, O_PATH | O_NOFOLLOW);
	if (link_fd < 0)
		return link_fd;
	fd = openat(dir_fd, name, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int procfs_write_fd(int fd, const char *path, const char *data, size_t len,
			   struct error *err)
{
	ssize_t n = write(fd, data, len);

	if (n < 0)
		return error_set(err, -errno, "write /proc/%s", path);
	if ((size_t)n != len)
		return error_text(err, -EIO, "write /proc/%s: the kernel took %zd of %zu bytes",
				  path, n, len);
	return 0;
}

int procfs_open(int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	assert(ret_fd);

	fd = open("/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, -errno, "open /proc");
	r = procfs_verify(fd, err);
	if (r < 0)
		return r;
	*ret_fd = take_fd(&fd);
	return 0;
}

int procfs_openat(int proc_fd, const char *path, int flags, int *ret_fd, struct error *err)
{
	int fd;

	assert(proc_fd >= 0);
	assert(path && ret_fd);

	fd = procfs_resolve(proc_fd, path, flags);
	if (fd == -EXDEV)
		return error_set(err, fd, "open /proc/%s (something is mounted over it)", path);
	if (fd < 0)
		return error_set(err, fd, "open /proc/%s", path);
	*ret_fd = fd;
	return 0;
}

int procfs_write(int proc_fd, const char *path, const char *data, size_t len, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = procfs_openat(proc_fd, path, O_WRONLY, &fd, err);
	if (r < 0)
		return r;
	return procfs_write_fd(fd, path, data, len, err);
}

int procfs_write_self(int proc_fd, const char *name, const char *data, size_t len,
		      struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char path[128];
	int n, r, dumpable;

	n = snprintf(path, sizeof(path), "self/%s", name);
	assert(n > 0 && (size_t)n < sizeof(path));

	r = procfs_openat(proc_fd, path, O_WRONLY, &fd, err);
	if (r == -EACCES) {
		dumpable = prctl(PR_GET_DUMPABLE);
		if (dumpable == 1 || prctl(PR_SET_DUMPABLE, 1) < 0)
			return r;
		r = procfs_openat(proc_fd, path, O_WRONLY, &fd, err);
		/* The suid_dumpable value 2 cannot be set by prctl; 0 is the stricter one. */
		(void)prctl(PR_SET_DUMPABLE, 0);
	}
	if (r < 0)
		return r;
	return procfs_write_fd(fd, path, data, len, err);
}

int procfs_read(int proc_fd, const char *path, char **ret_text, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	size_t len;
	int r;

	assert(ret_text);

	r = procfs_openat(proc_fd, path, O_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, PROCFS_READ_MAX, ret_text, &len);
	if (r < 0)
		return error_set(err, r, "read /proc/%s", path);
	return 0;
}

int procfs_reopen(int proc_fd, int fd, int flags, int *ret_fd, struct error *err)
{
	char name[16];
	int n;

	assert(proc_fd >= 0 && fd >= 0);
	assert(ret_fd);

	(void)snprintf(name, sizeof(name), "%d", fd);
	n = procfs_follow(proc_fd, "self/fd", name, flags);
	if (n < 0)
		return error_set(err, n, "open again descriptor %d through /proc/self/fd", fd);
	*ret_fd = n;
	return 0;
}

int procfs_open_ns(int proc_fd, pid_t pid, const char *name, int *ret_fd, struct error *err)
{
	char dir[32] = "self/ns";
	int n;

	assert(proc_fd >= 0);
	assert(name && ret_fd);

	if (pid > 0)
		(void)snprintf(dir, sizeof(dir), "%d/ns", pid);
	n = procfs_follow(proc_fd, dir, name, O_RDONLY);
	if (n < 0)
		return error_set(err, n, "open namespace /proc/%s/%s", dir, name);
	*ret_fd = n;
	return 0;
}

int procfs_pid_of(int proc_fd, int pidfd, pid_t *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char path[40];
	const char *p;
	uint32_t pid;
	char *end;
	int r;

	assert(proc_fd >= 0 && pidfd >= 0);
	assert(ret);

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	r = procfs_read(proc_fd, path, &text, err);
	if (r < 0)
		return r;
	p = strstr(text, "\nPid:\t");
	if (!p)
		return error_text(err, -EBADMSG, "descriptor %d refers to no process", pidfd);
	p += strlen("\nPid:\t");
	end = strchr(p, '\n');
	if (end)
		*end = '\0';
	/* -1: reaped; 0: not in that namespace. */
	if (parse_u32(p, &pid) < 0 || pid == 0 || pid > INT32_MAX)
		return error_text(err, -ESRCH, "the process of descriptor %d: no such process in /proc", pidfd);
	*ret = (pid_t)pid;
	return 0;
}

/* The command name in field 2 may hold blanks and parentheses: fields count from its last ')'. */
static int stat_parse(const char *text, unsigned long long *ret_start, char *ret_state)
{
	const char *p = strrchr(text, ')');
	unsigned long long start = 0;
	int field;
	char state;

	if (!p || p[1] != ' ' || p[2] == '\0')
		return -EBADMSG;
	p += 2;
	state = *p;
	for (field = STAT_STATE_FIELD; field < STAT_START_FIELD; field++) {
		p = strchr(p, ' ');
		if (!p)
			return -EBADMSG;
		p++;
	}
	if (*p < '0' || *p > '9')
		return -EBADMSG;
	for (; *p >= '0' && *p <= '9'; p++)
		start = start * 10 + (unsigned long long)(*p - '0');
	*ret_start = start;
	*ret_state = state;
	return 0;
}

int procfs_stat(int proc_fd, pid_t pid, unsigned long long *ret_start, char *ret_state,
		struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char path[32], text[2048];
	ssize_t n;
	int r;

	assert(proc_fd >= 0);
	assert(ret_start && ret_state);

	if (pid <= 0)
		return error_text(err, -ESRCH, "process %d: no such process", pid);
	(void)snprintf(path, sizeof(path), "%d/stat", pid);
	fd = procfs_resolve(proc_fd, path, O_RDONLY);
	if (fd == -ENOENT)
		return error_set(err, -ESRCH, "process %d", pid);
	if (fd < 0)
		return error_set(err, fd, "open /proc/%s", path);
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0) /* ESRCH when it went away after the open */
		return error_set(err, -errno, "read /proc/%s", path);
	text[n] = '\0';
	r = stat_parse(text, ret_start, ret_state);
	if (r < 0)
		return error_text(err, r, "read /proc/%s: unexpected content", path);
	return 0;
}
