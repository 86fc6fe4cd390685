/* Names against rules, addresses that no name may stand for, leases and their ends, the rate. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#include "egress/egress_names.h"
#include "tap.h"
#include "util/cleanup.h"

#define S 1000000000ull

/* What the kernel's table would hold. */
#define TABLE_MAX 8192
static struct {
	uint8_t address[16];
	unsigned set;
	uint64_t expires;
} table[TABLE_MAX];
static size_t n_table;
static bool table_fails;

static int table_find(const uint8_t address[16])
{
	size_t i;

	for (i = 0; i < n_table; i++)
		if (memcmp(table[i].address, address, 16) == 0)
			return (int)i;
	return -1;
}

static int table_allow(void *arg, const uint8_t address[16], unsigned set,
		       const struct egress_name_set *ports, uint64_t expires)
{
	int i = table_find(address);

	if (table_fails || ports != egress_names_set(*(struct egress_names **)arg, set))
		return -ENOSPC;
	i = i < 0 ? (int)n_table++ : i;
	memcpy(table[i].address, address, 16);
	table[i].set = set;
	table[i].expires = expires;
	return 0;
}

static int table_forget(void *arg, const uint8_t address[16])
{
	int i = table_find(address);

	if (i >= 0)
		table[i] = table[--n_table];
	return 0;
}

static const struct egress_name_range https[] = { { 443, 443 } }, ssh[] = { { 22, 22 } },
				      web[] = { { 80, 80 }, { 443, 443 } };
static const struct egress_name_rule rules[] = {
	{ .host = "good.test", .ports = web, .n_ports = 2 },
	{ .host = "GOOD.test", .protocol = IPPROTO_TCP, .ports = ssh, .n_ports = 1 },
	{ .host = "*.wild.test", .ports = https, .n_ports = 1, .protocol = IPPROTO_TCP },
	{ .host = "*.a.wild.test", .ports = ssh, .n_ports = 1, .protocol = IPPROTO_TCP },
	{ .host = "every.test" },
	{ .host = "plain.test", .ports = https, .n_ports = 1, .verify = EGRESS_VERIFY_ADDRESS },
	{ .host = "strict.test", .verify = EGRESS_VERIFY_SNI },
};
static struct egress_names *names;

static struct dns_name name_of(const char *text)
{
	struct dns_name n = { .len = 0 };

	(void)dns_name_from_text(text, &n);
	return n;
}

static void new_names(const struct egress_names_config *more)
{
	struct egress_names_config config = *more;
	struct error err = ERROR_NULL;

	names = egress_names_free(names);
	n_table = 0;
	config.ops = (struct egress_names_ops){ .allow = table_allow,
						.forget = table_forget,
						.arg = &names };
	is_int(egress_names_new(&config, &names, &err), 0, err.text);
}

static void test_match(void)
{
	static const struct {
		const char *name;
		bool allowed;
	} cases[] = {
		{ "good.test", true },
		{ "GOOD.TEST.", true },
		{ "x.good.test", false },
		{ "xgood.test", false },
		{ "good.test.evil", false },
		{ "good.test.evil.test", false },
		{ "test", false },
		{ "evil-good.test", false },
		{ "wild.test", false },
		{ "x.wild.test", true },
		{ "x.y.wild.test", true },
		{ "_a.wild.test", true },
		{ "xwild.test", false },
		{ "x.wild.test.evil", false },
		{ "x.wildtest", false },
		{ "a b.wild.test", false },
		{ "m\xc3\xbcller.wild.test", false },
		{ "*.wild.test", false },
	};
	/* "good.test" below "wild.test" as one label, and a NUL that would end a C string */
	static const char dotted[] = "\0\0\0\0\0\0\0\0\0\0\0\0\x0bx.wild.test\0",
			  ended[] = "\0\0\0\0\0\0\0\0\0\0\0\0\4good\5test\0\0";
	struct dns_name n;
	unsigned set;
	size_t i, at;

	new_names(&(struct egress_names_config){ .rules = rules, .n_rules = ELEMENTSOF(rules) });
	for (i = 0; i < ELEMENTSOF(cases); i++) {
		n = name_of(cases[i].name);
		is_int(egress_names_match(names, &n, &set),
		       cases[i].allowed ? 0 : EGRESS_NAMES_E_DENIED, cases[i].name);
	}
	at = 12;
	(void)dns_name_read((const uint8_t *)dotted, sizeof(dotted), &at, &n);
	is_int(egress_names_match(names, &n, &set), EGRESS_NAMES_E_DENIED,
	       "one label with dots in it");
	at = 12;
	(void)dns_name_read((const uint8_t *)ended, sizeof(ended), &at, &n);
	is_int(egress_names_match(names, &n, &set), EGRESS_NAMES_E_DENIED,
	       "a label with a NUL at its end");
	n = (struct dns_name){ .len = 1 };
	is_int(egress_names_match(names, &n, &set), EGRESS_NAMES_E_DENIED, "the root");
}

