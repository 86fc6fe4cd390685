/* egress/egress_rules: what is open and what is not, and that tables say the same as rules. */
#include "egress/egress_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "egress_rules_reference.h"
#include "tap.h"
#include "util/cleanup.h"
#include "util/parse.h"

#define TCP IPPROTO_TCP
#define UDP IPPROTO_UDP

static void map(const char *text, uint8_t ret[16])
{
	uint8_t raw[16];
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;

	if (inet_pton(family, text, raw) != 1)
		abort();
	egress_rules_map(family, raw, ret);
}

static struct egress_rule rule(const char *text, unsigned prefix)
{
	struct egress_rule r = { .bits = (uint8_t)(prefix + (strchr(text, ':') ? 0 : 96)) };

	r.scope = r.bits;
	map(text, r.address);
	return r;
}

/* A part of a wider rule, as somebody asked for it. */
static struct egress_rule part(const char *text, unsigned prefix, unsigned scope)
{
	struct egress_rule r = rule(text, prefix);

	r.scope = (uint8_t)(r.bits - prefix + scope);
	return r;
}

static bool open_at(const struct egress_table *t, const char *address, uint8_t protocol, uint16_t port)
{
	uint8_t a[16];

	map(address, a);
	return egress_table_judge(t, a, protocol, port) == EGRESS_ALLOW;
}

#define is_open(t, a, p, n) ok(open_at(t, a, p, n), "%s port %d open", a, n)
#define is_shut(t, a, p, n) ok(!open_at(t, a, p, n), "%s port %d shut", a, n)

static void test_floor(void)
{
	_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL;
	struct egress_rule rules[] = { rule("0.0.0.0", 0), rule("::", 0), rule("10.1.0.0", 16),
				       rule("169.254.170.2", 32), rule("169.254.169.254", 32), rule("fd00:1::", 32),
				       rule("203.0.113.9", 32) };
	uint8_t hosts[2][16];
	struct error err = ERROR_NULL;

	rules[4].metadata = true;
	map("198.51.100.7", hosts[0]);
	map("203.0.113.9", hosts[1]);
	is_int(egress_rules_compile(rules, ELEMENTSOF(rules), (const uint8_t(*)[16])hosts, 2, &t, &err), 0, "compiled");
	is_open(&t, "8.8.8.8", TCP, 443);
	is_open(&t, "2606:4700::1", UDP, 443);
	ok(open_at(&t, "8.8.8.8", IPPROTO_ICMP, 0), "every protocol");
	is_shut(&t, "10.0.0.1", TCP, 443);
	is_open(&t, "10.1.2.3", TCP, 443);
	is_shut(&t, "10.2.0.0", TCP, 443);
	is_shut(&t, "172.31.255.255", TCP, 1);
	is_open(&t, "172.32.0.0", TCP, 1);
	is_shut(&t, "192.168.0.1", TCP, 80);
	is_shut(&t, "127.0.0.1", TCP, 80);
	is_shut(&t, "100.64.0.1", TCP, 80);
	is_open(&t, "169.254.169.254", TCP, 80);
	is_shut(&t, "169.254.170.2", TCP, 80); /* not said that it is metadata */
	is_shut(&t, "169.254.20.10", TCP, 80);
	is_shut(&t, "100.100.100.200", TCP, 80);
	is_shut(&t, "168.63.129.16", TCP, 80);
	is_shut(&t, "224.0.0.1", UDP, 80);
	is_shut(&t, "240.0.0.1", UDP, 9);
	is_shut(&t, "255.255.255.255", UDP, 9);
	is_shut(&t, "198.51.100.7", TCP, 22); /* the host */
	is_open(&t, "203.0.113.9", TCP, 22); /* the host, named */
	is_shut(&t, "fd00::1", TCP, 80);
	is_open(&t, "fd00:1::1", TCP, 80);
	is_shut(&t, "fd00:ec2::254", TCP, 80);
	is_shut(&t, "fe80::1", TCP, 80);
	is_shut(&t, "::1", TCP, 80);
	is_shut(&t, "::7f00:1", TCP, 80);
	is_shut(&t, "64:ff9b::a9fe:a9fe", TCP, 80); /* metadata through a translator */
	is_shut(&t, "64:ff9b::a00:1", TCP, 80);
	is_open(&t, "64:ff9b::808:808", TCP, 80);
	is_shut(&t, "2002:a9fe:a9fe::1", TCP, 80);
	is_shut(&t, "ff02::1", UDP, 80);
}

