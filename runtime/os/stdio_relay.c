/*
 * Which standard streams are relayed, and the pipes that are put in their place.
 */
#include "os/stdio_relay.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/procfs.h"
#include "util/fd.h"
#include "util/log.h"

#define NULL_MAJOR 1
#define NULL_MINOR 3

static const char *const kind_names[] = {
	[STDIO_CLOSED] = "closed", [STDIO_NULL] = "/dev/null", [STDIO_FILE] = "file",	  [STDIO_DEVICE] = "device",
	[STDIO_TTY] = "terminal",  [STDIO_PIPE] = "pipe",      [STDIO_SOCKET] = "socket",
	[STDIO_UNTRACED] = "tracing is forbidden here",
};

const char *stdio_kind_name(enum stdio_kind kind)
{
	return kind_names[kind];
}

static enum stdio_kind socket_kind(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM ? STDIO_SOCKET :
											     STDIO_DEVICE;
}

static enum stdio_kind kind_of(int fd, const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFIFO:
		return STDIO_PIPE;
	case S_IFSOCK:
		return socket_kind(fd);
	case S_IFREG:
	case S_IFDIR:
		return STDIO_FILE;
	case S_IFCHR:
		if (st->st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
			return STDIO_NULL;
		return isatty(fd) ? STDIO_TTY : STDIO_DEVICE;
	default:
		return STDIO_DEVICE;
	}
}

/* A stream that is open the wrong way round fails at once; through a relay it would seem to work. */
static bool wrong_way(int fd, bool input)
{
	int flags = fcntl(fd, F_GETFL);
	int mode = flags & O_ACCMODE;

	return flags < 0 || (flags & O_PATH) || mode == (input ? O_WRONLY : O_RDONLY);
}

