/*
 * Owns the listeners, the places, the clock and the reports of the proxy. Who may pass is
 * egress_sni_hello.c's.
 */
#include "egress/egress_sni.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

#include "egress/egress_resolver_listen.h"
#include "egress/egress_sni_private.h"

#define BACKLOG	    128
#define ACCEPT_ONCE 16

const char *egress_sni_event_text(enum egress_sni_event_kind kind)
{
	static const char *const texts[] = {
		[EGRESS_SNI_ALLOWED] = "allowed",
		[EGRESS_SNI_DENIED] = "denied",
		[EGRESS_SNI_NO_NAME] = "no-name",
		[EGRESS_SNI_ENCRYPTED] = "encrypted",
		[EGRESS_SNI_NOT_TLS] = "not-tls",
		[EGRESS_SNI_TIMEOUT] = "timeout",
		[EGRESS_SNI_STRAY] = "stray",
		[EGRESS_SNI_CROWDED] = "crowded",
		[EGRESS_SNI_UNREACHABLE] = "unreachable",
		[EGRESS_SNI_REVOKED] = "revoked",
	};

	return texts[kind];
}

uint64_t sni_now(void)
{
	return ev_now(CLOCK_MONOTONIC);
}

void sni_report(struct egress_sni *p, enum egress_sni_event_kind kind,
		const struct tls_hello *hello, const struct egress_sni_target *target, int error)
{
	char text[DNS_TEXT_SIZE];
	struct egress_sni_event e = {
		.kind = kind,
		.alpn = hello ? hello->alpn : "",
		.target = target,
		.error = error,
		.suppressed = p->suppressed,
	};

	if (kind == EGRESS_SNI_ALLOWED)
		p->stats.allowed++;
	else
		p->stats.refused++;
	if (!p->config.event)
		return;
	if (!egress_bucket_take(&p->events, sni_now())) {
		p->suppressed++;
		return;
	}
	p->suppressed = 0;
	if (hello && hello->name.len)
		e.name = dns_name_text(&hello->name, text);
	p->config.event(p->config.event_arg, &e);
}

void sni_schedule(struct egress_sni *p)
{
	uint64_t first = p->accept_again ? p->accept_again : UINT64_MAX;
	struct error err = ERROR_NULL;
	const struct sni_conn *c;

	for (c = p->conns; c; c = c->next)
		if (c->state != SNI_FORWARD)
			first = MIN(first, c->deadline);
	if (first == UINT64_MAX)
		(void)ev_timer_cancel(&p->timer, &err);
	else
		(void)ev_timer_at(&p->timer, first, &err);
}

/* reset: the other end learns that something was wrong, and at once. */
static void close_side(struct egress_sni *p, struct ev_source *s, bool reset)
{
	struct linger hard = { .l_onoff = 1 };
	int fd = s->fd;

	if (fd < 0)
		return;
	if (reset)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	ev_del(p->loop, s);
	(void)close(fd);
}

void sni_conn_free(struct sni_conn *c, bool reset)
{
	struct egress_sni *p = c->proxy;
	struct sni_conn **at = &p->conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	p->stats.connections--;
	sni_flow_done(p, &c->flow[CLIENT]);
	sni_flow_done(p, &c->flow[SERVER]);
	close_side(p, &c->source[CLIENT], reset);
	close_side(p, &c->source[SERVER], reset);
	free(c->hello);
	free(c);
}

void sni_refuse(struct sni_conn *c, enum egress_sni_event_kind kind, const struct tls_hello *hello,
		int error)
{
	sni_report(c->proxy, kind, hello, &c->target, error);
	sni_conn_free(c, true);
}

/* Who holds a place without having said a word gives it to the next. */
static bool make_room(struct egress_sni *p)
{
	struct sni_conn *c, *oldest = NULL;

	for (c = p->conns; c; c = c->next)
		if (c->state == SNI_HELLO && (!oldest || c->deadline < oldest->deadline))
			oldest = c;
	if (!oldest)
		return false;
	sni_refuse(oldest, EGRESS_SNI_CROWDED, NULL, 0);
	return true;
}

