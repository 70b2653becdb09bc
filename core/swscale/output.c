/* Scales vertically and rounds to 8 or 10 bits: replaces swscale's yuv2planeX and yuv2plane1. */
#include "common.h"

void __real_ff_sws_init_output_funcs(SwsContext *c, yuv2planar1_fn *plane1, yuv2planarX_fn *planeX,
                                     yuv2interleavedX_fn *nv12, yuv2packed1_fn *packed1,
                                     yuv2packed2_fn *packed2, yuv2packedX_fn *packedX, yuv2anyX_fn *any);

/* swscale's own functions, used for rows narrower than one step. */
static yuv2planarX_fn scalar_planeX;
static yuv2planar1_fn scalar_plane1;
static yuv2planarX_fn scalar_planeX_10;

/* Adds two taps to the sums of 16 columns, which take four vectors. */
INLINE void add_pair(v128_t sums[4], const int16_t *upper, const int16_t *lower, v128_t coefficients) {
    for (int half = 0; half < 2; half++) {
        v128_t a = wasm_v128_load(upper + 8 * half), b = wasm_v128_load(lower + 8 * half);
        v128_t low = wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        v128_t high = wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        sums[2 * half] = wasm_i32x4_add(sums[2 * half], wasm_i32x4_dot_i16x8(low, coefficients));
        sums[2 * half + 1] = wasm_i32x4_add(sums[2 * half + 1], wasm_i32x4_dot_i16x8(high, coefficients));
    }
}

INLINE void sum_16(v128_t sums[4], const int16_t *filter, int taps, const int16_t **src, int x, int shift) {
    int i = 0;
    for (; i + 2 <= taps; i += 2)
        add_pair(sums, src[i] + x, src[i + 1] + x, wasm_v128_load32_splat(filter + i));
    if (i < taps)
        add_pair(sums, src[i] + x, src[i] + x, wasm_i32x4_splat((uint16_t)filter[i]));
    for (int k = 0; k < 4; k++)
        sums[k] = wasm_i32x4_shr(sums[k], shift);
}

INLINE void blend_16(const int16_t *filter, int taps, const int16_t **src, uint8_t *dst, int x,
                     const v128_t starts[2]) {
    v128_t sums[4] = {starts[0], starts[1], starts[0], starts[1]};
    sum_16(sums, filter, taps, src, x, 19);
    v128_t left = wasm_i16x8_narrow_i32x4(sums[0], sums[1]);
    v128_t right = wasm_i16x8_narrow_i32x4(sums[2], sums[3]);
    wasm_v128_store(dst + x, wasm_u8x16_narrow_i16x8(left, right));
}

/* Returns the dither of eight columns, the first of which has number `column`. */
INLINE v128_t dither_row(const uint8_t *dither, int column) {
    uint8_t twice[16];
    memcpy(twice, dither, 8);
    memcpy(twice + 8, dither, 8);
    return wasm_u16x8_load8x8(twice + (column & 7));
}

INLINE void start_sums(v128_t sums[2], const uint8_t *dither, int column) {
    v128_t row = dither_row(dither, column);
    sums[0] = wasm_i32x4_shl(wasm_u32x4_extend_low_u16x8(row), 12);
    sums[1] = wasm_i32x4_shl(wasm_u32x4_extend_high_u16x8(row), 12);
}

static void blend_rows(const int16_t *filter, int taps, const int16_t **src, uint8_t *dst, int width,
                       const uint8_t *dither, int offset) {
    v128_t starts[2];
    int x = 0;
    if (width < 16) {
        scalar_planeX(filter, taps, src, dst, width, dither, offset);
        return;
    }
    start_sums(starts, dither, offset);
    for (; x + 16 <= width; x += 16)
        blend_16(filter, taps, src, dst, x, starts);
    if (x < width) {
        x = width - 16; /* overlaps the step before */
        start_sums(starts, dither, offset + x);
        blend_16(filter, taps, src, dst, x, starts);
    }
}

INLINE void blend_16_to_10(const int16_t *filter, int taps, const int16_t **src, uint16_t *dst, int x) {
    v128_t half = wasm_i32x4_splat(1 << 16), most = wasm_u16x8_splat(1023);
    v128_t sums[4] = {half, half, half, half};
    sum_16(sums, filter, taps, src, x, 17);
    for (int k = 0; k < 2; k++) {
        v128_t samples = wasm_u16x8_narrow_i32x4(sums[2 * k], sums[2 * k + 1]);
        wasm_v128_store(dst + x + 8 * k, wasm_u16x8_min(samples, most));
    }
}

/* Rounds to 10 bits, without dither. */
static void blend_rows_to_10(const int16_t *filter, int taps, const int16_t **src, uint8_t *dst, int width,
                             const uint8_t *dither, int offset) {
    int x = 0;
    if (width < 16) {
        scalar_planeX_10(filter, taps, src, dst, width, dither, offset);
        return;
    }
    for (; x + 16 <= width; x += 16)
        blend_16_to_10(filter, taps, src, (uint16_t *)dst, x);
    if (x < width)
        blend_16_to_10(filter, taps, src, (uint16_t *)dst, width - 16); /* overlaps the step before */
}

/* The sum saturates only where the result is 255 in any case. */
INLINE void round_16(const int16_t *src, uint8_t *dst, v128_t dither) {
    v128_t left = wasm_i16x8_shr(wasm_i16x8_add_sat(wasm_v128_load(src), dither), 7);
    v128_t right = wasm_i16x8_shr(wasm_i16x8_add_sat(wasm_v128_load(src + 8), dither), 7);
    wasm_v128_store(dst, wasm_u8x16_narrow_i16x8(left, right));
}

static void round_row(const int16_t *src, uint8_t *dst, int width, const uint8_t *dither, int offset) {
    int x = 0;
    if (width < 16) {
        scalar_plane1(src, dst, width, dither, offset);
        return;
    }
    v128_t row = dither_row(dither, offset);
    for (; x + 16 <= width; x += 16)
        round_16(src + x, dst + x, row);
    if (x < width) {
        x = width - 16; /* overlaps the step before */
        round_16(src + x, dst + x, dither_row(dither, offset + x));
    }
}

void __wrap_ff_sws_init_output_funcs(SwsContext *c, yuv2planar1_fn *plane1, yuv2planarX_fn *planeX,
                                     yuv2interleavedX_fn *nv12, yuv2packed1_fn *packed1,
                                     yuv2packed2_fn *packed2, yuv2packedX_fn *packedX, yuv2anyX_fn *any) {
    __real_ff_sws_init_output_funcs(c, plane1, planeX, nv12, packed1, packed2, packedX, any);
    if (c->dstFormat == AV_PIX_FMT_YUV444P10) { /* the input of tone mapping */
        scalar_planeX_10 = *planeX;
        *planeX = blend_rows_to_10;
    }
    if (av_pix_fmt_desc_get(c->dstFormat)->comp[0].depth > 8)
        return;
    scalar_planeX = *planeX;
    scalar_plane1 = *plane1;
    *planeX = blend_rows;
    *plane1 = round_row;
}
