/* The deblocking filter for luma and for 4:2:0 chroma. */
#include "deblock.h"
#include "common.h"

static void luma_horizontal_edge(uint8_t *p, ptrdiff_t stride, int alpha, int beta, int8_t *strength) {
    deblock_luma_horizontal_edge(p, stride, alpha, beta, strength);
}

static void luma_vertical_edge(uint8_t *p, ptrdiff_t stride, int alpha, int beta, int8_t *strength) {
    deblock_luma_vertical_edge(p, stride, alpha, beta, strength);
}

/* The filtered pixels on one side of an edge of intra blocks: where the side is flat, three pixels change
 * (flat0 to flat2), else one does (steep0). */
typedef struct {
    v128_t flat0, flat1, flat2, steep0;
} side;

INLINE side smooth_lanes(v128_t p3, v128_t p2, v128_t p1, v128_t p0, v128_t q0, v128_t q1) {
    v128_t middle = wasm_i16x8_add(wasm_i16x8_add(p2, p1), wasm_i16x8_add(p0, q0));
    v128_t twice = wasm_i16x8_sub(wasm_i16x8_add(middle, middle), p2);
    v128_t far = wasm_i16x8_shl(wasm_i16x8_add(p3, p2), 1);
    v128_t near = wasm_i16x8_add(wasm_i16x8_shl(p1, 1), p0);
    return (side){
        .flat0 = round_shift(wasm_i16x8_add(twice, q1), 3),
        .flat1 = round_shift(middle, 2),
        .flat2 = round_shift(wasm_i16x8_add(middle, far), 3),
        .steep0 = round_shift(wasm_i16x8_add(near, q1), 2),
    };
}

#define LOW(v) wasm_u16x8_extend_low_u8x16(v)
#define HIGH(v) wasm_u16x8_extend_high_u8x16(v)

INLINE side smooth(v128_t p3, v128_t p2, v128_t p1, v128_t p0, v128_t q0, v128_t q1) {
    side low = smooth_lanes(LOW(p3), LOW(p2), LOW(p1), LOW(p0), LOW(q0), LOW(q1));
    side high = smooth_lanes(HIGH(p3), HIGH(p2), HIGH(p1), HIGH(p0), HIGH(q0), HIGH(q1));
    return (side){
        .flat0 = wasm_u8x16_narrow_i16x8(low.flat0, high.flat0),
        .flat1 = wasm_u8x16_narrow_i16x8(low.flat1, high.flat1),
        .flat2 = wasm_u8x16_narrow_i16x8(low.flat2, high.flat2),
        .steep0 = wasm_u8x16_narrow_i16x8(low.steep0, high.steep0),
    };
}

INLINE void change_side(v128_t *p2, v128_t *p1, v128_t *p0, side s, v128_t active, v128_t flat) {
    *p2 = wasm_v128_bitselect(s.flat2, *p2, flat);
    *p1 = wasm_v128_bitselect(s.flat1, *p1, flat);
    *p0 = wasm_v128_bitselect(wasm_v128_bitselect(s.flat0, s.steep0, flat), *p0, active);
}

/* Returns 0 if no line is filtered. */
INLINE int filter_luma_intra(luma_edge *e, int alpha, int beta) {
    v128_t limit = wasm_i8x16_splat(beta);
    v128_t active = is_smooth(e->p1, e->p0, e->q0, e->q1, alpha, limit);
    if (!wasm_v128_any_true(active))
        return 0;
    v128_t close = wasm_v128_and(closer_than(e->p0, e->q0, wasm_i8x16_splat((alpha >> 2) + 2)), active);
    v128_t flat_p = wasm_v128_and(closer_than(e->p2, e->p0, limit), close);
    v128_t flat_q = wasm_v128_and(closer_than(e->q2, e->q0, limit), close);
    side p = smooth(e->p3, e->p2, e->p1, e->p0, e->q0, e->q1);
    side q = smooth(e->q3, e->q2, e->q1, e->q0, e->p0, e->p1);
    change_side(&e->p2, &e->p1, &e->p0, p, active, flat_p);
    change_side(&e->q2, &e->q1, &e->q0, q, active, flat_q);
    return 1;
}

