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
