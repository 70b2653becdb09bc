/* Scales columns and rounds to 8 bits: stands in for swscale's yuv2planeX and yuv2plane1. */
#include "common.h"

void __real_ff_sws_init_output_funcs(SwsContext *c, yuv2planar1_fn *plane1, yuv2planarX_fn *planeX,
                                     yuv2interleavedX_fn *nv12, yuv2packed1_fn *packed1,
                                     yuv2packed2_fn *packed2, yuv2packedX_fn *packedX, yuv2anyX_fn *any);

/* swscale's own functions, for rows of less than one step. */
static yuv2planarX_fn scalar_planeX;

/* Four sums of eight columns' each: dither, then the taps two by two. */
INLINE void add_pair(v128_t sums[4], const int16_t *upper, const int16_t *lower, v128_t coefficients) {
    for (int half = 0; half < 2; half++) {
        v128_t a = wasm_v128_load(upper + 8 * half), b = wasm_v128_load(lower + 8 * half);
        v128_t low = wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        v128_t high = wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        sums[2 * half] = wasm_i32x4_add(sums[2 * half], wasm_i32x4_dot_i16x8(low, coefficients));
        sums[2 * half + 1] = wasm_i32x4_add(sums[2 * half + 1], wasm_i32x4_dot_i16x8(high, coefficients));
    }
}

INLINE void blend_16(const int16_t *filter, int taps, const int16_t **src, uint8_t *dst, int x,
                     const v128_t dither[2]) {
    v128_t sums[4] = {dither[0], dither[1], dither[0], dither[1]};
    int i = 0;
    for (; i + 2 <= taps; i += 2)
        add_pair(sums, src[i] + x, src[i + 1] + x, wasm_v128_load32_splat(filter + i));
    if (i < taps)
        add_pair(sums, src[i] + x, src[i] + x, wasm_i32x4_splat((uint16_t)filter[i]));
    for (int k = 0; k < 4; k++)
        sums[k] = wasm_i32x4_shr(sums[k], 19);
    v128_t left = wasm_i16x8_narrow_i32x4(sums[0], sums[1]);
    v128_t right = wasm_i16x8_narrow_i32x4(sums[2], sums[3]);
    wasm_v128_store(dst + x, wasm_u8x16_narrow_i16x8(left, right));
}

/* The row of dither for columns that begin at `offset`. */
INLINE void load_dither(v128_t rows[2], const uint8_t *dither, int offset) {
    int32_t row[8];
    for (int i = 0; i < 8; i++)
        row[i] = dither[(i + offset) & 7] << 12;
    rows[0] = wasm_v128_load(row);
    rows[1] = wasm_v128_load(row + 4);
}

static void blend_rows(const int16_t *filter, int taps, const int16_t **src, uint8_t *dst, int width,
                       const uint8_t *dither, int offset) {
    v128_t rows[2];
    int x = 0;
    if (width < 16) {
        scalar_planeX(filter, taps, src, dst, width, dither, offset);
        return;
    }
    load_dither(rows, dither, offset);
    for (; x + 16 <= width; x += 16)
        blend_16(filter, taps, src, dst, x, rows);
    if (x < width) {
        x = width - 16; /* overlaps the step before */
        load_dither(rows, dither, offset + x);
        blend_16(filter, taps, src, dst, x, rows);
    }
}

void __wrap_ff_sws_init_output_funcs(SwsContext *c, yuv2planar1_fn *plane1, yuv2planarX_fn *planeX,
                                     yuv2interleavedX_fn *nv12, yuv2packed1_fn *packed1,
                                     yuv2packed2_fn *packed2, yuv2packedX_fn *packedX, yuv2anyX_fn *any) {
    __real_ff_sws_init_output_funcs(c, plane1, planeX, nv12, packed1, packed2, packedX, any);
    if (av_pix_fmt_desc_get(c->dstFormat)->comp[0].depth > 8)
        return;
    scalar_planeX = *planeX;
    *planeX = blend_rows;
}
