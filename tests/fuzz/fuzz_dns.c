/*
 * DNS messages of any bytes. The first one chooses: a query, which must be answerable, or an
 * answer to a fixed question. What was read must come out the same when we write it and read
 * it again; nothing may come out that was not in the message.
 */
#include <stdlib.h>
#include <string.h>

#include "egress/egress_dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t out[DNS_MESSAGE_MAX];

static void check(bool good)
{
	if (!good)
		abort();
}

static void read_query(const uint8_t *data, size_t size)
{
	struct dns_query q;
	struct dns_reply reply;
	char text[DNS_TEXT_SIZE];
	size_t len;
	int r = dns_query_parse(data, size, &q);

	if (r < 0)
		return;
	check(strlen(dns_name_text(&q.name, text)) < sizeof(text));
	len = dns_build_error(&q, r > 0 ? (unsigned)r : DNS_NXDOMAIN, DNS_EDE_BLOCKED,
			      "not allowed", out, DNS_UDP_MIN);
	check(len >= DNS_HEADER && len <= DNS_UDP_MIN);
	if (r == 0 && q.class == DNS_CLASS_IN)
		check(dns_reply_parse(out, len, q.id, &q.name, q.type, &reply) == 0 &&
		      reply.rcode == DNS_NXDOMAIN);
	if (r == 0) {
		len = dns_build_query(1, &q.name, q.type, true, out, sizeof(out));
		check(dns_query_parse(out, len, &q) == 0);
	}
}

static void read_reply(const uint8_t *data, size_t size, uint16_t type)
{
	static struct dns_reply reply, again;
	struct dns_query q = { .id = 7, .type = type, .class = DNS_CLASS_IN, .edns = true };
	size_t len;

	check(dns_name_from_text("a.example", &q.name) == 0);
	memcpy(q.spelled, q.name.wire, q.name.len);
	if (dns_reply_parse(data, size, 7, &q.name, type, &reply) != 0 || reply.truncated)
		return;
	check(reply.n_addresses + reply.n_services <= size / 11 && reply.n_chain <= DNS_CHAIN_MAX);
	len = dns_build_reply(&q, &reply, DNS_TTL_MAX, DNS_EDE_NONE, NULL, out, sizeof(out));
	check(dns_reply_parse(out, len, 7, &q.name, type, &again) == 0 &&
	      again.rcode == reply.rcode);
	check(again.n_addresses == reply.n_addresses && again.n_services == reply.n_services &&
	      again.n_chain == reply.n_chain);
	check(memcmp(again.addresses, reply.addresses,
		     reply.n_addresses * sizeof(*reply.addresses)) == 0);
	len = dns_build_reply(&q, &reply, 60, DNS_EDE_FILTERED, "some", out, DNS_UDP_MIN);
	check(len <= DNS_UDP_MIN && dns_reply_parse(out, len, 7, &q.name, type, &again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_AAAA, DNS_TYPE_SRV };

	if (size < 1)
		return 0;
	if (data[0] == 'q')
		read_query(data + 1, size - 1);
	else
		read_reply(data + 1, size - 1, types[data[0] % 3]);
	return 0;
}
