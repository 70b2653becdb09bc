/* Finds the nonzero coefficients of a block: replaces x264's decimate_score, coeff_last and coeff_level_run.
 * Each kernel turns the block into a bit mask and walks its bits. */
#include "common.h"

/* Return a bit mask of the nonzero coefficients. A block of 15 is a block of 16 without its first
 * coefficient, so the coefficient before it is readable. */
INLINE uint32_t nonzero16(const dctcoef *coefs) {
    v128_t bytes = wasm_i8x16_narrow_i16x8(wasm_v128_load(coefs), wasm_v128_load(coefs + 8));
    return wasm_i8x16_bitmask(wasm_i8x16_ne(bytes, zero()));
}

INLINE uint32_t nonzero15(const dctcoef *coefs) {
    return nonzero16(coefs - 1) >> 1;
}

INLINE uint64_t nonzero64(const dctcoef *coefs) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++)
        mask |= (uint64_t)nonzero16(coefs + 16 * i) << (16 * i);
    return mask;
}

INLINE int highest(uint64_t mask) {
    return 63 - __builtin_clzll(mask);
}

/* Returns a mask of the lanes whose coefficient is not -1, 0 or 1. */
INLINE v128_t above_one(const dctcoef *coefs) {
    v128_t shifted = wasm_i16x8_add(wasm_v128_load(coefs), wasm_i16x8_const_splat(1));
    return wasm_u16x8_gt(shifted, wasm_i16x8_const_splat(2));
}

/* Scores a block whose nonzero coefficients are all 1 or -1: each by the run of zeros
 * before it, from x264's tables. */
INLINE int score(uint64_t nonzero, const uint8_t *score_of_run) {
    int sum = 0;
    while (nonzero) {
        int at = highest(nonzero);
        nonzero ^= 1ull << at;
        int run = nonzero ? at - 1 - highest(nonzero) : at;
        sum += score_of_run[run];
    }
    return sum;
}

static int score15(dctcoef *coefs) {
    uint32_t nonzero = nonzero16(coefs) >> 1;
    if (!nonzero)
        return 0;
    v128_t first = wasm_i16x8_replace_lane(above_one(coefs), 0, 0);
    if (wasm_v128_any_true(wasm_v128_or(first, above_one(coefs + 8))))
        return 9;
    return score(nonzero, x264_decimate_table4);
}

static int score16(dctcoef *coefs) {
    uint32_t nonzero = nonzero16(coefs);
    if (!nonzero)
        return 0;
    if (wasm_v128_any_true(wasm_v128_or(above_one(coefs), above_one(coefs + 8))))
        return 9;
    return score(nonzero, x264_decimate_table4);
}

static int score64(dctcoef *coefs) {
    uint64_t nonzero = nonzero64(coefs);
    if (!nonzero)
        return 0;
    v128_t above = zero();
    for (int i = 0; i < 64; i += 8)
        above = wasm_v128_or(above, above_one(coefs + i));
    return wasm_v128_any_true(above) ? 9 : score(nonzero, x264_decimate_table8);
}

INLINE int last(uint64_t nonzero) {
    return nonzero ? highest(nonzero) : -1;
}

static int last15(dctcoef *coefs) {
    return last(nonzero15(coefs));
}

static int last16(dctcoef *coefs) {
    return last(nonzero16(coefs));
}

static int last64(dctcoef *coefs) {
    return last(nonzero64(coefs));
}

/* Lists the nonzero coefficients from the last to the first; the block has at least one. */
INLINE int list_levels(const dctcoef *coefs, uint32_t nonzero, x264_run_level_t *list) {
    int count = 0;
    list->last = highest(nonzero);
    list->mask = nonzero;
    while (nonzero) {
        int at = highest(nonzero);
        list->level[count++] = coefs[at];
        nonzero ^= 1u << at;
    }
    return count;
}

static int levels15(dctcoef *coefs, x264_run_level_t *list) {
    return list_levels(coefs, nonzero15(coefs), list);
}

static int levels16(dctcoef *coefs, x264_run_level_t *list) {
    return list_levels(coefs, nonzero16(coefs), list);
}

typedef int (*last_function)(dctcoef *);
typedef int (*levels_function)(dctcoef *, x264_run_level_t *);

INLINE void replace_last(x264_quant_function_t *table, last_function old, last_function kernel) {
    for (int i = 0; i < (int)ARRAY_ELEMS(table->coeff_last); i++)
        if (table->coeff_last[i] == old)
            table->coeff_last[i] = kernel;
}

INLINE void replace_levels(x264_quant_function_t *table, levels_function old, levels_function kernel) {
    for (int i = 0; i < (int)ARRAY_ELEMS(table->coeff_level_run); i++)
        if (table->coeff_level_run[i] == old)
            table->coeff_level_run[i] = kernel;
}

/* Many kinds of block share the functions for 15, 16 and 64 coefficients, so each slot
 * that holds one is replaced. */
void simd_set_coefficients(x264_quant_function_t *table) {
    table->decimate_score15 = score15;
    table->decimate_score16 = score16;
    table->decimate_score64 = score64;
    replace_last(table, table->coeff_last[DCT_LUMA_AC], last15);
    replace_last(table, table->coeff_last[DCT_LUMA_4x4], last16);
    replace_last(table, table->coeff_last[DCT_LUMA_8x8], last64);
    replace_levels(table, table->coeff_level_run[DCT_LUMA_AC], levels15);
    replace_levels(table, table->coeff_level_run[DCT_LUMA_4x4], levels16);
}
