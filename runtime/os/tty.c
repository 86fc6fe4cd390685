/*
 * The container's pty. It comes from the devpts of the container, whose /dev may
 * be the image's work: everything opened is verified by what it is, and nothing
 * is found by the name of a slave.
 */
#include "os/tty.h"

#include <assert.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "os/syscalls.h"
#include "util/fd.h"

#define PTMX_MAJOR	5
#define PTMX_MINOR	2
#define PTS_MAJOR_FIRST 136
#define PTS_MAJOR_LAST	143

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

static int open_in_root(int rootfs_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = sys_openat2(rootfs_fd, path, &how);

	return fd < 0 ? -errno : fd;
}

static int ptmx_verify(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(PTMX_MAJOR, PTMX_MINOR))
		return -ENODEV;
	return 0;
}

/* The slave tells whether master came from a devpts at all. */
static int slave_verify(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (fs.f_type != DEVPTS_SUPER_MAGIC || !S_ISCHR(st.st_mode) ||
	    major(st.st_rdev) < PTS_MAJOR_FIRST || major(st.st_rdev) > PTS_MAJOR_LAST)
		return -ENODEV;
	return 0;
}

/* An O_PATH look first: opening some other device for writing could already do something. */
static int ptmx_open(int rootfs_fd, const char *path)
{
	_cleanup_close_ int look = -EBADF;
	_cleanup_close_ int fd = -EBADF;
	int r;

	look = open_in_root(rootfs_fd, path, O_PATH);
	if (look < 0)
		return look;
	r = ptmx_verify(look);
	if (r < 0)
		return r;
	fd = open_in_root(rootfs_fd, path, O_RDWR | O_NOCTTY);
	if (fd < 0)
		return fd;
	r = ptmx_verify(fd);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

int tty_open_pty(int rootfs_fd, int *ret_master, int *ret_slave, struct error *err)
{
	_cleanup_close_ int master = -EBADF;
	_cleanup_close_ int slave = -EBADF;
	int unlock = 0, r;

	assert(rootfs_fd >= 0);
	assert(ret_master && ret_slave);

	master = ptmx_open(rootfs_fd, "dev/pts/ptmx");
	if (master == -ENOENT ||
	    master == -ENODEV) /* the host's /dev bound without a devpts of its own */
		master = ptmx_open(rootfs_fd, "dev/ptmx");
	if (master == -ENODEV)
		return error_text(
			err, master,
			"open a terminal: /dev/ptmx in the container is not a ptmx device");
	if (master < 0)
		return error_set(
			err, master,
			"open a terminal in the container (is devpts mounted at /dev/pts?)");
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return error_set(err, -errno, "unlock the terminal");
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return error_set(err, -errno, "open the slave side of the terminal");
	r = slave_verify(slave);
	if (r < 0)
		return error_text(err, r, "open a terminal: the slave side is not in a devpts");
	*ret_master = take_fd(&master);
	*ret_slave = take_fd(&slave);
	return 0;
}

int tty_plain_newlines(int fd, struct error *err)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return error_set(err, -errno, "read the modes of a terminal");
	t.c_oflag &= ~(tcflag_t)ONLCR;
	return tcsetattr(fd, TCSANOW, &t) < 0 ? error_set(err, -errno, "set the modes of a terminal") : 0;
}

int tty_set_size(int fd, unsigned short rows, unsigned short cols, struct error *err)
{
	const struct winsize ws = { .ws_row = rows, .ws_col = cols };

	if (ioctl(fd, TIOCSWINSZ, &ws) < 0)
		return error_set(err, -errno, "set terminal size to %u rows, %u columns", rows,
				 cols);
	return 0;
}

int tty_attach(int slave, struct error *err)
{
	int fd;

	assert(slave >= 0);

	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		return error_set(err, -errno, "make the terminal the controlling one");
	for (fd = 0; fd <= 2; fd++)
		if (dup2(slave, fd) < 0)
			return error_set(err, -errno, "put the terminal on descriptor %d", fd);
	/* dup2 onto itself changes nothing, the close-on-exec flag included. */
	if (slave <= 2 && fd_set_cloexec(slave, 0) < 0)
		return error_set(err, -errno, "keep the terminal over exec");
	return 0;
}

int tty_send_master(int sock, int master, struct error *err)
{
	static const char name[] = "/dev/ptmx";
	int r;

	r = fd_send(sock, name, strlen(name), &master, 1);
	if (r < 0)
		return error_set(err, r, "send the terminal to the console socket");
	return 0;
}
