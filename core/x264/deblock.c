/* The deblocking filter between blocks that are not intra: takes over from x264_deblock_init and stands in
 * for deblock_luma, deblock_chroma, deblock_h_chroma_420 and deblock_strength. A vector holds 16 places along
 * an edge; p2 p1 p0 lie before the edge, q0 q1 q2 behind it. */
#include "common.h"

void __real_x264_8_deblock_init(uint32_t cpu, x264_deblock_function_t *table, int mbaff);

INLINE v128_t closer_than(v128_t a, v128_t b, v128_t limit) {
    return wasm_v128_not(wasm_u8x16_ge(abs_difference(a, b), limit));
}

/* The strength of each quarter of the edge, for its four places. */
INLINE v128_t spread_strength(const int8_t *strength) {
    v128_t t = wasm_v128_load32_zero(strength);
    return wasm_i8x16_shuffle(t, t, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}

/* Places whose neighbours differ little enough to be one surface. */
INLINE v128_t is_smooth(v128_t p1, v128_t p0, v128_t q0, v128_t q1, int alpha, v128_t beta) {
    v128_t edge = closer_than(p0, q0, wasm_i8x16_splat(alpha));
    return wasm_v128_and(edge, wasm_v128_and(closer_than(p1, p0, beta), closer_than(q1, q0, beta)));
}

/* (4 (q0 - p0) + (p1 - q1) + 4) >> 3 in 16 bits, within plus and minus limit. */
INLINE v128_t edge_delta(v128_t p1, v128_t p0, v128_t q0, v128_t q1, v128_t limit) {
    v128_t step = wasm_i16x8_shl(wasm_i16x8_sub(q0, p0), 2);
    v128_t sum = wasm_i16x8_add(wasm_i16x8_add(step, wasm_i16x8_sub(p1, q1)), wasm_i16x8_const_splat(4));
    return wasm_i16x8_max(wasm_i16x8_min(wasm_i16x8_shr(sum, 3), limit), wasm_i16x8_neg(limit));
}

/* Moves p0 and q0 towards each other; a limit of 0 leaves them. */
INLINE void move_edge(v128_t p1, v128_t *p0, v128_t *q0, v128_t q1, v128_t limit) {
    v128_t low = edge_delta(wasm_u16x8_extend_low_u8x16(p1), wasm_u16x8_extend_low_u8x16(*p0),
                            wasm_u16x8_extend_low_u8x16(*q0), wasm_u16x8_extend_low_u8x16(q1),
                            wasm_u16x8_extend_low_u8x16(limit));
    v128_t high = edge_delta(wasm_u16x8_extend_high_u8x16(p1), wasm_u16x8_extend_high_u8x16(*p0),
                             wasm_u16x8_extend_high_u8x16(*q0), wasm_u16x8_extend_high_u8x16(q1),
                             wasm_u16x8_extend_high_u8x16(limit));
    v128_t p_low = wasm_i16x8_add(wasm_u16x8_extend_low_u8x16(*p0), low);
    v128_t p_high = wasm_i16x8_add(wasm_u16x8_extend_high_u8x16(*p0), high);
    v128_t q_low = wasm_i16x8_sub(wasm_u16x8_extend_low_u8x16(*q0), low);
    v128_t q_high = wasm_i16x8_sub(wasm_u16x8_extend_high_u8x16(*q0), high);
    *p0 = wasm_u8x16_narrow_i16x8(p_low, p_high);
    *q0 = wasm_u8x16_narrow_i16x8(q_low, q_high);
}

/* The mean of p2 and the edge's mean, rounded down, at most limit away from p1. */
INLINE v128_t move_second(v128_t p2, v128_t p1, v128_t edge_mean, v128_t limit) {
    v128_t odd = wasm_v128_and(wasm_v128_xor(p2, edge_mean), wasm_i8x16_const_splat(1));
    v128_t mean = wasm_i8x16_sub(wasm_u8x16_avgr(p2, edge_mean), odd);
    return wasm_u8x16_min(wasm_u8x16_max(mean, wasm_u8x16_sub_sat(p1, limit)), wasm_u8x16_add_sat(p1, limit));
}

typedef struct {
    v128_t p2, p1, p0, q0, q1, q2;
} luma_edge;

/* Returns whether anything changes. A strength below 0 says that a quarter stays as it is. */
INLINE int filter_luma(luma_edge *e, int alpha, int beta, const int8_t *strength) {
    v128_t limit = wasm_i8x16_splat(beta), tc = spread_strength(strength);
    v128_t active = is_smooth(e->p1, e->p0, e->q0, e->q1, alpha, limit);
    active = wasm_v128_andnot(active, wasm_i8x16_shr(tc, 7));
    if (!wasm_v128_any_true(active))
        return 0;
    tc = wasm_v128_and(tc, active);
    v128_t flat_p = wasm_v128_and(closer_than(e->p2, e->p0, limit), active);
    v128_t flat_q = wasm_v128_and(closer_than(e->q2, e->q0, limit), active);
    v128_t mean = wasm_u8x16_avgr(e->p0, e->q0);
    v128_t p1 = move_second(e->p2, e->p1, mean, wasm_v128_and(tc, flat_p));
    v128_t q1 = move_second(e->q2, e->q1, mean, wasm_v128_and(tc, flat_q));
    /* A flat side adds one to the limit: its mask is -1. */
    move_edge(e->p1, &e->p0, &e->q0, e->q1, wasm_i8x16_sub(wasm_i8x16_sub(tc, flat_p), flat_q));
    e->p1 = p1;
    e->q1 = q1;
    return 1;
}

static void luma_horizontal_edge(pixel *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
    luma_edge e = {
        .p2 = wasm_v128_load(p - 3 * stride),
        .p1 = wasm_v128_load(p - 2 * stride),
        .p0 = wasm_v128_load(p - stride),
        .q0 = wasm_v128_load(p),
        .q1 = wasm_v128_load(p + stride),
        .q2 = wasm_v128_load(p + 2 * stride),
    };
    if (!filter_luma(&e, alpha, beta, strength))
        return;
    wasm_v128_store(p - 2 * stride, e.p1);
    wasm_v128_store(p - stride, e.p0);
    wasm_v128_store(p, e.q0);
    wasm_v128_store(p + stride, e.q1);
}

/* The eight columns around a vertical edge over 16 rows, the middle six as vectors. */
INLINE luma_edge load_columns(const pixel *p, intptr_t stride) {
    v128_t left[4], right[4];
    for (int i = 0; i < 4; i++) {
        const pixel *rows = p - 4 + 4 * i * stride;
        v128_t r01 = low8(load_row(rows, 8), load_row(rows + stride, 8));
        v128_t r23 = low8(load_row(rows + 2 * stride, 8), load_row(rows + 3 * stride, 8));
        left[i] = low16(r01, r23);
        right[i] = high16(r01, r23);
    }
    v128_t left_top = high32(left[0], left[1]), left_bottom = high32(left[2], left[3]);
    v128_t right_top = low32(right[0], right[1]), right_bottom = low32(right[2], right[3]);
    return (luma_edge){
        .p2 = high64(low32(left[0], left[1]), low32(left[2], left[3])),
        .p1 = low64(left_top, left_bottom),
        .p0 = high64(left_top, left_bottom),
        .q0 = low64(right_top, right_bottom),
        .q1 = high64(right_top, right_bottom),
        .q2 = low64(high32(right[0], right[1]), high32(right[2], right[3])),
    };
}

static void luma_vertical_edge(pixel *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
    luma_edge e = load_columns(p, stride);
    if (!filter_luma(&e, alpha, beta, strength))
        return;
    v128_t p_top = low8(e.p1, e.p0), p_bottom = high8(e.p1, e.p0);
    v128_t q_top = low8(e.q0, e.q1), q_bottom = high8(e.q0, e.q1);
    p -= 2;
    store_4x4(p, stride, low16(p_top, q_top));
    store_4x4(p + 4 * stride, stride, high16(p_top, q_top));
    store_4x4(p + 8 * stride, stride, low16(p_bottom, q_bottom));
    store_4x4(p + 12 * stride, stride, high16(p_bottom, q_bottom));
}

/* Chroma moves p0 and q0 only, where the strength is above 0. Its u and v alternate. */
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

/* Eight rows of four pairs: p1 p0 q0 q1. */
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

/* Which of 16 blocks move otherwise than their neighbours at that distance: by four quarter-pels or more
 * across, or down by the limit, which is half in fields. A block's vector fills 32 bits. */
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

/* 2 where either block has coefficients, else 1 where their references or vectors differ, else 0. */
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
    /* In fields, 4:2:2 has the shape of 4:2:0. */
    table->deblock_h_chroma_420 = table->deblock_chroma_422_mbaff = chroma_vertical_edge;
    table->deblock_strength = edge_strength;
}
