/*
 * Confines nettle to one file: a change of library touches nothing else.
 */
#include "util/sha256.h"

#include <nettle/sha2.h>

void sha256_digest_of(const void *data, size_t len, uint8_t ret[SHA256_BYTES])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, data);
	sha256_digest(&ctx, SHA256_BYTES, ret);
}

void sha256_hex_of(const void *data, size_t len, char ret[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_BYTES];
	size_t i;

	sha256_digest_of(data, len, digest);
	for (i = 0; i < SHA256_BYTES; i++) {
		ret[2 * i] = digits[digest[i] >> 4];
		ret[2 * i + 1] = digits[digest[i] & 0xf];
	}
	ret[2 * SHA256_BYTES] = '\0';
}
