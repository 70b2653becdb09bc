/* What the kernels of the HEVC decoder share. Each has two instances: for 8 bits per sample, in bytes, and
 * for 10 bits, in 16. */
#ifndef CORE_HEVC_COMMON_H
#define CORE_HEVC_COMMON_H

#include "libavcodec/hevcdsp.h"
#include "vector.h"

#define NOINLINE static __attribute__((noinline))

/* Each puts its kernels into the decoder's table; dsp.c calls them. The depth is 8 or 10. */
void simd_set_interpolation(HEVCDSPContext *c, int depth);
void simd_set_residuals(HEVCDSPContext *c, int depth);
void simd_set_sao(HEVCDSPContext *c, int depth);
void simd_set_deblocking(HEVCDSPContext *c, int depth);

INLINE int pixel_bytes(int depth) {
    return depth == 8 ? 1 : 2;
}

/* Eight pixels as 16-bit lanes. */
INLINE v128_t load_pixels(const uint8_t *p, int depth) {
    return depth == 8 ? widen8(p) : wasm_v128_load(p);
}

/* Stores the first bytes of a vector: an even number of them, at most 16. */
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

/* Limits 16-bit lanes to pixels and stores the first of them: an even number, at most eight. */
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

/* The lower halves of 32-bit lanes, as a store to 16 bits keeps them. */
INLINE v128_t truncate_lanes(v128_t low, v128_t high) {
    return wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}

/* Two weights side by side, for products of pairs. */
INLINE v128_t splat_pair(int first, int second) {
    return wasm_i32x4_splat((first & 0xffff) | (int)((uint32_t)second << 16));
}

#endif
