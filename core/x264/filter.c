/* Filters over whole frames: replaces x264's hpel_filter and frame_init_lowres_core. */
#include "common.h"

/* x264's own functions, used for frames that are one macroblock wide. */
static x264_mc_functions_t scalar;

/* H.264's six-tap filter, 1 -5 20 20 -5 1, computed as x + 5 (4z - y). For pixels
 * it yields -2550 to 10710. */
INLINE v128_t six_taps(v128_t a, v128_t b, v128_t c, v128_t d, v128_t e, v128_t f) {
    v128_t x = wasm_i16x8_add(a, f), y = wasm_i16x8_add(b, e), z = wasm_i16x8_add(c, d);
    v128_t inner = wasm_i16x8_sub(wasm_i16x8_shl(z, 2), y);
    return wasm_i16x8_add(x, wasm_i16x8_mul(inner, wasm_i16x8_const_splat(5)));
}

INLINE v128_t round_taps(v128_t sum) {
    return wasm_i16x8_shr(wasm_i16x8_add(sum, wasm_i16x8_const_splat(16)), 5);
}

/* Applies the same taps to the results of the first filter, where (x - 5y + 20z + 512) >> 10 needs more than
 * 16 bits. ((x - y) / 4 - y + z) / 4 + z is the sum divided by 16; rounding down twice equals rounding down
 * once. The one addition that may overflow saturates, and only where the result is clipped anyway. */
INLINE v128_t six_taps_of_taps(const int16_t *p) {
    v128_t x = wasm_i16x8_add(wasm_v128_load(p - 2), wasm_v128_load(p + 3));
    v128_t y = wasm_i16x8_add(wasm_v128_load(p - 1), wasm_v128_load(p + 2));
    v128_t z = wasm_i16x8_add(wasm_v128_load(p), wasm_v128_load(p + 1));
    v128_t sum = wasm_i16x8_sub(wasm_i16x8_shr(wasm_i16x8_sub(x, y), 2), y);
    sum = wasm_i16x8_add(wasm_i16x8_shr(wasm_i16x8_add_sat(sum, z), 2), z);
    return wasm_i16x8_shr(wasm_i16x8_add(sum, wasm_i16x8_const_splat(32)), 6);
}

INLINE v128_t taps_down(const pixel *p, intptr_t stride) {
    return six_taps(widen8(p - 2 * stride), widen8(p - stride), widen8(p), widen8(p + stride),
                    widen8(p + 2 * stride), widen8(p + 3 * stride));
}

INLINE v128_t taps_across(const pixel *p) {
    return six_taps(widen8(p - 2), widen8(p - 1), widen8(p), widen8(p + 1), widen8(p + 2), widen8(p + 3));
}

/* Computes the samples halfway between pixels: to the right (h), below (v) and diagonally (c). sums
 * holds a row of vertical sums with 8 columns of margin on either side; c needs 2 of them on the left
 * and 3 on the right. x264's own function also writes 2 columns of v to the left of the row and 3 to the
 * right, which nothing reads. */
static void half_pels(pixel *h, pixel *v, pixel *c, pixel *src, intptr_t stride, int width, int height,
                      int16_t *sums) {
    sums += 8;
    for (int y = 0; y < height; y++) {
        wasm_v128_store(sums - 8, taps_down(src - 8, stride));
        wasm_v128_store(sums + width, taps_down(src + width, stride));
        for (int x = 0; x < width; x += 8) {
            v128_t down = taps_down(src + x, stride);
            wasm_v128_store(sums + x, down);
            store_clipped(v + x, round_taps(down), 8);
        }
        for (int x = 0; x < width; x += 8) {
            store_clipped(c + x, six_taps_of_taps(sums + x), 8);
            store_clipped(h + x, round_taps(taps_across(src + x)), 8);
        }
        h += stride;
        v += stride;
        c += stride;
        src += stride;
    }
}

/* Averages each pixel with the one below, then horizontal neighbours; each average rounds up, as in x264. */
INLINE v128_t mean_of_four(const pixel *upper, const pixel *lower) {
    v128_t here = wasm_u8x16_avgr(wasm_v128_load(upper), wasm_v128_load(lower));
    v128_t right = wasm_u8x16_avgr(wasm_v128_load(upper + 1), wasm_v128_load(lower + 1));
    return wasm_u8x16_avgr(here, right);
}

/* Splits the averages: even columns are those at full pixels, odd columns those half a pixel to the right. */
INLINE void halve_columns(pixel *full, pixel *right, const pixel *upper, const pixel *lower) {
    v128_t a = mean_of_four(upper, lower), b = mean_of_four(upper + 16, lower + 16);
    wasm_v128_store(full, even_bytes(a, b));
    wasm_v128_store(right, odd_bytes(a, b));
}

static void half_size(pixel *src, pixel *full, pixel *h, pixel *v, pixel *c, intptr_t src_stride,
                      intptr_t dst_stride, int width, int height) {
    if (width < 16) {
        scalar.frame_init_lowres_core(src, full, h, v, c, src_stride, dst_stride, width, height);
        return;
    }
    for (int y = 0; y < height; y++) {
        const pixel *row1 = src + src_stride, *row2 = row1 + src_stride;
        for (int next = 0; next < width; next += 16) {
            int x = X264_MIN(next, width - 16); /* the last step may overlap the one before */
            halve_columns(full + x, h + x, src + 2 * x, row1 + 2 * x);
            halve_columns(v + x, c + x, row1 + 2 * x, row2 + 2 * x);
        }
        src += 2 * src_stride;
        full += dst_stride;
        h += dst_stride;
        v += dst_stride;
        c += dst_stride;
    }
}

void simd_set_filters(x264_mc_functions_t *table) {
    scalar = *table;
    table->hpel_filter = half_pels;
    table->frame_init_lowres_core = half_size;
}
