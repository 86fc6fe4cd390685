/*
 * Owns whole-file input and output, atomic replacement and descriptor passing.
 * Must not know what the files mean; nothing here waits for another program
 * except the reads and writes the caller asked for.
 */
#include "util/fd.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "util/str.h"

#define READ_STEP  ((size_t)8192)
#define TEMP_TRIES 16

static size_t first_read_size(int fd, size_t max)
{
	struct stat st;

	/* Files in /proc and /sys report 0; for others one read then gets everything. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return READ_STEP;
	return MIN((size_t)st.st_size, max) + 1;
}

int fd_read_all(int fd, size_t max, char **ret_data, size_t *ret_len)
{
	_cleanup_free_ char *data = NULL;
	size_t len = 0, cap, room;
	char *p;
	ssize_t n;

	assert(fd >= 0);
	assert(max < SIZE_MAX / 4);

	cap = first_read_size(fd, max);
	for (;;) {
		if (!data || len == cap) {
			cap = data ? cap * 2 : cap;
			p = realloc(data, cap + 1);
			if (!p)
				return -ENOMEM;
			data = p;
		}
		/* One byte more than allowed, to see whether the file ends there. */
		room = MIN(cap - len, max - len + 1);
		n = read(fd, data + len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
	}
	data[len] = '\0';
	*ret_data = take_ptr(data);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int file_read_all(int dirfd, const char *path, size_t max, char **ret_data, size_t *ret_len,
		  struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_set(err, -errno, "open %s", path);
	r = fd_read_all(fd, max, ret_data, ret_len);
	if (r == -EFBIG)
		return error_text(err, r, "read %s: larger than the limit of %zu bytes", path, max);
	if (r < 0)
		return error_set(err, r, "read %s", path);
	return 0;
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len > 0) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_write_once(int dirfd, const char *path, const char *data, size_t len)
{
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;

	fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0)
		return -errno;
	do /* EINTR means that the kernel took nothing, so it stays one write */
		n = write(fd, data, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

/* Opens an exclusive file beside name; temp receives its path. */
static int temp_open(int dirfd, const char *name, char *temp, size_t size)
{
	const char *slash = strrchr(name, '/');
	int dir_len = slash ? (int)(slash + 1 - name) : 0;
	uint64_t rnd;
	int fd, i;

	for (i = 0; i < TEMP_TRIES; i++) {
		if (getrandom(&rnd, sizeof(rnd), 0) != sizeof(rnd))
			return -errno;
		if (snprintf(temp, size, "%.*s" FILE_TEMP_PREFIX "%016llx", dir_len, name,
			     (unsigned long long)rnd) >= (int)size)
			return -ENAMETOOLONG;
		fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    0600);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0 ? fd : -errno;
	}
	return -EEXIST;
}

int file_replace(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
		 int durable, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char temp[PATH_MAX];
	int r;

	fd = temp_open(dirfd, name, temp, sizeof(temp));
	if (fd < 0)
		return error_set(err, fd, "create a temporary file for %s", name);

	r = fd_write_all(fd, data, len);
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	/* The data must be on disk before the name is, or a crash leaves an empty file. */
	if (r == 0 && durable && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, temp, dirfd, name) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(dirfd, temp, 0);
		return error_set(err, r, "write %s", name);
	}
	return 0;
}

int fd_cloexec_from(unsigned first)
{
	return close_range(first, ~0u, CLOSE_RANGE_CLOEXEC) < 0 ? -errno : 0;
}

int fd_close_from(unsigned first)
{
	return close_range(first, ~0u, 0) < 0 ? -errno : 0;
}

int fd_close_others(unsigned first, const int *keep, size_t n)
{
	for (;;) {
		unsigned next = ~0u;
		size_t i;

		/* The lowest one to keep from here on; the gap before it goes. */
		for (i = 0; i < n; i++)
			if (keep[i] >= 0 && (unsigned)keep[i] >= first && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next == ~0u)
			return fd_close_from(first);
		if (next > first && close_range(first, next - 1, 0) < 0)
			return -errno;
		first = next + 1;
	}
}

int fd_set_cloexec(int fd, int on)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0)
		return -errno;
	flags = on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
	return fcntl(fd, F_SETFD, flags) < 0 ? -errno : 0;
}

int fd_send(int sock, const void *data, size_t len, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FD_SEND_MAX)];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	assert(len >= 1);
	assert(nfds <= FD_SEND_MAX);

	if (nfds > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		c = CMSG_FIRSTHDR(&msg);
		assert(c);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	/* A stream socket may take a part; the descriptors went with its first byte. */
	while ((size_t)n < len) {
		ssize_t more = send(sock, (const char *)data + n, len - (size_t)n, MSG_NOSIGNAL);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -errno;
		n += more;
	}
	return 0;
}

/* Copies what fits into fds and closes the rest; returns how many came. */
static size_t collect_fds(struct msghdr *msg, int *fds, size_t max_fds)
{
	struct cmsghdr *c;
	size_t count = 0, i, n;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (count < max_fds)
				fds[count] = fd;
			else
				(void)close(fd);
			count++;
		}
	}
	return count;
}

int fd_recv(int sock, void *data, size_t len, size_t *ret_n, int *fds, size_t max_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FD_SEND_MAX)];
	} control = { 0 };
	struct iovec iov = { .iov_base = data, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	size_t count, i;
	ssize_t n;

	assert(max_fds <= FD_SEND_MAX);

	for (i = 0; i < max_fds; i++)
		fds[i] = -EBADF;
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;

	count = collect_fds(&msg, fds, max_fds);
	if (count > max_fds || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		for (i = 0; i < MIN(count, max_fds); i++) {
			(void)close(fds[i]);
			fds[i] = -EBADF;
		}
		return -EPROTO;
	}
	*ret_n = (size_t)n;
	return 0;
}
