/*
 * Owns the order of egress rules: which of them cover a request, and what it gets from those. Ports are looked at in
 * stretches, all ports of which the same rules cover, so a wide range costs what its rules have of borders.
 */
#include "policy/policy_internal.h"
#include "util/str.h"

static bool bits_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	uint8_t mask = (uint8_t)(0xff00 >> (bits % 8));

	if (memcmp(a, b, bits / 8) != 0)
		return false;
	return bits % 8 == 0 || (a[bits / 8] & mask) == (b[bits / 8] & mask);
}

static bool host_covers(const char *p, const char *q)
{
	size_t lp, lq = strlen(q);

	if (str_eq(p, q))
		return true;
	if (p[0] != '*')
		return false;
	/* ".example.org" at the end, with something in front: not "evil-example.org". */
	lp = strlen(++p);
	return lq > lp && str_eq(q + lq - lp, p);
}

/* All but the ports. */
static bool rule_meets(const struct policy_rule *p, const struct policy_rule *q)
{
	if (p->protocol && p->protocol != q->protocol)
		return false;
	if (q->metadata && !p->metadata)
		return false;
	if (!p->host != !q->host)
		return false;
	return p->host ? host_covers(p->host, q->host)
		       : p->family == q->family && p->prefix <= q->prefix && bits_equal(p->address, q->address, p->prefix);
}

static bool rule_has_port(const struct policy_rule *p, uint32_t port)
{
	size_t i;

	for (i = 0; i < p->n_ports; i++)
		if (p->ports[i].first <= port && port <= p->ports[i].last)
			return true;
	return p->n_ports == 0;
}

/* Ports of a request that the same rules cover. One of every port is one stretch, which only rules without ports cover. */
struct stretch {
	const struct policy_rule *q;
	size_t range; /* of q, that the ports lie in */
	uint32_t first, last;
};

/* Shortens s to the ports before the next border of a rule's. */
static void stop_at_border(struct stretch *s, const struct policy_rule *p)
{
	size_t i;

	for (i = 0; i < p->n_ports; i++) {
		if (p->ports[i].first > s->first)
			s->last = MIN(s->last, p->ports[i].first - 1u);
		else if (p->ports[i].last >= s->first)
			s->last = MIN(s->last, (uint32_t)p->ports[i].last);
	}
}

/* Begin with first = 0. False: there is none left. */
static bool stretch_next(struct stretch *s, const struct policy_rule *rules, size_t n)
{
	const struct policy_ports *of;
	size_t i;

	if (s->q->n_ports == 0) {
		s->range++;
		return s->range == 1;
	}
	if (s->first > 0 && s->last == s->q->ports[s->range].last) {
		s->range++;
		s->first = 0;
	}
	if (s->range == s->q->n_ports)
		return false;
	of = &s->q->ports[s->range];
	s->first = s->first > 0 ? s->last + 1 : of->first;
	s->last = of->last;
	for (i = 0; i < n; i++)
		if (rule_meets(&rules[i], s->q))
			stop_at_border(s, &rules[i]);
	return true;
}

static bool covers(const struct policy_rule *p, const struct stretch *s)
{
	return rule_meets(p, s->q) && (s->q->n_ports == 0 ? p->n_ports == 0 : rule_has_port(p, s->first));
}

bool policy_rules_cover(const struct policy_rule *rules, size_t n, const struct policy_rule *q)
{
	struct stretch s = { .q = q };
	size_t i;

	while (stretch_next(&s, rules, n)) {
		for (i = 0; i < n && !covers(&rules[i], &s); i++)
			;
		if (i == n)
			return false;
	}
	return true;
}

uint8_t policy_rules_scope(const struct policy_rule *rules, size_t n, const struct policy_rule *q)
{
	struct stretch s = { .q = q };
	uint8_t scope = UINT8_MAX, longest;
	size_t i;

	if (q->host)
		return 0;
	while (stretch_next(&s, rules, n)) {
		longest = 0;
		for (i = 0; i < n; i++)
			if (covers(&rules[i], &s))
				longest = MAX(longest, rules[i].scope);
		scope = MIN(scope, longest);
	}
	return scope;
}

uint64_t policy_rules_verify(const struct policy_rule *rules, size_t n, const struct policy_rule *q)
{
	struct stretch s = { .q = q };
	uint64_t verify = POLICY_VERIFY_ADDRESS;
	size_t i;

	if (!q->host)
		return POLICY_VERIFY_AUTO;
	while (stretch_next(&s, rules, n))
		for (i = 0; i < n; i++) {
			if (!covers(&rules[i], &s))
				continue;
			if (rules[i].verify == POLICY_VERIFY_SNI || verify == POLICY_VERIFY_SNI)
				verify = POLICY_VERIFY_SNI;
			else if (rules[i].verify == POLICY_VERIFY_AUTO)
				verify = POLICY_VERIFY_AUTO;
		}
	return verify;
}
