// By tables, eight bytes at a time; where the processor multiplies polynomials, 64 bytes at a time: what stands in front is multiplied by what carries it over the
// bytes behind, which changes no remainder.

#include "crc32.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static uint32_t table[8][256];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ (0xedb88320 & (0 - (value & 1)));
        table[0][byte] = value;
    }
    for (int row = 1; row < 8; row++) {
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = table[row - 1][byte];
            table[row][byte] = before >> 8 ^ table[0][before & 0xff];
        }
    }
}

// On from a remainder, neither of them inverted.
static uint32_t go_on(uint32_t crc, const uint8_t *bytes, size_t count) {
    pthread_once(&filled, fill);
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        word ^= crc;
        crc = 0;
        for (int row = 0; row < 8; row++) crc ^= table[7 - row][word >> 8 * row & 0xff];
    }
    for (; count > 0; count--, bytes++) crc = crc >> 8 ^ table[0][(crc ^ *bytes) & 0xff];
    return crc;
}

uint32_t islet_crc32_plain(const uint8_t *bytes, size_t count) { return ~go_on(0xffffffff, bytes, count); }

#if defined(__x86_64__)

// x^n modulo the polynomial, for the two halves of what is carried over n bits: bits are in reverse order, and stand one to the left.
static const uint64_t over512[2] = {0x154442bd4, 0x1c6e41596}, over128[2] = {0x1751997d0, 0x0ccaa009e};

__attribute__((target("pclmul,sse4.1"))) static __m128i carry(__m128i front, __m128i over, __m128i behind) {
    return _mm_xor_si128(
        behind,
        _mm_xor_si128(_mm_clmulepi64_si128(front, over, 0x00), _mm_clmulepi64_si128(front, over, 0x11)));
}

// Of at least 64 bytes.
__attribute__((target("pclmul,sse4.1"))) static uint32_t by_products(const uint8_t *bytes, size_t count) {
    const __m128i *next = (const __m128i *)bytes;
    __m128i part[4];
    for (int k = 0; k < 4; k++) part[k] = _mm_loadu_si128(next++);
    part[0] = _mm_xor_si128(part[0], _mm_cvtsi32_si128(-1));
    count -= 64;
    __m128i over = _mm_loadu_si128((const __m128i *)over512);
    for (; count >= 64; count -= 64) {
        for (int k = 0; k < 4; k++) part[k] = carry(part[k], over, _mm_loadu_si128(next++));
    }
    over = _mm_loadu_si128((const __m128i *)over128);
    for (int k = 1; k < 4; k++) part[k] = carry(part[k - 1], over, part[k]);
    for (; count >= 16; count -= 16) part[3] = carry(part[3], over, _mm_loadu_si128(next++));
    // What is left is a text of 16 bytes with the same remainder, and what stands behind it.
    uint8_t left[32];
    _mm_storeu_si128((__m128i *)left, part[3]);
    memcpy(left + 16, next, count);
    return ~go_on(0, left, 16 + count);
}

#endif

uint32_t islet_crc32(const uint8_t *bytes, size_t count) {
#if defined(__x86_64__)
    if (count >= 64 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
        return by_products(bytes, count);
    }
#endif
    return islet_crc32_plain(bytes, count);
}
