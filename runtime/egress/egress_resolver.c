/*
 * Owns the listeners, the clock, and what happens to a query: told no, told nothing, or
 * looked up. The order of the checks is the policy of this file: the name first, so that
 * nothing about a name that no rule means depends on anything outside.
 */
#include "egress/egress_resolver.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "egress/egress_resolver_listen.h"
#include "egress/egress_resolver_private.h"

#define TEXT_BUSY "too many queries"
#define TEXT_TYPE "only addresses and services are looked up"
#define BACKLOG	  16

static const struct {
	int family, type;
} listener_kinds[N_LISTENERS] = {
	[UDP4] = { AF_INET, SOCK_DGRAM },
	[UDP6] = { AF_INET6, SOCK_DGRAM },
	[TCP4] = { AF_INET, SOCK_STREAM },
	[TCP6] = { AF_INET6, SOCK_STREAM },
};

const char *egress_name_event_text(enum egress_name_event_kind kind)
{
	static const char *const texts[] = {
		[EGRESS_NAME_ALLOWED] = "allowed", [EGRESS_NAME_DENIED] = "denied",
		[EGRESS_NAME_REFUSED] = "refused", [EGRESS_NAME_CROWDED] = "crowded",
		[EGRESS_NAME_FAILED] = "failed",   [EGRESS_NAME_SPOOFED] = "spoofed",
		[EGRESS_NAME_LIMITED] = "limited",
	};

	return texts[kind];
}

/* CLOCK_BOOTTIME, as the kernel's side compares: what was open before a suspend is not open after a
 * long one. */
uint64_t resolver_now(void)
{
	return ev_now(CLOCK_BOOTTIME);
}

void resolver_event(struct egress_resolver *r, enum egress_name_event_kind kind,
		    const struct dns_name *name, uint16_t type, const uint8_t *address,
		    const char *reason, size_t n)
{
	char text[DNS_TEXT_SIZE];
	struct egress_name_event e = {
		.kind = kind,
		.type = type,
		.address = address,
		.reason = reason,
		.n = n,
		.suppressed = r->suppressed,
	};

	if (!r->config.event)
		return;
	if (!egress_bucket_take(&r->events, resolver_now())) {
		r->suppressed++;
		return;
	}
	r->suppressed = 0;
	e.name = dns_name_text(name, text);
	r->config.event(r->config.event_arg, &e);
}

void resolver_schedule(struct egress_resolver *r)
{
	struct error err = ERROR_NULL;
	uint64_t first = r->accept_again ? r->accept_again : UINT64_MAX;
	const struct lookup *k;
	const struct client *c;

	for (k = r->lookups; k; k = k->next)
		first = MIN(first, k->deadline);
	for (c = r->clients; c; c = c->next)
		if (!c->busy)
			first = MIN(first, c->deadline);
	if (first == UINT64_MAX)
		(void)ev_timer_cancel(&r->timer, &err);
	else
		(void)ev_timer_at(&r->timer, first, &err);
}

static struct lookup *late_lookup(struct egress_resolver *r, uint64_t now)
{
	struct lookup *k;

	for (k = r->lookups; k; k = k->next)
		if (k->deadline <= now)
			return k;
	return NULL;
}

static struct client *late_client(struct egress_resolver *r, uint64_t now)
{
	struct client *c;

	for (c = r->clients; c; c = c->next)
		if (!c->busy && c->deadline <= now)
			return c;
	return NULL;
}

static int on_timer(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct egress_resolver *r = t->arg;
	struct error ignored = ERROR_NULL;
	uint64_t now = resolver_now();
	struct lookup *k;
	struct client *c;

	/* Each of these moves a deadline into the future or removes its owner, and may change the
	 * lists. */
	while ((k = late_lookup(r, now)))
		lookup_timeout(k);
	while ((c = late_client(r, now)))
		client_free(c);
	if (r->accept_again && r->accept_again <= now) {
		r->accept_again = 0;
		(void)ev_set(l, &r->listeners[TCP4], EPOLLIN, &ignored);
		if (r->listeners[TCP6].fd >= 0)
			(void)ev_set(l, &r->listeners[TCP6], EPOLLIN, &ignored);
	}
	egress_names_sweep(r->config.names, now);
	resolver_schedule(r);
	return 0;
}

void resolver_send(struct egress_resolver *r, const struct waiter *w, size_t len)
{
	if (w->client) {
		r->out[0] = (uint8_t)(len >> 8);
		r->out[1] = (uint8_t)len;
		client_answer(w->client, r->out, len + 2);
		return;
	}
	/* When the socket's buffer is full the client asks again. */
	if (sendto(r->listeners[w->listener].fd, r->out + 2, len, MSG_NOSIGNAL,
		   (const struct sockaddr *)&w->from, w->from_len) < 0)
		r->stats.dropped++;
}

static bool looked_up(uint16_t type)
{
	return type == DNS_TYPE_A || type == DNS_TYPE_AAAA || type == DNS_TYPE_SRV;
}

static void forward(struct egress_resolver *r, const struct waiter *w)
{
	const struct dns_query *q = &w->query;

	/* The parameters of HTTPS and SVCB would bring addresses and keys past the checks; others
	 * carry text. */
	if (!looked_up(q->type)) {
		resolver_error(r, w, DNS_NOERROR, DNS_EDE_FILTERED, TEXT_TYPE);
		return;
	}
	if (!r->config.servers.n) {
		r->stats.failed++;
		resolver_event(r, EGRESS_NAME_FAILED, &q->name, q->type, NULL,
			       "the container has no name server", 0);
		resolver_error(r, w, DNS_SERVFAIL, DNS_EDE_UNREACHABLE, NULL);
		return;
	}
	if (egress_bucket_take(&r->forward, resolver_now()) && lookup_add(r, w))
		return;
	r->stats.limited++;
	resolver_event(r, EGRESS_NAME_LIMITED, &q->name, q->type, NULL, TEXT_BUSY, 0);
	resolver_error(r, w, DNS_SERVFAIL, DNS_EDE_OTHER, TEXT_BUSY);
}

