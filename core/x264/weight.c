/* Averages of two predictions and weighting of one: replaces x264's pixel_avg and mc_weight. */
#include "blend.h"

/* The two weights add up to 64, so the weighted sum stays within 16 bits although
 * one weight may be negative. */
INLINE v128_t mix(v128_t a, v128_t b, v128_t weight_a, v128_t weight_b) {
    v128_t sum = wasm_i16x8_add(wasm_i16x8_mul(a, weight_a), wasm_i16x8_mul(b, weight_b));
    return wasm_i16x8_shr(wasm_i16x8_add(sum, wasm_i16x8_const_splat(32)), 6);
}

INLINE void mix_rows(pixel *dst, intptr_t dst_stride, const pixel *a, intptr_t stride_a, const pixel *b,
                     intptr_t stride_b, int weight, int width, int height) {
    v128_t weight_a = wasm_i16x8_splat(weight), weight_b = wasm_i16x8_splat(64 - weight);
    for (int y = 0; y < height; y++) {
        if (width == 4)
            store_clipped(dst, mix(widen4(a), widen4(b), weight_a, weight_b), 4);
        for (int x = 0; x + 8 <= width; x += 8)
            store_clipped(dst + x, mix(widen8(a + x), widen8(b + x), weight_a, weight_b), 8);
        dst += dst_stride;
        a += stride_a;
        b += stride_b;
    }
}

#define AVERAGE(w, h)                                                                                        \
    static void average_##w##x##h(pixel *dst, intptr_t dst_stride, pixel *a, intptr_t stride_a, pixel *b,    \
                                  intptr_t stride_b, int weight) {                                           \
        if (weight == 32)                                                                                    \
            average_rows(dst, dst_stride, a, stride_a, b, stride_b, w, h);                                   \
        else                                                                                                 \
            mix_rows(dst, dst_stride, a, stride_a, b, stride_b, weight, w, h);                               \
    }

#define WEIGHT(w)                                                                                            \
    static void weight_##w(pixel *dst, intptr_t dst_stride, pixel *src, intptr_t src_stride,                 \
                           const x264_weight_t *weight, int height) {                                        \
        weight_rows(dst, dst_stride, src, src_stride, weight, w, height);                                    \
    }

AVERAGE(16, 16)
AVERAGE(16, 8)
AVERAGE(8, 16)
AVERAGE(8, 8)
AVERAGE(8, 4)
AVERAGE(4, 16)
AVERAGE(4, 8)
AVERAGE(4, 4)
AVERAGE(4, 2)
WEIGHT(2)
WEIGHT(4)
WEIGHT(8)
WEIGHT(12)
WEIGHT(16)
WEIGHT(20)

static weight_fn_t weight_by_width[6] = {weight_2, weight_4, weight_8, weight_12, weight_16, weight_20};

void simd_set_weights(x264_mc_functions_t *table) {
    table->avg[PIXEL_16x16] = average_16x16;
    table->avg[PIXEL_16x8] = average_16x8;
    table->avg[PIXEL_8x16] = average_8x16;
    table->avg[PIXEL_8x8] = average_8x8;
    table->avg[PIXEL_8x4] = average_8x4;
    table->avg[PIXEL_4x16] = average_4x16;
    table->avg[PIXEL_4x8] = average_4x8;
    table->avg[PIXEL_4x4] = average_4x4;
    table->avg[PIXEL_4x2] = average_4x2;
    table->weight = table->offsetadd = table->offsetsub = weight_by_width;
}
