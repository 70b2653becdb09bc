/* The luma deblocking filter. A vector holds the pixels at one distance from the edge over eight lines; every
 * four lines share their filter decisions. Pixels 0 to 3 lie before the edge, 4 to 7 after it. */
#include "common.h"

typedef struct {
    int beta;
    const int32_t *tc;
    const uint8_t *keeps_before, *keeps_behind;
} strength;

/* Repeat the first or the last of every four lines for all four. */
INLINE v128_t first_lines(v128_t v) {
    return wasm_i16x8_shuffle(v, v, 0, 0, 0, 0, 4, 4, 4, 4);
}

INLINE v128_t last_lines(v128_t v) {
    return wasm_i16x8_shuffle(v, v, 3, 3, 3, 3, 7, 7, 7, 7);
}

INLINE v128_t add3(v128_t a, v128_t b, v128_t c) {
    return wasm_i16x8_add(wasm_i16x8_add(a, b), c);
}

INLINE v128_t distance(v128_t a, v128_t b) {
    return wasm_i16x8_abs(wasm_i16x8_sub(a, b));
}

INLINE v128_t curvature(v128_t a, v128_t b, v128_t c) {
    return wasm_i16x8_abs(wasm_i16x8_sub(wasm_i16x8_add(a, c), wasm_i16x8_shl(b, 1)));
}

INLINE v128_t limit_to(v128_t v, v128_t around, v128_t most) {
    return wasm_i16x8_min(wasm_i16x8_max(v, wasm_i16x8_sub(around, most)), wasm_i16x8_add(around, most));
}

INLINE v128_t round_by(v128_t v, int shift) {
    return wasm_i16x8_shr(wasm_i16x8_add(v, wasm_i16x8_splat(1 << (shift - 1))), shift);
}

/* Returns a vector with one value for the first four lines and one for the last four. */
INLINE v128_t by_fours(int first, int second) {
    return low64(wasm_i16x8_splat(first), wasm_i16x8_splat(second));
}

/* The strong filter for one side of the edge: p0 to p3 are its pixels, nearest first, and q0 and q1 the
 * nearest two on the other side. No pixel changes by more than most. */
INLINE void smooth_side(v128_t out[3], v128_t p0, v128_t p1, v128_t p2, v128_t p3, v128_t q0, v128_t q1,
                        v128_t most) {
    v128_t middle = add3(p1, p0, q0);
    v128_t nearest = wasm_i16x8_add(wasm_i16x8_shl(middle, 1), wasm_i16x8_add(p2, q1));
    v128_t outer = add3(wasm_i16x8_shl(wasm_i16x8_add(p3, p2), 1), p2, middle);
    out[0] = limit_to(round_by(nearest, 3), p0, most);
    out[1] = limit_to(round_by(wasm_i16x8_add(middle, p2), 2), p1, most);
    out[2] = limit_to(round_by(outer, 3), p2, most);
}

/* Returns the second pixel of a side after the normal filter; delta is the change of the first pixel. */
INLINE v128_t move_second(v128_t p0, v128_t p1, v128_t p2, v128_t delta, v128_t most) {
    v128_t step = wasm_i16x8_add(wasm_i16x8_sub(wasm_u16x8_avgr(p2, p0), p1), delta);
    return wasm_i16x8_add(p1, limit_to(wasm_i16x8_shr(step, 1), zero(), most));
}

