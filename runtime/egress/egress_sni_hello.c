/*
 * Owns the decision about a connection: which name it asks for, whether a rule opens that
 * port for that name; then the way to its target. The ClientHello is only looked at, and
 * stays in the socket for the server.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "egress/egress_sni_private.h"

static void forward(struct sni_conn *c)
{
	bool whole;

	if (sni_forward(c, &whole))
		return;
	if (!whole && errno == EMFILE)
		sni_report(c->proxy, EGRESS_SNI_CROWDED, NULL, &c->target, errno);
	sni_conn_free(c, !whole);
}

static int on_side(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct sni_conn *c = s->arg;

	/* A reset, or the network's refusal, of either side is passed on to the other. */
	if (events & EPOLLERR)
		sni_conn_free(c, true);
	else
		forward(c);
	return 0;
}

/* The socket to the target is connected, or has failed. */
static int on_connected(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct sni_conn *c = s->arg;
	socklen_t len = sizeof(int);
	int failure = 0;

	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &failure, &len) < 0)
		failure = errno;
	if (failure) {
		sni_refuse(c, EGRESS_SNI_UNREACHABLE, NULL, failure);
		return 0;
	}
	c->state = SNI_FORWARD;
	c->source[CLIENT].fn = on_side;
	c->source[SERVER].fn = on_side;
	sni_schedule(c->proxy);
	forward(c);
	return 0;
}

static int open_target(const struct egress_sni_target *t)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(t->port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(t->port) };
	bool v4 = memcmp(t->address, mapped, sizeof(mapped)) == 0;
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	memcpy(&four.sin_addr, t->address + 12, 4);
	memcpy(&six.sin6_addr, t->address, 16);
	r = v4 ? connect(fd, (struct sockaddr *)&four, sizeof(four))
	       : connect(fd, (struct sockaddr *)&six, sizeof(six));
	if (r < 0 && errno != EINPROGRESS)
		return -errno;
	return take_fd(&fd);
}

/* Bytes are passed on as they come, and an end that vanished is noticed some time. */
void sni_tune(int fd)
{
	int one = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

static void connect_target(struct sni_conn *c)
{
	struct egress_sni *p = c->proxy;
	_cleanup_close_ int fd = open_target(&c->target);
	struct error err = ERROR_NULL;
	int one = 1;

	if (fd < 0) {
		sni_refuse(c, EGRESS_SNI_UNREACHABLE, NULL, -fd);
		return;
	}
	sni_tune(fd);
	(void)setsockopt(c->source[CLIENT].fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
	/* A hang-up of the client is reported all the same, and ends the attempt. */
	if (ev_set(p->loop, &c->source[CLIENT], 0, &err) < 0 ||
	    ev_add(p->loop, &c->source[SERVER], fd, EPOLLOUT, on_connected, c, &err) < 0) {
		sni_refuse(c, EGRESS_SNI_CROWDED, NULL, ENOSPC);
		return;
	}
	(void)take_fd(&fd);
	c->state = SNI_CONNECT;
	c->deadline = sni_now() + SNI_CONNECT_MS * MS;
	sni_schedule(p);
}

static void decide(struct sni_conn *c, const struct tls_hello *hello)
{
	struct egress_sni *p = c->proxy;
	unsigned set;
	bool verify;

	if (egress_names_match(p->config.names, &hello->name, &set) != 0 ||
	    !egress_name_set_find(egress_names_set(p->config.names, set), IPPROTO_TCP,
				  c->target.port, &verify)) {
		sni_refuse(c, EGRESS_SNI_DENIED, hello, 0);
		return;
	}
	sni_report(p, EGRESS_SNI_ALLOWED, hello, &c->target, 0);
	connect_target(c);
}

/* Until there is as much as the reader needs to say more: no wake-up for each single byte. */
static bool wait_for(struct sni_conn *c, size_t need)
{
	int low = (int)need;

	return setsockopt(c->source[CLIENT].fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)) == 0;
}

int sni_on_hello(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct sni_conn *c = s->arg;
	struct egress_sni *p = c->proxy;
	struct tls_hello hello;
	ssize_t n;

	if (c->state == SNI_CONNECT) {
		/* Nothing is waited for: the client has gone. */
		sni_conn_free(c, true);
		return 0;
	}
	n = recv(s->fd, p->peeked, sizeof(p->peeked), MSG_PEEK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		sni_conn_free(c, n < 0);
		return 0;
	}
	switch (tls_hello_read(p->peeked, (size_t)n, p->scratch, &hello)) {
	case TLS_MORE:
		/* An end before the name would be reported for ever. */
		if (events & (EPOLLRDHUP | EPOLLHUP) || !wait_for(c, hello.need))
			sni_refuse(c, EGRESS_SNI_NOT_TLS, &hello, 0);
		break;
	case TLS_SNI:
		decide(c, &hello);
		break;
	case TLS_NONE:
		sni_refuse(c, EGRESS_SNI_NO_NAME, &hello, 0);
		break;
	case TLS_ECH:
		sni_refuse(c, EGRESS_SNI_ENCRYPTED, &hello, 0);
		break;
	case TLS_OTHER:
		sni_refuse(c, EGRESS_SNI_NOT_TLS, &hello, 0);
		break;
	}
	return 0;
}
