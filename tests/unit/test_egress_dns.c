/* DNS messages: names and their confusions, queries, answers and chains, what we write ourselves.
 */
#include <errno.h>

#include "dns_craft.h"
#include "egress/egress_dns.h"
#include "tap.h"
#include "util/cleanup.h"

static struct craft c;
static struct dns_reply reply;

static struct dns_name name_of(const char *text)
{
	struct dns_name n = { .len = 0 };

	if (dns_name_from_text(text, &n) < 0)
		printf("# no name: %s\n", text);
	return n;
}

static void test_text(void)
{
	static const struct {
		const char *text, *want;
	} good[] = {
		{ "a", "a" },
		{ "A.Example.COM", "a.example.com" },
		{ "a.example.", "a.example" },
		{ "_srv._tcp.x", "_srv._tcp.x" },
		{ "m\xc3\xbcnchen.example", "m\\195\\188nchen.example" },
		{ "a\\b.example", "a\\\\b.example" },
	};
	static const char *const bad[] = { "",	  ".",	"..",  ".a",   "a..b",
					   "a..", " a", "a b", "a\tb", "a\x7f" };
	char buf[DNS_TEXT_SIZE], big[300];
	struct dns_name n;
	size_t i;

	for (i = 0; i < ELEMENTSOF(good); i++) {
		n = name_of(good[i].text);
		is_str(dns_name_text(&n, buf), good[i].want, good[i].text);
	}
	for (i = 0; i < ELEMENTSOF(bad); i++)
		is_int(dns_name_from_text(bad[i], &n), -EINVAL, "no name");
	memset(big, 'a', sizeof(big));
	big[63] = '\0';
	is_int(dns_name_from_text(big, &n), 0, "label of 63");
	big[63] = 'a';
	big[64] = '\0';
	is_int(dns_name_from_text(big, &n), -EINVAL, "label of 64");
	big[64] = 'a';
	for (i = 63; i < 253; i += 64)
		big[i] = '.';
	big[253] = '\0';
	is_int(dns_name_from_text(big, &n), 0, "name of 253");
	is_int(n.len, 255, "its wire length");
	big[253] = 'a';
	big[254] = '\0';
	is_int(dns_name_from_text(big, &n), -EINVAL, "name of 254");
}

/* Reads one crafted name; what it is as text, or NULL. */
static const char *read_name(const void *bytes, size_t len, size_t at, size_t *end)
{
	static char buf[DNS_TEXT_SIZE];
	struct dns_name n;

	*end = at;
	return dns_name_read(bytes, len, end, &n) < 0 ? NULL : dns_name_text(&n, buf);
}

#define H "\0\0\0\0\0\0\0\0\0\0\0\0"

static void test_wire(void)
{
	size_t end;
	char big[400];
	size_t i, n;

#define READ(at, bytes) read_name(H bytes, sizeof(H bytes) - 1, 12 + (at), &end)
	is_str(READ(0, "\1a\2BC\0"), "a.bc", "plain name");
	is_int(end, 18, "its end");
	is_str(READ(0, "\0"), ".", "root");
	is_str(READ(6, "\1a\2bc\0\1x\xc0\x0c"), "x.a.bc", "compressed");
	is_int(end, 22, "end behind the pointer");
	is_str(READ(6, "\1a\2bc\0\xc0\x0e"), "bc", "pointer alone");
	is_str(READ(8, "\1a\0\1b\xc0\x0c\0\1c\xc0\x0f"), "c.b.a", "pointer to a pointer");
	is_str(READ(0, "\1a"), NULL, "no end");
	is_str(READ(0, "\5ab"), NULL, "label cut off");
	is_str(READ(0, ""), NULL, "nothing");
	is_str(READ(0, "\xc0"), NULL, "half a pointer");
	is_str(READ(0, "\xc0\x0c"), NULL, "pointer to itself");
	is_str(READ(2, "\xc0\x0e\xc0\x0c"), NULL, "two pointers in a circle");
	is_str(READ(0, "\1a\xc0\x0c"), NULL, "pointer to its own beginning");
	is_str(READ(0, "\xc0\x0f\0\1a\0"), NULL, "pointer forwards");
	is_str(READ(2, "\xc0\x04\xc0\x0c"), NULL, "pointer into the header");
	is_str(READ(0, "\xc0\x04"), NULL, "pointer into the header at once");
	is_str(READ(0, "\x41xxxxxxx\0"), NULL, "label type 01");
	is_str(READ(0, "\x80x\0"), NULL, "label type 10");
	is_str(READ(0, "\4a.bc\3com\0"), "a\\.bc.com", "dot inside a label");
	is_str(READ(0, "\3a\0b\3com\0"), "a\\000b.com", "NUL inside a label");
#undef READ
	memcpy(big, H, 12);
	for (n = 12, i = 0; i < 127; i++) {
		big[n++] = 1;
		big[n++] = 'x';
	}
	big[n++] = 0;
	ok(read_name(big, n, 12, &end), "127 labels, 255 bytes");
	memcpy(big + n, "\1y\xc0\x0c", 4);
	ok(!read_name(big, n + 4, n, &end), "257 bytes by compression");
}

