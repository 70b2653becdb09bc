/* Deinterlaces rows of 8-bit samples: replaces yadif's filter_line. */
#include "yadif/yadif.h"
#include "libavutil/attributes.h"
#include <wasm_simd128.h>

#define INLINE static av_always_inline
#define STEP 8 /* samples per step, in 16-bit lanes */

int __real_ff_yadif_filter_frame(AVFilterLink *link, AVFrame *frame);

typedef void (*line_function)(void *dst, void *prev, void *cur, void *next, int width, int below, int above,
                              int parity, int mode);

static line_function scalar_line;

/* The inputs of one row: its place in the previous, current and next picture and in the two pictures that
 * contain the missing field, and the offsets of the rows above and below. */
typedef struct {
    const uint8_t *prev, *cur, *next, *field_before, *field_after;
    int above, below;
} rows;

INLINE v128_t load(const uint8_t *p) {
    return wasm_u16x8_load8x8(p);
}

INLINE v128_t distance(v128_t a, v128_t b) {
    return wasm_i16x8_abs(wasm_i16x8_sub(a, b));
}

INLINE v128_t mean(v128_t a, v128_t b) {
    return wasm_u16x8_shr(wasm_i16x8_add(a, b), 1);
}

INLINE v128_t larger(v128_t a, v128_t b) {
    return wasm_i16x8_max(a, b);
}

INLINE v128_t smaller(v128_t a, v128_t b) {
    return wasm_i16x8_min(a, b);
}

/* Returns the difference between the row above, shifted by `by`, and the row below, shifted the other way. */
INLINE v128_t score_of(const uint8_t *above, const uint8_t *below, int by) {
    v128_t score = distance(load(above + by - 1), load(below - by - 1));
    score = wasm_i16x8_add(score, distance(load(above + by), load(below - by)));
    return wasm_i16x8_add(score, distance(load(above + by + 1), load(below - by + 1)));
}

/* Takes the direction `by` in those lanes of `among` where its score is better;
 * returns a mask of these lanes. */
INLINE v128_t try_direction(v128_t *best, v128_t *prediction, const uint8_t *above, const uint8_t *below,
                            int by, v128_t among) {
    v128_t score = score_of(above, below, by);
    v128_t better = wasm_v128_and(wasm_i16x8_lt(score, *best), among);
    *best = wasm_v128_bitselect(score, *best, better);
    *prediction = wasm_v128_bitselect(mean(load(above + by), load(below - by)), *prediction, better);
    return better;
}

/* Averages along the direction with the best score; each steeper direction is considered only where the
 * less steep one was better. */
INLINE v128_t predict(const uint8_t *above, const uint8_t *below) {
    v128_t all = wasm_i16x8_const_splat(-1), prediction = mean(load(above), load(below));
    v128_t best = wasm_i16x8_add(score_of(above, below, 0), all);
    v128_t left = try_direction(&best, &prediction, above, below, -1, all);
    try_direction(&best, &prediction, above, below, -2, left);
    v128_t right = try_direction(&best, &prediction, above, below, 1, all);
    try_direction(&best, &prediction, above, below, 2, right);
    return prediction;
}

/* Returns the temporal difference at each pixel. */
INLINE v128_t change(const rows *r, int x, v128_t above, v128_t below) {
    v128_t field = distance(load(r->field_before + x), load(r->field_after + x));
    v128_t before = wasm_i16x8_add(distance(load(r->prev + x + r->above), above),
                                   distance(load(r->prev + x + r->below), below));
    v128_t after = wasm_i16x8_add(distance(load(r->next + x + r->above), above),
                                  distance(load(r->next + x + r->below), below));
    return wasm_u16x8_shr(larger(field, larger(before, after)), 1);
}

/* yadif's spatial check: raises the allowed difference according to the rows two above and two below. */
INLINE v128_t widen(v128_t difference, const rows *r, int x, v128_t middle, v128_t above, v128_t below) {
    v128_t far_above =
        mean(load(r->field_before + x + 2 * r->above), load(r->field_after + x + 2 * r->above));
    v128_t far_below =
        mean(load(r->field_before + x + 2 * r->below), load(r->field_after + x + 2 * r->below));
    v128_t a = wasm_i16x8_sub(far_above, above), b = wasm_i16x8_sub(far_below, below);
    v128_t c = wasm_i16x8_sub(middle, above), d = wasm_i16x8_sub(middle, below);
    v128_t most = larger(larger(c, d), smaller(a, b)), least = smaller(smaller(c, d), larger(a, b));
    return larger(difference, larger(least, wasm_i16x8_neg(most)));
}

INLINE void filter_step(uint8_t *dst, const rows *r, int x, int is_spatial) {
    v128_t above = load(r->cur + x + r->above), below = load(r->cur + x + r->below);
    v128_t middle = mean(load(r->field_before + x), load(r->field_after + x));
    v128_t difference = change(r, x, above, below);
    v128_t result = predict(r->cur + x + r->above, r->cur + x + r->below);
    if (is_spatial)
        difference = widen(difference, r, x, middle, above, below);
    result = larger(result, wasm_i16x8_sub(middle, difference));
    result = smaller(result, wasm_i16x8_add(middle, difference));
    wasm_v128_store64_lane(dst + x, wasm_u8x16_narrow_i16x8(result, result), 0);
}

static void filter_line(void *dst, void *prev, void *cur, void *next, int width, int below, int above,
                        int parity, int mode) {
    rows r = {prev, cur, next, parity ? prev : cur, parity ? cur : next, above, below};
    int x = 0, is_spatial = !(mode & YADIF_MODE_SEND_FRAME_NOSPATIAL);
    if (width < STEP) {
        scalar_line(dst, prev, cur, next, width, below, above, parity, mode);
        return;
    }
    for (; x + STEP <= width; x += STEP)
        filter_step(dst, &r, x, is_spatial);
    if (x < width)
        filter_step(dst, &r, width - STEP, is_spatial); /* overlaps the step before */
}

void simd_set_yadif(YADIFContext *yadif) {
    if (yadif->csp->comp[0].depth > 8 || yadif->filter_line == filter_line)
        return;
    scalar_line = yadif->filter_line;
    yadif->filter_line = filter_line;
}

/* No global function that could be wrapped sets filter_line; this one runs before any row is filtered. */
int __wrap_ff_yadif_filter_frame(AVFilterLink *link, AVFrame *frame) {
    simd_set_yadif(link->dst->priv);
    return __real_ff_yadif_filter_frame(link, frame);
}
