/*
 * The name server that a container gets instead of the one it asked. Names that no rule
 * means are answered at once and leave no trace outside; the others are looked up at the
 * container's own servers, and the addresses are opened before the answer is given.
 *
 * All sockets are made in the network namespace of the calling process, also later ones: one
 * for each question to a server, with a port of its own. So the process enters the container's
 * network namespace once, while it may, and stays there; a pool of sockets made beforehand
 * would have few ports, that an attacker could learn, and the proxy for TLS needs new sockets
 * in there anyway. Seen from inside, Docker's and a cluster's name servers work as they would
 * for the container.
 */
#pragma once

#include <net/if.h>
#include <netinet/in.h>

#include "egress/egress_names.h"
#include "util/evloop.h"

#define EGRESS_SERVERS_MAX 3 /* as many as the C library asks */
#define EGRESS_RESOLV_CONF_MAX 65536

struct egress_server {
	bool v6;
	uint8_t address[16]; /* IPv4 in the first four */
	uint16_t port;
	char scope[IF_NAMESIZE]; /* interface of a link-local IPv6 address, or "" */
};

struct egress_servers {
	size_t n;
	struct egress_server server[EGRESS_SERVERS_MAX];
};

/* The nameserver lines; what cannot be read is skipped, as the C library does. Pure. */
void egress_servers_from_resolv_conf(const char *text, size_t len, struct egress_servers *ret);
/* "ADDRESS", "IPV4:PORT" or "[IPV6]:PORT". 0 or -EINVAL. Pure. */
int egress_server_from_text(const char *text, struct egress_server *ret);

enum egress_name_event_kind {
	EGRESS_NAME_ALLOWED, /* looked up; n addresses are open */
	EGRESS_NAME_DENIED, /* no rule means it */
	EGRESS_NAME_REFUSED, /* an answer with an address that no name may stand for */
	EGRESS_NAME_CROWDED, /* n addresses were closed early, or not opened at all, for want of room */
	EGRESS_NAME_FAILED, /* no server gave a usable answer */
	EGRESS_NAME_SPOOFED, /* n messages came that answered another question than the one asked */
	EGRESS_NAME_LIMITED, /* too many queries at once */
};

struct egress_name_event {
	enum egress_name_event_kind kind;
	const char *name; /* as text, lower case; valid during the call, as all below */
	uint16_t type;
	const uint8_t *address; /* EGRESS_NAME_REFUSED, else NULL */
	const char *reason; /* or NULL */
	size_t n;
	uint64_t suppressed; /* events not reported since the one before */
};

const char *egress_name_event_text(enum egress_name_event_kind kind); /* "allowed", … */

struct egress_resolver_config {
	struct egress_names *names; /* stays the caller's, lives longer */
	struct egress_servers servers;
	void (*event)(void *arg, const struct egress_name_event *e); /* or NULL */
	void *event_arg;
};

struct egress_resolver_stats {
	uint64_t queries, denied, forwarded, answered, failed, refused, spoofed, limited, dropped;
};

/* Other servers. -EBUSY while a question is on its way to one of the old ones. */
struct egress_resolver;
int egress_resolver_set_servers(struct egress_resolver *r, const struct egress_servers *servers);

struct egress_resolver_ports {
	uint16_t udp4, tcp4, udp6, tcp6; /* on 127.0.0.1 and ::1, host order; 0: none, no IPv6 here */
};

struct egress_resolver;

/* Opens the listeners in the present network namespace and adds them to the loop. No privilege. */
int egress_resolver_new(struct evloop *l, const struct egress_resolver_config *config, struct egress_resolver **ret,
			struct error *err);
struct egress_resolver *egress_resolver_free(struct egress_resolver *r);
static inline void egress_resolver_freep(struct egress_resolver **r)
{
	*r = egress_resolver_free(*r);
}
#define _cleanup_egress_resolver_ _cleanup_(egress_resolver_freep)
/* Other rules from now on, also for what is being looked up. names as in the configuration. */
void egress_resolver_set_names(struct egress_resolver *r, struct egress_names *names);
struct egress_resolver_ports egress_resolver_ports(const struct egress_resolver *r);
const struct egress_resolver_stats *egress_resolver_stats(const struct egress_resolver *r);
