/* Declarations shared by the kernels of the HEVC decoder. Each kernel has two instances: one for 8 bits per
 * sample, stored in bytes, and one for 10 bits, stored in 16-bit words. */
#ifndef CORE_HEVC_COMMON_H
#define CORE_HEVC_COMMON_H

#include "libavcodec/hevcdsp.h"
#include "vector.h"

#define NOINLINE static __attribute__((noinline))

/* Each function installs the kernels of one file in the decoder's table; dsp.c
 * calls them. depth is 8 or 10. */
void simd_set_interpolation(HEVCDSPContext *c, int depth);
void simd_set_residuals(HEVCDSPContext *c, int depth);
void simd_set_sao(HEVCDSPContext *c, int depth);
void simd_set_deblocking(HEVCDSPContext *c, int depth);

INLINE int pixel_bytes(int depth) {
    return depth == 8 ? 1 : 2;
}

/* Loads eight pixels into 16-bit lanes. */
INLINE v128_t load_pixels(const uint8_t *p, int depth) {
    return depth == 8 ? widen8(p) : wasm_v128_load(p);
}

/* Stores the first count bytes of a vector; count is even and at most 16. */
INLINE void store_bytes(uint8_t *p, v128_t v, int count) {
    if (count == 16) {
        wasm_v128_store(p, v);
        return;
    }
    if (count & 8) {
        wasm_v128_store64_lane(p, v, 0);
        v = high64(v, v);
        p += 8;
    }
    if (count & 4) {
        wasm_v128_store32_lane(p, v, 0);
        v = wasm_u64x2_shr(v, 32);
        p += 4;
    }
    if (count & 2)
        wasm_v128_store16_lane(p, v, 0);
}

/* Clamps 16-bit lanes to the pixel range and stores the first count of them; count
 * is even and at most eight. */
INLINE void store_pixels(uint8_t *p, v128_t lanes, int count, int depth) {
    if (depth == 8) {
        v128_t pixels = wasm_u8x16_narrow_i16x8(lanes, lanes);
        if (count == 8)
            wasm_v128_store64_lane(p, pixels, 0);
        else
            store_bytes(p, pixels, count);
    } else
        store_bytes(p, wasm_i16x8_min(wasm_i16x8_max(lanes, zero()), wasm_i16x8_splat((1 << depth) - 1)),
                    2 * count);
}

/* Keeps the lower 16 bits of each 32-bit lane, as a store to int16_t does. */
INLINE v128_t truncate_lanes(v128_t low, v128_t high) {
    return wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}

/* Repeats a pair of 16-bit weights in every 32-bit lane, for dot products of pairs. */
INLINE v128_t splat_pair(int first, int second) {
    return wasm_i32x4_splat((first & 0xffff) | (int)((uint32_t)second << 16));
}

#endif
