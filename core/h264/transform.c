/* Inverse transforms, which add residuals to pixels and clear the coefficients. The sums of the last pass
 * have 32 bits, as in the scalar functions, because those of a damaged stream may exceed 16 bits. */
#include "common.h"
#include "libavcodec/h264dec.h"

/* Keeps the lower 16 bits of each 32-bit lane, as a store to int16_t does. */
INLINE v128_t truncate_lanes(v128_t low, v128_t high) {
    return wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}

INLINE void add_row(uint8_t *dst, v128_t residual, int width) {
    v128_t pixels = width == 8 ? widen8(dst) : widen4(dst);
    store_row(dst, to_pixels(wasm_i16x8_add_sat(pixels, residual)), width);
}

static void add_4x4(uint8_t *dst, int16_t *block, int stride) {
    v128_t r01 = wasm_v128_load(block), r23 = wasm_v128_load(block + 8);
    v128_t r0 = wasm_i16x8_add(r01, wasm_i16x8_const(32, 0, 0, 0, 0, 0, 0, 0)), r1 = high64(r01, r01);
    v128_t r2 = r23, r3 = high64(r23, r23);
    wasm_v128_store(block, zero());
    wasm_v128_store(block + 8, zero());

    v128_t sum = wasm_i16x8_add(r0, r2), difference = wasm_i16x8_sub(r0, r2);
    v128_t odd_difference = wasm_i16x8_sub(wasm_i16x8_shr(r1, 1), r3);
    v128_t odd_sum = wasm_i16x8_add(r1, wasm_i16x8_shr(r3, 1));
    v128_t rows01 = low16(wasm_i16x8_add(sum, odd_sum), wasm_i16x8_add(difference, odd_difference));
    v128_t rows23 = low16(wasm_i16x8_sub(difference, odd_difference), wasm_i16x8_sub(sum, odd_sum));
    v128_t columns01 = low32(rows01, rows23), columns23 = high32(rows01, rows23);

    v128_t c0 = wasm_i32x4_extend_low_i16x8(columns01), c1 = wasm_i32x4_extend_high_i16x8(columns01);
    v128_t c2 = wasm_i32x4_extend_low_i16x8(columns23), c3 = wasm_i32x4_extend_high_i16x8(columns23);
    sum = wasm_i32x4_add(c0, c2);
    difference = wasm_i32x4_sub(c0, c2);
    odd_difference = wasm_i32x4_sub(wasm_i32x4_shr(c1, 1), c3);
    odd_sum = wasm_i32x4_add(c1, wasm_i32x4_shr(c3, 1));
    v128_t out[4] = {wasm_i32x4_add(sum, odd_sum), wasm_i32x4_add(difference, odd_difference),
                     wasm_i32x4_sub(difference, odd_difference), wasm_i32x4_sub(sum, odd_sum)};
    for (int y = 0; y < 4; y++) {
        v128_t residual = wasm_i32x4_shr(out[y], 6);
        add_row(dst + y * stride, wasm_i16x8_narrow_i32x4(residual, residual), 4);
    }
}

/* Returns sum + c + (c >> 1), a pattern of the odd coefficients. */
INLINE v128_t one_and_a_half(v128_t sum, v128_t c) {
    return wasm_i32x4_add(wasm_i32x4_add(sum, c), wasm_i32x4_shr(c, 1));
}

/* Transforms four columns of eight values. */
INLINE void transform_8(v128_t r[8]) {
    v128_t a0 = wasm_i32x4_add(r[0], r[4]), a2 = wasm_i32x4_sub(r[0], r[4]);
    v128_t a4 = wasm_i32x4_sub(wasm_i32x4_shr(r[2], 1), r[6]);
    v128_t a6 = wasm_i32x4_add(wasm_i32x4_shr(r[6], 1), r[2]);
    v128_t b0 = wasm_i32x4_add(a0, a6), b2 = wasm_i32x4_add(a2, a4);
    v128_t b4 = wasm_i32x4_sub(a2, a4), b6 = wasm_i32x4_sub(a0, a6);
    v128_t a1 = wasm_i32x4_sub(wasm_i32x4_sub(r[5], r[3]), one_and_a_half(zero(), r[7]));
    v128_t a3 = wasm_i32x4_sub(wasm_i32x4_add(r[1], r[7]), one_and_a_half(zero(), r[3]));
    v128_t a5 = one_and_a_half(wasm_i32x4_sub(r[7], r[1]), r[5]);
    v128_t a7 = one_and_a_half(wasm_i32x4_add(r[3], r[5]), r[1]);
    v128_t b1 = wasm_i32x4_add(wasm_i32x4_shr(a7, 2), a1), b3 = wasm_i32x4_add(wasm_i32x4_shr(a5, 2), a3);
    v128_t b5 = wasm_i32x4_sub(wasm_i32x4_shr(a3, 2), a5), b7 = wasm_i32x4_sub(a7, wasm_i32x4_shr(a1, 2));
    r[0] = wasm_i32x4_add(b0, b7);
    r[1] = wasm_i32x4_add(b2, b5);
    r[2] = wasm_i32x4_add(b4, b3);
    r[3] = wasm_i32x4_add(b6, b1);
    r[4] = wasm_i32x4_sub(b6, b1);
    r[5] = wasm_i32x4_sub(b4, b3);
    r[6] = wasm_i32x4_sub(b2, b5);
    r[7] = wasm_i32x4_sub(b0, b7);
}

