/* Luma motion compensation to quarter-pels: wraps ff_h264qpel_init. A quarter-pel sample is the mean of the
 * two nearest full or half samples. */
#include "common.h"

void __real_ff_h264qpel_init(H264QpelContext *c, int bit_depth);

#define NOINLINE static __attribute__((noinline))

/* A square block to predict, of height rows. If average is set, the prediction is
 * averaged with the pixels in dst. */
typedef struct {
    uint8_t *dst;
    const uint8_t *src;
    ptrdiff_t stride;
    int height, average;
} block;

/* H.264's half-sample filter, 1 -5 20 20 -5 1. Sums of six pixels fit in 16 bits. */
INLINE v128_t six_taps(v128_t a, v128_t b, v128_t c, v128_t d, v128_t e, v128_t f) {
    v128_t middle = wasm_i16x8_shl(wasm_i16x8_add(c, d), 2);
    v128_t inner = wasm_i16x8_sub(middle, wasm_i16x8_add(b, e));
    return wasm_i16x8_add(wasm_i16x8_mul(inner, wasm_i16x8_const_splat(5)), wasm_i16x8_add(a, f));
}

/* Applies the same filter to such sums, divides by 1024 and rounds. Dividing in several steps is exact, and a
 * lane that saturates is far outside the pixel range. */
INLINE v128_t six_taps_of_sums(const v128_t r[6]) {
    v128_t outer = wasm_i16x8_add(r[0], r[5]), inner = wasm_i16x8_add(r[1], r[4]);
    v128_t middle = wasm_i16x8_add(r[2], r[3]);
    v128_t sum = wasm_i16x8_shr(wasm_i16x8_sub(outer, inner), 2);
    sum = wasm_i16x8_add_sat(wasm_i16x8_sub(sum, inner), middle);
    return round_shift(wasm_i16x8_add(wasm_i16x8_shr(sum, 2), middle), 6);
}

INLINE v128_t horizontal_sums(const uint8_t *p) {
    return six_taps(widen8(p - 2), widen8(p - 1), widen8(p), widen8(p + 1), widen8(p + 2), widen8(p + 3));
}

INLINE v128_t horizontal_half(const uint8_t *p) {
    return to_pixels(round_shift(horizontal_sums(p), 5));
}

INLINE v128_t vertical_half(const v128_t r[6]) {
    return to_pixels(round_shift(six_taps(r[0], r[1], r[2], r[3], r[4], r[5]), 5));
}

/* Moves the six rows of a vertical filter down by one. */
INLINE void next_row(v128_t r[6], v128_t row) {
    for (int i = 0; i < 5; i++)
        r[i] = r[i + 1];
    r[5] = row;
}

/* Stores or averages one row of 8 or 4 pixels. */
INLINE void put(const block *b, int x, int y, v128_t pixels, int width) {
    uint8_t *dst = b->dst + y * b->stride + x;
    if (b->average)
        pixels = wasm_u8x16_avgr(pixels, load_row(dst, width));
    store_row(dst, pixels, width);
}

INLINE v128_t mean_with(v128_t pixels, const uint8_t *other) {
    return other ? wasm_u8x16_avgr(pixels, wasm_v128_load64_zero(other)) : pixels;
}

/* Copies full samples, or averages them with dst. */
INLINE void full_columns(const block *b, int width) {
    for (int y = 0; y < b->height; y++) {
        v128_t row = load_row(b->src + y * b->stride, width);
        uint8_t *dst = b->dst + y * b->stride;
        store_row(dst, b->average ? wasm_u8x16_avgr(row, load_row(dst, width)) : row, width);
    }
}

/* Predicts the half samples between columns, averaged with the full samples at other unless it is NULL. */
INLINE void horizontal_columns(const block *b, int x, const uint8_t *other, int width) {
    for (int y = 0; y < b->height; y++) {
        ptrdiff_t at = y * b->stride + x;
        put(b, x, y, mean_with(horizontal_half(b->src + at), other ? other + at : NULL), width);
    }
}

/* Loads all rows but the last, which the first next_row adds. */
INLINE void first_rows(v128_t r[6], const uint8_t *p, ptrdiff_t stride) {
    for (int i = 0; i < 5; i++)
        r[i + 1] = widen8(p + (i - 2) * stride);
}

INLINE void vertical_columns(const block *b, int x, const uint8_t *other, int width) {
    v128_t r[6];
    first_rows(r, b->src + x, b->stride);
    for (int y = 0; y < b->height; y++) {
        ptrdiff_t at = y * b->stride + x;
        next_row(r, widen8(b->src + at + 3 * b->stride));
        put(b, x, y, mean_with(vertical_half(r), other ? other + at : NULL), width);
    }
}

/* Averages the half samples between columns, in the row at across, with those between
 * rows, in the column at down. */
INLINE void diagonal_columns(const block *b, int x, const uint8_t *across, const uint8_t *down, int width) {
    v128_t r[6];
    first_rows(r, down + x, b->stride);
    for (int y = 0; y < b->height; y++) {
        ptrdiff_t at = y * b->stride + x;
        next_row(r, widen8(down + at + 3 * b->stride));
        put(b, x, y, wasm_u8x16_avgr(vertical_half(r), horizontal_half(across + at)), width);
    }
}

