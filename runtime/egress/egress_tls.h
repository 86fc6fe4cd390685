/*
 * The first message of a TLS client: which server name it asks for, before anything is
 * encrypted. Pure: the caller gives the bytes that have come so far, from the beginning.
 *
 * Strict where a lax reader could see another name than the server does: a name twice, a
 * name that does not fill its field, lengths that do not add up are no TLS here.
 */
#pragma once

#include "egress/egress_dns.h"

#define TLS_HELLO_MAX  16384 /* handshake message; with post-quantum keys about 1,800 bytes are usual */
#define TLS_STREAM_MAX 32768 /* the same in small records */
#define TLS_ALPN_MAX   64

enum tls_verdict {
	TLS_MORE, /* not decided: wait until ret->need bytes are there */
	TLS_SNI, /* ret->name is asked for, in the clear */
	TLS_NONE, /* no name is asked for */
	TLS_ECH, /* another name may stand in an encrypted inner message; ret->name is the outer one, if any */
	TLS_OTHER, /* not a ClientHello, or none that is well-formed and within the limits */
};

struct tls_hello {
	size_t need; /* TLS_MORE: the least length that can bring a decision; grows with each call */
	size_t length; /* any but TLS_MORE and TLS_OTHER: where the records of the message end */
	struct dns_name name; /* len 0: none */
	uint16_t version; /* highest offered: 0x0303 is TLS 1.2 */
	char alpn[TLS_ALPN_MAX]; /* offered protocols, separated by commas, cut at the limit */
};

/* Works in scratch, of TLS_HELLO_MAX bytes. len above TLS_STREAM_MAX gives no further decision. */
enum tls_verdict tls_hello_read(const uint8_t *data, size_t len, uint8_t *scratch, struct tls_hello *ret);
/* The second ClientHello, after the server asked for it: a ChangeCipherSpec may stand before it. */
enum tls_verdict tls_hello_read_second(const uint8_t *data, size_t len, uint8_t *scratch, struct tls_hello *ret);

enum tls_answer {
	TLS_ANSWER_MORE, /* wait until *ret_need bytes are there */
	TLS_ANSWER_FINAL, /* no further ClientHello in the clear will follow */
	TLS_ANSWER_RETRY, /* HelloRetryRequest: the client will send another one, and servers take the name in that */
	TLS_ANSWER_BAD, /* cut in a way that hides which */
};

/* The beginning of what the server answers. */
enum tls_answer tls_answer_read(const uint8_t *data, size_t len, size_t *ret_need);
