/* Adds two maskings without the division that tells how far they are apart, and without a branch on it:
 * compile.sh puts this behind vbrpsy_mask_add, which still does what is close to a limit or to nothing. */
#include <wasm_simd128.h>

static inline __attribute__((always_inline)) FLOAT add_masks(FLOAT a, FLOAT b, int distance, int delta) {
    FLOAT most = a > b ? a : b, least = a > b ? b : a, limit = least * ma_max_i2;
    if (abs(distance) <= delta || !(least > 0) || fabsf(most - limit) <= limit * 1e-5f)
        return vbrpsy_mask_add(a, b, distance, delta);
    v128_t larger = wasm_f32x4_splat(most), sum = wasm_f32x4_splat(a + b);
    v128_t is_close = wasm_f32x4_lt(larger, wasm_f32x4_splat(limit));
    return wasm_f32x4_extract_lane(wasm_v128_bitselect(sum, larger, is_close), 0);
}
