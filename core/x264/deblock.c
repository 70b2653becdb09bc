/* The deblocking filter for edges of inter blocks: wraps x264_deblock_init and replaces deblock_luma,
 * deblock_chroma, deblock_h_chroma_420 and deblock_strength. */
#include "common.h"
#include "deblock.h"

void __real_x264_8_deblock_init(uint32_t cpu, x264_deblock_function_t *table, int mbaff);

static void luma_horizontal_edge(pixel *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
    deblock_luma_horizontal_edge(p, stride, alpha, beta, strength);
}

static void luma_vertical_edge(pixel *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
    deblock_luma_vertical_edge(p, stride, alpha, beta, strength);
}

/* Filters chroma: only p0 and q0 change, and only where the strength is above 0. u and v alternate. */
INLINE int filter_chroma(v128_t p1, v128_t *p0, v128_t *q0, v128_t q1, int alpha, int beta,
                         const int8_t *strength) {
    v128_t tc = spread_strength(strength);
    v128_t active = is_smooth(p1, *p0, *q0, q1, alpha, wasm_i8x16_splat(beta));
    active = wasm_v128_and(active, wasm_i8x16_gt(tc, zero()));
    if (!wasm_v128_any_true(active))
        return 0;
    move_edge(p1, p0, q0, q1, wasm_v128_and(tc, active));
    return 1;
}

static void chroma_horizontal_edge(pixel *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
    v128_t p0 = wasm_v128_load(p - stride), q0 = wasm_v128_load(p);
    v128_t p1 = wasm_v128_load(p - 2 * stride), q1 = wasm_v128_load(p + stride);
    if (!filter_chroma(p1, &p0, &q0, q1, alpha, beta, strength))
        return;
    wasm_v128_store(p - stride, p0);
    wasm_v128_store(p, q0);
}

/* Filters eight rows; each has four pairs of u and v: p1 p0 q0 q1. */
static void chroma_vertical_edge(pixel *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
    v128_t rows[4], before[2], behind[2];
    for (int i = 0; i < 4; i++) {
        const pixel *row = p - 4 + 2 * i * stride;
        rows[i] = low16(load_row(row, 8), load_row(row + stride, 8));
    }
    for (int i = 0; i < 2; i++) {
        before[i] = low32(rows[2 * i], rows[2 * i + 1]);
        behind[i] = high32(rows[2 * i], rows[2 * i + 1]);
    }
    v128_t p1 = low64(before[0], before[1]), p0 = high64(before[0], before[1]);
    v128_t q0 = low64(behind[0], behind[1]), q1 = high64(behind[0], behind[1]);
    if (!filter_chroma(p1, &p0, &q0, q1, alpha, beta, strength))
        return;
    store_4x4(p - 2, stride, low16(p0, q0));
    store_4x4(p - 2 + 4 * stride, stride, high16(p0, q0));
}

/* Returns a mask of the 16 blocks whose motion vector differs from that of the neighbour at the given
 * distance: horizontally by four quarter-pels or more, or vertically by the limit or more, which is halved in
 * fields. A motion vector takes 32 bits. */
INLINE v128_t moves_apart(int16_t (*mv)[2], int distance, v128_t limits) {
    v128_t rows[4];
    for (int y = 0; y < 4; y++) {
        int16_t(*row)[2] = mv + X264_SCAN8_0 + 8 * y;
        v128_t apart = wasm_i16x8_sub(wasm_v128_load(row), wasm_v128_load(row - distance));
        rows[y] = wasm_i32x4_ne(wasm_i16x8_gt(wasm_i16x8_abs(apart), limits), zero());
    }
    return wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(rows[0], rows[1]),
                                   wasm_i16x8_narrow_i32x4(rows[2], rows[3]));
}

INLINE v128_t load_blocks(const void *values, int distance) {
    return load_4x4((const uint8_t *)values + X264_SCAN8_0 - distance, 8);
}

/* Sets the strength: 2 where either block has coefficients, else 1 where their references
 * or vectors differ, else 0. */
static void edge_strength(uint8_t nonzero[X264_SCAN8_SIZE], int8_t ref[2][X264_SCAN8_LUMA_SIZE],
                          int16_t mv[2][X264_SCAN8_LUMA_SIZE][2], uint8_t strength[2][8][4], int limit_down,
                          int has_list1) {
    v128_t limits = wasm_i32x4_splat(3 | (limit_down - 1) << 16);
    for (int down = 0; down < 2; down++) {
        int distance = down ? 8 : 1;
        v128_t differs = zero();
        for (int list = 0; list <= has_list1; list++) {
            v128_t other = wasm_i8x16_ne(load_blocks(ref[list], 0), load_blocks(ref[list], distance));
            differs = wasm_v128_or(differs, wasm_v128_or(other, moves_apart(mv[list], distance, limits)));
        }
        v128_t coded = wasm_v128_or(load_blocks(nonzero, 0), load_blocks(nonzero, distance));
        v128_t result =
            wasm_v128_bitselect(wasm_i8x16_const_splat(2), wasm_v128_and(differs, wasm_i8x16_const_splat(1)),
                                wasm_i8x16_ne(coded, zero()));
        if (!down)
            result = wasm_i8x16_shuffle(result, result, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        wasm_v128_store(strength[down][0], result);
    }
}

void __wrap_x264_8_deblock_init(uint32_t cpu, x264_deblock_function_t *table, int mbaff) {
    __real_x264_8_deblock_init(cpu, table, mbaff);
    table->deblock_luma[0] = luma_vertical_edge;
    table->deblock_luma[1] = luma_horizontal_edge;
    table->deblock_chroma[1] = chroma_horizontal_edge;
    /* In MBAFF, 4:2:2 chroma has the shape of 4:2:0. */
    table->deblock_h_chroma_420 = table->deblock_chroma_422_mbaff = chroma_vertical_edge;
    table->deblock_strength = edge_strength;
}
