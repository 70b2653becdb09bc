/* Averages and weighted copies of rows of pixels, which motion compensation consists of. */
#ifndef CORE_X264_BLEND_H
#define CORE_X264_BLEND_H

#include "common.h"

/* width is 16, 8 or 4, and a constant at every call. */
INLINE void average_rows(pixel *dst, intptr_t dst_stride, const pixel *a, intptr_t stride_a, const pixel *b,
                         intptr_t stride_b, int width, int height) {
    for (int y = 0; y < height; y++) {
        store_row(dst, wasm_u8x16_avgr(load_row(a, width), load_row(b, width)), width);
        dst += dst_stride;
        a += stride_a;
        b += stride_b;
    }
}

/* The weighted pixel is ((pixel * scale + rounding) >> denominator) + offset. A scale of -128 to 127
 * keeps the product within 16 bits. Adding the offset saturates, which is harmless because the
 * result is clipped to a pixel. */
typedef struct {
    v128_t scale, rounding, offset;
    int denominator;
} weights;

INLINE weights load_weights(const x264_weight_t *weight) {
    int denominator = weight->i_denom;
    return (weights){
        .scale = wasm_i16x8_splat(weight->i_scale),
        .rounding = wasm_i16x8_splat(denominator > 0 ? 1 << (denominator - 1) : 0),
        .offset = wasm_i16x8_splat(weight->i_offset),
        .denominator = denominator,
    };
}

INLINE v128_t apply_weights(v128_t pixels, const weights *w) {
    v128_t product = wasm_i16x8_add(wasm_i16x8_mul(pixels, w->scale), w->rounding);
    return wasm_i16x8_add_sat(wasm_i16x8_shr(product, w->denominator), w->offset);
}

/* Takes any even width; x264 asks for 2 to 20. dst and src may be the same. */
INLINE void weight_rows(pixel *dst, intptr_t dst_stride, const pixel *src, intptr_t src_stride,
                        const x264_weight_t *weight, int width, int height) {
    weights w = load_weights(weight);
    for (int y = 0; y < height; y++) {
        int x = 0;
        for (; x + 8 <= width; x += 8)
            store_clipped(dst + x, apply_weights(widen8(src + x), &w), 8);
        if (width & 4) {
            store_clipped(dst + x, apply_weights(widen4(src + x), &w), 4);
            x += 4;
        }
        if (width & 2) {
            v128_t pair = wasm_u16x8_extend_low_u8x16(wasm_v128_load16_splat(src + x));
            store_clipped(dst + x, apply_weights(pair, &w), 2);
        }
        dst += dst_stride;
        src += src_stride;
    }
}

#endif