void resolver_query(struct egress_resolver *r, struct waiter *w, const uint8_t *msg, size_t len)
{
	struct dns_query *q = &w->query;
	int e = dns_query_parse(msg, len, q);
	unsigned set;

	r->stats.queries++;
	if (e < 0 || !egress_bucket_take(&r->all, resolver_now())) {
		r->stats.dropped++;
		if (w->client)
			w->client->broken = true;
		return;
	}
	if (e > 0 || q->class != DNS_CLASS_IN) {
		resolver_error(r, w, e > 0 ? (unsigned)e : DNS_REFUSED, DNS_EDE_NONE, NULL);
		return;
	}
	e = egress_names_match(r->config.names, &q->name, &set);
	if (e == 0) {
		forward(r, w);
		return;
	}
	r->stats.denied++;
	resolver_event(r, EGRESS_NAME_DENIED, &q->name, q->type, NULL,
		       e < 0 ? "too many port sets" : NULL, 0);
	/* Final for every client, unlike REFUSED, which makes them try again and wait. */
	resolver_error(r, w, DNS_NXDOMAIN, DNS_EDE_BLOCKED, TEXT_DENIED);
}

static int on_udp(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct egress_resolver *r = s->arg;
	struct waiter w = { .listener = s == &r->listeners[UDP4] ? UDP4 : UDP6 };
	uint8_t msg[RESOLVER_QUERY_MAX];
	ssize_t n;
	int i;

	for (i = 0; i < RESOLVER_BATCH; i++) {
		w.from_len = sizeof(w.from);
		n = recvfrom(s->fd, msg, sizeof(msg), MSG_TRUNC, (struct sockaddr *)&w.from,
			     &w.from_len);
		if (n < 0)
			break;
		if ((size_t)n > sizeof(msg))
			r->stats.dropped++;
		else
			resolver_query(r, &w, msg, (size_t)n);
	}
	return 0;
}

static int add_listener(struct egress_resolver *r, enum listener which, struct error *err)
{
	uint16_t *const ports[N_LISTENERS] = {
		[UDP4] = &r->ports.udp4,
		[UDP6] = &r->ports.udp6,
		[TCP4] = &r->ports.tcp4,
		[TCP6] = &r->ports.tcp6,
	};
	bool udp = listener_kinds[which].type == SOCK_DGRAM;
	_cleanup_close_ int fd = -EBADF;
	int e;

	e = egress_listen_loopback(listener_kinds[which].family, listener_kinds[which].type,
				   BACKLOG, &fd, ports[which], err);
	if (e == EGRESS_E_NO_FAMILY)
		return 0;
	if (e == 0)
		e = ev_add(r->loop, &r->listeners[which], fd, EPOLLIN, udp ? on_udp : client_accept,
			   r, err);
	if (e < 0)
		return error_prefix(err, "open the name server of the container");
	(void)take_fd(&fd);
	return 0;
}

int egress_resolver_new(struct evloop *l, const struct egress_resolver_config *config,
			struct egress_resolver **ret, struct error *err)
{
	_cleanup_egress_resolver_ struct egress_resolver *r = NULL;
	int e, i;

	assert(config->names && config->servers.n <= EGRESS_SERVERS_MAX);
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_oom(err);
	r->loop = l;
	r->config = *config;
	r->timer = EV_TIMER_NULL;
	for (i = 0; i < N_LISTENERS; i++)
		r->listeners[i] = EV_SOURCE_NULL;
	r->all = (struct egress_bucket){ .per_s = RESOLVER_ALL_PER_S, .burst = RESOLVER_ALL_BURST };
	r->forward = (struct egress_bucket){ .per_s = RESOLVER_FORWARD_PER_S,
					     .burst = RESOLVER_FORWARD_BURST };
	r->events = (struct egress_bucket){ .per_s = RESOLVER_EVENTS_PER_S,
					    .burst = RESOLVER_EVENTS_BURST };
	e = ev_timer_init(l, &r->timer, CLOCK_BOOTTIME, on_timer, r, err);
	for (i = 0; e == 0 && i < N_LISTENERS; i++)
		e = add_listener(r, (enum listener)i, err);
	if (e < 0)
		return e;
	*ret = take_ptr(r);
	return 0;
}

struct egress_resolver *egress_resolver_free(struct egress_resolver *r)
{
	int i, fd;

	if (!r)
		return NULL;
	while (r->clients)
		client_free(r->clients);
	while (r->lookups)
		lookup_free(r->lookups);
	for (i = 0; i < N_LISTENERS; i++) {
		fd = r->listeners[i].fd;
		if (fd < 0)
			continue;
		ev_del(r->loop, &r->listeners[i]);
		(void)close(fd);
	}
	ev_timer_done(r->loop, &r->timer);
	free(r);
	return NULL;
}

void egress_resolver_set_names(struct egress_resolver *r, struct egress_names *names)
{
	r->config.names = names;
}

int egress_resolver_set_servers(struct egress_resolver *r, const struct egress_servers *servers)
{
	assert(servers->n <= EGRESS_SERVERS_MAX);
	if (r->lookups)
		return -EBUSY;
	r->config.servers = *servers;
	return 0;
}

struct egress_resolver_ports egress_resolver_ports(const struct egress_resolver *r)
{
	return r->ports;
}

const struct egress_resolver_stats *egress_resolver_stats(const struct egress_resolver *r)
{
	return &r->stats;
}
