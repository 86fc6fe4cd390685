/*
 * Reads, writes and splices of the relay's ends: none blocks, and none changes a flag
 * that somebody else would feel.
 */
#include "os/stdio_relay.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/cleanup.h"

#define USUAL_SIZE 65536
#define WIDE_SIZE  262144 /* 4 times: with more its pages do not stay in a processor's cache */

enum stdio_how stdio_how_of(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
		return STDIO_TALK;
	return flags >= 0 && (flags & O_NONBLOCK) ? STDIO_OWN : STDIO_SHARED;
}

/* Ready right now? Somebody else may still be faster: hence PIPE_BUF, and RWF_NOWAIT where it works. */
static bool ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) == 1;
}

/*
 * Pipes know RWF_NOWAIT since Linux 6.4. Before, a writer that finds room for PIPE_BUF bytes does
 * not block, if no other writer takes it first.
 */
static ssize_t shared_write(int fd, const void *buf, size_t len)
{
	struct iovec v = { .iov_base = (void *)buf, .iov_len = MIN(len, (size_t)PIPE_BUF) };
	ssize_t n;

	if (!ready(fd, POLLOUT)) {
		errno = EAGAIN;
		return -1;
	}
	n = pwritev2(fd, &v, 1, -1, RWF_NOWAIT);
	return n < 0 && errno == EOPNOTSUPP ? write(fd, v.iov_base, v.iov_len) : n;
}

static ssize_t shared_read(int fd, void *buf, size_t len)
{
	struct iovec v = { .iov_base = buf, .iov_len = len };
	ssize_t n;

	if (!ready(fd, POLLIN)) {
		errno = EAGAIN;
		return -1;
	}
	n = preadv2(fd, &v, 1, -1, RWF_NOWAIT);
	return n < 0 && errno == EOPNOTSUPP ? read(fd, buf, len) : n;
}

static ssize_t write_once(const struct stdio_end *e, const void *buf, size_t len)
{
	switch (e->how) {
	case STDIO_TALK:
		return send(e->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	case STDIO_SHARED:
		return shared_write(e->fd, buf, len);
	case STDIO_OWN:
	default:
		return write(e->fd, buf, len);
	}
}

static ssize_t read_once(const struct stdio_end *e, void *buf, size_t len)
{
	switch (e->how) {
	case STDIO_TALK:
		return recv(e->fd, buf, len, MSG_DONTWAIT);
	case STDIO_SHARED:
		return shared_read(e->fd, buf, len);
	case STDIO_OWN:
	default:
		return read(e->fd, buf, len);
	}
}

ssize_t stdio_read(const struct stdio_end *e, void *buf, size_t len)
{
	ssize_t n;

	assert(e->fd >= 0 && len > 0);

	do
		n = read_once(e, buf, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t stdio_write(const struct stdio_end *e, const void *buf, size_t len)
{
	ssize_t n;

	assert(e->fd >= 0 && len > 0);

	do
		n = write_once(e, buf, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t stdio_splice(const struct stdio_end *from, const struct stdio_end *to, size_t len)
{
	ssize_t n;

	do
		n = splice(from->fd, NULL, to->fd, NULL, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/*
 * The flag of splice(2) rules pipes alone: a socket or a terminal would block by its own flags,
 * and a pipe in packet mode would lose its borders.
 */
bool stdio_can_splice(const struct stdio_end *from, const struct stdio_end *to)
{
	const struct stdio_end *ends[] = { from, to };
	size_t i;

	for (i = 0; i < ELEMENTSOF(ends); i++) {
		struct stat st;
		int flags = fcntl(ends[i]->fd, F_GETFL);

		if (flags < 0 || (flags & O_DIRECT) || fstat(ends[i]->fd, &st) < 0 || !S_ISFIFO(st.st_mode))
			return false;
	}
	return true;
}

void stdio_widen(const struct stdio_end *e)
{
	if (fcntl(e->fd, F_GETPIPE_SZ) == USUAL_SIZE)
		(void)fcntl(e->fd, F_SETPIPE_SZ, WIDE_SIZE);
}

bool stdio_hangup_is_final(const struct stdio_end *to)
{
	struct statfs fs;
	struct stat st;

	return fstat(to->fd, &st) == 0 &&
	       (!S_ISFIFO(st.st_mode) || (fstatfs(to->fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC));
}
