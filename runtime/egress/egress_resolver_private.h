/*
 * The inside of struct egress_resolver, shared by the files that own its parts: listeners and
 * queries (egress_resolver.c), questions to servers (egress_resolver_lookup.c), clients on
 * TCP (egress_resolver_tcp.c), and answers (egress_resolver_answer.c).
 */
#pragma once

#include <sys/socket.h>

#include "egress/egress_resolver.h"

#define RESOLVER_LOOKUPS_MAX 64
#define RESOLVER_WAITERS_MAX 16 /* that ask the same at the same time */
#define RESOLVER_CLIENTS_MAX 16 /* on TCP */
#define RESOLVER_QUERY_MAX   1500 /* bytes: a query is a name and some options */
#define RESOLVER_ANSWER_MAX  16384 /* what an answer of ours can have at most: see dns_build_reply() */
#define RESOLVER_BATCH	     16 /* messages read at once from a listener */

#define RESOLVER_ALL_PER_S     2000 /* queries: what the process may spend on one container */
#define RESOLVER_ALL_BURST     2000
#define RESOLVER_FORWARD_PER_S 100 /* questions that leave: what can be carried out in names below a wildcard */
#define RESOLVER_FORWARD_BURST 400
#define RESOLVER_EVENTS_PER_S  20
#define RESOLVER_EVENTS_BURST  100

#define RESOLVER_BUDGET_MS 4500 /* clients ask again after five seconds */
#define RESOLVER_IDLE_MS   10000 /* a TCP client without a question */
#define RESOLVER_BOGUS_MAX 16 /* false answers to one question; then by TCP, which cannot be forged blindly */

#define RESOLVER_PAUSE_MS  1000 /* without accepting, after descriptors ran out */

#define MS 1000000ull

#define TEXT_DENIED "no egress rule names this host"

enum listener { UDP4, UDP6, TCP4, TCP6, N_LISTENERS };

struct client;

/* Somebody who asked. */
struct waiter {
	struct waiter *next;
	struct dns_query query;
	struct client *client; /* on TCP, else NULL */
	enum listener listener;
	struct sockaddr_storage from;
	socklen_t from_len;
};

/* A question to the servers. */
struct lookup {
	struct lookup *next;
	struct egress_resolver *resolver;
	struct dns_name name;
	uint16_t type, id;
	struct waiter *waiters;
	size_t n_waiters;
	struct ev_source source; /* the socket to the present server */
	size_t first, server; /* indexes: of the first attempt, of the present one */
	unsigned attempt, bogus;
	bool tcp, edns, connected;
	uint64_t deadline; /* of the attempt */
	uint8_t prefix[2], *answer; /* TCP */
	size_t have, want; /* bytes so far, the prefix included; length of the answer */
};

struct client {
	struct client *next;
	struct egress_resolver *resolver;
	struct ev_source source;
	enum listener listener;
	bool busy; /* its question is being looked up */
	bool broken; /* to be closed by the timer, if nobody does before */
	uint64_t deadline;
	size_t have;
	uint8_t in[2 + RESOLVER_QUERY_MAX];
	uint8_t *out; /* what did not fit into the socket */
	size_t out_len, out_at;
};

struct egress_resolver {
	struct evloop *loop;
	struct egress_resolver_config config;
	struct ev_source listeners[N_LISTENERS];
	struct egress_resolver_ports ports;
	struct ev_timer timer;
	uint64_t accept_again; /* no descriptors were left; 0: accepting */
	struct lookup *lookups;
	struct client *clients;
	size_t n_lookups, n_clients;
	size_t preferred; /* the server that answered last */
	struct egress_bucket all, forward, events;
	uint64_t suppressed;
	struct egress_resolver_stats stats;
	uint8_t message[DNS_MESSAGE_MAX]; /* being read */
	uint8_t out[2 + RESOLVER_ANSWER_MAX]; /* being written; the length prefix of TCP in front */
};

/*
 * Nothing that a container or a server can bring about ends the process: these report no
 * errors, they fail the one question.
 */
uint64_t resolver_now(void);
void resolver_event(struct egress_resolver *r, enum egress_name_event_kind kind, const struct dns_name *name,
		    uint16_t type, const uint8_t *address, const char *reason, size_t n);
/* Sets the timer to the first deadline there is. */
void resolver_schedule(struct egress_resolver *r);
/* Answers, looks up, or drops one message. w says where it came from. */
void resolver_query(struct egress_resolver *r, struct waiter *w, const uint8_t *msg, size_t len);
/* Sends the answer of len bytes that stands in r->out + 2. */
void resolver_send(struct egress_resolver *r, const struct waiter *w, size_t len);

/* answer.c: the servers' answer (or, without reply, their silence) to all who wait; ends the lookup. */
void resolver_finish(struct lookup *k, struct dns_reply *reply);
void resolver_error(struct egress_resolver *r, const struct waiter *w, unsigned rcode, enum dns_ede ede,
		    const char *text);

/* Joins or starts the lookup of w's question. False: no room. */
bool lookup_add(struct egress_resolver *r, const struct waiter *w);
/* The attempt has lasted too long. */
void lookup_timeout(struct lookup *k);
void lookup_free(struct lookup *k);
/* The client is gone: its questions wait for nothing. */
void lookup_forget_client(struct egress_resolver *r, const struct client *c);

int client_accept(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err);
/* Sends data, the length prefix included, and makes ready for the next question. */
void client_answer(struct client *c, const uint8_t *data, size_t len);
void client_free(struct client *c);
