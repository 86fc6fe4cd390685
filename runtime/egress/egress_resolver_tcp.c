/*
 * Owns the container's connections on TCP: one question after the other on each, while one
 * is looked up nothing more is read. The number and the idle time are limited; when all places
 * are taken, the one that has been idle for longest goes.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "egress/egress_resolver_private.h"

void client_free(struct client *c)
{
	struct egress_resolver *r = c->resolver;
	struct client **p = &r->clients;
	int fd = c->source.fd;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	r->n_clients--;
	lookup_forget_client(r, c);
	if (fd >= 0) {
		ev_del(r->loop, &c->source);
		(void)close(fd);
	}
	free(c->out);
	free(c);
}

/* False: the client is to go. */
static bool flush(struct client *c)
{
	ssize_t n;

	while (c->out_at < c->out_len) {
		n = send(c->source.fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->out_at += (size_t)n;
	}
	free(take_ptr(c->out));
	c->out_len = c->out_at = 0;
	return true;
}

/* A whole question, or what can be none, stands in the buffer. */
static bool complete(const struct client *c)
{
	size_t len = (size_t)(c->in[0] << 8 | c->in[1]);

	return c->have >= 2 && (len > RESOLVER_QUERY_MAX || c->have >= 2 + len);
}

/* Waits for what the client's state asks for. False: the client is to go. */
static bool wait_more(struct client *c)
{
	struct error err = ERROR_NULL;
	uint32_t events = EPOLLIN;

	if (c->busy)
		events = 0;
	else if (c->out || complete(c))
		events = EPOLLOUT;

	if (ev_set(c->resolver->loop, &c->source, events, &err) < 0)
		return false;
	if (!c->busy) {
		c->deadline = resolver_now() + RESOLVER_IDLE_MS * MS;
		resolver_schedule(c->resolver);
	}
	return true;
}

void client_answer(struct client *c, const uint8_t *data, size_t len)
{
	c->busy = false;
	assert(!c->out);
	c->out = malloc(len);
	if (c->out) {
		memcpy(c->out, data, len);
		c->out_len = len;
	}
	if (c->out && flush(c) && wait_more(c))
		return;
	/* The caller may still be using it. */
	c->broken = true;
	c->deadline = 0;
	resolver_schedule(c->resolver);
}

/* Takes a whole question from the buffer. False: the client is to go. */
static bool take_question(struct client *c)
{
	struct waiter w = { .client = c, .listener = c->listener };
	uint8_t msg[RESOLVER_QUERY_MAX];
	size_t len = (size_t)(c->in[0] << 8 | c->in[1]);

	if (len < DNS_HEADER || len > sizeof(msg))
		return false;
	memcpy(msg, c->in + 2, len);
	c->have -= 2 + len;
	memmove(c->in, c->in + 2 + len, c->have);
	resolver_query(c->resolver, &w, msg, len);
	return !c->broken;
}

/* Questions that are answered at once follow each other here; the buffer holds few. */
static bool serve(struct client *c)
{
	while (complete(c) && !c->busy && !c->out)
		if (!take_question(c))
			return false;
	return wait_more(c);
}

static bool read_more(struct client *c)
{
	ssize_t n = recv(c->source.fd, c->in + c->have, sizeof(c->in) - c->have, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	c->have += (size_t)n;
	return serve(c);
}

static int on_client(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct client *c = s->arg;
	bool good;

	/* With a question under way nothing is waited for: this is a hang-up, and nobody waits for
	 * the answer. */
	if (c->busy || (events & EPOLLERR))
		good = false;
	else if (c->out)
		good = flush(c) && (c->out ? wait_more(c) : serve(c));
	else if (events & EPOLLOUT)
		good = serve(c);
	else
		good = read_more(c);
	if (!good)
		client_free(c);
	return 0;
}

static void make_room(struct egress_resolver *r)
{
	struct client *c, *oldest = NULL;

	for (c = r->clients; c; c = c->next)
		if (!c->busy && (!oldest || c->deadline < oldest->deadline))
			oldest = c;
	if (oldest)
		client_free(oldest);
}

int client_accept(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct egress_resolver *r = s->arg;
	struct error ignored = ERROR_NULL;
	_cleanup_close_ int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;

	if (fd < 0) {
		/* The queue stays ready: without a pause this would be a loop that burns a
		 * processor. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			r->accept_again = resolver_now() + RESOLVER_PAUSE_MS * MS;
			(void)ev_set(l, &r->listeners[TCP4], 0, &ignored);
			if (r->listeners[TCP6].fd >= 0)
				(void)ev_set(l, &r->listeners[TCP6], 0, &ignored);
			resolver_schedule(r);
		}
		return 0;
	}
	if (r->n_clients >= RESOLVER_CLIENTS_MAX)
		make_room(r);
	if (r->n_clients >= RESOLVER_CLIENTS_MAX)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c || ev_add(l, &c->source, fd, EPOLLIN, on_client, c, &ignored) < 0) {
		free(c);
		return 0;
	}
	(void)take_fd(&fd);
	c->resolver = r;
	c->listener = s == &r->listeners[TCP4] ? TCP4 : TCP6;
	c->next = r->clients;
	r->clients = c;
	r->n_clients++;
	(void)wait_more(c);
	return 0;
}
