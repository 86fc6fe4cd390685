/*
 * Owns the judgement of addresses that a name may not stand for. A name that an attacker
 * controls resolves to whatever he likes: to this machine, to the link, to the cloud's
 * metadata service, to the operator's network, also wrapped in an address of another kind.
 */
#include <string.h>

#include "egress/egress_names.h"

struct range {
	uint8_t address[16];
	uint8_t prefix;
	enum egress_judgement kind;
};

#define V4(a, b, c, d)                                               \
	{                                                            \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d \
	}

/* The first that matches decides, so exceptions stand before what they are in. */
static const struct range ranges[] = {
	/* metadata services outside of the link-local ranges */
	{ V4(100, 100, 100, 200), 128, EGRESS_ADDRESS_SPECIAL },
	{ V4(168, 63, 129, 16), 128, EGRESS_ADDRESS_SPECIAL },
	{ { 0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54 },
	  128,
	  EGRESS_ADDRESS_SPECIAL },
	{ { 0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54 },
	  128,
	  EGRESS_ADDRESS_SPECIAL },
	{ V4(0, 0, 0, 0), 96 + 8, EGRESS_ADDRESS_SPECIAL },
	{ V4(10, 0, 0, 0), 96 + 8, EGRESS_ADDRESS_PRIVATE },
	{ V4(100, 64, 0, 0), 96 + 10, EGRESS_ADDRESS_PRIVATE },
	{ V4(127, 0, 0, 0), 96 + 8, EGRESS_ADDRESS_SPECIAL },
	{ V4(169, 254, 0, 0), 96 + 16, EGRESS_ADDRESS_SPECIAL },
	{ V4(172, 16, 0, 0), 96 + 12, EGRESS_ADDRESS_PRIVATE },
	{ V4(192, 0, 0, 0), 96 + 24, EGRESS_ADDRESS_SPECIAL },
	{ V4(192, 88, 99, 0), 96 + 24, EGRESS_ADDRESS_SPECIAL },
	{ V4(192, 168, 0, 0), 96 + 16, EGRESS_ADDRESS_PRIVATE },
	{ V4(198, 18, 0, 0), 96 + 15, EGRESS_ADDRESS_PRIVATE },
	{ V4(224, 0, 0, 0), 96 + 4, EGRESS_ADDRESS_SPECIAL },
	{ V4(240, 0, 0, 0), 96 + 4, EGRESS_ADDRESS_SPECIAL },
	{ V4(0, 0, 0, 0), 96, EGRESS_ADDRESS_GOOD },
	/* unspecified, loopback, IPv4-compatible, IPv4-translated */
	{ { 0 }, 96, EGRESS_ADDRESS_SPECIAL },
	{ { 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff }, 96, EGRESS_ADDRESS_SPECIAL },
	/* NAT64 of a network's own choice: where the IPv4 part stands is not known */
	{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 48, EGRESS_ADDRESS_PRIVATE },
	{ { 1 }, 64, EGRESS_ADDRESS_SPECIAL },		/* discarded by routers */
	{ { 0x20, 0x01 }, 32, EGRESS_ADDRESS_SPECIAL }, /* Teredo */
	{ { 0x5f }, 16, EGRESS_ADDRESS_PRIVATE },	/* segment routing */
	{ { 0xfc }, 7, EGRESS_ADDRESS_PRIVATE },
	{ { 0xfe, 0x80 }, 10, EGRESS_ADDRESS_SPECIAL },
	{ { 0xfe, 0xc0 }, 10, EGRESS_ADDRESS_SPECIAL },
	{ { 0xff }, 8, EGRESS_ADDRESS_SPECIAL },
};

/* Prefixes that carry an IPv4 address, and at which byte. */
static const struct {
	uint8_t prefix[12];
	uint8_t bits, at;
} wrappers[] = {
	{ { 0, 0x64, 0xff, 0x9b }, 96, 12 }, /* NAT64 */
	{ { 0x20, 0x02 }, 16, 2 },	     /* 6to4 */
};

static bool prefix_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	uint8_t mask = (uint8_t)(0xff00 >> (bits % 8));

	if (memcmp(a, b, bits / 8) != 0)
		return false;
	return bits % 8 == 0 || (a[bits / 8] & mask) == (b[bits / 8] & mask);
}

static enum egress_judgement find_kind(const uint8_t address[16], unsigned *ret_bits)
{
	size_t i;

	*ret_bits = 0;
	for (i = 0; i < ELEMENTSOF(ranges); i++) {
		if (!prefix_equal(address, ranges[i].address, ranges[i].prefix))
			continue;
		*ret_bits = ranges[i].prefix;
		return ranges[i].kind;
	}
	return EGRESS_ADDRESS_GOOD;
}

enum egress_judgement egress_name_address_kind(const uint8_t address[16], unsigned *ret_bits)
{
	uint8_t inner[16] = V4(0, 0, 0, 0);
	size_t i;

	for (i = 0; i < ELEMENTSOF(wrappers); i++) {
		if (!prefix_equal(address, wrappers[i].prefix, wrappers[i].bits))
			continue;
		memcpy(inner + 12, address + wrappers[i].at, 4);
		/* Even with a good address inside, where such packets come out is a matter of the
		 * network. */
		if (find_kind(inner, ret_bits) != EGRESS_ADDRESS_SPECIAL) {
			*ret_bits = wrappers[i].bits;
			return EGRESS_ADDRESS_PRIVATE;
		}
		return EGRESS_ADDRESS_SPECIAL;
	}
	return find_kind(address, ret_bits);
}

bool egress_name_net_has(const struct egress_name_net *net, const uint8_t address[16])
{
	return prefix_equal(address, net->address, net->prefix);
}

bool egress_name_address_map(const struct dns_address *a, uint8_t ret[16])
{
	static const uint8_t v4[16] = V4(0, 0, 0, 0);

	memcpy(ret, a->v6 ? a->bytes : v4, 16);
	if (!a->v6)
		memcpy(ret + 12, a->bytes, 4);
	return !a->v6 || !prefix_equal(a->bytes, v4, 96);
}

const char *egress_judgement_text(enum egress_judgement j)
{
	switch (j) {
	case EGRESS_ADDRESS_GOOD:
	case EGRESS_ADDRESS_STATIC:
		return "good";
	case EGRESS_ADDRESS_PRIVATE:
		return "private address, and no address rule names its range";
	case EGRESS_ADDRESS_SPECIAL:
		return "special address";
	case EGRESS_ADDRESS_HOST:
		return "address of this host";
	}
	return "unknown";
}