static void add_8x8(uint8_t *dst, int16_t *block, int stride) {
    v128_t left[8], right[8], rows[8];
    block[0] += 32;
    for (int i = 0; i < 8; i++) {
        rows[i] = wasm_v128_load(block + 8 * i);
        left[i] = wasm_i32x4_extend_low_i16x8(rows[i]);
        right[i] = wasm_i32x4_extend_high_i16x8(rows[i]);
        wasm_v128_store(block + 8 * i, zero());
    }
    transform_8(left);
    transform_8(right);
    for (int i = 0; i < 8; i++)
        rows[i] = truncate_lanes(left[i], right[i]);
    transpose_8x8(rows);
    for (int i = 0; i < 8; i++) {
        left[i] = wasm_i32x4_extend_low_i16x8(rows[i]);
        right[i] = wasm_i32x4_extend_high_i16x8(rows[i]);
    }
    transform_8(left);
    transform_8(right);
    for (int i = 0; i < 8; i++) {
        v128_t residual = wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(left[i], 6), wasm_i32x4_shr(right[i], 6));
        add_row(dst + i * stride, residual, 8);
    }
}

INLINE void add_mean(uint8_t *dst, int16_t *block, int stride, int size) {
    v128_t residual = wasm_i16x8_splat((block[0] + 32) >> 6);
    block[0] = 0;
    for (int y = 0; y < size; y++)
        add_row(dst + y * stride, residual, size);
}

static void add_mean_4x4(uint8_t *dst, int16_t *block, int stride) {
    add_mean(dst, block, stride, 4);
}

static void add_mean_8x8(uint8_t *dst, int16_t *block, int stride) {
    add_mean(dst, block, stride, 8);
}

/* If a block has a single coefficient and its DC is not zero, that coefficient is the DC. */
static void add_luma(uint8_t *dst, const int *offsets, int16_t *block, int stride, const uint8_t coded[5 * 8]) {
    for (int i = 0; i < 16; i++, block += 16) {
        int count = coded[scan8[i]];
        if (count == 1 && block[0])
            add_mean_4x4(dst + offsets[i], block, stride);
        else if (count)
            add_4x4(dst + offsets[i], block, stride);
    }
}

static void add_luma_8x8(uint8_t *dst, const int *offsets, int16_t *block, int stride,
                         const uint8_t coded[5 * 8]) {
    for (int i = 0; i < 16; i += 4, block += 64) {
        int count = coded[scan8[i]];
        if (count == 1 && block[0])
            add_mean_8x8(dst + offsets[i], block, stride);
        else if (count)
            add_8x8(dst + offsets[i], block, stride);
    }
}

/* Adds blocks whose DC is coded separately. */
INLINE void add_blocks(uint8_t *dst, const int *offsets, int16_t *block, int stride, const uint8_t *coded, int first,
                       int count) {
    for (int i = first; i < first + count; i++) {
        if (coded[scan8[i]])
            add_4x4(dst + offsets[i], block + i * 16, stride);
        else if (block[i * 16])
            add_mean_4x4(dst + offsets[i], block + i * 16, stride);
    }
}

static void add_luma_intra(uint8_t *dst, const int *offsets, int16_t *block, int stride,
                           const uint8_t coded[5 * 8]) {
    add_blocks(dst, offsets, block, stride, coded, 0, 16);
}

static void add_chroma(uint8_t **dst, const int *offsets, int16_t *block, int stride,
                       const uint8_t coded[15 * 8]) {
    add_blocks(dst[0], offsets, block, stride, coded, 16, 4);
    add_blocks(dst[1], offsets, block, stride, coded, 32, 4);
}

void simd_set_transforms(H264DSPContext *c, int chroma_format) {
    c->h264_idct_add = add_4x4;
    c->h264_idct8_add = add_8x8;
    c->h264_idct_dc_add = add_mean_4x4;
    c->h264_idct8_dc_add = add_mean_8x8;
    c->h264_idct_add16 = add_luma;
    c->h264_idct8_add4 = add_luma_8x8;
    c->h264_idct_add16intra = add_luma_intra;
    if (chroma_format <= 1)
        c->h264_idct_add8 = add_chroma;
}