static void test_scope(void)
{
	_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL, bad = EGRESS_TABLE_NULL;
	struct egress_rule rules[] = {
		part("10.0.0.5", 32, 0),	part("198.51.100.7", 32, 0),   part("169.254.1.1", 32, 0),
		part("::ffff:0:0", 96, 0),	part("::ffff:9.9.9.9", 128, 0), part("172.16.0.5", 32, 12),
		part("172.16.0.5", 32, 0),	part("192.168.1.1", 32, 15),   part("203.0.113.9", 32, 32),
		part("203.0.113.10", 32, 31),	part("fd00::5", 128, 0),       part("fd00:1::5", 128, 7),
		part("169.254.169.254", 32, 16), part("8.8.8.8", 32, 0),	part("64:ff9b::a00:5", 128, 96),
	};
	struct egress_rule wide = rule("10.0.0.0", 8);
	uint8_t hosts[3][16];
	struct error err = ERROR_NULL;

	rules[12].metadata = true;
	map("198.51.100.7", hosts[0]);
	map("203.0.113.9", hosts[1]);
	map("203.0.113.10", hosts[2]);
	is_int(egress_rules_compile(rules, ELEMENTSOF(rules), (const uint8_t(*)[16])hosts, 3, &t, &err), 0, "compiled");
	is_shut(&t, "10.0.0.5", TCP, 443); /* out of 0.0.0.0/0 */
	is_shut(&t, "198.51.100.7", TCP, 443); /* the host's own */
	is_shut(&t, "169.254.1.1", TCP, 443);
	is_shut(&t, "1.1.1.1", TCP, 443); /* ::ffff:0:0/96 out of ::/0 */
	is_shut(&t, "9.9.9.9", TCP, 443);
	is_open(&t, "172.16.0.5", TCP, 443); /* one of two rules has the range */
	is_shut(&t, "172.16.0.6", TCP, 443);
	is_shut(&t, "192.168.1.1", TCP, 443); /* one bit too wide */
	is_open(&t, "203.0.113.9", TCP, 443); /* the host, by the policy's own rule */
	is_shut(&t, "203.0.113.10", TCP, 443); /* the host, out of two addresses */
	is_shut(&t, "fd00::5", TCP, 443);
	is_open(&t, "fd00:1::5", TCP, 443);
	is_shut(&t, "169.254.169.254", TCP, 80); /* metadata is named by one address */
	is_open(&t, "8.8.8.8", TCP, 443);
	is_shut(&t, "64:ff9b::a00:5", TCP, 443); /* private, out of the translator's range */
	wide.scope++;
	is_int(egress_rules_compile(&wide, 1, NULL, 0, &bad, &err), -EINVAL, "a scope narrower than the rule");
}

static void test_canary(void)
{
	struct egress_rule all[] = { rule("0.0.0.0", 0), rule("240.0.0.1", 32), rule("240.0.0.0", 4), rule("::", 0) };
	_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL;
	struct error err = ERROR_NULL;

	for (size_t i = 0; i < ELEMENTSOF(all); i++)
		all[i].metadata = true;
	is_int(egress_rules_compile(all, ELEMENTSOF(all), NULL, 0, &t, &err), 0, "compiled");
	is_int(egress_table_judge(&t, egress_canary, UDP, 9), EGRESS_DENY, "no rule opens the canary's address");
}

static void test_families(void)
{
	_cleanup_egress_table_ struct egress_table v6 = EGRESS_TABLE_NULL, v4 = EGRESS_TABLE_NULL;
	struct egress_rule r6 = rule("::", 0), r4 = rule("0.0.0.0", 0);
	struct error err = ERROR_NULL;

	is_int(egress_rules_compile(&r6, 1, NULL, 0, &v6, &err), 0, "::/0");
	is_open(&v6, "2606:4700::1", TCP, 443);
	is_shut(&v6, "8.8.8.8", TCP, 443);
	is_int(egress_rules_compile(&r4, 1, NULL, 0, &v4, &err), 0, "0.0.0.0/0");
	is_open(&v4, "8.8.8.8", TCP, 443);
	is_shut(&v4, "2606:4700::1", TCP, 443);
}

