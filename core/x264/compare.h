/* The two measures of the distance between blocks of pixels: the sum of absolute differences (SAD) and of
 * Hadamard-transformed differences (SATD). Width and height are constants at every call. */
#ifndef CORE_X264_COMPARE_H
#define CORE_X264_COMPARE_H

#include "common.h"

/* Loads 16 pixels: one row of 16, two rows of 8 or four rows of 4. */
INLINE v128_t load_rows(const pixel *p, intptr_t stride, int width) {
    if (width == 16)
        return wasm_v128_load(p);
    return width == 8 ? load_2x8(p, stride) : load_4x4(p, stride);
}

/* Adds absolute differences to 16-bit sums; 16 rows add at most 16 * 2 * 255 to a lane. */
INLINE v128_t add_differences(v128_t sums, v128_t a, v128_t b) {
    return wasm_i16x8_add(sums, wasm_u16x8_extadd_pairwise_u8x16(abs_difference(a, b)));
}

INLINE int sad_block(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b, int width,
                     int height) {
    int rows = 16 / width;
    v128_t sums = zero();
    for (int y = 0; y < height; y += rows) {
        sums = add_differences(sums, load_rows(a, stride_a, width), load_rows(b, stride_b, width));
        a += rows * stride_a;
        b += rows * stride_b;
    }
    return sum_u16(sums);
}

/* The 4x4 Hadamard transform of two blocks side by side, without its last step, which turns lanes a and b
 * into a+b and a-b. As |a+b| + |a-b| is twice max(|a|,|b|), the sum of these maxima is half the sum of the
 * transform's absolute values, which is the SATD. No lane of a or b exceeds 8 * 255. */
INLINE void half_hadamard_pair(const v128_t rows[4], v128_t *left, v128_t *right) {
    v128_t r0 = rows[0], r1 = rows[1], r2 = rows[2], r3 = rows[3];
    butterfly(&r0, &r1);
    butterfly(&r2, &r3);
    butterfly(&r0, &r2);
    butterfly(&r1, &r3);
    v128_t a = low16(r0, r1), b = high16(r0, r1), c = low16(r2, r3), d = high16(r2, r3);
    v128_t s0 = low64(a, c), s1 = high64(a, c), s2 = low64(b, d), s3 = high64(b, d);
    butterfly(&s0, &s1);
    butterfly(&s2, &s3);
    s0 = wasm_i16x8_abs(s0);
    s1 = wasm_i16x8_abs(s1);
    s2 = wasm_i16x8_abs(s2);
    s3 = wasm_i16x8_abs(s3);
    *left = wasm_i16x8_max(even32(s0, s1), odd32(s0, s1));
    *right = wasm_i16x8_max(even32(s2, s3), odd32(s2, s3));
}

INLINE v128_t half_hadamard_sums(const v128_t rows[4]) {
    v128_t left, right;
    half_hadamard_pair(rows, &left, &right);
    return wasm_i16x8_add(left, right);
}

INLINE v128_t difference8(const pixel *a, const pixel *b) {
    return wasm_i16x8_sub(widen8(a), widen8(b));
}

INLINE v128_t satd_lanes_8x4(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b) {
    v128_t r[4];
    for (int y = 0; y < 4; y++)
        r[y] = difference8(a + y * stride_a, b + y * stride_b);
    return half_hadamard_sums(r);
}

/* Returns the differences of two rows of 4 pixels side by side; the second row is below_a
 * after a and below_b after b. */
INLINE v128_t difference4_pair(const pixel *a, intptr_t below_a, const pixel *b, intptr_t below_b) {
    v128_t rows_a = wasm_v128_load32_lane(a + below_a, wasm_v128_load32_zero(a), 1);
    v128_t rows_b = wasm_v128_load32_lane(b + below_b, wasm_v128_load32_zero(b), 1);
    return wasm_i16x8_sub(wasm_u16x8_extend_low_u8x16(rows_a), wasm_u16x8_extend_low_u8x16(rows_b));
}

INLINE v128_t satd_lanes_4x8(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b) {
    v128_t r[4];
    for (int y = 0; y < 4; y++)
        r[y] = difference4_pair(a + y * stride_a, 4 * stride_a, b + y * stride_b, 4 * stride_b);
    return half_hadamard_sums(r);
}

/* The SATD of one 4x4 block, with rows 0 and 1 in one vector and 2 and 3 in the other. The two operands of
 * the last step are the halves of a 32-bit lane; after the shift, the lower half holds their maximum. */
INLINE int satd_sum_4x4(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b) {
    v128_t r01 = difference4_pair(a, stride_a, b, stride_b);
    v128_t r23 = difference4_pair(a + 2 * stride_a, stride_a, b + 2 * stride_b, stride_b);
    butterfly(&r01, &r23);
    v128_t upper = low64(r01, r23), lower = high64(r01, r23);
    butterfly(&upper, &lower);
    v128_t even = even32(upper, lower), odd = odd32(upper, lower);
    butterfly(&even, &odd);
    even = wasm_i16x8_abs(even);
    odd = wasm_i16x8_abs(odd);
    v128_t sums = wasm_i16x8_add(wasm_i16x8_max(even, wasm_u32x4_shr(even, 16)),
                                 wasm_i16x8_max(odd, wasm_u32x4_shr(odd, 16)));
    return sum_i32(wasm_v128_and(sums, wasm_i32x4_const_splat(0xffff)));
}

/* Each 8x4 block adds at most 2 * 2040 to a lane, so 16x16 pixels stay within 16 bits. */
INLINE int satd_block(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b, int width,
                      int height) {
    if (width == 4 && height == 4)
        return satd_sum_4x4(a, stride_a, b, stride_b);
    int rows = width == 4 ? 8 : 4;
    v128_t sums = zero();
    for (int y = 0; y < height; y += rows) {
        if (width == 4)
            sums = wasm_i16x8_add(sums, satd_lanes_4x8(a, stride_a, b, stride_b));
        for (int x = 0; x + 8 <= width; x += 8)
            sums = wasm_i16x8_add(sums, satd_lanes_8x4(a + x, stride_a, b + x, stride_b));
        a += rows * stride_a;
        b += rows * stride_b;
    }
    return sum_u16(sums);
}

/* The 8x8 transform, with maxima in place of its last step as above. No lane exceeds
 * 32 * 255 before that step. */
INLINE v128_t sa8d_lanes(v128_t r[8]) {
    for (int step = 1; step < 8; step *= 2)
        for (int i = 0; i < 8; i++)
            if (!(i & step))
                butterfly(&r[i], &r[i + step]);
    transpose_8x8(r);
    for (int step = 1; step < 4; step *= 2)
        for (int i = 0; i < 8; i++)
            if (!(i & step))
                butterfly(&r[i], &r[i + step]);
    v128_t sums = zero();
    for (int i = 0; i < 4; i++)
        sums = wasm_i16x8_add(sums, wasm_i16x8_max(wasm_i16x8_abs(r[i]), wasm_i16x8_abs(r[i + 4])));
    return sums;
}

INLINE int sa8d_sum(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b) {
    v128_t r[8];
    for (int y = 0; y < 8; y++)
        r[y] = difference8(a + y * stride_a, b + y * stride_b);
    return sum_u16(sa8d_lanes(r));
}

#endif
