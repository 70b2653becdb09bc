/* The costs of three intra predictions of a block: from the row above (v), from the column to the left
 * (h) and from the mean of both (dc). Replaces x264's intra_sad_x3, intra_satd_x3 and intra_sa8d_x3.
 * The predictions stay in registers: like x264's assembly and unlike its scalar code, these kernels do
 * not leave one in the block. */
#include "compare.h"

/* Lanes whose sums are the costs of v, h and dc. */
typedef struct {
    v128_t v, h, dc;
} cost_lanes;

INLINE v128_t magnitudes(const v128_t rows[4]) {
    return wasm_i16x8_add(wasm_i16x8_add(wasm_i16x8_abs(rows[0]), wasm_i16x8_abs(rows[1])),
                          wasm_i16x8_add(wasm_i16x8_abs(rows[2]), wasm_i16x8_abs(rows[3])));
}

/* Adds the cost of four rows of eight differences. */
INLINE v128_t add_cost(v128_t sums, const v128_t rows[4], int transformed) {
    return wasm_i16x8_add(sums, transformed ? half_hadamard_sums(rows) : magnitudes(rows));
}

/* Adds the costs of 8x4 pixels of a block. left points to the column on its left. */
INLINE void add_costs(cost_lanes *sums, const pixel *block, v128_t top, const pixel *left,
                      intptr_t left_stride, v128_t dc, int transformed) {
    v128_t by_v[4], by_h[4], by_dc[4];
    for (int y = 0; y < 4; y++) {
        v128_t row = widen8(block + y * FENC_STRIDE);
        by_v[y] = wasm_i16x8_sub(row, top);
        by_h[y] = wasm_i16x8_sub(row, wasm_i16x8_splat(left[y * left_stride]));
        by_dc[y] = wasm_i16x8_sub(row, dc);
    }
    sums->v = add_cost(sums->v, by_v, transformed);
    sums->h = add_cost(sums->h, by_h, transformed);
    sums->dc = add_cost(sums->dc, by_dc, transformed);
}

INLINE v128_t sum_costs(v128_t first, v128_t second, v128_t third) {
    return sum_four_u16(first, second, third, zero());
}

INLINE void store_scores(int scores[3], v128_t sums) {
    wasm_v128_store64_lane(scores, sums, 0);
    scores[2] = wasm_i32x4_extract_lane(sums, 2);
}

INLINE int sum_column(const pixel *p, intptr_t stride, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += p[i * stride];
    return sum;
}

INLINE void costs_16x16(const pixel *block, const pixel *decoded, int scores[3], int transformed) {
    const pixel *above = decoded - FDEC_STRIDE, *left = decoded - 1;
    int mean = (sum_column(above, 1, 16) + sum_column(left, FDEC_STRIDE, 16) + 16) >> 5;
    v128_t top[2] = {widen8(above), widen8(above + 8)}, dc = wasm_i16x8_splat(mean);
    cost_lanes sums = {zero(), zero(), zero()};
    for (int y = 0; y < 16; y += 4)
        for (int x = 0; x < 2; x++)
            add_costs(&sums, block + y * FENC_STRIDE + 8 * x, top[x], left + y * FDEC_STRIDE, FDEC_STRIDE, dc,
                      transformed);
    store_scores(scores, sum_costs(sums.v, sums.h, sums.dc));
}

/* Chroma has a mean for each 4x4 block. The top left block and the right blocks below the first row average
 * the pixels above and to the left; the top right block averages only those above, the other left blocks only
 * those to the left. Scores come in the order dc, h, v. */
INLINE void costs_chroma(const pixel *block, const pixel *decoded, int scores[3], int height,
                         int transformed) {
    const pixel *above = decoded - FDEC_STRIDE, *left = decoded - 1;
    int above_left = sum_column(above, 1, 4), above_right = sum_column(above + 4, 1, 4);
    v128_t top = widen8(above);
    cost_lanes sums = {zero(), zero(), zero()};
    for (int y = 0; y < height; y += 4) {
        int beside = sum_column(left + y * FDEC_STRIDE, FDEC_STRIDE, 4);
        int mean_left = y ? (beside + 2) >> 2 : (above_left + beside + 4) >> 3;
        int mean_right = y ? (above_right + beside + 4) >> 3 : (above_right + 2) >> 2;
        v128_t dc = low64(wasm_i16x8_splat(mean_left), wasm_i16x8_splat(mean_right));
        add_costs(&sums, block + y * FENC_STRIDE, top, left + y * FDEC_STRIDE, FDEC_STRIDE, dc, transformed);
    }
    store_scores(scores, sum_costs(sums.dc, sums.h, sums.v));
}

INLINE v128_t twice(v128_t v) {
    return low64(v, v);
}