static void test_ports(void)
{
	static const struct egress_range web[] = { { .first = 80, .last = 80 }, { .first = 443, .last = 443 } };
	static const struct egress_range high[] = { { .first = 8000, .last = 8999 }, { .first = 8500, .last = 9100 } };
	static const struct egress_range both[] = { { .protocol = UDP, .first = 53, .last = 53 },
						    { .protocol = TCP, .first = 1, .last = 65535 } };
	_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL;
	struct egress_rule rules[] = { rule("8.0.0.0", 8), rule("8.8.0.0", 16), rule("8.8.8.8", 32), rule("9.9.9.9", 32),
				       rule("7.0.0.0", 8), rule("7.7.7.7", 32), rule("6.0.0.0", 8), rule("6.6.6.6", 32) };
	struct error err = ERROR_NULL;

	rules[0].ranges = web;
	rules[0].n_ranges = 2;
	rules[1].ranges = high;
	rules[1].n_ranges = 2;
	rules[1].protocol = UDP;
	rules[2].ranges = both;
	rules[2].n_ranges = 2;
	rules[3].protocol = TCP;
	rules[5].ranges = web; /* narrower inside one that is open altogether */
	rules[5].n_ranges = 2;
	rules[6].ranges = web; /* the same inside: nothing to say */
	rules[6].n_ranges = 2;
	rules[7].ranges = web;
	rules[7].n_ranges = 2;
	is_int(egress_rules_compile(rules, ELEMENTSOF(rules), NULL, 0, &t, &err), 0, "compiled");
	is_open(&t, "8.1.1.1", TCP, 80);
	is_open(&t, "8.1.1.1", UDP, 443);
	is_shut(&t, "8.1.1.1", TCP, 81);
	is_shut(&t, "8.1.1.1", TCP, 79);
	ok(!open_at(&t, "8.1.1.1", IPPROTO_ICMP, 0), "ports are of TCP and UDP");
	is_open(&t, "8.8.1.1", TCP, 443); /* of the range around */
	is_open(&t, "8.8.1.1", UDP, 8000);
	is_open(&t, "8.8.1.1", UDP, 9100);
	is_shut(&t, "8.8.1.1", UDP, 9101);
	is_shut(&t, "8.8.1.1", UDP, 7999);
	is_shut(&t, "8.8.1.1", TCP, 8000);
	is_open(&t, "8.8.8.8", UDP, 53);
	is_open(&t, "8.8.8.8", TCP, 65535);
	is_shut(&t, "8.8.8.8", TCP, 0);
	is_shut(&t, "8.8.8.8", UDP, 54);
	is_open(&t, "9.9.9.9", TCP, 0);
	is_shut(&t, "9.9.9.9", UDP, 80);
	is_open(&t, "7.7.7.7", UDP, 1);
	is_open(&t, "6.6.6.6", UDP, 443);
	is_int(t.n_nets > 0 && t.n_ports < 80, true, "sets are kept once");
}

static void test_limits(void)
{
	static const struct egress_range none[] = { { .first = 2, .last = 1 } };
	struct egress_rule r = rule("8.8.8.8", 32), *many = calloc(EGRESS_RULES_MAX + 1, sizeof(*many));
	_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL, big = EGRESS_TABLE_NULL;
	struct egress_port_key keys[64];
	struct egress_port values[64];
	struct egress_range worst = { .protocol = TCP, .first = 1, .last = 65534 };
	struct error err = ERROR_NULL;
	size_t n;

	r.ranges = none;
	r.n_ranges = 1;
	is_int(egress_rules_compile(&r, 1, NULL, 0, &t, &err), -EINVAL, "a range that is none");
	r = rule("8.8.8.8", 32);
	r.bits = 129;
	is_int(egress_rules_compile(&r, 1, NULL, 0, &t, &err), -EINVAL, "too many bits");
	is_int(egress_rules_compile(many, EGRESS_RULES_MAX + 1, NULL, 0, &t, &err), -E2BIG, "too many rules");
	for (size_t i = 0; i < 5000; i++) {
		many[i] = rule("11.0.0.0", 24);
		many[i].address[13] = (uint8_t)(i >> 8);
		many[i].address[14] = (uint8_t)i;
	}
	is_int(egress_rules_compile(many, 5000, NULL, 0, &big, &err), 0, "5,000 rules");
	is_open(&big, "11.19.135.1", TCP, 1);
	is_shut(&big, "11.19.136.1", TCP, 1);
	free(many);

	is_int(egress_ports_expand(7, &worst, 1, keys, values, 64, &n), 0, "the worst range");
	is_int(n, 30, "is thirty blocks");
	is_int(egress_ports_expand(7, &worst, 1, keys, values, 29, &n), -E2BIG, "no room");
	worst = (struct egress_range){ .protocol = TCP, .verify = true, .first = 0, .last = 65535 };
	is_int(egress_ports_expand(7, &worst, 1, keys, values, 64, &n), 0, "all ports");
	ok(n == 1 && keys[0].bits == 40 && values[0].verdict == EGRESS_PROXY, "are one block, with its verdict");
	worst.protocol = UDP;
	is_int(egress_ports_expand(7, &worst, 1, keys, values, 64, &n), -EINVAL, "nothing to verify in UDP");
}

