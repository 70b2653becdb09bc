/* Weighted prediction. */
#include "common.h"

/* Computes ((pixel * weight + rounding) >> denominator) + offset. A weight of -128 to 128 keeps
 * the product within 16 bits. */
INLINE void weight_rows(uint8_t *block, ptrdiff_t stride, int height, int denominator, int weight, int offset,
                        int width) {
    v128_t scale = wasm_i16x8_splat(weight), shift = wasm_i16x8_splat(offset);
    v128_t rounding = wasm_i16x8_splat(denominator ? 1 << (denominator - 1) : 0);
    for (int y = 0; y < height; y++, block += stride)
        for (int x = 0; x < width; x += 8) {
            v128_t pixels = width == 4 ? widen4(block) : widen8(block + x);
            v128_t product = wasm_i16x8_add(wasm_i16x8_mul(pixels, scale), rounding);
            v128_t sum = wasm_i16x8_add_sat(wasm_i16x8_shr(product, denominator), shift);
            store_row(block + x, to_pixels(sum), width == 4 ? 4 : 8);
        }
}

/* Sums the products in 32 bits, as two weights of 128 exceed 16. */
INLINE v128_t weigh_both(v128_t pairs_low, v128_t pairs_high, v128_t weights, v128_t offset, int shift) {
    v128_t low = wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_low, weights), offset);
    v128_t high = wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_high, weights), offset);
    return wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(low, shift), wasm_i32x4_shr(high, shift));
}

INLINE void biweight_rows(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int height, int denominator,
                          int weight_dst, int weight_src, int offset, int width) {
    v128_t weights = wasm_i32x4_splat((weight_dst & 0xffff) | (uint32_t)weight_src << 16);
    v128_t rounding = wasm_i32x4_splat((uint32_t)((offset + 1) | 1) << denominator);
    for (int y = 0; y < height; y++, dst += stride, src += stride)
        for (int x = 0; x < width; x += 8) {
            v128_t a = width == 4 ? widen4(dst) : widen8(dst + x);
            v128_t b = width == 4 ? widen4(src) : widen8(src + x);
            v128_t sum = weigh_both(low16(a, b), high16(a, b), weights, rounding, denominator + 1);
            store_row(dst + x, to_pixels(sum), width == 4 ? 4 : 8);
        }
}

#define WEIGHT(width)                                                                                        \
    static void weight_##width(uint8_t *block, ptrdiff_t stride, int height, int denominator, int weight,    \
                               int offset) {                                                                 \
        weight_rows(block, stride, height, denominator, weight, offset, width);                              \
    }                                                                                                        \
    static void biweight_##width(uint8_t *dst, uint8_t *src, ptrdiff_t stride, int height, int denominator,  \
                                 int weight_dst, int weight_src, int offset) {                               \
        biweight_rows(dst, src, stride, height, denominator, weight_dst, weight_src, offset, width);         \
    }

WEIGHT(16)
WEIGHT(8)
WEIGHT(4)

void simd_set_h264_weights(H264DSPContext *c) {
    c->weight_h264_pixels_tab[0] = weight_16;
    c->weight_h264_pixels_tab[1] = weight_8;
    c->weight_h264_pixels_tab[2] = weight_4;
    c->biweight_h264_pixels_tab[0] = biweight_16;
    c->biweight_h264_pixels_tab[1] = biweight_8;
    c->biweight_h264_pixels_tab[2] = biweight_4;
}
