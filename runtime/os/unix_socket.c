/*
 * AF_UNIX sockets in the file system. Names may be longer than sun_path, so they
 * are always reached through a descriptor. For use while /proc is the host's.
 */
#include "os/tty.h"

#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#define UNIX_BACKLOG	       16
#define UNIX_CONNECT_TIMEOUT_S 2

static int address_of_fd(int fd, const char *name, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d%s%s", fd,
		     name ? "/" : "", name ? name : "");
	return n > 0 && (size_t)n < sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

/* target: O_PATH descriptor of the socket's inode. */
static int connect_socket(int sock, int target)
{
	struct sockaddr_un addr;
	struct stat st;
	int r;

	if (fstat(target, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	r = address_of_fd(target, NULL, &addr);
	if (r < 0)
		return r;
	do
		r = connect(sock, (struct sockaddr *)&addr, sizeof(addr));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

static int connect_to(int target, int type, int *ret_fd)
{
	_cleanup_close_ int sock = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	int r;

	if (sock < 0)
		return -errno;
	r = connect_socket(sock, target);
	if (r == 0)
		*ret_fd = take_fd(&sock);
	return r;
}

int tty_socket_connect(const char *path, const char *what, int *ret_fd, struct error *err)
{
	_cleanup_close_ int target = -EBADF;
	int r;

	assert(path && what && ret_fd);

	target = open(path, O_PATH | O_CLOEXEC);
	if (target < 0)
		return error_set(err, -errno, "connect to %s %s", what, path);
	r = connect_to(target, SOCK_STREAM, ret_fd);
	if (r < 0)
		return error_set(err, r, "connect to %s %s", what, path);
	return 0;
}

int unix_connect_datagram(const char *address, int *ret_fd, struct error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -EBADF;
	size_t len;
	int r;

	assert(address && ret_fd);

	if (address[0] == '/') {
		_cleanup_close_ int target = open(address, O_PATH | O_CLOEXEC);

		r = target < 0 ? -errno : connect_to(target, SOCK_DGRAM, ret_fd);
		return r < 0 ? error_set(err, r, "connect to socket %s", address) : 0;
	}
	len = strlen(address);
	if (address[0] != '@' || len < 2 || len > sizeof(addr.sun_path))
		return error_text(err, -EINVAL, "socket \"%.200s\" is neither an absolute path nor @NAME", address);
	/* The abstract name has no end mark: its length says where it ends. */
	memcpy(addr.sun_path + 1, address + 1, len - 1);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		return error_set(err, -errno, "connect to socket %s", address);
	*ret_fd = take_fd(&fd);
	return 0;
}

int unix_bind_datagram_at(int dirfd, const char *name, mode_t mode, int *ret_fd, struct error *err)
{
	_cleanup_close_ int sock = -EBADF;
	struct sockaddr_un addr;
	mode_t mask;
	int r;

	assert(dirfd >= 0 && name && ret_fd);

	r = address_of_fd(dirfd, name, &addr);
	if (r < 0)
		return error_set(err, r, "bind socket %s", name);
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || fchmod(sock, mode) < 0)
		return error_set(err, -errno, "make socket %s", name);
	if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
		return error_set(err, -errno, "remove an old socket %s", name);
	mask = umask(0);
	r = bind(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
	(void)umask(mask);
	if (r < 0)
		return error_set(err, r, "bind socket %s", name);
	*ret_fd = take_fd(&sock);
	return 0;
}

/* A listener that accepts nothing lets a few connect, and further ones wait. */
static int connect_in_time(int target, int *ret_fd)
{
	const struct timeval limit = { .tv_sec = UNIX_CONNECT_TIMEOUT_S };
	_cleanup_close_ int sock = -EBADF;
	int r;

	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	r = connect_socket(sock, target);
	if (r < 0)
		return r == -EAGAIN ? -ETIMEDOUT : r;
	/* What is sent later may take its time. */
	if (setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){ 0 }, sizeof(limit)) < 0)
		return -errno;
	*ret_fd = take_fd(&sock);
	return 0;
}

int unix_connect_at(int dirfd, const char *name, int *ret_fd, struct error *err)
{
	_cleanup_close_ int target = -EBADF;
	int r;

	assert(dirfd >= 0 && name && ret_fd);

	target = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (target < 0)
		return error_set(err, -errno, "connect to socket %s", name);
	r = connect_in_time(target, ret_fd);
	if (r < 0)
		return error_set(err, r, "connect to socket %s", name);
	return 0;
}

int unix_listen_at(int dirfd, const char *name, int *ret_fd, struct error *err)
{
	_cleanup_close_ int sock = -EBADF;
	struct sockaddr_un addr;
	int r;

	assert(dirfd >= 0 && name && ret_fd);

	r = address_of_fd(dirfd, name, &addr);
	if (r < 0)
		return error_set(err, r, "listen on socket %s", name);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return error_set(err, -errno, "make socket %s", name);
	/* bind(2) takes the mode of the socket's own inode: never a moment with a wider one. */
	if (fchmod(sock, 0600) < 0)
		return error_set(err, -errno, "set mode of socket %s", name);
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return error_set(err, -errno, "bind socket %s", name);
	if (listen(sock, UNIX_BACKLOG) < 0)
		return error_set(err, -errno, "listen on socket %s", name);
	*ret_fd = take_fd(&sock);
	return 0;
}