/* "tcp 22 open" and so on for one name. */
static bool opens(const char *name, uint8_t protocol, uint16_t port, bool want_verify)
{
	struct dns_name n = name_of(name);
	bool verify;
	unsigned set;

	return egress_names_match(names, &n, &set) == 0 &&
	       egress_name_set_find(egress_names_set(names, set), protocol, port, &verify) &&
	       verify == want_verify;
}

static bool closed(const char *name, uint8_t protocol, uint16_t port)
{
	return !opens(name, protocol, port, true) && !opens(name, protocol, port, false);
}

static void test_ports(void)
{
	ok(opens("good.test", IPPROTO_TCP, 443, true), "443 is checked by name");
	ok(opens("good.test", IPPROTO_TCP, 80, false), "80 is not");
	ok(opens("good.test", IPPROTO_TCP, 22, false),
	   "a second rule for a name adds to the first");
	ok(opens("good.test", IPPROTO_UDP, 80, false), "without a protocol both");
	ok(closed("good.test", IPPROTO_UDP, 443), "but no QUIC where the name is checked");
	ok(closed("good.test", IPPROTO_UDP, 22) && closed("good.test", IPPROTO_TCP, 81),
	   "others are closed");
	ok(opens("x.wild.test", IPPROTO_TCP, 443, true) && closed("x.wild.test", IPPROTO_TCP, 22),
	   "wildcard");
	ok(opens("x.a.wild.test", IPPROTO_TCP, 443, true) &&
		   opens("x.a.wild.test", IPPROTO_TCP, 22, false),
	   "two wildcards add up");
	ok(closed("a.wild.test", IPPROTO_TCP, 22), "where both match");
	ok(opens("every.test", IPPROTO_TCP, 1, false) &&
		   opens("every.test", IPPROTO_TCP, 442, false) &&
		   opens("every.test", IPPROTO_TCP, 443, true) &&
		   opens("every.test", IPPROTO_TCP, 444, false) &&
		   opens("every.test", IPPROTO_UDP, 65535, false) &&
		   closed("every.test", IPPROTO_UDP, 443) && closed("every.test", IPPROTO_TCP, 0),
	   "every port");
	ok(opens("plain.test", IPPROTO_TCP, 443, false) &&
		   opens("plain.test", IPPROTO_UDP, 443, false),
	   "by address alone");
	ok(opens("strict.test", IPPROTO_TCP, 8443, true) && closed("strict.test", IPPROTO_UDP, 53),
	   "every port by name");
}

static void test_bad_rules(void)
{
	static const struct egress_name_range backwards[] = { { 2, 1 } };
	static const struct egress_name_rule bad[] = {
		{ .host = "" },	    { .host = "*" },
		{ .host = "*." },   { .host = "a.*.test" },
		{ .host = "a b" },  { .host = "a..b" },
		{ .host = "**.a" }, { .host = "x.test", .ports = backwards, .n_ports = 1 },
	};
	struct egress_names *n = NULL;
	struct error err;
	size_t i;

	for (i = 0; i < ELEMENTSOF(bad); i++) {
		struct egress_names_config config = { .rules = &bad[i], .n_rules = 1 };

		err = ERROR_NULL;
		is_int(egress_names_new(&config, &n, &err), -EINVAL, bad[i].host);
	}
	ok(strstr(err.text, "x.test") != NULL, "the message names the host");
}