static void luma_horizontal_edge_intra(uint8_t *p, ptrdiff_t stride, int alpha, int beta) {
    luma_edge e = {
        .p3 = wasm_v128_load(p - 4 * stride),
        .p2 = wasm_v128_load(p - 3 * stride),
        .p1 = wasm_v128_load(p - 2 * stride),
        .p0 = wasm_v128_load(p - stride),
        .q0 = wasm_v128_load(p),
        .q1 = wasm_v128_load(p + stride),
        .q2 = wasm_v128_load(p + 2 * stride),
        .q3 = wasm_v128_load(p + 3 * stride),
    };
    if (!filter_luma_intra(&e, alpha, beta))
        return;
    wasm_v128_store(p - 3 * stride, e.p2);
    wasm_v128_store(p - 2 * stride, e.p1);
    wasm_v128_store(p - stride, e.p0);
    wasm_v128_store(p, e.q0);
    wasm_v128_store(p + stride, e.q1);
    wasm_v128_store(p + 2 * stride, e.q2);
}

/* Stores eight rows of the eight columns around a vertical edge. */
INLINE void store_columns(uint8_t *p, ptrdiff_t stride, v128_t p32, v128_t p10, v128_t q01, v128_t q23) {
    v128_t left[2] = {low16(p32, p10), high16(p32, p10)}, right[2] = {low16(q01, q23), high16(q01, q23)};
    for (int i = 0; i < 2; i++, p += 4 * stride) {
        v128_t upper = low32(left[i], right[i]), lower = high32(left[i], right[i]);
        wasm_v128_store64_lane(p, upper, 0);
        wasm_v128_store64_lane(p + stride, upper, 1);
        wasm_v128_store64_lane(p + 2 * stride, lower, 0);
        wasm_v128_store64_lane(p + 3 * stride, lower, 1);
    }
}

static void luma_vertical_edge_intra(uint8_t *p, ptrdiff_t stride, int alpha, int beta) {
    luma_edge e = load_columns(p, stride);
    if (!filter_luma_intra(&e, alpha, beta))
        return;
    p -= 4;
    store_columns(p, stride, low8(e.p3, e.p2), low8(e.p1, e.p0), low8(e.q0, e.q1), low8(e.q2, e.q3));
    p += 8 * stride;
    store_columns(p, stride, high8(e.p3, e.p2), high8(e.p1, e.p0), high8(e.q0, e.q1), high8(e.q2, e.q3));
}

/* Eight pixels along a chroma edge; only p0 and q0 change. */
typedef struct {
    v128_t p1, p0, q0, q1;
} chroma_edge;

/* Each strength applies to two pixels; where it is 0 or less, nothing is filtered. */
INLINE int filter_chroma(chroma_edge *e, int alpha, int beta, const int8_t *strength) {
    v128_t four = wasm_v128_load32_zero(strength), tc = low8(four, four);
    v128_t active = is_smooth(e->p1, e->p0, e->q0, e->q1, alpha, wasm_i8x16_splat(beta));
    active = wasm_v128_and(active, wasm_i8x16_gt(tc, zero()));
    if (!wasm_v128_any_true(active))
        return 0;
    v128_t p0 = LOW(e->p0), q0 = LOW(e->q0);
    v128_t delta = edge_delta(LOW(e->p1), p0, q0, LOW(e->q1), LOW(wasm_v128_and(tc, active)));
    e->p0 = to_pixels(wasm_i16x8_add(p0, delta));
    e->q0 = to_pixels(wasm_i16x8_sub(q0, delta));
    return 1;
}

INLINE int filter_chroma_intra(chroma_edge *e, int alpha, int beta, const int8_t *strength) {
    v128_t active = is_smooth(e->p1, e->p0, e->q0, e->q1, alpha, wasm_i8x16_splat(beta));
    v128_t p1 = LOW(e->p1), p0 = LOW(e->p0), q0 = LOW(e->q0), q1 = LOW(e->q1);
    v128_t p = round_shift(wasm_i16x8_add(wasm_i16x8_add(wasm_i16x8_shl(p1, 1), p0), q1), 2);
    v128_t q = round_shift(wasm_i16x8_add(wasm_i16x8_add(wasm_i16x8_shl(q1, 1), q0), p1), 2);
    e->p0 = wasm_v128_bitselect(to_pixels(p), e->p0, active);
    e->q0 = wasm_v128_bitselect(to_pixels(q), e->q0, active);
    return 1;
}

