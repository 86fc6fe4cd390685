/*
 * Owns the way from an allowed hello to a connection whose bytes nobody looks at: connect,
 * send the hello, see whether the server wants another one. Servers take the name from the
 * second where there is one, so the client's bytes are held back until that is known.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "egress/egress_sni_private.h"

bool sni_wait_bytes(int fd, size_t need)
{
	int low = (int)need;

	return setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)) == 0;
}

/* Bytes are passed on as they come, and an end that vanished is noticed some time. */
void sni_tune(int fd)
{
	int one = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

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

static void start_forward(struct sni_conn *c)
{
	c->state = SNI_FORWARD;
	c->source[CLIENT].fn = on_side;
	c->source[SERVER].fn = on_side;
	sni_schedule(c->proxy);
	forward(c);
}

/* The client may speak again, and is judged again. */
static void start_again(struct sni_conn *c)
{
	c->state = SNI_AGAIN;
	c->deadline = sni_now() + c->proxy->config.hello_ms * MS;
	sni_schedule(c->proxy);
	if (!sni_forward_answer(c))
		sni_conn_free(c, true);
}

static void read_answer(struct sni_conn *c, bool ended)
{
	int fd = c->source[SERVER].fd;
	uint8_t begin[64];
	ssize_t n = recv(fd, begin, sizeof(begin), MSG_PEEK);
	size_t need;
	enum tls_answer a;

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			sni_conn_free(c, true);
		return;
	}
	a = tls_answer_read(begin, (size_t)n, &need);
	if (a == TLS_ANSWER_MORE && ended)
		a = TLS_ANSWER_FINAL;
	if (a == TLS_ANSWER_BAD) {
		sni_refuse(c, EGRESS_SNI_NOT_TLS, NULL, 0);
	} else if (!sni_wait_bytes(fd, a == TLS_ANSWER_MORE ? need : 1)) {
		sni_refuse(c, EGRESS_SNI_CROWDED, NULL, errno);
	} else if (a == TLS_ANSWER_FINAL) {
		start_forward(c);
	} else if (a == TLS_ANSWER_RETRY) {
		start_again(c);
	}
}

void sni_send_hello(struct sni_conn *c)
{
	struct egress_sni *p = c->proxy;
	struct error err = ERROR_NULL;
	ssize_t n;

	c->state = SNI_SEND;
	n = send(c->source[SERVER].fd, c->hello + c->hello_at, c->hello_len - c->hello_at,
		 MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		sni_refuse(c, EGRESS_SNI_UNREACHABLE, NULL, errno);
		return;
	}
	c->hello_at += n > 0 ? (size_t)n : 0;
	p->stats.bytes_out += n > 0 ? (uint64_t)n : 0;
	if (c->hello_at == c->hello_len) {
		free(take_ptr(c->hello));
		if (c->second) {
			start_forward(c);
			return;
		}
		c->state = SNI_ANSWER;
	}
	/* A hang-up of the client is reported without being asked for, and ends the attempt. */
	if (ev_set(p->loop, &c->source[CLIENT], 0, &err) < 0 ||
	    ev_set(p->loop, &c->source[SERVER],
		   c->state == SNI_ANSWER ? EPOLLIN | EPOLLRDHUP : EPOLLOUT, &err) < 0)
		sni_refuse(c, EGRESS_SNI_CROWDED, NULL, ENOSPC);
}

static void connected(struct sni_conn *c)
{
	socklen_t len = sizeof(int);
	int failure = 0;

	if (getsockopt(c->source[SERVER].fd, SOL_SOCKET, SO_ERROR, &failure, &len) < 0)
		failure = errno;
	if (failure)
		sni_refuse(c, EGRESS_SNI_UNREACHABLE, NULL, failure);
	else
		sni_send_hello(c);
}

static int on_server(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct sni_conn *c = s->arg;

	if (c->state == SNI_CONNECT)
		connected(c);
	else if (events & EPOLLERR)
		sni_conn_free(c, true);
	else if (c->state == SNI_SEND)
		sni_send_hello(c);
	else if (c->state == SNI_ANSWER)
		read_answer(c, events & (EPOLLRDHUP | EPOLLHUP));
	else if (!sni_forward_answer(c))
		sni_conn_free(c, true);
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

void sni_connect(struct sni_conn *c)
{
	struct egress_sni *p = c->proxy;
	_cleanup_close_ int fd = open_target(&c->target);
	struct error err = ERROR_NULL;

	if (fd < 0) {
		sni_refuse(c, EGRESS_SNI_UNREACHABLE, NULL, -fd);
		return;
	}
	sni_tune(fd);
	if (ev_set(p->loop, &c->source[CLIENT], 0, &err) < 0 ||
	    ev_add(p->loop, &c->source[SERVER], fd, EPOLLOUT, on_server, c, &err) < 0) {
		sni_refuse(c, EGRESS_SNI_CROWDED, NULL, ENOSPC);
		return;
	}
	(void)take_fd(&fd);
	c->state = SNI_CONNECT;
	c->deadline = sni_now() + SNI_CONNECT_MS * MS;
	sni_schedule(p);
}