static void test_many(void)
{
	enum { COUNT = 5000 };
	static struct egress_name_rule many[COUNT];
	static char hosts[COUNT][32];
	struct dns_name n;
	unsigned set;
	size_t i, found = 0;

	for (i = 0; i < COUNT; i++) {
		snprintf(hosts[i], sizeof(hosts[i]), "%sh%zu.many.test", i % 2 ? "*." : "", i);
		many[i] = (struct egress_name_rule){ .host = hosts[i], .ports = web, .n_ports = 2 };
	}
	new_names(&(struct egress_names_config){ .rules = many, .n_rules = COUNT });
	for (i = 0; i < COUNT; i++) {
		char host[40];

		snprintf(host, sizeof(host), "%sh%zu.many.test", i % 2 ? "x." : "", i);
		n = name_of(host);
		found += egress_names_match(names, &n, &set) == 0 && set == 0;
	}
	is_int(found, COUNT, "5,000 names with one set of ports");
	n = name_of("h5000.many.test");
	is_int(egress_names_match(names, &n, &set), EGRESS_NAMES_E_DENIED, "no more");
}

static void address_of(const char *text, uint8_t ret[16])
{
	struct dns_address a = { .v6 = strchr(text, ':') != NULL };

	(void)inet_pton(a.v6 ? AF_INET6 : AF_INET, text, a.bytes);
	(void)egress_name_address_map(&a, ret);
}

static struct egress_name_net net_of(const char *text, unsigned prefix, bool metadata)
{
	struct egress_name_net net = { .prefix =
					       (uint8_t)(strchr(text, ':') ? prefix : prefix + 96),
				       .metadata = metadata };

	net.scope = net.prefix;
	address_of(text, net.address);
	return net;
}

static enum egress_judgement judge(const char *text)
{
	uint8_t a[16];

	address_of(text, a);
	return egress_names_judge(names, a);
}