/* Computes v and h side by side in one vector, then dc in both halves. */
INLINE void costs_4x4(const pixel *block, const pixel *decoded, int scores[3], int transformed) {
    const pixel *above = decoded - FDEC_STRIDE, *left = decoded - 1;
    int mean = (sum_column(above, 1, 4) + sum_column(left, FDEC_STRIDE, 4) + 4) >> 3;
    v128_t top = widen4(above), dc = wasm_i16x8_splat(mean), by_vh[4], by_dc[4], v, h, dc_sums, unused;
    for (int y = 0; y < 4; y++) {
        v128_t row = twice(widen4(block + y * FENC_STRIDE));
        by_vh[y] = wasm_i16x8_sub(row, low64(top, wasm_i16x8_splat(left[y * FDEC_STRIDE])));
        by_dc[y] = wasm_i16x8_sub(row, dc);
    }
    if (transformed) {
        half_hadamard_pair(by_vh, &v, &h);
        half_hadamard_pair(by_dc, &dc_sums, &unused);
    } else {
        v128_t vh = magnitudes(by_vh);
        v = low64(vh, zero());
        h = high64(vh, zero());
        dc_sums = low64(magnitudes(by_dc), zero());
    }
    store_scores(scores, sum_costs(v, h, dc_sums));
}

/* 8x8 blocks are predicted from filtered neighbours: edge holds the left column from index 14 down to 7 and
 * the row above from index 16 up. */
INLINE void sad_8x8(const pixel *block, const pixel *edge, v128_t top, v128_t dc, int scores[3]) {
    cost_lanes sums = {zero(), zero(), zero()};
    add_costs(&sums, block, top, edge + 14, -1, dc, 0);
    add_costs(&sums, block + 4 * FENC_STRIDE, top, edge + 10, -1, dc, 0);
    store_scores(scores, sum_costs(sums.v, sums.h, sums.dc));
}

INLINE void sa8d_8x8(const pixel *block, const pixel *edge, v128_t top, v128_t dc, int scores[3]) {
    v128_t by_v[8], by_h[8], by_dc[8];
    for (int y = 0; y < 8; y++) {
        v128_t row = widen8(block + y * FENC_STRIDE);
        by_v[y] = wasm_i16x8_sub(row, top);
        by_h[y] = wasm_i16x8_sub(row, wasm_i16x8_splat(edge[14 - y]));
        by_dc[y] = wasm_i16x8_sub(row, dc);
    }
    v128_t sums = sum_costs(sa8d_lanes(by_v), sa8d_lanes(by_h), sa8d_lanes(by_dc));
    store_scores(scores, wasm_i32x4_shr(wasm_i32x4_add(sums, wasm_i32x4_const_splat(1)), 1));
}

INLINE void costs_8x8(const pixel *block, const pixel *edge, int scores[3], int transformed) {
    int mean = (sum_column(edge + 7, 1, 8) + sum_column(edge + 16, 1, 8) + 8) >> 4;
    v128_t top = widen8(edge + 16), dc = wasm_i16x8_splat(mean);
    if (transformed)
        sa8d_8x8(block, edge, top, dc, scores);
    else
        sad_8x8(block, edge, top, dc, scores);
}

#define COSTS(name, run, ...)                                                                                \
    static void name(pixel *block, pixel *neighbours, int scores[3]) {                                       \
        run(block, neighbours, scores, __VA_ARGS__);                                                         \
    }

COSTS(intra_sad_16x16, costs_16x16, 0)
COSTS(intra_satd_16x16, costs_16x16, 1)
COSTS(intra_sad_4x4, costs_4x4, 0)
COSTS(intra_satd_4x4, costs_4x4, 1)
COSTS(intra_sad_8x8c, costs_chroma, 8, 0)
COSTS(intra_satd_8x8c, costs_chroma, 8, 1)
COSTS(intra_sad_8x16c, costs_chroma, 16, 0)
COSTS(intra_satd_8x16c, costs_chroma, 16, 1)
COSTS(intra_sad_8x8, costs_8x8, 0)
COSTS(intra_sa8d_8x8, costs_8x8, 1)

void simd_set_intra(x264_pixel_function_t *table) {
    table->intra_sad_x3_16x16 = intra_sad_16x16;
    table->intra_satd_x3_16x16 = intra_satd_16x16;
    table->intra_sad_x3_4x4 = intra_sad_4x4;
    table->intra_satd_x3_4x4 = intra_satd_4x4;
    table->intra_sad_x3_8x8c = intra_sad_8x8c;
    table->intra_satd_x3_8x8c = intra_satd_8x8c;
    table->intra_sad_x3_8x16c = intra_sad_8x16c;
    table->intra_satd_x3_8x16c = intra_satd_8x16c;
    table->intra_sad_x3_8x8 = intra_sad_8x8;
    table->intra_sa8d_x3_8x8 = intra_sa8d_8x8;
}
