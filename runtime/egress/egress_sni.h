/*
 * The proxy for connections whose server name must be checked: an address that was learned
 * from an allowed name may be shared with names that are not. The kernel sends such
 * connections here; the name in the ClientHello decides, and in the second one where the server
 * asks for a second; then bytes go both ways without a look at them. Encrypted and missing names are refused.
 *
 * What cannot be seen from here: the Host header inside TLS, and a handshake inside another
 * (renegotiation before TLS 1.3, which servers do not let clients begin any more).
 *
 * Sockets are made in the network namespace of the calling process, which is in the
 * container's for good (egress_resolver.h). They are not in the container's cgroup, so its
 * rules do not bind them: only the given target is ever connected to.
 */
#pragma once

#include <netinet/in.h>

#include "egress/egress_names.h"
#include "util/evloop.h"

#define EGRESS_SNI_HELLO_MS	   10000
#define EGRESS_SNI_CONNECTIONS_MAX 256 /* six descriptors each while bytes flow, two while idle */

struct egress_sni_target {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t port;
};

enum egress_sni_event_kind {
	EGRESS_SNI_ALLOWED,
	EGRESS_SNI_DENIED, /* no rule opens that port for the name */
	EGRESS_SNI_NO_NAME,
	EGRESS_SNI_ENCRYPTED, /* ECH: the true name may be another one */
	EGRESS_SNI_NOT_TLS,
	EGRESS_SNI_TIMEOUT, /* no whole ClientHello in time */
	EGRESS_SNI_STRAY, /* came here without having been sent */
	EGRESS_SNI_CROWDED, /* too many connections, or no descriptors */
	EGRESS_SNI_UNREACHABLE, /* the target did not accept */
	EGRESS_SNI_REVOKED, /* the rules have changed */
};

struct egress_sni_event {
	enum egress_sni_event_kind kind;
	const char *name; /* asked for; the outer one when encrypted; NULL = none. Valid during the call */
	const char *alpn; /* protocols offered, or "" */
	const struct egress_sni_target *target; /* NULL for a stray one */
	int error; /* EGRESS_SNI_UNREACHABLE: errno */
	uint64_t suppressed; /* events not reported since the one before */
};

const char *egress_sni_event_text(enum egress_sni_event_kind kind); /* "allowed", … */

struct egress_sni_config {
	struct egress_names *names; /* stays the caller's, lives longer */
	/*
	 * Where the accepted connection wanted to go; peer is its other end. 0, or anything else: it was not
	 * sent here, and is reset.
	 */
	int (*target)(void *arg, int fd, const struct sockaddr *peer, struct egress_sni_target *ret);
	void *target_arg;
	void (*event)(void *arg, const struct egress_sni_event *e); /* or NULL */
	void *event_arg;
	unsigned hello_ms; /* time for a whole ClientHello; 0 = EGRESS_SNI_HELLO_MS */
};

struct egress_sni_stats {
	uint64_t allowed, refused, bytes_out, bytes_in;
	size_t connections, pipes; /* now */
};

struct egress_sni;

/* Opens listeners in the present network namespace and adds them to the loop. No privilege. */
int egress_sni_new(struct evloop *l, const struct egress_sni_config *config, struct egress_sni **ret, struct error *err);
struct egress_sni *egress_sni_free(struct egress_sni *p);
static inline void egress_sni_freep(struct egress_sni **p)
{
	*p = egress_sni_free(*p);
}
#define _cleanup_egress_sni_ _cleanup_(egress_sni_freep)
/* Other rules from now on: connections for names that they do not allow are reset. names as in the configuration. */
void egress_sni_set_names(struct egress_sni *p, struct egress_names *names);
/* On 127.0.0.1 and ::1, host order; 0: no IPv6 here. */
void egress_sni_ports(const struct egress_sni *p, uint16_t *ret_v4, uint16_t *ret_v6);
const struct egress_sni_stats *egress_sni_stats(const struct egress_sni *p);