static void test_addresses(void)
{
	static const char *const special[] = {
		"0.0.0.0",
		"0.1.2.3",
		"127.0.0.1",
		"127.255.255.255",
		"169.254.169.254",
		"169.254.0.1",
		"169.254.20.10",
		"224.0.0.1",
		"239.255.255.255",
		"240.0.0.1",
		"255.255.255.255",
		"192.0.0.192",
		"192.88.99.1",
		"100.100.100.200",
		"168.63.129.16",
		"::",
		"::1",
		"::127.0.0.1",
		"::8.8.8.8",
		"::ffff:0:7f00:1",
		"fe80::1",
		"febf::1",
		"fec0::1",
		"ff02::1",
		"fd00:ec2::254",
		"fd20:ce::254",
		"64:ff9b::7f00:1",
		"64:ff9b::a9fe:a9fe",
		"2002:7f00:1::",
		"2002:a9fe:a9fe::1",
		"2001:0:1::1",
		"100::1",
	};
	static const char *const private[] = {
		"10.0.0.1",	  "10.255.255.255", "172.16.0.1",      "172.31.255.255",
		"192.168.1.1",	  "100.64.0.1",	    "100.127.255.255", "198.18.0.1",
		"198.19.255.255", "fc00::1",	    "fdff::1",	       "64:ff9b::808:808",
		"64:ff9b::a00:1", "64:ff9b:1::1",   "2002:808:808::1", "5f00::1",
	};
	static const char *const good[] = {
		"1.1.1.1",	   "8.8.8.8",	      "9.255.255.255",	 "11.0.0.0",
		"172.15.255.255",  "172.32.0.0",      "100.63.255.255",	 "100.128.0.0",
		"169.253.255.255", "169.255.0.0",     "192.167.255.255", "198.17.255.255",
		"198.20.0.0",	   "223.255.255.255", "126.255.255.255", "128.0.0.1",
		"2001:db8::1",	   "2606:4700::1111", "2001:4860::1",	 "fbff::1",
		"2003::1",	   "64:ff9a::1",
	};
	struct egress_name_net open[] = {
		net_of("0.0.0.0", 0, false),	    net_of("10.1.0.0", 16, false),
		net_of("fd00:1::", 32, false),	    net_of("169.254.169.254", 32, true),
		net_of("169.254.170.2", 32, false), net_of("64:ff9b::", 96, false),
		net_of("172.16.0.5", 32, false),   net_of("172.16.0.6", 32, false),
		net_of("100.100.100.200", 32, true)
	};
	struct egress_name_net never[] = { net_of("10.1.2.3", 32, false),
					   net_of("2001:db8:7::1", 128, false) };
	struct dns_address mapped = { .v6 = true };
	uint8_t a[16];
	size_t i;

	new_names(&(struct egress_names_config){ .n_rules = 0 });
	for (i = 0; i < ELEMENTSOF(special); i++)
		is_int(judge(special[i]), EGRESS_ADDRESS_SPECIAL, special[i]);
	for (i = 0; i < ELEMENTSOF(private); i++)
		is_int(judge(private[i]), EGRESS_ADDRESS_PRIVATE, private[i]);
	for (i = 0; i < ELEMENTSOF(good); i++)
		is_int(judge(good[i]), EGRESS_ADDRESS_GOOD, good[i]);
	(void)inet_pton(AF_INET6, "::ffff:8.8.8.8", mapped.bytes);
	ok(!egress_name_address_map(&mapped, a), "IPv4 in an IPv6 record");

	open[6].scope = 96; /* asked for out of 0.0.0.0/0 */
	open[7].scope = 96 + 12;
	open[8].scope = 96 + 10;
	new_names(&(struct egress_names_config){ .open = open,
						 .n_open = ELEMENTSOF(open),
						 .never = never,
						 .n_never = ELEMENTSOF(never) });
	is_int(judge("10.1.9.9"), EGRESS_ADDRESS_GOOD, "in a range that a rule names");
	is_int(judge("10.2.0.1"), EGRESS_ADDRESS_PRIVATE,
	       "a rule for all addresses does not mean private ones");
	is_int(judge("127.0.0.1"), EGRESS_ADDRESS_SPECIAL, "nor special ones");
	is_int(judge("172.16.0.5"), EGRESS_ADDRESS_PRIVATE, "nor does a part of it");
	is_int(judge("172.16.0.6"), EGRESS_ADDRESS_GOOD, "a part of a private range");
	is_int(judge("100.100.100.200"), EGRESS_ADDRESS_SPECIAL, "metadata out of a range");
	is_int(judge("10.1.2.3"), EGRESS_ADDRESS_HOST, "the host's own stay closed");
	is_int(judge("2001:db8:7::1"), EGRESS_ADDRESS_HOST, "public ones, too");
	is_int(judge("fd00:1::5"), EGRESS_ADDRESS_GOOD, "local IPv6 range");
	is_int(judge("64:ff9b::808:808"), EGRESS_ADDRESS_GOOD, "NAT64 that a rule names");
	is_int(judge("64:ff9b::a9fe:a9fe"), EGRESS_ADDRESS_SPECIAL, "not to the metadata service");
	is_int(judge("169.254.169.254"), EGRESS_ADDRESS_STATIC, "metadata by its own rule");
	is_int(judge("169.254.170.2"), EGRESS_ADDRESS_SPECIAL, "not by an ordinary one");
}

/* Opens count addresses 198.51.FIRST.x of a name; how many were opened. */
static size_t open_some(const char *name, unsigned first, size_t count, uint32_t ttl, uint64_t now,
			struct egress_lease_stats *stats)
{
	static struct dns_address a[DNS_ADDRESSES_MAX];
	struct dns_name n = name_of(name);
	unsigned set = 0;
	size_t i;

