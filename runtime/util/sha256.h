/*
 * SHA-256 of a block of memory; a thin face over nettle, which no other file knows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX_SIZE (2 * SHA256_BYTES + 1) /* with the terminator */

void sha256_digest_of(const void *data, size_t len, uint8_t ret[SHA256_BYTES]);
/* The same as lower-case hexadecimal text. */
void sha256_hex_of(const void *data, size_t len, char ret[SHA256_HEX_SIZE]);
/* Lower-case hexadecimal text of a digest. */
void sha256_to_hex(const uint8_t digest[SHA256_BYTES], char ret[SHA256_HEX_SIZE]);

/* The same over several pieces. Plain data: a copy goes on from where the original was. */
struct sha256 {
	uint64_t state[20];
};
void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
void sha256_end(struct sha256 *h, uint8_t ret[SHA256_BYTES]);
