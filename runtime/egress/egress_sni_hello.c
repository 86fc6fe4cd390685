/*
 * Owns the decision about a connection: which name it asks for, and whether a rule opens
 * that port for that name.
 *
 * What is judged is a copy, and the copy is what the server gets. Bytes in a socket can be
 * pages of a file that their sender still writes to (sendfile), so a look without taking them
 * proves nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "egress/egress_sni_private.h"

bool sni_permitted(const struct egress_sni *p, const struct dns_name *name, uint16_t port)
{
	unsigned set;
	bool verify;

	return egress_names_match(p->config.names, name, &set) == 0 &&
	       egress_name_set_find(egress_names_set(p->config.names, set), IPPROTO_TCP, port,
				    &verify);
}

static enum tls_verdict judge(const struct sni_conn *c, const uint8_t *data, size_t len,
			      struct tls_hello *ret)
{
	uint8_t *scratch = c->proxy->scratch;

	return c->state == SNI_AGAIN ? tls_hello_read_second(data, len, scratch, ret)
				     : tls_hello_read(data, len, scratch, ret);
}

static void refuse(struct sni_conn *c, enum tls_verdict v, const struct tls_hello *hello)
{
	static const enum egress_sni_event_kind kinds[] = {
		[TLS_SNI] = EGRESS_SNI_DENIED,	  [TLS_NONE] = EGRESS_SNI_NO_NAME,
		[TLS_ECH] = EGRESS_SNI_ENCRYPTED, [TLS_OTHER] = EGRESS_SNI_NOT_TLS,
		[TLS_MORE] = EGRESS_SNI_NOT_TLS,
	};

	sni_refuse(c, kinds[v], hello, 0);
}

/* Takes the message out of the socket. False: out of memory, or it is not there any more. */
static bool take(struct sni_conn *c, size_t length)
{
	_cleanup_free_ uint8_t *hello = malloc(length);

	if (!hello || recv(c->source[CLIENT].fd, hello, length, 0) != (ssize_t)length)
		return false;
	free(c->hello);
	c->hello = take_ptr(hello);
	c->hello_len = length;
	c->hello_at = 0;
	return true;
}

static void decide(struct sni_conn *c, struct tls_hello *hello)
{
	size_t length = hello->length;
	enum tls_verdict v;

	if (!take(c, length)) {
		sni_refuse(c, EGRESS_SNI_CROWDED, hello, ENOMEM);
		return;
	}
	v = judge(c, c->hello, length, hello);
	if (v != TLS_SNI || hello->length != length ||
	    !sni_permitted(c->proxy, &hello->name, c->target.port)) {
		refuse(c, v, hello);
		return;
	}
	if (!sni_wait_bytes(c->source[CLIENT].fd, 1)) {
		sni_refuse(c, EGRESS_SNI_CROWDED, hello, errno);
		return;
	}
	c->name = hello->name;
	c->second = c->state == SNI_AGAIN;
	if (c->second) {
		sni_send_hello(c);
		return;
	}
	sni_report(c->proxy, EGRESS_SNI_ALLOWED, hello, &c->target, 0);
	sni_connect(c);
}

int sni_on_hello(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct sni_conn *c = s->arg;
	struct egress_sni *p = c->proxy;
	struct tls_hello hello;
	enum tls_verdict v;
	ssize_t n;

	/* On the way to the target nothing is waited for: the client has gone. */
	if (c->state != SNI_HELLO && c->state != SNI_AGAIN) {
		sni_conn_free(c, true);
		return 0;
	}
	if (c->state == SNI_AGAIN && (events & EPOLLOUT) && !sni_forward_answer(c)) {
		sni_conn_free(c, true);
		return 0;
	}
	n = recv(s->fd, p->peeked, sizeof(p->peeked), MSG_PEEK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		sni_conn_free(c, n < 0 || c->state == SNI_AGAIN);
		return 0;
	}
	v = judge(c, p->peeked, (size_t)n, &hello);
	if (v == TLS_SNI)
		decide(c, &hello);
	else if (v != TLS_MORE)
		refuse(c, v, &hello);
	else if (events & (EPOLLRDHUP | EPOLLHUP))
		/* Its end has come before its name, and would be reported for ever. */
		refuse(c, v, &hello);
	else if (!sni_wait_bytes(s->fd, hello.need))
		sni_refuse(c, EGRESS_SNI_CROWDED, &hello, errno);
	return 0;
}