	(void)egress_names_match(names, &n, &set);
	for (i = 0; i < count; i++)
		a[i] = (struct dns_address){ .ttl = ttl,
					     .bytes = { 198, 51, (uint8_t)((first + i) >> 8),
							(uint8_t)(first + i) } };
	egress_names_open(names, &n, set, a, &count, now, stats);
	return count;
}

static bool is_open(const char *text, uint16_t port, uint64_t now)
{
	uint8_t a[16];
	bool verify;
	int i;

	address_of(text, a);
	i = table_find(a);
	/* The table and the leases must agree. */
	return egress_names_is_open(names, a, IPPROTO_TCP, port, now, &verify) && i >= 0 &&
	       table[i].expires > now &&
	       egress_name_set_find(egress_names_set(names, table[i].set), IPPROTO_TCP, port,
				    &verify);
}

static void test_leases(void)
{
	struct egress_lease_stats stats;
	size_t i;

	new_names(&(struct egress_names_config){ .rules = rules, .n_rules = ELEMENTSOF(rules) });
	is_int(open_some("good.test", 1, 1, 0, 1000 * S, &stats), 1, "no time to live");
	ok(is_open("198.51.0.1", 80, 1000 * S + 59 * S), "lives a minute");
	ok(!is_open("198.51.0.1", 80, 1000 * S + 60 * S), "and no longer");
	ok(!is_open("198.51.0.1", 25, 1000 * S), "for the ports of its rule");
	is_int(open_some("good.test", 2, 1, 1000000, 1000 * S, &stats), 1, "a long time to live");
	is_int(table[1].expires / S, 1000 + 3630, "is cut");
	is_int(open_some("good.test", 2, 1, 5, 1001 * S, &stats), 1,
	       "a shorter answer for the same");
	is_int(stats.renewed, 1, "renews");
	is_int(table[1].expires / S, 1000 + 3630, "and shortens nothing");

	/* one address of two names */
	is_int(open_some("x.a.wild.test", 2, 1, 100, 1001 * S, &stats), 1,
	       "another name with that address");
	is_int(n_table, 2, "is one entry");
	ok(is_open("198.51.0.2", 22, 1002 * S) && is_open("198.51.0.2", 80, 1002 * S),
	   "that opens the ports of both");
	egress_names_sweep(names, 1001 * S + 130 * S);
	ok(is_open("198.51.0.2", 80, 1001 * S + 131 * S), "the first name's end later");
	is_int(table_find((uint8_t[16]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 0, 1 }),
	       -1, "the ended is gone");
	egress_names_sweep(names, 10000 * S);
	is_int(n_table, 0, "at last all is gone");
	is_int(egress_names_leases(names), 0, "here, too");

	/* more addresses than a name may have */
	for (i = 0; i < 20; i++)
		is_int(open_some("good.test", (unsigned)i * 64, 64, 3600, (20000 + i) * S, &stats),
		       64, "64 more");
	is_int(n_table, EGRESS_LEASES_PER_NAME, "a name's addresses are limited");
	is_int(stats.evicted, 64, "as many were forgotten as came");
	ok(!is_open("198.51.0.5", 80, 20030 * S) && is_open("198.51.4.250", 80, 20030 * S),
	   "the oldest");
	is_int(open_some("x.wild.test", 5000, 64, 3600, 20031 * S, &stats), 64, "another name");
	is_int(stats.evicted, 0, "takes nothing away");

	/* more than all may have */
	for (i = 0; i < 100; i++) {
		char host[32];

		snprintf(host, sizeof(host), "h%zu.wild.test", i);
		(void)open_some(host, 8000 + (unsigned)i * 64, 64, 3600, (21000 + i) * S, &stats);
	}
	is_int(n_table, EGRESS_LEASES_MAX, "all addresses are limited");
	is_int(egress_names_leases(names), EGRESS_LEASES_MAX, "here, too");

	egress_names_sweep(names, 100000 * S);
	table_fails = true;
	is_int(open_some("good.test", 1, 3, 60, 100000 * S, &stats), 0, "what cannot be opened");
	is_int(stats.failed, 3, "is counted");
	is_int(egress_names_leases(names), 0, "and not remembered");
	table_fails = false;
	(void)open_some("good.test", 1, 3, 60, 100000 * S, &stats);
	(void)open_some("x.wild.test", 2, 3, 60, 100000 * S, &stats);
	is_int(n_table, 4, "addresses of two names");
}