/* Returns 0 if no line is filtered. Values outside the pixel range are clamped when they are stored. */
NOINLINE int filter_edge(v128_t e[8], const strength *s, int depth) {
    v128_t p3 = e[0], p2 = e[1], p1 = e[2], p0 = e[3], q0 = e[4], q1 = e[5], q2 = e[6], q3 = e[7];
    int beta = s->beta << (depth - 8);
    v128_t before = curvature(p2, p1, p0), behind = curvature(q2, q1, q0),
           both = wasm_i16x8_add(before, behind);
    v128_t active =
        wasm_i16x8_lt(wasm_i16x8_add(first_lines(both), last_lines(both)), wasm_i16x8_splat(beta));
    if (!wasm_v128_any_true(active))
        return 0;
    v128_t tc = by_fours(s->tc[0] << (depth - 8), s->tc[1] << (depth - 8));
    v128_t steep = round_by(wasm_i16x8_mul(tc, wasm_i16x8_const_splat(5)), 1);
    v128_t flat =
        wasm_i16x8_lt(wasm_i16x8_add(distance(p3, p0), distance(q3, q0)), wasm_i16x8_splat(beta >> 3));
    flat = wasm_v128_and(flat, wasm_i16x8_lt(distance(p0, q0), steep));
    flat = wasm_v128_and(flat, wasm_i16x8_lt(wasm_i16x8_shl(both, 1), wasm_i16x8_splat(beta >> 2)));
    v128_t strong = wasm_v128_and(active, wasm_v128_and(first_lines(flat), last_lines(flat)));

    v128_t across = wasm_i16x8_sub(q0, p0);
    v128_t delta = wasm_i16x8_sub(add3(across, wasm_i16x8_shl(across, 3), p1), q1);
    delta = round_by(wasm_i16x8_add(delta, wasm_i16x8_shl(wasm_i16x8_sub(p1, q1), 1)), 4);
    v128_t small = wasm_i16x8_lt(wasm_i16x8_abs(delta), wasm_i16x8_mul(tc, wasm_i16x8_const_splat(10)));
    v128_t normal = wasm_v128_and(active, small), half = wasm_i16x8_shr(tc, 1);
    v128_t smooth = wasm_i16x8_splat((beta + (beta >> 1)) >> 3);
    v128_t second_before = wasm_i16x8_lt(wasm_i16x8_add(first_lines(before), last_lines(before)), smooth);
    v128_t second_behind = wasm_i16x8_lt(wasm_i16x8_add(first_lines(behind), last_lines(behind)), smooth);
    delta = limit_to(delta, zero(), tc);
    v128_t p[3], q[3], twice = wasm_i16x8_shl(tc, 1), back = wasm_i16x8_neg(delta);
    smooth_side(p, p0, p1, p2, p3, q0, q1, twice);
    smooth_side(q, q0, q1, q2, q3, p0, p1, twice);

    v128_t changes_p = wasm_v128_not(by_fours(-!!s->keeps_before[0], -!!s->keeps_before[1]));
    v128_t changes_q = wasm_v128_not(by_fours(-!!s->keeps_behind[0], -!!s->keeps_behind[1]));
    v128_t strong_p = wasm_v128_and(strong, changes_p), strong_q = wasm_v128_and(strong, changes_q);
    v128_t normal_p = wasm_v128_and(normal, changes_p), normal_q = wasm_v128_and(normal, changes_q);
    v128_t moved_p1 = move_second(p0, p1, p2, delta, half), moved_q1 = move_second(q0, q1, q2, back, half);
    p1 = wasm_v128_bitselect(moved_p1, p1, wasm_v128_and(normal_p, second_before));
    q1 = wasm_v128_bitselect(moved_q1, q1, wasm_v128_and(normal_q, second_behind));
    p0 = wasm_i16x8_add(p0, wasm_v128_and(delta, normal_p));
    q0 = wasm_i16x8_add(q0, wasm_v128_and(back, normal_q));
    e[1] = wasm_v128_bitselect(p[2], p2, strong_p);
    e[2] = wasm_v128_bitselect(p[1], p1, strong_p);
    e[3] = wasm_v128_bitselect(p[0], p0, strong_p);
    e[4] = wasm_v128_bitselect(q[0], q0, strong_q);
    e[5] = wasm_v128_bitselect(q[1], q1, strong_q);
    e[6] = wasm_v128_bitselect(q[2], q2, strong_q);
    return 1;
}

INLINE void horizontal_edge(uint8_t *p, ptrdiff_t stride, const strength *s, int depth) {
    v128_t e[8];
    for (int i = 0; i < 8; i++)
        e[i] = load_pixels(p + (i - 4) * stride, depth);
    if (!filter_edge(e, s, depth))
        return;
    for (int i = 1; i < 7; i++)
        store_pixels(p + (i - 4) * stride, e[i], 8, depth);
}

INLINE void vertical_edge(uint8_t *p, ptrdiff_t stride, const strength *s, int depth) {
    v128_t e[8];
    p -= 4 * pixel_bytes(depth);
    for (int i = 0; i < 8; i++)
        e[i] = load_pixels(p + i * stride, depth);
    transpose_8x8(e);
    if (!filter_edge(e, s, depth))
        return;
    transpose_8x8(e);
    for (int i = 0; i < 8; i++)
        store_pixels(p + i * stride, e[i], 8, depth);
}

#define EDGE(direction, depth)                                                                               \
    static void direction##_##depth(uint8_t *p, ptrdiff_t stride, int beta, int32_t *tc, uint8_t *no_p,      \
                                    uint8_t *no_q) {                                                         \
        direction##_edge(p, stride, &(strength){beta, tc, no_p, no_q}, depth);                               \
    }

EDGE(horizontal, 8)
EDGE(vertical, 8)
EDGE(horizontal, 10)
EDGE(vertical, 10)

void simd_set_deblocking(HEVCDSPContext *c, int depth) {
    c->hevc_h_loop_filter_luma = c->hevc_h_loop_filter_luma_c = depth == 8 ? horizontal_8 : horizontal_10;
    c->hevc_v_loop_filter_luma = c->hevc_v_loop_filter_luma_c = depth == 8 ? vertical_8 : vertical_10;
}
