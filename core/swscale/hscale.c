/* Scales rows of any samples by any ratio: replaces swscale's hScale16To15, and hScale8To15 where hscale8.c
 * cannot.
 *
 * A vector holds four samples for each of two results. Dot products are signed, so 32768 is subtracted from
 * 16-bit samples. The resulting error of a sum depends only on the filter: a packed group starts with the
 * corrections, four 32-bit numbers, followed by two vectors of coefficients for every four taps. */
#include "common.h"

#define BLOCK 4 /* taps of each result in a vector */

/* Load BLOCK samples for each result of a group into two vectors. */
INLINE void load_8(v128_t samples[2], const uint8_t *src, const int32_t *starts) {
    v128_t bytes = wasm_v128_load32_zero(src + starts[0]);
    bytes = wasm_v128_load32_lane(src + starts[1], bytes, 1);
    bytes = wasm_v128_load32_lane(src + starts[2], bytes, 2);
    bytes = wasm_v128_load32_lane(src + starts[3], bytes, 3);
    samples[0] = wasm_u16x8_extend_low_u8x16(bytes);
    samples[1] = wasm_u16x8_extend_high_u8x16(bytes);
}

INLINE void load_16(v128_t samples[2], const uint16_t *src, const int32_t *starts) {
    for (int i = 0; i < 2; i++) {
        v128_t left = wasm_v128_load64_zero(src + starts[2 * i]);
        v128_t both = wasm_v128_load64_lane(src + starts[2 * i + 1], left, 1);
        samples[i] = wasm_v128_xor(both, wasm_i16x8_const_splat(INT16_MIN));
    }
}

INLINE v128_t scale_group(const uint8_t *src, int bytes, const int16_t *filter, const int32_t *starts,
                          int blocks) {
    v128_t bias = wasm_v128_load(filter), left = wasm_i32x4_const_splat(0), right = left;
    for (int i = 0; i < blocks; i++) {
        v128_t samples[2];
        if (bytes == 1)
            load_8(samples, src, starts);
        else
            load_16(samples, (const uint16_t *)src, starts);
        filter += LANES;
        left = wasm_i32x4_add(left, wasm_i32x4_dot_i16x8(samples[0], wasm_v128_load(filter)));
        filter += LANES;
        right = wasm_i32x4_add(right, wasm_i32x4_dot_i16x8(samples[1], wasm_v128_load(filter)));
        src += BLOCK * bytes;
    }
    v128_t even = wasm_i32x4_shuffle(left, right, 0, 2, 4, 6);
    v128_t odd = wasm_i32x4_shuffle(left, right, 1, 3, 5, 7);
    return wasm_i32x4_add(wasm_i32x4_add(even, odd), bias);
}

/* Clamps at the top and wraps around at the bottom, as the scalar function does. */
INLINE v128_t to_15(v128_t low, v128_t high, int shift) {
    v128_t most = wasm_i32x4_const_splat(INT16_MAX);
    low = wasm_i32x4_min(wasm_i32x4_shr(low, shift), most);
    high = wasm_i32x4_min(wasm_i32x4_shr(high, shift), most);
    return wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}

INLINE void scale_row(int16_t *dst, int width, const uint8_t *src, int bytes, const int16_t *filter,
                      const int32_t *starts, int blocks, int shift) {
    int size = LANES * (2 * blocks + 1);
    for (int x = 0; x < width; x += 8) {
        v128_t low = scale_group(src, bytes, filter, starts + x, blocks);
        v128_t high = scale_group(src, bytes, filter + size, starts + x + GROUP, blocks);
        store_results(dst + x, to_15(low, high, shift), width - x);
        filter += 2 * size;
    }
}

/* After conversion to 16 bits, RGB samples have 14 bits; others keep their depth. */
static int shift_of(enum AVPixelFormat format) {
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    int depth = descriptor->comp[0].depth;
    if (depth < 16)
        return isAnyRGB(format) || format == AV_PIX_FMT_PAL8 ? 13 : depth - 1;
    return descriptor->flags & AV_PIX_FMT_FLAG_FLOAT ? 15 : depth - 1;
}

/* A constant number of taps lets the compiler unroll the loop over them. */
void simd_scale_16_to_15(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                         const int32_t *starts, int taps) {
    int blocks = (taps + BLOCK - 1) / BLOCK, shift = shift_of(c->srcFormat);
    if (blocks == 1)
        scale_row(dst, width, src, 2, filter, starts, 1, shift);
    else if (blocks == 2)
        scale_row(dst, width, src, 2, filter, starts, 2, shift);
    else
        scale_row(dst, width, src, 2, filter, starts, blocks, shift);
}

void simd_scale_8_by_any(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                         const int32_t *starts, int taps) {
    scale_row(dst, width, src, 1, filter, starts, (taps + BLOCK - 1) / BLOCK, 7);
}

int simd_packed_size(int taps) {
    return LANES * (2 * ((taps + BLOCK - 1) / BLOCK) + 1);
}

INLINE int pack_group(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions,
                      int count, int taps, int src_width, uint32_t offset) {
    int last = src_width - FFALIGN(taps, BLOCK);
    if (last < 0)
        return 0;
    for (int k = 0; k < count; k++) {
        uint32_t bias = 0;
        /* Filters are padded to whole blocks with zero taps: at the end or, near the end of
         * the row, at the beginning. */
        starts[k] = FFMIN(positions[k], last);
        for (int i = 0; i < taps; i++) {
            int at = i + positions[k] - starts[k];
            packed[LANES * (1 + at / BLOCK * 2 + k / 2) + k % 2 * BLOCK + at % BLOCK] = filter[k * taps + i];
            bias += offset * filter[k * taps + i];
        }
        memcpy(packed + 2 * k, &bias, sizeof(bias));
    }
    return 1;
}

int simd_pack_8_by_any(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions,
                       int count, int taps, int src_width) {
    return pack_group(packed, starts, filter, positions, count, taps, src_width, 0);
}

int simd_pack_16(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                 int taps, int src_width) {
    return pack_group(packed, starts, filter, positions, count, taps, src_width, 32768);
}
