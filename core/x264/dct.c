/* Transforms: wraps x264_dct_init and replaces the 4x4 and 8x8 transforms and their inverses. Every
 * coefficient of an 8-bit residual fits in 16 bits. */
#include "common.h"

void __real_x264_8_dct_init(uint32_t cpu, x264_dct_function_t *table);

INLINE v128_t half(v128_t v) {
    return wasm_i16x8_shr(v, 1);
}

INLINE v128_t quarter(v128_t v) {
    return wasm_i16x8_shr(v, 2);
}

INLINE v128_t residual8(const pixel *source, const pixel *decoded, int row) {
    return wasm_i16x8_sub(widen8(source + row * FENC_STRIDE), widen8(decoded + row * FDEC_STRIDE));
}

INLINE void add_residual(pixel *dst, v128_t residual, int width) {
    v128_t pixels = width == 8 ? widen8(dst) : widen4(dst);
    store_clipped(dst, wasm_i16x8_add(pixels, residual), width);
}

INLINE void transform4(v128_t r[4]) {
    v128_t s03 = r[0], d03 = r[3], s12 = r[1], d12 = r[2];
    butterfly(&s03, &d03);
    butterfly(&s12, &d12);
    r[0] = wasm_i16x8_add(s03, s12);
    r[1] = wasm_i16x8_add(wasm_i16x8_add(d03, d03), d12);
    r[2] = wasm_i16x8_sub(s03, s12);
    r[3] = wasm_i16x8_sub(d03, wasm_i16x8_add(d12, d12));
}

INLINE void inverse4(v128_t r[4]) {
    v128_t s02 = r[0], d02 = r[2];
    butterfly(&s02, &d02);
    v128_t s13 = wasm_i16x8_add(r[1], half(r[3])), d13 = wasm_i16x8_sub(half(r[1]), r[3]);
    r[0] = wasm_i16x8_add(s02, s13);
    r[1] = wasm_i16x8_add(d02, d13);
    r[2] = wasm_i16x8_sub(d02, d13);
    r[3] = wasm_i16x8_sub(s02, s13);
}

INLINE void transform_both(v128_t r[4]) {
    transform4(r);
    transpose_two_4x4(r);
    transform4(r);
}

/* Adds the rounding of the final shift to the first coefficient of a column, which
 * contributes once to every result. */
INLINE void inverse_both(v128_t r[4]) {
    inverse4(r);
    transpose_two_4x4(r);
    r[0] = wasm_i16x8_add(r[0], wasm_i16x8_const_splat(32));
    inverse4(r);
}

static void sub_4x4(dctcoef coefs[16], pixel *source, pixel *decoded) {
    v128_t r[4];
    for (int y = 0; y < 4; y++)
        r[y] = wasm_i16x8_sub(widen4(source + y * FENC_STRIDE), widen4(decoded + y * FDEC_STRIDE));
    transform_both(r);
    wasm_v128_store(coefs, low64(r[0], r[1]));
    wasm_v128_store(coefs + 8, low64(r[2], r[3]));
}

INLINE void sub_8x4(dctcoef coefs[2][16], const pixel *source, const pixel *decoded) {
    v128_t r[4];
    for (int y = 0; y < 4; y++)
        r[y] = residual8(source, decoded, y);
    transform_both(r);
    wasm_v128_store(coefs[0], low64(r[0], r[1]));
    wasm_v128_store(coefs[0] + 8, low64(r[2], r[3]));
    wasm_v128_store(coefs[1], high64(r[0], r[1]));
    wasm_v128_store(coefs[1] + 8, high64(r[2], r[3]));
}

static void sub_8x8(dctcoef coefs[4][16], pixel *source, pixel *decoded) {
    sub_8x4(coefs, source, decoded);
    sub_8x4(coefs + 2, source + 4 * FENC_STRIDE, decoded + 4 * FDEC_STRIDE);
}

