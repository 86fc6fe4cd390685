/*
 * A ClientHello of any bytes. Whatever is decided for the whole must not be decided
 * otherwise for a beginning of it, and more must be asked for only where more is needed.
 */
#include <stdlib.h>
#include <string.h>

#include "egress/egress_tls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t scratch[TLS_HELLO_MAX];
	struct tls_hello whole, part;
	enum tls_verdict v = tls_hello_read(data, size, scratch, &whole), w;
	size_t at;

	if (v == TLS_SNI)
		check(whole.name.len > 1 && dns_name_is_host(&whole.name) && whole.length <= size);
	if (tls_answer_read(data, size, &at) == TLS_ANSWER_MORE)
		check(at > size);
	if (tls_hello_read_second(data, size, scratch, &part) == TLS_SNI)
		check(part.length <= size);
	check(strnlen(whole.alpn, sizeof(whole.alpn)) < sizeof(whole.alpn));
	for (at = 0; at <= size; at = part.need) {
		w = tls_hello_read(data, at, scratch, &part);
		if (w != TLS_MORE) {
			check(w == v && memcmp(&part, &whole, sizeof(part)) == 0);
			return 0;
		}
		check(part.need > at);
	}
	/* More than all was asked for: then all is no hello yet, or was broken before its end. */
	check(v == TLS_MORE || v == TLS_OTHER);
	return 0;
}