/* A connection that cannot be kept: reset, so that the client does not wait. */
static void drop(struct egress_sni *p, int fd, enum egress_sni_event_kind kind,
		 const struct egress_sni_target *target)
{
	struct linger hard = { .l_onoff = 1 };

	sni_report(p, kind, NULL, target, 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

static struct sni_conn *conn_new(struct egress_sni *p, int fd,
				 const struct egress_sni_target *target)
{
	struct sni_conn *c = calloc(1, sizeof(*c));
	struct error err = ERROR_NULL;
	int i;

	if (!c)
		return NULL;
	for (i = 0; i < 2; i++) {
		c->source[i] = EV_SOURCE_NULL;
		c->flow[i].pipe = (struct sni_pipe){ -EBADF, -EBADF };
	}
	c->proxy = p;
	c->state = SNI_HELLO;
	c->target = *target;
	c->deadline = sni_now() + p->config.hello_ms * MS;
	if (ev_add(p->loop, &c->source[CLIENT], fd, EPOLLIN | EPOLLRDHUP, sni_on_hello, c, &err) <
	    0) {
		free(c);
		return NULL;
	}
	c->next = p->conns;
	p->conns = c;
	p->stats.connections++;
	return c;
}

/* False: nothing more to accept for now. */
static bool accept_one(struct egress_sni *p, int listener)
{
	struct sockaddr_storage peer;
	struct egress_sni_target target;
	_cleanup_close_ int fd = -EBADF;
	socklen_t len = sizeof(peer);

	fd = accept4(listener, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return errno == ECONNABORTED || errno == EINTR;
	if (p->config.target(p->config.target_arg, fd, (struct sockaddr *)&peer, &target) != 0) {
		drop(p, fd, EGRESS_SNI_STRAY, NULL);
		return true;
	}
	sni_tune(fd);
	if ((p->stats.connections >= EGRESS_SNI_CONNECTIONS_MAX && !make_room(p)) ||
	    !conn_new(p, fd, &target)) {
		drop(p, fd, EGRESS_SNI_CROWDED, &target);
		return true;
	}
	(void)take_fd(&fd);
	return true;
}

static void listen_for(struct egress_sni *p, uint32_t events)
{
	struct error err = ERROR_NULL;
	int i;

	for (i = 0; i < 2; i++)
		if (p->listeners[i].fd >= 0)
			(void)ev_set(p->loop, &p->listeners[i], events, &err);
}

static int on_accept(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct egress_sni *p = s->arg;
	int i;

	for (i = 0; i < ACCEPT_ONCE; i++)
		if (!accept_one(p, s->fd))
			break;
	/* The queue stays ready: without a pause this would be a loop that burns a processor. */
	if (i < ACCEPT_ONCE &&
	    (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
		p->accept_again = sni_now() + SNI_PAUSE_MS * MS;
		listen_for(p, 0);
	}
	sni_schedule(p);
	return 0;
}

static int on_timer(struct evloop *l, struct ev_timer *t, struct error *err)
{
	struct egress_sni *p = t->arg;
	uint64_t now = sni_now();
	struct sni_conn *c, *next;

	for (c = p->conns; c; c = next) {
		next = c->next;
		if (c->state == SNI_FORWARD || c->deadline > now)
			continue;
		if (c->state == SNI_HELLO || c->state == SNI_AGAIN)
			sni_refuse(c, EGRESS_SNI_TIMEOUT, NULL, 0);
		else
			sni_refuse(c, EGRESS_SNI_UNREACHABLE, NULL, ETIMEDOUT);
	}
	if (p->accept_again && p->accept_again <= now) {
		p->accept_again = 0;
		listen_for(p, EPOLLIN);
	}
	sni_schedule(p);
	return 0;
}

static int add_listener(struct egress_sni *p, int i, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r = egress_listen_loopback(i ? AF_INET6 : AF_INET, SOCK_STREAM, BACKLOG, &fd,
				       &p->ports[i], err);

	if (r == EGRESS_E_NO_FAMILY)
		return 0;
	if (r == 0)
		r = ev_add(p->loop, &p->listeners[i], fd, EPOLLIN, on_accept, p, err);
	if (r < 0)
		return error_prefix(err, "open the proxy that checks server names");
	(void)take_fd(&fd);
	return 0;
}

int egress_sni_new(struct evloop *l, const struct egress_sni_config *config,
		   struct egress_sni **ret, struct error *err)
{
	_cleanup_egress_sni_ struct egress_sni *p = NULL;
	int r, i;

	assert(config->names && config->target);
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_oom(err);
	p->loop = l;
	p->config = *config;
	if (!p->config.hello_ms)
		p->config.hello_ms = EGRESS_SNI_HELLO_MS;
	p->timer = EV_TIMER_NULL;
	p->events = (struct egress_bucket){ .per_s = SNI_EVENTS_PER_S, .burst = SNI_EVENTS_BURST };
	for (i = 0; i < 2; i++)
		p->listeners[i] = EV_SOURCE_NULL;
	r = ev_timer_init(l, &p->timer, CLOCK_MONOTONIC, on_timer, p, err);
	for (i = 0; r == 0 && i < 2; i++)
		r = add_listener(p, i, err);
	if (r < 0)
		return r;
	*ret = take_ptr(p);
	return 0;
}

struct egress_sni *egress_sni_free(struct egress_sni *p)
{
	int i;

	if (!p)
		return NULL;
	while (p->conns)
		sni_conn_free(p->conns, true);
	for (i = 0; i < 2; i++)
		close_side(p, &p->listeners[i], false);
	sni_pipes_done(p);
	ev_timer_done(p->loop, &p->timer);
	free(p);
	return NULL;
}

void egress_sni_set_names(struct egress_sni *p, struct egress_names *names)
{
	struct sni_conn *c, *next;

	p->config.names = names;
	for (c = p->conns; c; c = next) {
		next = c->next;
		/* Without a name it has not been judged yet. */
		if (c->name.len && !sni_permitted(p, &c->name, c->target.port))
			sni_refuse(c, EGRESS_SNI_REVOKED, &(struct tls_hello){ .name = c->name },
				   0);
	}
	sni_schedule(p);
}

void egress_sni_ports(const struct egress_sni *p, uint16_t *ret_v4, uint16_t *ret_v6)
{
	*ret_v4 = p->ports[0];
	*ret_v6 = p->ports[1];
}

const struct egress_sni_stats *egress_sni_stats(const struct egress_sni *p)
{
	return &p->stats;
}
