/*
 * What names mean: which ones a container may look up, which ports their addresses open,
 * which addresses no name may stand for, and for how long. Pure: the kernel's table is
 * behind struct egress_names_ops, the time is an argument.
 *
 * Addresses are 16 bytes, IPv4 as ::ffff:a.b.c.d. Times are nanoseconds of one clock that
 * the caller chooses.
 */
#pragma once

#include "egress/egress_dns.h"
#include "util/error.h"

#define EGRESS_NAMES_MAX	16384 /* rules */
#define EGRESS_SETS_MAX		1024 /* different combinations of ports */
#define EGRESS_SET_RANGES_MAX	512
#define EGRESS_LEASES_MAX	4096 /* addresses open because of names */
#define EGRESS_LEASES_PER_NAME	512 /* 200 addresses of a rotating name live at once */
#define EGRESS_TTL_MIN		30u /* seconds: many programs keep an answer for so long whatever it says */
#define EGRESS_TTL_MAX		3600u
#define EGRESS_TTL_GRACE	30u /* open for longer than the answer tells: between look-up and connect time passes */

/* How a connection to an address that was learned from a name is checked. */
enum egress_verify {
	EGRESS_VERIFY_AUTO, /* TCP port 443 by its server name, others by address alone */
	EGRESS_VERIFY_SNI, /* all ports by the server name; TCP only */
	EGRESS_VERIFY_ADDRESS,
};

struct egress_name_range {
	uint16_t first, last;
};

struct egress_name_rule {
	const char *host; /* "a.example" or "*.example": every name below, not example itself */
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP, 0 = both */
	enum egress_verify verify;
	const struct egress_name_range *ports; /* none = every port */
	size_t n_ports;
};

/* A range that decides about answers. */
struct egress_name_net {
	uint8_t address[16];
	uint8_t prefix; /* of the 16 bytes: 96 more than an IPv4 prefix */
	uint8_t scope; /* of an open one: private ranges count as in it by this, as egress_rule.scope */
	bool metadata; /* one address that is refused in spite of every wider range; see egress_names_judge() */
};

/* What is open at an address. Ranges are sorted by protocol and port and do not overlap. */
struct egress_name_port {
	uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP */
	bool verify; /* through the check of the server name only */
	uint16_t first, last;
};

struct egress_name_set {
	size_t n;
	struct egress_name_port *ports;
};

/*
 * set: index of a set that never changes once it was shown; ports are its ranges. Both return 0 or
 * a negative errno; an address that could not be opened is not told to the container.
 */
struct egress_names_ops {
	/* Opens, or replaces what is open at the address. */
	int (*allow)(void *arg, const uint8_t address[16], unsigned set, const struct egress_name_set *ports,
		     uint64_t expires);
	/* Before its time: its name has too many newer ones. */
	int (*forget)(void *arg, const uint8_t address[16]);
	void *arg;
};

struct egress_names;

struct egress_names_config {
	const struct egress_name_rule *rules;
	size_t n_rules;
	const struct egress_name_net *open; /* address ranges that the policy opens: private answers in there are fine */
	size_t n_open;
	const struct egress_name_net *never; /* the host's own addresses, for example */
	size_t n_never;
	struct egress_names_ops ops;
};

/* Copies what it needs; -EINVAL names the rule that is none. */
int egress_names_new(const struct egress_names_config *config, struct egress_names **ret, struct error *err);
struct egress_names *egress_names_free(struct egress_names *n);
static inline void egress_names_freep(struct egress_names **n)
{
	*n = egress_names_free(*n);
}
#define _cleanup_egress_names_ _cleanup_(egress_names_freep)

/* No rule names it. */
#define EGRESS_NAMES_E_DENIED 1

/* 0 and the set of ports that the name opens, EGRESS_NAMES_E_DENIED, or -E2BIG: too many combinations. */
int egress_names_match(struct egress_names *n, const struct dns_name *name, unsigned *ret_set);
const struct egress_name_set *egress_names_set(const struct egress_names *n, unsigned set);
/* Whether that port is open, and whether through the server name check only. */
bool egress_name_set_find(const struct egress_name_set *s, uint8_t protocol, uint16_t port, bool *ret_verify);

enum egress_judgement {
	EGRESS_ADDRESS_GOOD,
	EGRESS_ADDRESS_STATIC, /* a metadata address that the policy opens by itself: may be told, opens nothing */
	EGRESS_ADDRESS_PRIVATE, /* refused: private, and no address rule names a range inside its range */
	EGRESS_ADDRESS_SPECIAL, /* refused: of this machine or link, of a group, wrapped, reserved or the cloud's own */
	EGRESS_ADDRESS_HOST, /* refused: in the ranges of never */
};

enum egress_judgement egress_names_judge(const struct egress_names *n, const uint8_t address[16]);
const char *egress_judgement_text(enum egress_judgement j);
/* Without rules: GOOD, PRIVATE or SPECIAL; of the last two also how many bits their range has. */
enum egress_judgement egress_name_address_kind(const uint8_t address[16], unsigned *ret_bits);
bool egress_name_net_has(const struct egress_name_net *net, const uint8_t address[16]);
/* False: an IPv4 address in an IPv6 record, which no honest server writes. */
bool egress_name_address_map(const struct dns_address *a, uint8_t ret[16]);

/*
 * Opens addresses of a name. Those that were refused by ops are taken out of addresses; *n is what is
 * left. A name never has more than EGRESS_LEASES_PER_NAME: those that were answered longest ago make room.
 */
struct egress_lease_stats {
	size_t opened, renewed, evicted, failed;
};
void egress_names_open(struct egress_names *n, const struct dns_name *name, unsigned set,
		       struct dns_address *addresses, size_t *n_addresses, uint64_t now,
		       struct egress_lease_stats *ret);
/* Forgets what has ended; for addresses of several names, closes what only the ended one opened. */
void egress_names_sweep(struct egress_names *n, uint64_t now);
size_t egress_names_leases(const struct egress_names *n);
/* The name whose answer opened that address last; false: none did. */
bool egress_names_of(const struct egress_names *n, const uint8_t address[16], struct dns_name *ret);
/*
 * Other rules: to, which is new, takes over from from what its own rules open as well, with what they
 * open, and the rest is forgotten. from has no lease any more. Tells the ops of both.
 */
void egress_names_carry(struct egress_names *to, struct egress_names *from, uint64_t now);
/* How many sets were shown so far; the indexes are below. */
unsigned egress_names_sets(const struct egress_names *n);
/* Whether an answer has opened that port there by now, as ops was told. For tests and `explain`. */
bool egress_names_is_open(const struct egress_names *n, const uint8_t address[16], uint8_t protocol, uint16_t port,
			  uint64_t now, bool *ret_verify);

/* At most burst at once and per_s in the long run. */
struct egress_bucket {
	uint64_t last; /* ns; 0 = full */
	uint64_t credit; /* ns worth of tokens */
	uint32_t per_s, burst;
};
bool egress_bucket_take(struct egress_bucket *b, uint64_t now);