typedef int (*chroma_filter)(chroma_edge *e, int alpha, int beta, const int8_t *strength);

INLINE void horizontal_chroma(uint8_t *p, ptrdiff_t stride, int alpha, int beta, const int8_t *strength,
                              chroma_filter filter) {
    chroma_edge e = {
        .p1 = load_row(p - 2 * stride, 8),
        .p0 = load_row(p - stride, 8),
        .q0 = load_row(p, 8),
        .q1 = load_row(p + stride, 8),
    };
    if (!filter(&e, alpha, beta, strength))
        return;
    store_row(p - stride, e.p0, 8);
    store_row(p, e.q0, 8);
}

INLINE void vertical_chroma(uint8_t *p, ptrdiff_t stride, int alpha, int beta, const int8_t *strength,
                            chroma_filter filter) {
    v128_t upper = load_4x4(p - 2, stride), lower = load_4x4(p - 2 + 4 * stride, stride);
    v128_t a = low8(upper, lower), b = high8(upper, lower);
    v128_t c = low8(a, b), d = high8(a, b);
    v128_t before = low8(c, d), behind = high8(c, d);
    chroma_edge e = {
        .p1 = before,
        .p0 = high64(before, before),
        .q0 = behind,
        .q1 = high64(behind, behind),
    };
    if (!filter(&e, alpha, beta, strength))
        return;
    v128_t pairs = low8(e.p0, e.q0);
    p -= 1;
    wasm_v128_store16_lane(p, pairs, 0);
    wasm_v128_store16_lane(p + stride, pairs, 1);
    wasm_v128_store16_lane(p + 2 * stride, pairs, 2);
    wasm_v128_store16_lane(p + 3 * stride, pairs, 3);
    wasm_v128_store16_lane(p + 4 * stride, pairs, 4);
    wasm_v128_store16_lane(p + 5 * stride, pairs, 5);
    wasm_v128_store16_lane(p + 6 * stride, pairs, 6);
    wasm_v128_store16_lane(p + 7 * stride, pairs, 7);
}

static void chroma_horizontal_edge(uint8_t *p, ptrdiff_t stride, int alpha, int beta, int8_t *strength) {
    horizontal_chroma(p, stride, alpha, beta, strength, filter_chroma);
}

static void chroma_vertical_edge(uint8_t *p, ptrdiff_t stride, int alpha, int beta, int8_t *strength) {
    vertical_chroma(p, stride, alpha, beta, strength, filter_chroma);
}

static void chroma_horizontal_edge_intra(uint8_t *p, ptrdiff_t stride, int alpha, int beta) {
    horizontal_chroma(p, stride, alpha, beta, NULL, filter_chroma_intra);
}

static void chroma_vertical_edge_intra(uint8_t *p, ptrdiff_t stride, int alpha, int beta) {
    vertical_chroma(p, stride, alpha, beta, NULL, filter_chroma_intra);
}

void simd_set_deblock(H264DSPContext *c, int chroma_format) {
    c->h264_v_loop_filter_luma = luma_horizontal_edge;
    c->h264_h_loop_filter_luma = luma_vertical_edge;
    c->h264_v_loop_filter_luma_intra = luma_horizontal_edge_intra;
    c->h264_h_loop_filter_luma_intra = luma_vertical_edge_intra;
    c->h264_v_loop_filter_chroma = chroma_horizontal_edge;
    c->h264_v_loop_filter_chroma_intra = chroma_horizontal_edge_intra;
    if (chroma_format > 1)
        return;
    c->h264_h_loop_filter_chroma = chroma_vertical_edge;
    c->h264_h_loop_filter_chroma_intra = chroma_vertical_edge_intra;
}