static void sub_16x16(dctcoef coefs[16][16], pixel *source, pixel *decoded) {
    sub_8x8(&coefs[0], source, decoded);
    sub_8x8(&coefs[4], source + 8, decoded + 8);
    sub_8x8(&coefs[8], source + 8 * FENC_STRIDE, decoded + 8 * FDEC_STRIDE);
    sub_8x8(&coefs[12], source + 8 * FENC_STRIDE + 8, decoded + 8 * FDEC_STRIDE + 8);
}

static void add_4x4(pixel *dst, dctcoef coefs[16]) {
    v128_t r[4];
    for (int y = 0; y < 4; y++)
        r[y] = wasm_v128_load64_zero(coefs + 4 * y);
    inverse_both(r);
    for (int y = 0; y < 4; y++)
        add_residual(dst + y * FDEC_STRIDE, wasm_i16x8_shr(r[y], 6), 4);
}

INLINE void add_8x4(pixel *dst, const dctcoef coefs[2][16]) {
    v128_t left01 = wasm_v128_load(coefs[0]), left23 = wasm_v128_load(coefs[0] + 8);
    v128_t right01 = wasm_v128_load(coefs[1]), right23 = wasm_v128_load(coefs[1] + 8);
    v128_t r[4] = {low64(left01, right01), high64(left01, right01), low64(left23, right23),
                   high64(left23, right23)};
    inverse_both(r);
    for (int y = 0; y < 4; y++)
        add_residual(dst + y * FDEC_STRIDE, wasm_i16x8_shr(r[y], 6), 8);
}

static void add_8x8(pixel *dst, dctcoef coefs[4][16]) {
    add_8x4(dst, coefs);
    add_8x4(dst + 4 * FDEC_STRIDE, coefs + 2);
}

static void add_16x16(pixel *dst, dctcoef coefs[16][16]) {
    add_8x8(dst, &coefs[0]);
    add_8x8(dst + 8, &coefs[4]);
    add_8x8(dst + 8 * FDEC_STRIDE, &coefs[8]);
    add_8x8(dst + 8 * FDEC_STRIDE + 8, &coefs[12]);
}

INLINE void transform8(v128_t r[8]) {
    v128_t s07 = r[0], d07 = r[7], s16 = r[1], d16 = r[6], s25 = r[2], d25 = r[5], s34 = r[3], d34 = r[4];
    butterfly(&s07, &d07);
    butterfly(&s16, &d16);
    butterfly(&s25, &d25);
    butterfly(&s34, &d34);
    v128_t a0 = s07, a2 = s34, a1 = s16, a3 = s25;
    butterfly(&a0, &a2);
    butterfly(&a1, &a3);
    v128_t a4 = wasm_i16x8_add(wasm_i16x8_add(d16, d25), wasm_i16x8_add(d07, half(d07)));
    v128_t a5 = wasm_i16x8_sub(wasm_i16x8_sub(d07, d34), wasm_i16x8_add(d25, half(d25)));
    v128_t a6 = wasm_i16x8_sub(wasm_i16x8_add(d07, d34), wasm_i16x8_add(d16, half(d16)));
    v128_t a7 = wasm_i16x8_add(wasm_i16x8_sub(d16, d25), wasm_i16x8_add(d34, half(d34)));
    r[0] = wasm_i16x8_add(a0, a1);
    r[1] = wasm_i16x8_add(a4, quarter(a7));
    r[2] = wasm_i16x8_add(a2, half(a3));
    r[3] = wasm_i16x8_add(a5, quarter(a6));
    r[4] = wasm_i16x8_sub(a0, a1);
    r[5] = wasm_i16x8_sub(a6, quarter(a5));
    r[6] = wasm_i16x8_sub(half(a2), a3);
    r[7] = wasm_i16x8_sub(quarter(a4), a7);
}