static void test_equal(void)
{
	struct dns_name a = name_of("good.example"), b;
	size_t at = 12;

	b = name_of("GOOD.EXAMPLE.");
	ok(dns_name_equal(&a, &b), "case and last dot do not matter");
	b = name_of("goodxexample");
	ok(!dns_name_equal(&a, &b), "other bytes do");
	is_int(dns_name_read((const uint8_t *)H "\14good.example\0", 12 + 14, &at, &b), 0,
	       "one label with a dot in it");
	ok(!dns_name_equal(&a, &b), "is not two labels");
	ok(!dns_name_is_host(&b), "and no host name");
	ok(dns_name_is_host(&a), "host name");
	b = name_of("m\xc3\xbcnchen.example");
	ok(!dns_name_is_host(&b), "bytes above ASCII are no host name");
}

static void test_query(void)
{
	struct dns_query q;
	char text[DNS_TEXT_SIZE];

	craft_header(&c, 0x1234, 0x0110, 1, 0, 0, 0);
	craft_question(&c, "WwW.eXample.org", DNS_TYPE_A);
	is_int(dns_query_parse(c.b, c.len, &q), 0, "query");
	is_int(q.id, 0x1234, "id");
	ok(q.recursion && q.no_check && !q.edns, "flags");
	is_int(q.type, DNS_TYPE_A, "type");
	is_int(q.udp_size, 512, "size without EDNS");
	is_str(dns_name_text(&q.name, text), "www.example.org", "name");
	ok(memcmp(q.spelled, "\3WwW\7eXample\3org", 17) == 0, "as it was spelled");
	is_int(dns_query_parse(c.b, c.len - 1, &q), DNS_FORMERR, "cut off");
	is_int(dns_query_parse(c.b, 11, &q), -EBADMSG, "less than a header");
	c.b[c.len++] = 0;
	is_int(dns_query_parse(c.b, c.len, &q), DNS_FORMERR, "a byte too many");

	craft_header(&c, 1, 0x0100, 1, 0, 0, 1);
	craft_question(&c, "x", DNS_TYPE_AAAA);
	craft_opt(&c, 4096, 0x8000);
	is_int(dns_query_parse(c.b, c.len, &q), 0, "query with EDNS");
	ok(q.edns && q.udp_size == 4096, "its size");
	c.b[c.len - 5] = 1;
	is_int(dns_query_parse(c.b, c.len, &q), DNS_BADVERS, "version 1 of EDNS");
	craft_header(&c, 1, 0x0100, 1, 0, 0, 1);
	craft_question(&c, "x", DNS_TYPE_AAAA);
	craft_opt(&c, 100, 0);
	is_int(dns_query_parse(c.b, c.len, &q), 0, "a size below 512");
	is_int(q.udp_size, 512, "is 512");
	craft_header(&c, 1, 0x0100, 1, 0, 0, 1);
	craft_question(&c, "x", DNS_TYPE_A);
	craft_a(&c, "x", 1, "\1\2\3\4");
	is_int(dns_query_parse(c.b, c.len, &q), DNS_FORMERR, "an extra record that is not OPT");
	craft_header(&c, 1, 0x0100, 1, 0, 0, 2);
	craft_question(&c, "x", DNS_TYPE_A);
	craft_opt(&c, 512, 0);
	craft_opt(&c, 512, 0);
	is_int(dns_query_parse(c.b, c.len, &q), DNS_FORMERR, "two OPT records");

	craft_header(&c, 1, 0x8100, 1, 0, 0, 0);
	craft_question(&c, "x", DNS_TYPE_A);
	is_int(dns_query_parse(c.b, c.len, &q), -EBADMSG, "an answer is no query");
	craft_header(&c, 1, 0x2800, 1, 0, 0, 0);
	craft_question(&c, "x", 6);
	is_int(dns_query_parse(c.b, c.len, &q), DNS_NOTIMP, "update");
	craft_header(&c, 1, 0x0100, 2, 0, 0, 0);
	craft_question(&c, "x", 1);
	craft_question(&c, "y", 1);
	is_int(dns_query_parse(c.b, c.len, &q), DNS_FORMERR, "two questions");
	craft_header(&c, 1, 0x0100, 0, 0, 0, 0);
	is_int(dns_query_parse(c.b, c.len, &q), DNS_FORMERR, "no question");
	is_int(q.name.len, 0, "and no name");
	craft_header(&c, 1, 0x0100, 1, 0, 0, 0);
	craft_question(&c, "@12", 1);
	is_int(dns_query_parse(c.b, c.len, &q), DNS_FORMERR, "a question that points to itself");
}