/* Predicts the half samples between both columns and rows. If row_beside is not 0, averages them
 * with the half samples between columns in that row of sums; if down is not NULL, with those between
 * rows in the column at down. */
INLINE void central_columns(const block *b, int x, int row_beside, const uint8_t *down, int width) {
    v128_t sums[6], r[6];
    for (int i = 0; i < 5; i++)
        sums[i + 1] = horizontal_sums(b->src + x + (i - 2) * b->stride);
    if (down)
        first_rows(r, down + x, b->stride);
    for (int y = 0; y < b->height; y++) {
        ptrdiff_t below = (y + 3) * b->stride + x;
        next_row(sums, horizontal_sums(b->src + below));
        v128_t pixels = to_pixels(six_taps_of_sums(sums));
        if (row_beside)
            pixels = wasm_u8x16_avgr(pixels, to_pixels(round_shift(sums[row_beside], 5)));
        if (down) {
            next_row(r, widen8(down + below));
            pixels = wasm_u8x16_avgr(pixels, vertical_half(r));
        }
        put(b, x, y, pixels, width);
    }
}

/* Runs a kernel on all columns of a block, eight at a time. */
#define EACH_COLUMNS(run, ...)                                                                               \
    if (b->height == 4)                                                                                      \
        run(b, 0, __VA_ARGS__, 4);                                                                           \
    else                                                                                                     \
        for (int x = 0; x < b->height; x += 8)                                                               \
            run(b, x, __VA_ARGS__, 8)

NOINLINE void predict_full(const block *b) {
    if (b->height == 16)
        full_columns(b, 16);
    else if (b->height == 8)
        full_columns(b, 8);
    else
        full_columns(b, 4);
}

NOINLINE void predict_horizontal(const block *b, const uint8_t *other) {
    EACH_COLUMNS(horizontal_columns, other);
}

NOINLINE void predict_vertical(const block *b, const uint8_t *other) {
    EACH_COLUMNS(vertical_columns, other);
}

NOINLINE void predict_diagonal(const block *b, const uint8_t *across, const uint8_t *down) {
    EACH_COLUMNS(diagonal_columns, across, down);
}

NOINLINE void predict_center(const block *b) {
    EACH_COLUMNS(central_columns, 0, NULL);
}

/* row is the index in sums of the samples' own row, 2, or of the row below it, 3. */
NOINLINE void predict_center_row(const block *b, int row) {
    EACH_COLUMNS(central_columns, row, NULL);
}

NOINLINE void predict_center_column(const block *b, const uint8_t *down) {
    EACH_COLUMNS(central_columns, 0, down);
}

/* x and y count quarter-pels, 0 to 3, and are constants at every call. */
INLINE void predict(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int size, int average, int x, int y) {
    block b = {dst, src, stride, size, average};
    const uint8_t *right = src + (x == 3), *below = src + (y == 3) * stride;
    if (x == 0 && y == 0)
        predict_full(&b);
    else if (y == 0)
        predict_horizontal(&b, x == 2 ? NULL : right);
    else if (x == 0)
        predict_vertical(&b, y == 2 ? NULL : below);
    else if (x == 2 && y == 2)
        predict_center(&b);
    else if (x == 2)
        predict_center_row(&b, y == 1 ? 2 : 3);
    else if (y == 2)
        predict_center_column(&b, right);
    else
        predict_diagonal(&b, below, right);
}

#define POSITION(op, average, size, x, y)                                                                    \
    static void op##_##size##_##x##y(uint8_t *dst, const uint8_t *src, ptrdiff_t stride) {                   \
        predict(dst, src, stride, size, average, x, y);                                                      \
    }

/* All positions of one row of quarter-pels, in the order of the table. */
#define ROW(run, y, ...) run(__VA_ARGS__, 0, y) run(__VA_ARGS__, 1, y) run(__VA_ARGS__, 2, y) run(__VA_ARGS__, 3, y)
#define POSITIONS(run, ...)                                                                                  \
    ROW(run, 0, __VA_ARGS__) ROW(run, 1, __VA_ARGS__) ROW(run, 2, __VA_ARGS__) ROW(run, 3, __VA_ARGS__)
#define NAME(op, size, x, y) op##_##size##_##x##y,

POSITIONS(POSITION, put, 0, 16)
POSITIONS(POSITION, put, 0, 8)
POSITIONS(POSITION, put, 0, 4)
POSITIONS(POSITION, avg, 1, 16)
POSITIONS(POSITION, avg, 1, 8)
POSITIONS(POSITION, avg, 1, 4)

static const qpel_mc_func put_functions[3][16] = {
    {POSITIONS(NAME, put, 16)}, {POSITIONS(NAME, put, 8)}, {POSITIONS(NAME, put, 4)}};
static const qpel_mc_func avg_functions[3][16] = {
    {POSITIONS(NAME, avg, 16)}, {POSITIONS(NAME, avg, 8)}, {POSITIONS(NAME, avg, 4)}};

void __wrap_ff_h264qpel_init(H264QpelContext *c, int bit_depth) {
    __real_ff_h264qpel_init(c, bit_depth);
    if (bit_depth != 8)
        return;
    for (int size = 0; size < 3; size++)
        for (int i = 0; i < 16; i++) {
            c->put_h264_qpel_pixels_tab[size][i] = put_functions[size][i];
            c->avg_h264_qpel_pixels_tab[size][i] = avg_functions[size][i];
        }
}
