/*
 * Owns the bytes of a connection that was let through: from socket to pipe to socket without
 * a copy. Nothing is read while what was read before waits to be written, so a slow reader
 * slows its writer. A pipe is held only while there are bytes in it: most connections are
 * idle most of the time.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "egress/egress_sni_private.h"

/* Turns of one connection before others have theirs. */
#define ROUNDS 8

static bool take_pipe(struct egress_sni *p, struct sni_pipe *ret)
{
	int fds[2];

	if (ret->in >= 0)
		return true;
	if (p->n_kept > 0) {
		*ret = p->kept[--p->n_kept];
		p->stats.pipes++;
		return true;
	}
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	/* Refused beyond the user's share: then in smaller steps. */
	(void)fcntl(fds[1], F_SETPIPE_SZ, SNI_PIPE_SIZE);
	*ret = (struct sni_pipe){ .in = fds[1], .out = fds[0] };
	p->stats.pipes++;
	return true;
}

static void close_pipe(struct sni_pipe *pipe)
{
	(void)close(pipe->in);
	(void)close(pipe->out);
}

/* An empty pipe is as good as a new one. */
static void release_pipe(struct egress_sni *p, struct sni_flow *f)
{
	if (f->pipe.in < 0)
		return;
	if (f->held == 0 && p->n_kept < SNI_PIPES_KEPT)
		p->kept[p->n_kept++] = f->pipe;
	else
		close_pipe(&f->pipe);
	f->pipe.in = f->pipe.out = -EBADF;
	p->stats.pipes--;
}

void sni_flow_done(struct egress_sni *p, struct sni_flow *f)
{
	release_pipe(p, f);
	f->held = 0;
}

void sni_pipes_done(struct egress_sni *p)
{
	while (p->n_kept > 0)
		close_pipe(&p->kept[--p->n_kept]);
}

/* Moves bytes once. *ret_moved: it may be worth to try again. False: broken. */
static bool step(struct egress_sni *p, struct sni_flow *f, int from, int to, uint64_t *count,
		 bool *ret_moved)
{
	ssize_t n;

	*ret_moved = false;
	if (!f->held && !f->ended) {
		if (!take_pipe(p, &f->pipe)) {
			errno = EMFILE;
			return false;
		}
		n = splice(from, NULL, f->pipe.in, NULL, SNI_PIPE_SIZE,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		f->ended = n == 0;
		f->held = n > 0 ? (size_t)n : 0;
	}
	if (f->held) {
		n = splice(f->pipe.out, NULL, to, NULL, f->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n > 0) {
			f->held -= (size_t)n;
			*count += (uint64_t)n;
			*ret_moved = true;
		}
	}
	return true;
}

static bool pump(struct sni_conn *c, enum side from)
{
	struct egress_sni *p = c->proxy;
	struct sni_flow *f = &c->flow[from];
	int source = c->source[from].fd, sink = c->source[!from].fd, i;
	uint64_t *count = from == CLIENT ? &p->stats.bytes_out : &p->stats.bytes_in;
	bool moved = !f->closed;

	for (i = 0; i < ROUNDS && moved; i++)
		if (!step(p, f, source, sink, count, &moved))
			return false;
	if (!f->held)
		release_pipe(p, f);
	if (f->ended && !f->held && !f->closed) {
		f->closed = true;
		if (shutdown(sink, SHUT_WR) < 0)
			return false;
	}
	return true;
}

/* What a side is waited for: bytes of its own, or room for the other's. */
static uint32_t wanted(const struct sni_conn *c, enum side s)
{
	const struct sni_flow *mine = &c->flow[s], *others = &c->flow[!s];

	return (!mine->ended && !mine->held ? (uint32_t)EPOLLIN : 0) |
	       (others->held ? (uint32_t)EPOLLOUT : 0);
}

bool sni_forward_answer(struct sni_conn *c)
{
	const struct sni_flow *f = &c->flow[SERVER];
	struct error err = ERROR_NULL;

	/* A server that asked for something and ends has no more use for it. */
	if (!pump(c, SERVER) || f->ended)
		return false;
	return ev_set(c->proxy->loop, &c->source[CLIENT],
		      EPOLLIN | EPOLLRDHUP | (f->held ? EPOLLOUT : 0), &err) == 0 &&
	       ev_set(c->proxy->loop, &c->source[SERVER], f->held ? 0 : EPOLLIN, &err) == 0;
}

bool sni_forward(struct sni_conn *c, bool *ret_whole)
{
	struct error err = ERROR_NULL;

	*ret_whole = false;
	if (!pump(c, CLIENT) || !pump(c, SERVER))
		return false;
	if (c->flow[CLIENT].closed && c->flow[SERVER].closed) {
		*ret_whole = true;
		return false;
	}
	return ev_set(c->proxy->loop, &c->source[CLIENT], wanted(c, CLIENT), &err) == 0 &&
	       ev_set(c->proxy->loop, &c->source[SERVER], wanted(c, SERVER), &err) == 0;
}
