/*
 * Owns questions to the container's name servers: one connected socket for each attempt, so
 * that the kernel draws a new port and drops what others send; the id and the question are
 * compared here. Server after server, twice; by TCP when an answer does not fit, or when
 * somebody is guessing.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "egress/egress_resolver_private.h"

#define ROUNDS	     2
#define TCP_MIN_MS   1000
#define READ_AT_ONCE 32 /* messages; whoever sends more meets the limit of false ones first */

/* What a read has brought. */
enum outcome {
	OUT_WAIT,  /* more to come */
	OUT_DONE,  /* the reply is good */
	OUT_AGAIN, /* the same server, in the other way that the lookup now says */
	OUT_NEXT,  /* another server */
};

static void close_socket(struct lookup *k)
{
	int fd = k->source.fd;

	if (fd >= 0) {
		ev_del(k->resolver->loop, &k->source);
		(void)close(fd);
	}
	free(take_ptr(k->answer));
	k->have = 0;
}

static socklen_t server_address(const struct egress_server *s, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
	struct sockaddr_in *four = (struct sockaddr_in *)ret;

	memset(ret, 0, sizeof(*ret));
	if (!s->v6) {
		four->sin_family = AF_INET;
		four->sin_port = htons(s->port);
		memcpy(&four->sin_addr, s->address, 4);
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(s->port);
	memcpy(&six->sin6_addr, s->address, 16);
	if (s->scope[0])
		six->sin6_scope_id = if_nametoindex(s->scope);
	return sizeof(*six);
}

/* UDP sends at once, TCP when connected. */
static bool send_question(struct lookup *k, int fd)
{
	uint8_t *msg = k->resolver->out;
	size_t len = dns_build_query(k->id, &k->name, k->type, k->edns, msg + 2, DNS_UDP_MIN);

	msg[0] = (uint8_t)(len >> 8);
	msg[1] = (uint8_t)len;
	if (k->tcp)
		return send(fd, msg, len + 2, MSG_NOSIGNAL) == (ssize_t)len + 2;
	return send(fd, msg + 2, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static uint64_t slot_of(const struct lookup *k)
{
	uint64_t n = k->resolver->config.servers.n, ms = RESOLVER_BUDGET_MS / 3 / n;

	/* The second round waits twice as long. */
	ms *= 1 + k->attempt / n;
	return (k->tcp && ms < TCP_MIN_MS ? TCP_MIN_MS : ms) * MS;
}

/* Asks the present server. False: cannot even be sent. */
static bool ask(struct lookup *k, ev_fn fn)
{
	struct egress_resolver *r = k->resolver;
	_cleanup_close_ int fd = -EBADF;
	struct sockaddr_storage to;
	struct error err = ERROR_NULL;
	socklen_t len = server_address(&r->config.servers.server[k->server], &to);

	close_socket(k);
	k->connected = false;
	fd = socket(to.ss_family,
		    (k->tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A new id each time: an answer that comes late to an earlier attempt is not taken. */
	if (fd < 0 || getrandom(&k->id, sizeof(k->id), 0) != sizeof(k->id))
		return false;
	if (connect(fd, (struct sockaddr *)&to, len) < 0 && !(k->tcp && errno == EINPROGRESS))
		return false;
	if (!k->tcp && !send_question(k, fd))
		return false;
	if (ev_add(r->loop, &k->source, fd, k->tcp ? EPOLLOUT : EPOLLIN, fn, k, &err) < 0)
		return false;
	(void)take_fd(&fd);
	k->deadline = resolver_now() + slot_of(k);
	return true;
}

/* The first attempt from here on that can be made; without one, the lookup ends. */
static void go_on(struct lookup *k, ev_fn fn)
{
	struct egress_resolver *r = k->resolver;
	size_t n = r->config.servers.n;

	for (; k->attempt < ROUNDS * n; k->attempt++, k->tcp = false) {
		k->server = (k->first + k->attempt) % n;
		if (ask(k, fn)) {
			resolver_schedule(r);
			return;
		}
	}
	resolver_finish(k, NULL);
}

static void next_server(struct lookup *k, ev_fn fn)
{
	k->attempt++;
	k->tcp = false;
	go_on(k, fn);
}

static enum outcome judge(struct lookup *k, const uint8_t *msg, size_t len, struct dns_reply *reply)
{
	int e = dns_reply_parse(msg, len, k->id, &k->name, k->type, reply);

	if (e == DNS_E_OTHER) {
		if (++k->bogus < RESOLVER_BOGUS_MAX && !k->tcp)
			return OUT_WAIT;
		/* Somebody may be guessing. He cannot guess the numbers of a connection as well. */
		if (k->tcp)
			return OUT_NEXT;
		k->tcp = true;
		return OUT_AGAIN;
	}
	if (e < 0)
		return OUT_NEXT;
	if (reply->truncated) {
		if (k->tcp)
			return OUT_NEXT;
		k->tcp = true;
		return OUT_AGAIN;
	}
	if (k->edns && (reply->rcode == DNS_FORMERR || reply->rcode == DNS_NOTIMP ||
			reply->rcode == DNS_BADVERS)) {
		k->edns = false;
		return OUT_AGAIN;
	}
	return reply->rcode == DNS_NOERROR || reply->rcode == DNS_NXDOMAIN ? OUT_DONE : OUT_NEXT;
}

static enum outcome read_udp(struct lookup *k, struct dns_reply *reply)
{
	struct egress_resolver *r = k->resolver;
	enum outcome out = OUT_WAIT;
	ssize_t n;
	int i;

	for (i = 0; i < READ_AT_ONCE && out == OUT_WAIT; i++) {
		n = recv(k->source.fd, r->message, sizeof(r->message), 0);
		if (n < 0)
			/* ECONNREFUSED and the like: nobody listens there. */
			return errno == EAGAIN || errno == EINTR ? OUT_WAIT : OUT_NEXT;
		out = judge(k, r->message, (size_t)n, reply);
	}
	return out;
}

static enum outcome start_tcp(struct lookup *k)
{
	struct error err = ERROR_NULL;
	socklen_t len = sizeof(int);
	int failure = 0;

	if (getsockopt(k->source.fd, SOL_SOCKET, SO_ERROR, &failure, &len) < 0 || failure)
		return OUT_NEXT;
	if (!send_question(k, k->source.fd) ||
	    ev_set(k->resolver->loop, &k->source, EPOLLIN, &err) < 0)
		return OUT_NEXT;
	k->connected = true;
	return OUT_WAIT;
}

/* The prefix tells how much room the message takes; only then it is taken. */
static enum outcome read_tcp(struct lookup *k, struct dns_reply *reply)
{
	uint8_t *to;
	uint8_t *answer;
	size_t size;
	ssize_t n;

	if (!k->connected)
		return start_tcp(k);
	for (;;) {
		to = k->answer ? k->answer + (k->have - 2) : k->prefix + k->have;
		size = k->answer ? k->want - (k->have - 2) : 2 - k->have;
		n = recv(k->source.fd, to, size, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return OUT_WAIT;
		if (n <= 0)
			return OUT_NEXT;
		k->have += (size_t)n;
		if (k->answer && k->have - 2 == k->want)
			return judge(k, k->answer, k->want, reply);
		if (k->answer || k->have < 2)
			continue;
		k->want = (size_t)(k->prefix[0] << 8 | k->prefix[1]);
		answer = k->want >= DNS_HEADER ? malloc(k->want) : NULL;
		if (!answer)
			return OUT_NEXT;
		k->answer = answer;
	}
}

static int on_event(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct lookup *k = s->arg;
	struct dns_reply reply;
	enum outcome out = k->tcp ? read_tcp(k, &reply) : read_udp(k, &reply);

	switch (out) {
	case OUT_WAIT:
		break;
	case OUT_DONE:
		k->resolver->preferred = k->server;
		close_socket(k);
		resolver_finish(k, &reply);
		break;
	case OUT_AGAIN:
		go_on(k, on_event);
		break;
	case OUT_NEXT:
		next_server(k, on_event);
		break;
	}
	return 0;
}

void lookup_timeout(struct lookup *k)
{
	next_server(k, on_event);
}

static struct lookup *find(struct egress_resolver *r, const struct dns_query *q)
{
	struct lookup *k;

	for (k = r->lookups; k; k = k->next)
		if (k->type == q->type && dns_name_equal(&k->name, &q->name))
			return k;
	return NULL;
}

bool lookup_add(struct egress_resolver *r, const struct waiter *w)
{
	struct lookup *k = find(r, &w->query), *started = NULL;
	struct waiter *copy;

	if (k ? k->n_waiters >= RESOLVER_WAITERS_MAX : r->n_lookups >= RESOLVER_LOOKUPS_MAX)
		return false;
	copy = malloc(sizeof(*copy));
	if (copy && !k)
		k = started = calloc(1, sizeof(*k));
	if (!copy || !k) {
		free(copy);
		return false;
	}
	*copy = *w;
	copy->next = k->waiters;
	k->waiters = copy;
	k->n_waiters++;
	if (w->client)
		w->client->busy = true;
	if (!started)
		return true;
	k->resolver = r;
	k->name = w->query.name;
	k->type = w->query.type;
	k->edns = true;
	k->first = r->preferred;
	k->source = EV_SOURCE_NULL;
	k->next = r->lookups;
	r->lookups = k;
	r->n_lookups++;
	r->stats.forwarded++;
	go_on(k, on_event);
	return true;
}

void lookup_free(struct lookup *k)
{
	struct egress_resolver *r = k->resolver;
	struct lookup **p = &r->lookups;
	struct waiter *w;

	while (*p != k)
		p = &(*p)->next;
	*p = k->next;
	r->n_lookups--;
	close_socket(k);
	while ((w = k->waiters)) {
		k->waiters = w->next;
		free(w);
	}
	free(k);
}

void lookup_forget_client(struct egress_resolver *r, const struct client *c)
{
	struct waiter **p, *w;
	struct lookup *k;

	/* The lookup itself goes on: its answer opens addresses for the next who asks. */
	for (k = r->lookups; k; k = k->next)
		for (p = &k->waiters; (w = *p);) {
			if (w->client != c) {
				p = &w->next;
				continue;
			}
			*p = w->next;
			k->n_waiters--;
			free(w);
		}
}
