// The names are those of FIPS 180-4; eight rounds at once, so that the names turn and nothing is moved.

#include "sha256.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define ROUND(a, b, c, d, e, f, g, h, t)                                                                    \
    do {                                                                                                    \
        uint32_t t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + (g ^ (e & (f ^ g))) + K[t] + w[t];      \
        d += t1;                                                                                            \
        h = t1 + (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) | (c & (a | b)));                       \
    } while (0)

void islet_sha256_compress_plain(uint32_t *state, const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += 64) {
        uint32_t w[64];
        for (int t = 0; t < 16; t++) {
            const uint8_t *p = blocks + 4 * t;
            w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
        }
        for (int t = 16; t < 64; t++) {
            uint32_t x = w[t - 15], y = w[t - 2];
            w[t] = w[t - 16] + (ROTR(x, 7) ^ ROTR(x, 18) ^ x >> 3) + w[t - 7] + (ROTR(y, 17) ^ ROTR(y, 19) ^ y >> 10);
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int t = 0; t < 64; t += 8) {
            ROUND(a, b, c, d, e, f, g, h, t);
            ROUND(h, a, b, c, d, e, f, g, t + 1);
            ROUND(g, h, a, b, c, d, e, f, t + 2);
            ROUND(f, g, h, a, b, c, d, e, t + 3);
            ROUND(e, f, g, h, a, b, c, d, t + 4);
            ROUND(d, e, f, g, h, a, b, c, t + 5);
            ROUND(c, d, e, f, g, h, a, b, t + 6);
            ROUND(b, c, d, e, f, g, h, a, t + 7);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}

#if defined(__x86_64__)

// Four rounds with the words W[4k..4k+3], and what they are to become.
#define FOUR(k, now, next, before)                                                                           \
    do {                                                                                                    \
        __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)&K[4 * (k)]));                     \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);                                                      \
        if ((k) >= 3 && (k) < 15) {                                                                         \
            next = _mm_add_epi32(next, _mm_alignr_epi8(now, before, 4));                                     \
            next = _mm_sha256msg2_epu32(next, now);                                                         \
        }                                                                                                   \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));                              \
        if ((k) >= 1 && (k) < 13) before = _mm_sha256msg1_epu32(before, now);                                \
    } while (0)

// With the processor's own rounds: the same digest, several times as fast.
__attribute__((target("sha,sse4.1"))) static void compress_sha(uint32_t *state, const uint8_t *blocks,
                                                               size_t count) {
    const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0bULL, 0x0405060700010203ULL);
    __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)&state[0]), 0xB1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)&state[4]), 0x1B);
    __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xF0);
    for (; count > 0; count--, blocks += 64) {
        __m128i abefBefore = abef, cdghBefore = cdgh;
        __m128i a = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 0)), bigEndian);
        __m128i b = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16)), bigEndian);
        __m128i c = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 32)), bigEndian);
        __m128i d = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 48)), bigEndian);
        FOUR(0, a, b, d);
        FOUR(1, b, c, a);
        FOUR(2, c, d, b);
        FOUR(3, d, a, c);
        FOUR(4, a, b, d);
        FOUR(5, b, c, a);
        FOUR(6, c, d, b);
        FOUR(7, d, a, c);
        FOUR(8, a, b, d);
        FOUR(9, b, c, a);
        FOUR(10, c, d, b);
        FOUR(11, d, a, c);
        FOUR(12, a, b, d);
        FOUR(13, b, c, a);
        FOUR(14, c, d, b);
        FOUR(15, d, a, c);
        abef = _mm_add_epi32(abef, abefBefore);
        cdgh = _mm_add_epi32(cdgh, cdghBefore);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)&state[0], _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)&state[4], _mm_alignr_epi8(dchg, feba, 8));
}

#endif

void islet_sha256_compress(uint32_t *state, const uint8_t *blocks, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1")) {
        compress_sha(state, blocks, count);
        return;
    }
#endif
    islet_sha256_compress_plain(state, blocks, count);
}
