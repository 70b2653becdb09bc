/* Scales rows of samples of 9 to 16 bits: stands in for swscale's hScale16To15.
 *
 * A vector holds four samples for each of two results, and dot products take them as signed, less 32768. What
 * that leaves out of a sum depends on the filter alone: a packed group begins with it, as four numbers of 32
 * bits, and goes on with two vectors of coefficients for every four taps. */
#include "common.h"

#define BLOCK 4 /* taps of a result in a vector */

INLINE v128_t load_pair(const uint16_t *a, const uint16_t *b) {
    v128_t samples = wasm_v128_load64_lane(b, wasm_v128_load64_zero(a), 1);
    return wasm_v128_xor(samples, wasm_i16x8_const_splat(INT16_MIN));
}

INLINE v128_t scale_group(const uint16_t *src, const int16_t *filter, const int32_t *starts, int blocks) {
    v128_t bias = wasm_v128_load(filter), left = wasm_i32x4_const_splat(0), right = left;
    for (int i = 0; i < blocks; i++) {
        v128_t samples = load_pair(src + starts[0], src + starts[1]);
        left = wasm_i32x4_add(left, wasm_i32x4_dot_i16x8(samples, wasm_v128_load(filter + LANES)));
        samples = load_pair(src + starts[2], src + starts[3]);
        right = wasm_i32x4_add(right, wasm_i32x4_dot_i16x8(samples, wasm_v128_load(filter + 2 * LANES)));
        src += BLOCK;
        filter += 2 * LANES;
    }
    v128_t even = wasm_i32x4_shuffle(left, right, 0, 2, 4, 6),
           odd = wasm_i32x4_shuffle(left, right, 1, 3, 5, 7);
    return wasm_i32x4_add(wasm_i32x4_add(even, odd), bias);
}

/* As the scalar function does it: limits above, wraps around below. */
INLINE v128_t to_15(v128_t low, v128_t high, int shift) {
    v128_t most = wasm_i32x4_const_splat(INT16_MAX);
    low = wasm_i32x4_min(wasm_i32x4_shr(low, shift), most);
    high = wasm_i32x4_min(wasm_i32x4_shr(high, shift), most);
    return wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}

INLINE void scale_row(int16_t *dst, int width, const uint16_t *src, const int16_t *filter,
                      const int32_t *starts, int blocks, int shift) {
    int size = LANES * (2 * blocks + 1);
    for (int x = 0; x < width; x += 8) {
        v128_t low = scale_group(src, filter, starts + x, blocks);
        v128_t high = scale_group(src, filter + size, starts + x + GROUP, blocks);
        store_results(dst + x, to_15(low, high, shift), width - x);
        filter += 2 * size;
    }
}

/* Converted to 16 bits, the samples of RGB have 14 bits; others keep their depth. */
static int shift_of(enum AVPixelFormat format) {
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    int depth = descriptor->comp[0].depth;
    if (depth < 16)
        return isAnyRGB(format) || format == AV_PIX_FMT_PAL8 ? 13 : depth - 1;
    return descriptor->flags & AV_PIX_FMT_FLAG_FLOAT ? 15 : depth - 1;
}

/* With the number of taps known, the loop over them is unrolled. */
void simd_scale_16_to_15(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                         const int32_t *starts, int taps) {
    int blocks = (taps + BLOCK - 1) / BLOCK, shift = shift_of(c->srcFormat);
    if (blocks == 1)
        scale_row(dst, width, (const uint16_t *)src, filter, starts, 1, shift);
    else if (blocks == 2)
        scale_row(dst, width, (const uint16_t *)src, filter, starts, 2, shift);
    else
        scale_row(dst, width, (const uint16_t *)src, filter, starts, blocks, shift);
}

int simd_packed_size_16(int taps) {
    return LANES * (2 * ((taps + BLOCK - 1) / BLOCK) + 1);
}

int simd_pack_16(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                 int taps, int src_width) {
    int last = src_width - FFALIGN(taps, BLOCK);
    if (last < 0)
        return 0;
    for (int k = 0; k < count; k++) {
        uint32_t bias = 0;
        /* A filter may have taps to spare, at its end or, where the row ends, at its beginning. */
        starts[k] = FFMIN(positions[k], last);
        for (int i = 0; i < taps; i++) {
            int at = i + positions[k] - starts[k];
            packed[LANES * (1 + at / BLOCK * 2 + k / 2) + k % 2 * BLOCK + at % BLOCK] = filter[k * taps + i];
            bias += 32768u * filter[k * taps + i];
        }
        memcpy(packed + 2 * k, &bias, sizeof(bias));
    }
    return 1;
}
