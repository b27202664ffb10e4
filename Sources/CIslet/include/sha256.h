// The compression function of SHA-256 (FIPS 180-4, 6.2.2).
//
// In C, because an unoptimized build of it takes twice the time of an optimized one; in Swift it takes fifty times, and
// a debug build hashes itself for the manifest.

#ifndef ISLET_SHA256_H
#define ISLET_SHA256_H

#include <stddef.h>
#include <stdint.h>

/// Takes `count` blocks of 64 bytes into `state`, eight words.
void islet_sha256_compress(uint32_t *state, const uint8_t *blocks, size_t count);

// The same without the rounds of the processor.
void islet_sha256_compress_plain(uint32_t *state, const uint8_t *blocks, size_t count);

#endif
