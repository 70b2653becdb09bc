/* Helpers shared by the kernels of x264 and of the H.264 and HEVC decoders: loads, stores, transposes and
 * sums over 128-bit wasm vectors. Pixels have 8 bits. */
#ifndef CORE_VECTOR_H
#define CORE_VECTOR_H

#include <stdint.h>
#include <wasm_simd128.h>

#define INLINE static inline __attribute__((always_inline))

INLINE v128_t zero(void) {
    return wasm_i32x4_const_splat(0);
}

/* Load 8 or 4 pixels into 16-bit lanes; widen4 leaves the upper four lanes zero. */
INLINE v128_t widen8(const uint8_t *p) {
    return wasm_u16x8_load8x8(p);
}

INLINE v128_t widen4(const uint8_t *p) {
    return wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p));
}

/* Load or store one row of 16, 8 or 4 bytes; store_row also stores 2. Callers pass a constant width,
 * so the branches fold away. */
INLINE v128_t load_row(const uint8_t *p, int width) {
    if (width == 16)
        return wasm_v128_load(p);
    return width == 8 ? wasm_v128_load64_zero(p) : wasm_v128_load32_zero(p);
}

INLINE void store_row(uint8_t *p, v128_t row, int width) {
    if (width == 16)
        wasm_v128_store(p, row);
    else if (width == 8)
        wasm_v128_store64_lane(p, row, 0);
    else if (width == 4)
        wasm_v128_store32_lane(p, row, 0);
    else
        wasm_v128_store16_lane(p, row, 0);
}

/* Saturates 16-bit lanes to pixels and stores the first 8, 4 or 2. */
INLINE void store_clipped(uint8_t *p, v128_t lanes, int width) {
    store_row(p, wasm_u8x16_narrow_i16x8(lanes, lanes), width);
}

/* Load two rows of 8 pixels, or four rows of 4, into one vector. */
INLINE v128_t load_2x8(const uint8_t *p, intptr_t stride) {
    return wasm_v128_load64_lane(p + stride, wasm_v128_load64_zero(p), 1);
}

INLINE v128_t load_4x4(const uint8_t *p, intptr_t stride) {
    v128_t rows = wasm_v128_load32_zero(p);
    rows = wasm_v128_load32_lane(p + stride, rows, 1);
    rows = wasm_v128_load32_lane(p + 2 * stride, rows, 2);
    return wasm_v128_load32_lane(p + 3 * stride, rows, 3);
}

INLINE void store_4x4(uint8_t *p, intptr_t stride, v128_t rows) {
    wasm_v128_store32_lane(p, rows, 0);
    wasm_v128_store32_lane(p + stride, rows, 1);
    wasm_v128_store32_lane(p + 2 * stride, rows, 2);
    wasm_v128_store32_lane(p + 3 * stride, rows, 3);
}

INLINE v128_t low8(v128_t a, v128_t b) {
    return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

INLINE v128_t high8(v128_t a, v128_t b) {
    return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

INLINE v128_t low16(v128_t a, v128_t b) {
    return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

INLINE v128_t high16(v128_t a, v128_t b) {
    return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

INLINE v128_t low32(v128_t a, v128_t b) {
    return wasm_i32x4_shuffle(a, b, 0, 4, 1, 5);
}

INLINE v128_t high32(v128_t a, v128_t b) {
    return wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
}

INLINE v128_t low64(v128_t a, v128_t b) {
    return wasm_i64x2_shuffle(a, b, 0, 2);
}

INLINE v128_t high64(v128_t a, v128_t b) {
    return wasm_i64x2_shuffle(a, b, 1, 3);
}

INLINE v128_t even32(v128_t a, v128_t b) {
    return wasm_i32x4_shuffle(a, b, 0, 2, 4, 6);
}

INLINE v128_t odd32(v128_t a, v128_t b) {
    return wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
}

INLINE v128_t even_bytes(v128_t a, v128_t b) {
    v128_t mask = wasm_i16x8_const_splat(255);
    return wasm_u8x16_narrow_i16x8(wasm_v128_and(a, mask), wasm_v128_and(b, mask));
}

INLINE v128_t odd_bytes(v128_t a, v128_t b) {
    return wasm_u8x16_narrow_i16x8(wasm_u16x8_shr(a, 8), wasm_u16x8_shr(b, 8));
}

/* Transposes two 4x4 blocks that lie side by side, each on its own. */
INLINE void transpose_two_4x4(v128_t r[4]) {
    v128_t a = low16(r[0], r[1]), b = high16(r[0], r[1]);
    v128_t c = low16(r[2], r[3]), d = high16(r[2], r[3]);
    v128_t left01 = low32(a, c), left23 = high32(a, c);
    v128_t right01 = low32(b, d), right23 = high32(b, d);
    r[0] = low64(left01, right01);
    r[1] = high64(left01, right01);
    r[2] = low64(left23, right23);
    r[3] = high64(left23, right23);
}

INLINE void transpose_8x8(v128_t r[8]) {
    v128_t a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = low16(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = high16(r[2 * i], r[2 * i + 1]);
    }
    for (int half = 0; half < 8; half += 4)
        for (int i = 0; i < 2; i++) {
            b[half + 2 * i] = low32(a[half + i], a[half + i + 2]);
            b[half + 2 * i + 1] = high32(a[half + i], a[half + i + 2]);
        }
    for (int i = 0; i < 4; i++) {
        r[2 * i] = low64(b[i], b[i + 4]);
        r[2 * i + 1] = high64(b[i], b[i + 4]);
    }
}

INLINE int sum_i32(v128_t v) {
    v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_i32x4_extract_lane(v, 0);
}

INLINE int sum_u16(v128_t v) {
    return sum_i32(wasm_u32x4_extadd_pairwise_u16x8(v));
}

INLINE int sum_i16(v128_t v) {
    return sum_i32(wasm_i32x4_extadd_pairwise_i16x8(v));
}

/* Sums the 16-bit lanes of each of four vectors; returns the four sums as 32-bit lanes. */
INLINE v128_t sum_four_u16(v128_t a, v128_t b, v128_t c, v128_t d) {
    a = wasm_u32x4_extadd_pairwise_u16x8(a);
    b = wasm_u32x4_extadd_pairwise_u16x8(b);
    c = wasm_u32x4_extadd_pairwise_u16x8(c);
    d = wasm_u32x4_extadd_pairwise_u16x8(d);
    v128_t ab = wasm_i32x4_add(even32(a, b), odd32(a, b));
    v128_t cd = wasm_i32x4_add(even32(c, d), odd32(c, d));
    return wasm_i32x4_add(even32(ab, cd), odd32(ab, cd));
}

INLINE v128_t abs_difference(v128_t a, v128_t b) {
    return wasm_v128_or(wasm_u8x16_sub_sat(a, b), wasm_u8x16_sub_sat(b, a));
}

/* Adds the squares of 16-bit lanes to 32-bit sums. */
INLINE v128_t add_squares(v128_t sum, v128_t v) {
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(v, v));
}

INLINE void butterfly(v128_t *a, v128_t *b) {
    v128_t sum = wasm_i16x8_add(*a, *b);
    *b = wasm_i16x8_sub(*a, *b);
    *a = sum;
}

#endif
