/*
 * Owns the patterns: which names the rules mean, found in a time that does not depend on
 * their number. A name is looked up whole and then by each of its ends, label by label.
 */
#include "egress/egress_names.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "egress/egress_names_private.h"
#include "util/str.h"

#define HTTPS_PORT 443
#define NO_BUCKET  0u

/* FNV-1a: the keys are the operator's, so nobody can aim at one bucket; and lookups stay bounded by
 * rules. */
uint64_t names_hash(const uint8_t *wire, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ wire[i]) * 0x100000001b3u;
	return h;
}

static struct name_pattern *find(const struct egress_names *n, const uint8_t *wire, size_t len,
				 bool below)
{
	struct name_pattern *p;
	uint32_t i;

	if (!n->n_buckets)
		return NULL;
	for (i = n->buckets[names_hash(wire, len) & (n->n_buckets - 1)]; i != NO_BUCKET;
	     i = p->next) {
		p = &n->patterns[i - 1];
		if (p->below == below && p->len == len && memcmp(p->wire, wire, len) == 0)
			return p;
	}
	return NULL;
}

/* At most three for a range. */
static void add_ports(struct egress_name_port *out, size_t *n, uint8_t protocol,
		      enum egress_verify verify, uint16_t first, uint16_t last)
{
	if (verify == EGRESS_VERIFY_AUTO && first <= HTTPS_PORT && last >= HTTPS_PORT) {
		if (first < HTTPS_PORT)
			add_ports(out, n, protocol, EGRESS_VERIFY_ADDRESS, first, HTTPS_PORT - 1);
		add_ports(out, n, protocol, EGRESS_VERIFY_SNI, HTTPS_PORT, HTTPS_PORT);
		if (last > HTTPS_PORT)
			add_ports(out, n, protocol, EGRESS_VERIFY_ADDRESS, HTTPS_PORT + 1, last);
		return;
	}
	/* The name in a QUIC handshake cannot be read in passing, and its users fall back to TCP.
	 */
	if (verify == EGRESS_VERIFY_SNI && protocol != IPPROTO_TCP)
		return;
	out[(*n)++] = (struct egress_name_port){
		.protocol = protocol,
		.verify = verify == EGRESS_VERIFY_SNI,
		.first = first,
		.last = last,
	};
}

static int rule_set(struct egress_names *n, const struct egress_name_rule *rule, unsigned *ret)
{
	static const struct egress_name_range every = { 1, 65535 };
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP };
	const struct egress_name_range *ranges = rule->n_ports ? rule->ports : &every;
	size_t n_ranges = rule->n_ports ? rule->n_ports : 1, count = 0, i, k;
	_cleanup_free_ struct egress_name_port *ports = NULL;

	if (n_ranges > EGRESS_SET_RANGES_MAX)
		return -E2BIG;
	ports = calloc(n_ranges * 3 * ELEMENTSOF(protocols), sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	for (i = 0; i < ELEMENTSOF(protocols); i++) {
		if (rule->protocol && rule->protocol != protocols[i])
			continue;
		for (k = 0; k < n_ranges; k++) {
			if (ranges[k].first > ranges[k].last)
				return -EINVAL;
			add_ports(ports, &count, protocols[i], rule->verify, ranges[k].first,
				  ranges[k].last);
		}
	}
	return names_set_make(n, ports, count, ret);
}

static int add_rule(struct egress_names *n, const struct egress_name_rule *rule)
{
	const char *below = str_after(rule->host, "*.");
	struct name_pattern *p;
	struct dns_name name;
	unsigned set = 0;
	uint32_t *bucket;
	uint8_t *wire;
	int r;

	r = dns_name_from_text(below ? below : rule->host, &name);
	if (r == 0 && !dns_name_is_host(&name))
		r = -EINVAL;
	if (r == 0)
		r = rule_set(n, rule, &set);
	if (r < 0)
		return r;
	p = find(n, name.wire, name.len, below);
	if (p) {
		r = names_set_union(n, p->set, set, &set);
		if (r == 0)
			p->set = (uint16_t)set;
		return r;
	}
	wire = arena_alloc(&n->arena, name.len);
	if (!wire)
		return -ENOMEM;
	memcpy(wire, name.wire, name.len);
	bucket = &n->buckets[names_hash(wire, name.len) & (n->n_buckets - 1)];
	n->patterns[n->n_patterns] = (struct name_pattern){
		.next = *bucket,
		.set = (uint16_t)set,
		.len = name.len,
		.below = below,
		.wire = wire,
	};
	*bucket = (uint32_t)++n->n_patterns;
	return 0;
}

