/*
 * The descriptors of an output relay: which of a process's standard streams go through
 * one, the pipes that the process gets instead, and reads and writes that never block,
 * also on a descriptor whose flags are other people's. Knows no event loop and no log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

enum stdio_kind {
	STDIO_CLOSED, /* not open, or not in the direction that it is for */
	STDIO_NULL,   /* /dev/null: nobody would read it */
	STDIO_FILE,   /* regular file or folder: it keeps what is written, seeks and sizes */
	STDIO_DEVICE, /* /dev/full and its like; a socket that keeps message borders */
	STDIO_TTY,    /* what its owner set on it must be felt by the process: no pipe can stand in for it */
	STDIO_PIPE,
	STDIO_SOCKET, /* a stream socket */
	STDIO_UNTRACED, /* whatever it is: a relay would lose its end where its process cannot be held at its exit */
};

const char *stdio_kind_name(enum stdio_kind kind);

struct stdio_choice {
	enum stdio_kind kind;
	bool relayed; /* only pipes and sockets are */
	int like;     /* the earlier stream (0 to 2) that is the same object: one pipe for both keeps their order; else -1 */
};

/*
 * What to do with the streams 0 to 2 that a process is about to inherit as fds[0] to fds[2].
 * Standard input only with_stdin: a relay reads ahead, and what the process leaves unread is lost
 * to whoever reads the same pipe after it.
 */
void stdio_decide(const int fds[3], bool with_stdin, struct stdio_choice ret[3]);

/* How an end is read and written without ever blocking, and without a change that others would see. */
enum stdio_how {
	STDIO_OWN,    /* a description of our own, with O_NONBLOCK */
	STDIO_TALK,   /* a socket: send and recv take the flag with them */
	STDIO_SHARED, /* could not be opened again: RWF_NOWAIT, and after poll(2) at most PIPE_BUF */
};

struct stdio_end {
	int fd;
	enum stdio_how how;
};

#define STDIO_END_NULL ((struct stdio_end){ .fd = -EBADF })

/* For an end that was received: how it must have been made. */
enum stdio_how stdio_how_of(int fd);
void stdio_end_done(struct stdio_end *e);
/*
 * Both return the number of bytes or a negative errno; -EAGAIN: not now, wait for the descriptor.
 * Writing: SIGPIPE must be ignored. On a STDIO_SHARED end wait first: an older kernel cannot be asked.
 */
ssize_t stdio_read(const struct stdio_end *e, void *buf, size_t len);
ssize_t stdio_write(const struct stdio_end *e, const void *buf, size_t len);
/*
 * Moves up to len bytes from a pipe without copying. -EAGAIN: from is empty or to is full. Only
 * where stdio_can_splice() says so.
 */
ssize_t stdio_splice(const struct stdio_end *from, const struct stdio_end *to, size_t len);
bool stdio_can_splice(const struct stdio_end *from, const struct stdio_end *to);
/*
 * More room in a pipe of the size that all have, for bulk; another size was somebody's
 * choice. Best effort: the owner's pipes may have all the memory that they are allowed.
 */
void stdio_widen(const struct stdio_end *e);
/* Whether a receiver that is gone stays gone: a named pipe may be opened again by another reader. */
bool stdio_hangup_is_final(const struct stdio_end *to);

/* Everything between a process and the engine, before it is split between the two. */
struct stdio_relay {
	struct stdio_choice choice[3];
	int process[3];		    /* what the process gets; -EBADF: it keeps what it has, or choice.like */
	struct stdio_end inside[3]; /* the relay's end of that pipe */
	struct stdio_end engine[3]; /* the relay's way to the engine */
};

#define STDIO_RELAY_NULL                                                                           \
	((struct stdio_relay){ .process = { -EBADF, -EBADF, -EBADF },                              \
			       .inside = { STDIO_END_NULL, STDIO_END_NULL, STDIO_END_NULL },       \
			       .engine = { STDIO_END_NULL, STDIO_END_NULL, STDIO_END_NULL } })

/*
 * Decides and makes the pipes, with the size and flags of what they replace. proc_fd: a procfs of
 * the caller's pid namespace. The caller's own 0 to 2 are not touched.
 */
int stdio_relay_make(const int fds[3], bool with_stdin, int proc_fd, struct stdio_relay *ret, struct error *err);
/*
 * The pipes belong to the process's user (as this namespace counts), who may open /dev/stderr
 * again by name. Best effort: the user of a rootless caller is given them inside.
 */
void stdio_relay_give(const struct stdio_relay *s, uid_t uid, gid_t gid);
/* In the process: puts its ends on 0 to 2. */
int stdio_relay_install(const struct stdio_relay *s, struct error *err);
/* In whoever made it, once the process is born: or the relay would never see an end of file. */
void stdio_relay_close_process(struct stdio_relay *s);
void stdio_relay_done(struct stdio_relay *s);
