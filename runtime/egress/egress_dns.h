/*
 * DNS messages: reading what a container asks and what a server answers, and writing
 * answers of our own. Pure: no system call, no allocation, no state.
 *
 * A name is kept in wire form (length byte, label, ..., zero byte), upper case folded.
 * Two names are compared label by label with their lengths, so that a dot or a NUL inside
 * a label can never pass for a border between labels.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_MAX	  255 /* wire bytes, the root's zero included */
#define DNS_LABEL_MAX	  63
#define DNS_TEXT_SIZE	  (4 * DNS_NAME_MAX + 1) /* every byte escaped, and the NUL */
#define DNS_HEADER	  12
#define DNS_UDP_MIN	  512 /* what every client takes */
#define DNS_UDP_MAX	  1232 /* what needs no fragments on any path; offered to servers */
#define DNS_MESSAGE_MAX	  65535
#define DNS_RECORDS_MAX	  1024 /* in one message; 64 KiB of A records are 4,000 */
#define DNS_CHAIN_MAX	  16
#define DNS_ADDRESSES_MAX 64 /* of an answer: more are neither opened nor passed on */
#define DNS_SERVICES_MAX  16
#define DNS_TTL_MAX	  0x7fffffffu

enum dns_type {
	DNS_TYPE_A = 1,
	DNS_TYPE_CNAME = 5,
	DNS_TYPE_TXT = 16,
	DNS_TYPE_AAAA = 28,
	DNS_TYPE_SRV = 33,
	DNS_TYPE_OPT = 41,
	DNS_TYPE_SVCB = 64,
	DNS_TYPE_HTTPS = 65,
	DNS_TYPE_ANY = 255,
};

enum dns_rcode {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16,
};

/* Extended error codes (RFC 8914); zero is a code of its own, so "none" is outside. */
enum dns_ede {
	DNS_EDE_NONE = -1,
	DNS_EDE_OTHER = 0,
	DNS_EDE_BLOCKED = 15,
	DNS_EDE_FILTERED = 17,
	DNS_EDE_UNREACHABLE = 22, /* no server could be reached */
};

#define DNS_CLASS_IN 1

struct dns_name {
	uint8_t len; /* 0: no name at all; 1: the root */
	uint8_t wire[DNS_NAME_MAX];
};

/* 0, or -EINVAL. Plain labels of any bytes but '.', NUL and blanks; one dot may end the name. */
int dns_name_from_text(const char *text, struct dns_name *ret);
/* As above from bytes that need not end. */
int dns_name_from_bytes(const uint8_t *text, size_t len, struct dns_name *ret);
/* Without the last dot ("." for the root); what is not printable, '.' and '\' inside labels escaped. */
const char *dns_name_text(const struct dns_name *name, char buf[DNS_TEXT_SIZE]);
bool dns_name_equal(const struct dns_name *a, const struct dns_name *b);
/* Letters, digits, '-' and '_' only, as in all names that hosts have. */
bool dns_name_is_host(const struct dns_name *name);
/*
 * Reads the name at *offset in a message and moves *offset behind it. Compression pointers must
 * lead backwards, so that reading ends. 0 or -EBADMSG.
 */
int dns_name_read(const uint8_t *msg, size_t len, size_t *offset, struct dns_name *ret);

struct dns_query {
	uint16_t id;
	bool recursion, no_check; /* RD, CD: given back as they came */
	struct dns_name name;
	uint8_t spelled[DNS_NAME_MAX]; /* name as the client wrote it: some clients compare its case */
	uint16_t type, class;
	bool edns;
	uint16_t udp_size; /* what the client takes over UDP, at least DNS_UDP_MIN */
};

/*
 * 0; a DNS rcode (DNS_FORMERR, DNS_NOTIMP, DNS_BADVERS) that the client is to get, with as much of *ret
 * filled as dns_build_error() needs; or -EBADMSG: nothing that could be answered.
 */
int dns_query_parse(const uint8_t *msg, size_t len, struct dns_query *ret);

struct dns_address {
	bool v6;
	uint8_t bytes[16]; /* network order; IPv4 in the first four */
	uint32_t ttl;
};

struct dns_link {
	struct dns_name target;
	uint32_t ttl;
};

struct dns_service {
	uint16_t priority, weight, port;
	uint32_t ttl;
	struct dns_name target;
};

/* What of a server's answer belongs to the question. */
struct dns_reply {
	unsigned rcode;
	bool truncated; /* then nothing below is filled */
	size_t n_chain, n_addresses, n_services;
	size_t skipped; /* addresses and services beyond the limits */
	struct dns_link chain[DNS_CHAIN_MAX]; /* from the question on */
	struct dns_address addresses[DNS_ADDRESSES_MAX];
	struct dns_service services[DNS_SERVICES_MAX];
};

/* This is not the answer to that question: another id, name or type, or no answer at all. */
#define DNS_E_OTHER 1

/*
 * 0; DNS_E_OTHER: to be ignored, the true answer may still come; or -EBADMSG: answers the
 * question but is broken. Records that do not hang on the question are dropped.
 */
int dns_reply_parse(const uint8_t *msg, size_t len, uint16_t id, const struct dns_name *name, uint16_t type,
		    struct dns_reply *ret);

/* All return the length written, at most cap; cap is at least DNS_UDP_MIN. */

/* A question to a server. */
size_t dns_build_query(uint16_t id, const struct dns_name *name, uint16_t type, bool edns, uint8_t *out, size_t cap);
/* Without answers: an error, or NODATA (DNS_NOERROR). The reason goes to clients with EDNS only. */
size_t dns_build_error(const struct dns_query *q, unsigned rcode, enum dns_ede ede, const char *text, uint8_t *out,
		       size_t cap);
/*
 * The reply's chain and records under the client's id, no time to live above ttl_max. Truncated
 * (TC, no records) when it does not fit.
 */
size_t dns_build_reply(const struct dns_query *q, const struct dns_reply *r, uint32_t ttl_max, enum dns_ede ede,
		       const char *text, uint8_t *out, size_t cap);