INLINE void inverse8(v128_t r[8]) {
    v128_t a0 = r[0], a2 = r[4];
    butterfly(&a0, &a2);
    v128_t a4 = wasm_i16x8_sub(half(r[2]), r[6]), a6 = wasm_i16x8_add(r[2], half(r[6]));
    v128_t b0 = a0, b6 = a6, b2 = a2, b4 = a4;
    butterfly(&b0, &b6);
    butterfly(&b2, &b4);
    v128_t a1 = wasm_i16x8_sub(wasm_i16x8_sub(r[5], r[3]), wasm_i16x8_add(r[7], half(r[7])));
    v128_t a3 = wasm_i16x8_sub(wasm_i16x8_add(r[1], r[7]), wasm_i16x8_add(r[3], half(r[3])));
    v128_t a5 = wasm_i16x8_add(wasm_i16x8_sub(r[7], r[1]), wasm_i16x8_add(r[5], half(r[5])));
    v128_t a7 = wasm_i16x8_add(wasm_i16x8_add(r[3], r[5]), wasm_i16x8_add(r[1], half(r[1])));
    v128_t b1 = wasm_i16x8_add(quarter(a7), a1), b3 = wasm_i16x8_add(a3, quarter(a5));
    v128_t b5 = wasm_i16x8_sub(quarter(a3), a5), b7 = wasm_i16x8_sub(a7, quarter(a1));
    r[0] = wasm_i16x8_add(b0, b7);
    r[1] = wasm_i16x8_add(b2, b5);
    r[2] = wasm_i16x8_add(b4, b3);
    r[3] = wasm_i16x8_add(b6, b1);
    r[4] = wasm_i16x8_sub(b6, b1);
    r[5] = wasm_i16x8_sub(b4, b3);
    r[6] = wasm_i16x8_sub(b2, b5);
    r[7] = wasm_i16x8_sub(b0, b7);
}

static void sub_8x8_whole(dctcoef coefs[64], pixel *source, pixel *decoded) {
    v128_t r[8];
    for (int y = 0; y < 8; y++)
        r[y] = residual8(source, decoded, y);
    transform8(r);
    transpose_8x8(r);
    transform8(r);
    for (int y = 0; y < 8; y++)
        wasm_v128_store(coefs + 8 * y, r[y]);
}

static void sub_16x16_by_8x8(dctcoef coefs[4][64], pixel *source, pixel *decoded) {
    sub_8x8_whole(coefs[0], source, decoded);
    sub_8x8_whole(coefs[1], source + 8, decoded + 8);
    sub_8x8_whole(coefs[2], source + 8 * FENC_STRIDE, decoded + 8 * FDEC_STRIDE);
    sub_8x8_whole(coefs[3], source + 8 * FENC_STRIDE + 8, decoded + 8 * FDEC_STRIDE + 8);
}

static void add_8x8_whole(pixel *dst, dctcoef coefs[64]) {
    v128_t r[8];
    for (int y = 0; y < 8; y++)
        r[y] = wasm_v128_load(coefs + 8 * y);
    inverse8(r);
    transpose_8x8(r);
    r[0] = wasm_i16x8_add(r[0], wasm_i16x8_const_splat(32));
    inverse8(r);
    for (int y = 0; y < 8; y++)
        add_residual(dst + y * FDEC_STRIDE, wasm_i16x8_shr(r[y], 6), 8);
}

static void add_16x16_by_8x8(pixel *dst, dctcoef coefs[4][64]) {
    add_8x8_whole(dst, coefs[0]);
    add_8x8_whole(dst + 8, coefs[1]);
    add_8x8_whole(dst + 8 * FDEC_STRIDE, coefs[2]);
    add_8x8_whole(dst + 8 * FDEC_STRIDE + 8, coefs[3]);
}

void __wrap_x264_8_dct_init(uint32_t cpu, x264_dct_function_t *table) {
    __real_x264_8_dct_init(cpu, table);
    table->sub4x4_dct = sub_4x4;
    table->sub8x8_dct = sub_8x8;
    table->sub16x16_dct = sub_16x16;
    table->add4x4_idct = add_4x4;
    table->add8x8_idct = add_8x8;
    table->add16x16_idct = add_16x16;
    table->sub8x8_dct8 = sub_8x8_whole;
    table->sub16x16_dct8 = sub_16x16_by_8x8;
    table->add8x8_idct8 = add_8x8_whole;
    table->add16x16_idct8 = add_16x16_by_8x8;
    simd_set_dc(table);
}
