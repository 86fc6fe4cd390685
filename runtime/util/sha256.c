/*
 * Confines nettle to one file: a change of library touches nothing else.
 */
#include "util/sha256.h"

#include <nettle/sha2.h>

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct sha256), "struct sha256 holds nettle's state");

static struct sha256_ctx *ctx_of(struct sha256 *h)
{
	return (struct sha256_ctx *)h->state;
}

void sha256_begin(struct sha256 *h)
{
	sha256_init(ctx_of(h));
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
	sha256_update(ctx_of(h), len, data);
}

void sha256_end(struct sha256 *h, uint8_t ret[SHA256_BYTES])
{
	sha256_digest(ctx_of(h), SHA256_BYTES, ret);
}

void sha256_digest_of(const void *data, size_t len, uint8_t ret[SHA256_BYTES])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, data, len);
	sha256_end(&h, ret);
}

void sha256_to_hex(const uint8_t digest[SHA256_BYTES], char ret[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < SHA256_BYTES; i++) {
		ret[2 * i] = digits[digest[i] >> 4];
		ret[2 * i + 1] = digits[digest[i] & 0xf];
	}
	ret[2 * SHA256_BYTES] = '\0';
}

void sha256_hex_of(const void *data, size_t len, char ret[SHA256_HEX_SIZE])
{
	uint8_t digest[SHA256_BYTES];

	sha256_digest_of(data, len, digest);
	sha256_to_hex(digest, ret);
}