static const struct egress_name_net *copy_nets(struct egress_names *n,
					       const struct egress_name_net *nets, size_t count)
{
	struct egress_name_net *copy = arena_calloc(&n->arena, count ? count : 1, sizeof(*copy));

	if (copy && count)
		memcpy(copy, nets, count * sizeof(*copy));
	return copy;
}

static int fill(struct egress_names *n, const struct egress_names_config *config, struct error *err)
{
	size_t i;
	int r;

	for (n->n_buckets = 8; n->n_buckets < config->n_rules * 2; n->n_buckets *= 2)
		;
	n->buckets = calloc(n->n_buckets, sizeof(*n->buckets));
	n->patterns = calloc(config->n_rules + 1, sizeof(*n->patterns));
	n->open = copy_nets(n, config->open, config->n_open);
	n->never = copy_nets(n, config->never, config->n_never);
	if (!n->buckets || !n->patterns || !n->open || !n->never)
		return error_oom(err);
	n->n_open = config->n_open;
	n->n_never = config->n_never;
	n->next_end = UINT64_MAX;
	n->ops = config->ops;
	for (i = 0; i < config->n_rules; i++) {
		r = add_rule(n, &config->rules[i]);
		if (r < 0)
			return error_set(err, r, "egress rule %zu for host \"%.100s\"", i,
					 config->rules[i].host);
	}
	return 0;
}

int egress_names_new(const struct egress_names_config *config, struct egress_names **ret,
		     struct error *err)
{
	_cleanup_egress_names_ struct egress_names *n = NULL;
	int r;

	if (config->n_rules > EGRESS_NAMES_MAX)
		return error_text(err, -E2BIG, "%zu egress rules with host names, more than %d",
				  config->n_rules, EGRESS_NAMES_MAX);
	n = calloc(1, sizeof(*n));
	if (!n)
		return error_oom(err);
	r = fill(n, config, err);
	if (r < 0)
		return r;
	*ret = take_ptr(n);
	return 0;
}

struct egress_names *egress_names_free(struct egress_names *n)
{
	if (!n)
		return NULL;
	free(n->buckets);
	free(n->patterns);
	free(n->sets);
	free(n->unions);
	egress_names_leases_done(n);
	arena_done(&n->arena);
	free(n);
	return NULL;
}

int egress_names_match(struct egress_names *n, const struct dns_name *name, unsigned *ret_set)
{
	const struct name_pattern *p;
	unsigned set = 0;
	bool found = false;
	size_t at;
	int r;

	/* Also what the rules of wildcards mean by "below": no bytes that a host name does not
	 * have. */
	if (!dns_name_is_host(name))
		return EGRESS_NAMES_E_DENIED;
	for (at = 0; name->wire[at]; at += 1u + name->wire[at]) {
		p = find(n, name->wire + at, name->len - at, at > 0);
		if (!p)
			continue;
		r = found ? names_set_union(n, set, p->set, &set) : 0;
		if (r < 0)
			return r;
		set = found ? set : p->set;
		found = true;
	}
	if (!found)
		return EGRESS_NAMES_E_DENIED;
	*ret_set = set;
	return 0;
}

enum egress_judgement egress_names_judge(const struct egress_names *n, const uint8_t address[16])
{
	enum egress_judgement kind;
	unsigned bits;
	size_t i;

	for (i = 0; i < n->n_never; i++)
		if (egress_name_net_has(&n->never[i], address))
			return EGRESS_ADDRESS_HOST;
	kind = egress_name_address_kind(address, &bits);
	for (i = 0; kind != EGRESS_ADDRESS_GOOD && i < n->n_open; i++) {
		/* A range around the private one was not written with the private one in mind. */
		if (n->open[i].scope < bits || !egress_name_net_has(&n->open[i], address))
			continue;
		if (kind == EGRESS_ADDRESS_PRIVATE)
			return EGRESS_ADDRESS_GOOD;
		if (n->open[i].metadata && n->open[i].scope == 128)
			return EGRESS_ADDRESS_STATIC;
	}
	return kind;
}

bool egress_bucket_take(struct egress_bucket *b, uint64_t now)
{
	uint64_t cost, full;

	assert(b->per_s > 0 && b->burst > 0);
	cost = 1000000000u / b->per_s;
	full = cost * b->burst;
	if (!b->last)
		b->credit = full;
	else if (now > b->last)
		b->credit = now - b->last >= full - b->credit ? full : b->credit + (now - b->last);
	b->last = now;
	if (b->credit < cost)
		return false;
	b->credit -= cost;
	return true;
}
