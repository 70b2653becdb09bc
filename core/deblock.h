/* H.264's luma deblocking filter, shared by the encoder and the decoder. A vector holds 16 pixels along an
 * edge: p3 to p0 lie before the edge, q0 to q3 after it. */
#ifndef CORE_DEBLOCK_H
#define CORE_DEBLOCK_H

#include "vector.h"

INLINE v128_t closer_than(v128_t a, v128_t b, v128_t limit) {
    return wasm_v128_not(wasm_u8x16_ge(abs_difference(a, b), limit));
}

/* Repeats the strength of each quarter of the edge for its four pixels. */
INLINE v128_t spread_strength(const int8_t *strength) {
    v128_t t = wasm_v128_load32_zero(strength);
    return wasm_i8x16_shuffle(t, t, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}

/* Returns a mask of the lines to filter: the step across the edge is less than alpha, and the steps on both
 * sides are less than beta. */
INLINE v128_t is_smooth(v128_t p1, v128_t p0, v128_t q0, v128_t q1, int alpha, v128_t beta) {
    v128_t edge = closer_than(p0, q0, wasm_i8x16_splat(alpha));
    return wasm_v128_and(edge, wasm_v128_and(closer_than(p1, p0, beta), closer_than(q1, q0, beta)));
}

/* Computes (4 (q0 - p0) + (p1 - q1) + 4) >> 3 in 16 bits and clamps it to -limit..limit. */
INLINE v128_t edge_delta(v128_t p1, v128_t p0, v128_t q0, v128_t q1, v128_t limit) {
    v128_t step = wasm_i16x8_shl(wasm_i16x8_sub(q0, p0), 2);
    v128_t sum = wasm_i16x8_add(wasm_i16x8_add(step, wasm_i16x8_sub(p1, q1)), wasm_i16x8_const_splat(4));
    return wasm_i16x8_max(wasm_i16x8_min(wasm_i16x8_shr(sum, 3), limit), wasm_i16x8_neg(limit));
}

/* Adds the clamped delta to p0 and subtracts it from q0. A limit of 0 leaves both unchanged. */
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

/* Returns the mean of p2 and edge_mean, rounded down and clamped to within limit of p1. */
INLINE v128_t move_second(v128_t p2, v128_t p1, v128_t edge_mean, v128_t limit) {
    v128_t odd = wasm_v128_and(wasm_v128_xor(p2, edge_mean), wasm_i8x16_const_splat(1));
    v128_t mean = wasm_i8x16_sub(wasm_u8x16_avgr(p2, edge_mean), odd);
    return wasm_u8x16_min(wasm_u8x16_max(mean, wasm_u8x16_sub_sat(p1, limit)), wasm_u8x16_add_sat(p1, limit));
}

typedef struct {
    v128_t p3, p2, p1, p0, q0, q1, q2, q3;
} luma_edge;

/* Returns 0 if no line is filtered. A negative strength leaves its quarter of the edge unfiltered. */
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
    /* Each flat side raises the limit by one, as its mask is -1. */
    move_edge(e->p1, &e->p0, &e->q0, e->q1, wasm_i8x16_sub(wasm_i8x16_sub(tc, flat_p), flat_q));
    e->p1 = p1;
    e->q1 = q1;
    return 1;
}

INLINE void deblock_luma_horizontal_edge(uint8_t *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
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

/* Loads the eight columns around a vertical edge over 16 rows, one column to a vector. */
INLINE luma_edge load_columns(const uint8_t *p, intptr_t stride) {
    v128_t left[4], right[4];
    for (int i = 0; i < 4; i++) {
        const uint8_t *rows = p - 4 + 4 * i * stride;
        v128_t r01 = low8(load_row(rows, 8), load_row(rows + stride, 8));
        v128_t r23 = low8(load_row(rows + 2 * stride, 8), load_row(rows + 3 * stride, 8));
        left[i] = low16(r01, r23);
        right[i] = high16(r01, r23);
    }
    v128_t p32[2], p10[2], q01[2], q23[2];
    for (int i = 0; i < 2; i++) {
        p32[i] = low32(left[2 * i], left[2 * i + 1]);
        p10[i] = high32(left[2 * i], left[2 * i + 1]);
        q01[i] = low32(right[2 * i], right[2 * i + 1]);
        q23[i] = high32(right[2 * i], right[2 * i + 1]);
    }
    return (luma_edge){
        .p3 = low64(p32[0], p32[1]),
        .p2 = high64(p32[0], p32[1]),
        .p1 = low64(p10[0], p10[1]),
        .p0 = high64(p10[0], p10[1]),
        .q0 = low64(q01[0], q01[1]),
        .q1 = high64(q01[0], q01[1]),
        .q2 = low64(q23[0], q23[1]),
        .q3 = high64(q23[0], q23[1]),
    };
}

INLINE void deblock_luma_vertical_edge(uint8_t *p, intptr_t stride, int alpha, int beta, int8_t *strength) {
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

#endif
