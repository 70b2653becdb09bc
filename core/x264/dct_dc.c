/* DC transforms: replaces x264's sub8x8_dct_dc, add8x8_idct_dc and add16x16_idct_dc. */
#include "common.h"

/* Returns the column sums of 8x4 differences. */
INLINE v128_t sum_differences(const pixel *source, const pixel *decoded) {
    v128_t sums = zero();
    for (int y = 0; y < 4; y++) {
        v128_t row = wasm_i16x8_sub(widen8(source + y * FENC_STRIDE), widen8(decoded + y * FDEC_STRIDE));
        sums = wasm_i16x8_add(sums, row);
    }
    return sums;
}

/* Sums the differences of four 4x4 blocks, then applies the 2x2 transform to these sums. */
static void sub_dc_8x8(dctcoef coefs[4], pixel *source, pixel *decoded) {
    v128_t upper = sum_differences(source, decoded);
    v128_t lower = sum_differences(source + 4 * FENC_STRIDE, decoded + 4 * FDEC_STRIDE);
    upper = wasm_i32x4_extadd_pairwise_i16x8(upper);
    lower = wasm_i32x4_extadd_pairwise_i16x8(lower);
    v128_t sums = wasm_i32x4_add(even32(upper, lower), odd32(upper, lower));
    int left = wasm_i32x4_extract_lane(sums, 0), right = wasm_i32x4_extract_lane(sums, 1);
    int lower_left = wasm_i32x4_extract_lane(sums, 2), lower_right = wasm_i32x4_extract_lane(sums, 3);
    coefs[0] = left + right + lower_left + lower_right;
    coefs[1] = left + right - lower_left - lower_right;
    coefs[2] = left - right + lower_left - lower_right;
    coefs[3] = left - right - lower_left + lower_right;
}

/* Adds one mean to the left half of 8x4 pixels and another to the right half. */
INLINE void add_means(pixel *dst, v128_t means) {
    for (int y = 0; y < 4; y++)
        store_clipped(dst + y * FDEC_STRIDE, wasm_i16x8_add(widen8(dst + y * FDEC_STRIDE), means), 8);
}

/* If the rounding saturates, the pixel saturates anyway. */
INLINE v128_t round_means(v128_t coefs) {
    return wasm_i16x8_shr(wasm_i16x8_add_sat(coefs, wasm_i16x8_const_splat(32)), 6);
}

static void add_dc_8x8(pixel *dst, dctcoef coefs[4]) {
    v128_t means = round_means(wasm_v128_load64_zero(coefs));
    add_means(dst, wasm_i16x8_shuffle(means, means, 0, 0, 0, 0, 1, 1, 1, 1));
    add_means(dst + 4 * FDEC_STRIDE, wasm_i16x8_shuffle(means, means, 2, 2, 2, 2, 3, 3, 3, 3));
}

static void add_dc_16x16(pixel *dst, dctcoef coefs[16]) {
    for (int y = 0; y < 4; y++) {
        v128_t means = round_means(wasm_v128_load64_zero(coefs + 4 * y));
        pixel *row = dst + 4 * y * FDEC_STRIDE;
        add_means(row, wasm_i16x8_shuffle(means, means, 0, 0, 0, 0, 1, 1, 1, 1));
        add_means(row + 8, wasm_i16x8_shuffle(means, means, 2, 2, 2, 2, 3, 3, 3, 3));
    }
}

void simd_set_dc(x264_dct_function_t *table) {
    table->sub8x8_dct_dc = sub_dc_8x8;
    table->add8x8_idct_dc = add_dc_8x8;
    table->add16x16_idct_dc = add_dc_16x16;
}
