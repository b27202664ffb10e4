// CRC-32 as zlib, gzip and PNG have it (reflected, polynomial 0x04C11DB7).

#ifndef ISLET_CRC32_H
#define ISLET_CRC32_H

#include <stddef.h>
#include <stdint.h>

/// Of `count` bytes.
uint32_t islet_crc32(const uint8_t *bytes, size_t count);

// The same without the processor's product of polynomials.
uint32_t islet_crc32_plain(const uint8_t *bytes, size_t count);

#endif
