/*
 * Owns what a container is told: judges the addresses of an answer, opens the good ones, and
 * only then answers all who asked.
 */
#include <string.h>

#include "egress/egress_resolver_private.h"

#define TEXT_REFUSED "the name has addresses that the egress policy refuses"
#define TEXT_SILENCE "no name server of the container answered"

static size_t limit_of(const struct waiter *w)
{
	if (w->client)
		return RESOLVER_ANSWER_MAX;
	return w->query.udp_size < DNS_UDP_MAX ? w->query.udp_size : DNS_UDP_MAX;
}

void resolver_error(struct egress_resolver *r, const struct waiter *w, unsigned rcode,
		    enum dns_ede ede, const char *text)
{
	resolver_send(r, w, dns_build_error(&w->query, rcode, ede, text, r->out + 2, limit_of(w)));
}

/* Takes the addresses out that no name may stand for; those that need no lease stand in *fixed. */
static size_t judge(struct lookup *k, struct dns_reply *reply, struct dns_address *fixed,
		    size_t *n_fixed)
{
	struct egress_resolver *r = k->resolver;
	size_t i, kept = 0, refused = 0;
	enum egress_judgement j;
	uint8_t address[16];

	for (i = 0; i < reply->n_addresses; i++) {
		j = EGRESS_ADDRESS_SPECIAL;
		if (egress_name_address_map(&reply->addresses[i], address))
			j = egress_names_judge(r->config.names, address);
		if (j == EGRESS_ADDRESS_GOOD) {
			reply->addresses[kept++] = reply->addresses[i];
		} else if (j == EGRESS_ADDRESS_STATIC) {
			fixed[(*n_fixed)++] = reply->addresses[i];
		} else {
			refused++;
			resolver_event(r, EGRESS_NAME_REFUSED, &k->name, k->type, address,
				       egress_judgement_text(j), 1);
		}
	}
	reply->n_addresses = kept;
	r->stats.refused += refused;
	return refused;
}

/* Leaves in the reply what may be told. True: something was kept back. */
static bool open_addresses(struct lookup *k, unsigned set, struct dns_reply *reply)
{
	struct egress_resolver *r = k->resolver;
	struct dns_address fixed[DNS_ADDRESSES_MAX];
	struct egress_lease_stats stats = { 0 };
	size_t n_fixed = 0, refused = judge(k, reply, fixed, &n_fixed);

	if (reply->n_addresses)
		egress_names_open(r->config.names, &k->name, set, reply->addresses,
				  &reply->n_addresses, resolver_now(), &stats);
	if (stats.evicted || stats.failed)
		resolver_event(r, EGRESS_NAME_CROWDED, &k->name, k->type, NULL, NULL,
			       stats.evicted + stats.failed);
	memcpy(reply->addresses + reply->n_addresses, fixed, n_fixed * sizeof(*fixed));
	reply->n_addresses += n_fixed;
	if (reply->n_addresses || reply->n_services)
		resolver_event(r, EGRESS_NAME_ALLOWED, &k->name, k->type, NULL, NULL,
			       reply->n_addresses);
	return refused || stats.failed;
}

static void answer(struct egress_resolver *r, const struct waiter *w, const struct dns_reply *reply,
		   bool kept_back)
{
	enum dns_ede ede = kept_back ? DNS_EDE_BLOCKED : DNS_EDE_NONE;

	resolver_send(r, w,
		      dns_build_reply(&w->query, reply, EGRESS_TTL_MAX, ede,
				      kept_back ? TEXT_REFUSED : NULL, r->out + 2, limit_of(w)));
}

void resolver_finish(struct lookup *k, struct dns_reply *reply)
{
	struct egress_resolver *r = k->resolver;
	bool kept_back = false, denied;
	struct waiter *w;
	unsigned set;

	if (k->bogus) {
		r->stats.spoofed += k->bogus;
		resolver_event(r, EGRESS_NAME_SPOOFED, &k->name, k->type, NULL, NULL, k->bogus);
	}
	/* The rules may have changed since it was asked. */
	denied = egress_names_match(r->config.names, &k->name, &set) != 0;
	if (reply && !denied) {
		r->stats.answered++;
		kept_back = open_addresses(k, set, reply);
	} else if (!denied) {
		r->stats.failed++;
		resolver_event(r, EGRESS_NAME_FAILED, &k->name, k->type, NULL, TEXT_SILENCE, 0);
	}
	while ((w = k->waiters)) {
		k->waiters = w->next;
		if (denied)
			resolver_error(r, w, DNS_NXDOMAIN, DNS_EDE_BLOCKED, TEXT_DENIED);
		else if (reply)
			answer(r, w, reply, kept_back);
		else
			resolver_error(r, w, DNS_SERVFAIL, DNS_EDE_UNREACHABLE, TEXT_SILENCE);
		free(w);
	}
	lookup_free(k);
}