/* Other rules: what they open as well goes on, with what they open. */
static void test_carry(void)
{
	static const struct egress_name_rule fewer[] = {
		{ .host = "good.test", .ports = ssh, .n_ports = 1 },
		{ .host = "b.wild.test", .ports = https, .n_ports = 1 },
	};
	const struct egress_name_net host = { .address = { [10] = 0xff, 0xff, 198, 51, 0, 3 }, .prefix = 128 };
	const struct egress_names_config config = { .rules = rules, .n_rules = ELEMENTSOF(rules) };
	const struct egress_names_config then = { .rules = fewer,
						  .n_rules = 2,
						  .never = &host,
						  .n_never = 1,
						  .ops = { .allow = table_allow, .forget = table_forget, .arg = &names } };
	struct egress_lease_stats stats;
	struct egress_names *old;
	struct error err = ERROR_NULL;

	new_names(&config);
	(void)open_some("good.test", 1, 3, 60, 100 * S, &stats);
	(void)open_some("x.wild.test", 3, 2, 60, 100 * S, &stats);
	(void)open_some("b.wild.test", 6, 1, 60, 100 * S, &stats);
	(void)open_some("every.test", 7, 1, 60, 100 * S, &stats);
	(void)open_some("plain.test", 8, 1, 3600, 100 * S, &stats);
	is_int(n_table, 7, "addresses of five names, one of two of them");
	old = names;
	is_int(egress_names_new(&then, &names, &err), 0, err.text);
	egress_names_carry(names, old, 120 * S);
	is_int(egress_names_leases(old), 0, "the old rules have none");
	is_int(egress_names_leases(names), 3, "the new ones have what they open");
	is_int(n_table, 3, "and so has the kernel");
	ok(is_open("198.51.0.1", 22, 121 * S) && is_open("198.51.0.2", 22, 121 * S), "an allowed name's addresses");
	ok(!is_open("198.51.0.1", 80, 121 * S), "not with a port that it lost");
	ok(!is_open("198.51.0.3", 22, 121 * S), "not an address of the host");
	ok(is_open("198.51.0.6", 443, 121 * S), "a name that a wildcard had opened");
	ok(!is_open("198.51.0.4", 443, 121 * S) && !is_open("198.51.0.7", 443, 121 * S), "nothing else");
	ok(!is_open("198.51.0.1", 22, 191 * S), "and no longer than before");
	egress_names_free(old);
}

static void test_bucket(void)
{
	struct egress_bucket b = { .per_s = 10, .burst = 5 };
	unsigned i, got = 0;

	for (i = 0; i < 100; i++)
		got += egress_bucket_take(&b, 50 * S);
	is_int(got, 5, "a burst");
	for (got = 0, i = 0; i < 1000; i++)
		got += egress_bucket_take(&b, 50 * S + i * S / 100);
	ok(got >= 99 && got <= 101, "then ten in a second, for ten seconds: %u", got);
	for (got = 0, i = 0; i < 100; i++)
		got += egress_bucket_take(&b, 5000 * S);
	is_int(got, 5, "no more is saved up");
	ok(!egress_bucket_take(&b, 1), "a clock that goes back gives nothing");
}

int main(void)
{
	TAP_BEGIN();
	test_match();
	test_ports();
	test_bad_rules();
	test_many();
	test_addresses();
	test_leases();
	test_carry();
	test_bucket();
	names = egress_names_free(names);
	return TAP_END();
}