/* An answer to id 7, "a.example" A. */
static void start(unsigned answers, unsigned authorities, unsigned extras)
{
	craft_header(&c, 7, 0x8180, 1, answers, authorities, extras);
	craft_question(&c, "a.example", DNS_TYPE_A);
}

static int parse(uint16_t type)
{
	struct dns_name n = name_of("A.example");

	return dns_reply_parse(c.b, c.len, 7, &n, type, &reply);
}

static void test_reply(void)
{
	struct dns_name n = name_of("a.example");
	size_t i;

	start(2, 0, 0);
	craft_a(&c, "@12", 60, "\1\2\3\4");
	craft_a(&c, "A.EXAMPLE", 0x80000001u, "\1\2\3\5");
	is_int(parse(DNS_TYPE_A), 0, "two addresses");
	is_int(reply.n_addresses, 2, "both");
	ok(!reply.addresses[0].v6 && memcmp(reply.addresses[0].bytes, "\1\2\3\4", 4) == 0,
	   "the first");
	is_int(reply.addresses[0].ttl, 60, "its time to live");
	is_int(reply.addresses[1].ttl, 0, "a time to live above 2^31 is none");
	for (i = 0; i < c.len && i < 200; i++)
		if (dns_reply_parse(c.b, i, 7, &n, DNS_TYPE_A, &reply) == 0)
			break;
	is_int(i, c.len, "cut off at every byte");
	is_int(parse(DNS_TYPE_AAAA), DNS_E_OTHER, "not the type that was asked");
	c.b[1] = 8;
	is_int(parse(DNS_TYPE_A), DNS_E_OTHER, "another id");
	c.b[1] = 7;
	c.b[2] = 0x01;
	is_int(parse(DNS_TYPE_A), DNS_E_OTHER, "a query");
	start(1, 0, 0);
	c.b[13] = 'b';
	craft_a(&c, "@12", 60, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), DNS_E_OTHER, "another question");

	start(3, 1, 1);
	craft_a(&c, "b.example", 60, "\1\2\3\4");
	craft_aaaa(&c, "@12", 60, "0123456789abcdef");
	craft_a(&c, "example", 60, "\1\2\3\4");
	craft_a(&c, "a.example", 60, "\1\2\3\4");
	craft_a(&c, "a.example", 60, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), 0, "addresses of others, of another type, in other sections");
	is_int(reply.n_addresses, 0, "do not count");

	start(1, 0, 0);
	craft_record(&c, "@12", DNS_TYPE_A, 60, 5);
	craft_bytes(&c, "\1\2\3\4\5", 5);
	is_int(parse(DNS_TYPE_A), -EBADMSG, "an address of five bytes");
	start(1, 0, 0);
	craft_record(&c, "@12", DNS_TYPE_A, 60, 400);
	craft_bytes(&c, "\1\2\3\4", 4);
	is_int(parse(DNS_TYPE_A), -EBADMSG, "data beyond the end");
	start(2, 0, 0);
	craft_a(&c, "@12", 60, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), -EBADMSG, "a count that is too high");
	start(1, 0, 1);
	craft_a(&c, "@12", 60, "\1\2\3\4");
	craft_record(&c, "@12", 99, 60, 70);
	is_int(parse(DNS_TYPE_A), -EBADMSG, "broken behind what is of use");
	start(200, 0, 0);
	for (i = 0; i < 200; i++)
		craft_a(&c, "@12", 60, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), 0, "200 addresses");
	is_int(reply.n_addresses, DNS_ADDRESSES_MAX, "as many as there is room for");
	is_int(reply.skipped, 200 - DNS_ADDRESSES_MAX, "the rest is counted");
	start(2000, 0, 0);
	for (i = 0; i < 2000; i++)
		craft_a(&c, "@12", 60, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), -EBADMSG, "2,000 records");

	start(1, 0, 0);
	c.b[2] = 0x83;
	craft_bytes(&c, "\xc0", 1);
	is_int(parse(DNS_TYPE_A), 0, "truncated");
	ok(reply.truncated && reply.n_addresses == 0, "says so, and nothing else");
	start(0, 0, 1);
	c.b[3] = 0x83;
	craft_opt(&c, 1232, 0x01000000);
	is_int(parse(DNS_TYPE_A), 0, "upper bits of the code");
	is_int(reply.rcode, 0x13, "are added");
	craft_header(&c, 7, 0x8181, 0, 0, 0, 0);
	is_int(parse(DNS_TYPE_A), 0, "format error without the question");
	is_int(reply.rcode, DNS_FORMERR, "its code");
	craft_header(&c, 7, 0x8180, 0, 0, 0, 0);
	is_int(parse(DNS_TYPE_A), DNS_E_OTHER, "success without the question");
}