static bool same_object(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void stdio_decide(const int fds[3], bool with_stdin, struct stdio_choice ret[3])
{
	struct stat st[3] = { 0 };
	int i;

	for (i = 0; i < 3; i++) {
		struct stdio_choice *c = &ret[i];

		*c = (struct stdio_choice){ .kind = STDIO_CLOSED, .like = -1 };
		if (fds[i] < 0 || fstat(fds[i], &st[i]) < 0 || wrong_way(fds[i], i == 0))
			continue;
		c->kind = kind_of(fds[i], &st[i]);
		c->relayed = (c->kind == STDIO_PIPE || c->kind == STDIO_SOCKET) && (i > 0 || with_stdin);
		/*
		 * By the object and not by the open file: what was opened twice would also mix in order. The
		 * input is never one with an output: a socket that is both is relayed per direction.
		 */
		if (i == 2 && c->relayed && ret[1].relayed && same_object(&st[1], &st[2]))
			c->like = 1;
	}
}

void stdio_end_done(struct stdio_end *e)
{
	if (e->fd >= 0)
		(void)close(take_fd(&e->fd));
}

/*
 * The engine's end for the relay. O_NONBLOCK belongs to the open file, which the engine's other
 * processes may have too; so it is opened again, which also a pipe without a name allows.
 */
static int engine_end(int fd, enum stdio_kind kind, bool input, int proc_fd, struct stdio_end *ret, struct error *err)
{
	struct stdio_end e = { .fd = -EBADF, .how = STDIO_SHARED };
	int flags = fcntl(fd, F_GETFL);
	struct error ignored;

	if (flags < 0)
		return error_set(err, -errno, "read the flags of stream %d", fd);
	flags = (flags & O_DIRECT) | (input ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_NOCTTY;
	if (kind == STDIO_SOCKET)
		e.how = STDIO_TALK;
	else if (procfs_reopen(proc_fd, fd, flags, &e.fd, &ignored) == 0)
		e.how = STDIO_OWN;
	/* Else it has no reader any more, or is somebody else's: as it is. */
	if (e.fd < 0)
		e.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (e.fd < 0)
		return error_set(err, -errno, "keep the engine's stream %d for the output relay", fd);
	*ret = e;
	return 0;
}

/* Best effort: the limits on pipes of an unprivileged user may not allow the size. */
static void pipe_size_like(int pipe_fd, int fd, enum stdio_kind kind)
{
	int size = kind == STDIO_PIPE ? fcntl(fd, F_GETPIPE_SZ) : -1;

	if (size > 0 && fcntl(pipe_fd, F_GETPIPE_SZ) != size && fcntl(pipe_fd, F_SETPIPE_SZ, size) < 0)
		log_debugf("give the relay's pipe %d bytes: %s", size, error_errno_text(errno));
}

/* The process finds the flags that it would have found: programs ask, and some rely on them. */
static int pipe_make(int fd, enum stdio_kind kind, bool input, int *ret_process, struct stdio_end *ret_inside,
		     struct error *err)
{
	int flags = fcntl(fd, F_GETFL);
	int ours = input ? 1 : 0;
	int p[2], fl;

	if (flags < 0)
		return error_set(err, -errno, "read the flags of stream %d", fd);
	if (pipe2(p, O_CLOEXEC | (kind == STDIO_PIPE ? flags & O_DIRECT : 0)) < 0)
		return error_set(err, -errno, "make a pipe for the output relay");
	*ret_process = p[1 - ours];
	*ret_inside = (struct stdio_end){ .fd = p[ours], .how = STDIO_OWN };
	pipe_size_like(p[0], fd, kind);
	fl = fcntl(p[ours], F_GETFL);
	if (fl < 0 || fcntl(p[ours], F_SETFL, fl | O_NONBLOCK) < 0)
		return error_set(err, -errno, "make the relay's end of a pipe non-blocking");
	fl = fcntl(p[1 - ours], F_GETFL);
	if ((flags & O_NONBLOCK) && (fl < 0 || fcntl(p[1 - ours], F_SETFL, fl | O_NONBLOCK) < 0))
		return error_set(err, -errno, "make the process's end of a pipe non-blocking");
	return 0;
}

int stdio_relay_make(const int fds[3], bool with_stdin, int proc_fd, struct stdio_relay *ret, struct error *err)
{
	_cleanup_(stdio_relay_done) struct stdio_relay s = STDIO_RELAY_NULL;
	int i, r;

	assert(proc_fd >= 0 && ret);

	stdio_decide(fds, with_stdin, s.choice);
	for (i = 0; i < 3; i++) {
		const struct stdio_choice *c = &s.choice[i];

		if (!c->relayed || c->like >= 0)
			continue;
		r = pipe_make(fds[i], c->kind, i == 0, &s.process[i], &s.inside[i], err);
		if (r == 0)
			r = engine_end(fds[i], c->kind, i == 0, proc_fd, &s.engine[i], err);
		if (r < 0)
			return r;
	}
	*ret = s;
	s = STDIO_RELAY_NULL;
	return 0;
}

void stdio_relay_give(const struct stdio_relay *s, uid_t uid, gid_t gid)
{
	int i;

	for (i = 0; i < 3; i++)
		if (s->inside[i].fd >= 0 && fchown(s->inside[i].fd, uid, gid) < 0)
			log_debugf("give the relay's pipe to uid %u: %s", uid, error_errno_text(errno));
}

int stdio_relay_install(const struct stdio_relay *s, struct error *err)
{
	int i;

	for (i = 0; i < 3; i++) {
		int from = s->choice[i].like >= 0 ? s->choice[i].like : i;

		if (!s->choice[i].relayed)
			continue;
		assert(s->process[from] >= 3);
		if (dup2(s->process[from], i) < 0)
			return error_set(err, -errno, "put the output relay on descriptor %d", i);
	}
	return 0;
}

void stdio_relay_close_process(struct stdio_relay *s)
{
	int i;

	for (i = 0; i < 3; i++)
		if (s->process[i] >= 0)
			(void)close(take_fd(&s->process[i]));
}

void stdio_relay_done(struct stdio_relay *s)
{
	int i;

	stdio_relay_close_process(s);
	for (i = 0; i < 3; i++) {
		stdio_end_done(&s->inside[i]);
		stdio_end_done(&s->engine[i]);
	}
}