static uint32_t seed = 12345;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* Few bits differ, so that ranges lie in each other and in the floor. */
static void draw_address(uint8_t a[16])
{
	static const char *const near[] = { "10.0.0.0",	   "8.8.8.8",	     "169.254.169.254", "192.168.1.1", "100.100.100.200",
					    "240.0.0.1",   "64:ff9b::a00:1", "2606:4700::1",	"fd00:ec2::254", "::1",
					    "168.63.129.16", "9.255.255.255" };

	map(near[draw(ELEMENTSOF(near))], a);
	if (draw(2))
		a[15] ^= (uint8_t)draw(4);
	if (draw(3) == 0)
		a[12 + draw(4)] ^= (uint8_t)(1u << draw(8));
	if (draw(8) == 0)
		a[draw(16)] ^= (uint8_t)(1u << draw(8));
}

static void test_random(void)
{
	struct egress_rule rules[24];
	struct egress_range ranges[24][3];
	uint8_t hosts[3][16], a[16];
	size_t wrong = 0, open = 0, total = 0;

	for (int round = 0; round < 400; round++) {
		_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL;
		struct error err = ERROR_NULL;
		size_t n = 1 + draw(ELEMENTSOF(rules)), i, k;

		for (i = 0; i < n; i++) {
			rules[i] = (struct egress_rule){ .protocol = draw(3) == 0 ? TCP : draw(3) == 0 ? UDP : 0,
							 .metadata = draw(3) == 0,
							 .ranges = ranges[i],
							 .n_ranges = draw(4) };
			draw_address(rules[i].address);
			rules[i].bits = (uint8_t)(draw(2) ? 128 - draw(8) : draw(129));
			rules[i].scope = draw(2) ? rules[i].bits : (uint8_t)draw(rules[i].bits + 1u);
			for (k = 0; k < rules[i].n_ranges; k++) {
				uint16_t first = (uint16_t)draw(40), last = (uint16_t)(first + draw(20));

				ranges[i][k] = (struct egress_range){ .first = first, .last = last };
			}
		}
		for (i = 0; i < ELEMENTSOF(hosts); i++)
			draw_address(hosts[i]);
		if (egress_rules_compile(rules, n, (const uint8_t(*)[16])hosts, ELEMENTSOF(hosts), &t, &err) < 0) {
			wrong++;
			continue;
		}
		for (i = 0; i < 200; i++) {
			uint8_t protocol = draw(5) == 0 ? IPPROTO_ICMP : draw(2) ? TCP : UDP;
			uint16_t port = protocol == IPPROTO_ICMP ? 0 : (uint16_t)draw(64);
			bool want, got;

			draw_address(a);
			want = reference_allows(rules, n, (const uint8_t(*)[16])hosts, ELEMENTSOF(hosts), a, protocol,
						port);
			got = egress_table_judge(&t, a, protocol, port) == EGRESS_ALLOW;
			wrong += want != got;
			open += want;
			total++;
		}
	}
	is_int(wrong, 0, "tables say the same as rules");
	ok(open > total / 50 && open < total / 2, "%zu of %zu open: the comparison means something", open, total);
}

int main(void)
{
	TAP_BEGIN();
	test_floor();
	test_scope();
	test_canary();
	test_families();
	test_ports();
	test_limits();
	test_random();
	return TAP_END();
}