static void test_chain(void)
{
	char text[DNS_TEXT_SIZE], from[32], to[32];
	unsigned i;

	start(3, 0, 0);
	craft_cname(&c, "@12", 300, "b.cdn.test");
	craft_cname(&c, "B.cdn.test", 20, "c.cdn.test");
	craft_a(&c, "c.cdn.test", 10, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), 0, "chain in order");
	is_int(reply.n_chain, 2, "two links");
	is_int(reply.n_addresses, 1, "one address");
	is_str(dns_name_text(&reply.chain[1].target, text), "c.cdn.test", "its end");
	start(3, 0, 0);
	craft_a(&c, "c.cdn.test", 10, "\1\2\3\4");
	craft_cname(&c, "B.cdn.test", 20, "c.cdn.test");
	craft_cname(&c, "@12", 300, "b.cdn.test");
	is_int(parse(DNS_TYPE_A), 0, "chain backwards");
	ok(reply.n_chain == 2 && reply.n_addresses == 1, "is the same");
	start(3, 0, 0);
	craft_cname(&c, "@12", 300, "b.cdn.test");
	craft_cname(&c, "x.evil.test", 20, "b.cdn.test");
	craft_a(&c, "x.evil.test", 10, "\6\6\6\6");
	is_int(parse(DNS_TYPE_A), 0, "a link from aside");
	ok(reply.n_chain == 1 && reply.n_addresses == 0, "does not count");
	start(2, 0, 0);
	craft_cname(&c, "@12", 300, "b.cdn.test");
	craft_a(&c, "@12", 10, "\6\6\6\6");
	is_int(parse(DNS_TYPE_A), 0, "an address of the alias itself");
	is_int(reply.n_addresses, 0, "does not count");
	start(2, 0, 0);
	craft_a(&c, "@12", 10, "\6\6\6\6");
	craft_cname(&c, "@12", 300, "b.cdn.test");
	is_int(parse(DNS_TYPE_A), -EBADMSG, "an address and an alias");
	start(2, 0, 0);
	craft_cname(&c, "@12", 300, "b.cdn.test");
	craft_cname(&c, "b.cdn.test", 300, "a.EXAMPLE");
	is_int(parse(DNS_TYPE_A), -EBADMSG, "a circle through the question");
	start(3, 0, 0);
	craft_cname(&c, "@12", 300, "b.test");
	craft_cname(&c, "b.test", 300, "c.test");
	craft_cname(&c, "c.test", 300, "b.test");
	is_int(parse(DNS_TYPE_A), -EBADMSG, "a circle behind the question");
	start(1, 0, 0);
	craft_cname(&c, "@12", 300, "@12");
	is_int(parse(DNS_TYPE_A), -EBADMSG, "an alias of itself");
	start(1, 0, 0);
	craft_record(&c, "@12", DNS_TYPE_CNAME, 300, 9);
	craft_name(&c, "b.test");
	c.b[c.len++] = 0;
	is_int(parse(DNS_TYPE_A), -EBADMSG, "a byte behind the target");
	for (i = DNS_CHAIN_MAX; i <= DNS_CHAIN_MAX + 1; i++) {
		unsigned k;

		start(i + 1, 0, 0);
		craft_cname(&c, "@12", 300, "n1.test");
		for (k = 1; k < i; k++) {
			snprintf(from, sizeof(from), "n%u.test", k);
			snprintf(to, sizeof(to), "n%u.test", k + 1);
			craft_cname(&c, from, 300, to);
		}
		snprintf(to, sizeof(to), "n%u.test", i);
		craft_a(&c, to, 10, "\1\2\3\4");
		is_int(parse(DNS_TYPE_A), i == DNS_CHAIN_MAX ? 0 : -EBADMSG, "length of a chain");
	}
}

static void test_service(void)
{
	struct dns_name n = name_of("_x._tcp.a");
	char text[DNS_TEXT_SIZE];

	craft_header(&c, 7, 0x8180, 1, 1, 0, 0);
	craft_question(&c, "_x._tcp.a", DNS_TYPE_SRV);
	craft_record(&c, "@12", DNS_TYPE_SRV, 60, 6 + 5);
	craft_16(&c, 1);
	craft_16(&c, 2);
	craft_16(&c, 443);
	craft_bytes(&c, "\2gw\xc0\x14", 5);
	is_int(dns_reply_parse(c.b, c.len, 7, &n, DNS_TYPE_SRV, &reply), 0, "service");
	is_int(reply.n_services, 1, "one");
	is_int(reply.services[0].port, 443, "its port");
	is_str(dns_name_text(&reply.services[0].target, text), "gw.a", "its target");
	c.b[c.len - 12 + 1 - 1] = 0;
	c.b[c.len - 12] = 5;
	is_int(dns_reply_parse(c.b, c.len, 7, &n, DNS_TYPE_SRV, &reply), -EBADMSG,
	       "data too short");
}

/* What we write must be readable by ourselves, and say the right things. */
static void test_build(void)
{
	uint8_t out[4096], query[DNS_UDP_MIN];
	struct dns_query q = {
		.id = 7, .recursion = true, .type = DNS_TYPE_A, .class = 1, .udp_size = 512
	};
	struct dns_reply again;
	size_t len, i;

	q.name = name_of("a.example");
	memcpy(q.spelled, "\1A\7ExamplE", 11);
	len = dns_build_query(0xbeef, &q.name, DNS_TYPE_AAAA, true, query, sizeof(query));
	{
		struct dns_query sent;

		is_int(dns_query_parse(query, len, &sent), 0, "our question");
		ok(sent.id == 0xbeef && sent.type == DNS_TYPE_AAAA && sent.edns &&
			   sent.udp_size == DNS_UDP_MAX,
		   "is what it should be");
	}
	len = dns_build_error(&q, DNS_NXDOMAIN, DNS_EDE_BLOCKED, "no", out, sizeof(out));
	is_int(len, 12 + 11 + 4, "without EDNS no reason");
	is_int(out[3] & 15, DNS_NXDOMAIN, "code");
	ok(out[2] == 0x81, "an answer, recursion as asked");
	ok(memcmp(out + 12, "\1A\7ExamplE", 11) == 0, "spelled as it was asked");
	q.edns = true;
	len = dns_build_error(&q, DNS_NXDOMAIN, DNS_EDE_BLOCKED, "no", out, sizeof(out));
	ok(memcmp(out + 27, "\0\0\x29\x04\xd0\0\0\0\0\0\x08\0\x0f\0\x04\0\x0fno", 19) == 0,
	   "reason 15 and its text");
	is_int(len, 27 + 19, "and nothing behind");
	is_int(dns_reply_parse(out, len, 7, &q.name, DNS_TYPE_A, &again), 0, "readable");
	is_int(again.rcode, DNS_NXDOMAIN, "code");
	len = dns_build_error(&q, DNS_BADVERS, DNS_EDE_NONE, NULL, out, sizeof(out));
	is_int(dns_reply_parse(out, len, 7, &q.name, DNS_TYPE_A, &again), 0, "an extended code");
	is_int(again.rcode, DNS_BADVERS, "comes back");

	start(4, 0, 0);
	craft_cname(&c, "@12", 300, "b.cdn.test");
	craft_cname(&c, "b.cdn.test", 20, "c.cdn.test");
	craft_a(&c, "c.cdn.test", 10, "\1\2\3\4");
	craft_a(&c, "c.cdn.test", 10000, "\1\2\3\5");
	is_int(parse(DNS_TYPE_A), 0, "an answer");
	len = dns_build_reply(&q, &reply, 3600, DNS_EDE_NONE, NULL, out, 512);
	is_int(dns_reply_parse(out, len, 7, &q.name, DNS_TYPE_A, &again), 0, "written again");
	ok(again.n_chain == 2 && again.n_addresses == 2, "with its chain and its addresses");
	ok(dns_name_equal(&again.chain[1].target, &reply.chain[1].target), "and its end");
	is_int(again.addresses[1].ttl, 3600, "a long life is cut");
	is_int(again.addresses[0].ttl, 10, "a short one is not");
	q.edns = false;
	start(64, 0, 0);
	for (i = 0; i < 64; i++)
		craft_a(&c, "@12", 60, "\1\2\3\4");
	is_int(parse(DNS_TYPE_A), 0, "a big answer");
	len = dns_build_reply(&q, &reply, 3600, DNS_EDE_NONE, NULL, out, 512);
	is_int(dns_reply_parse(out, len, 7, &q.name, DNS_TYPE_A, &again), 0, "in 512 bytes");
	ok(again.truncated, "is truncated");
	len = dns_build_reply(&q, &reply, 3600, DNS_EDE_NONE, NULL, out, sizeof(out));
	is_int(dns_reply_parse(out, len, 7, &q.name, DNS_TYPE_A, &again), 0, "in 4,096 bytes");
	is_int(again.n_addresses, 64, "is whole");
}

int main(void)
{
	TAP_BEGIN();
	test_text();
	test_wire();
	test_equal();
	test_query();
	test_reply();
	test_chain();
	test_service();
	test_build();
	return TAP_END();
}
