/* Motion compensation with filters of 8 or 4 taps. put stores 14-bit intermediate sums, uni rounds them
 * to pixels, bi adds the sums of another block first, and uni_w and bi_w apply weights. Blocks have any
 * even width. Loads extend to the next multiple of eight pixels, which the padding of a picture allows;
 * stores end with the block. */
#include "common.h"

INLINE int at_most_8(int columns) {
    return columns < 8 ? columns : 8;
}

/* A filter's taps: each one in all lanes, and pairs of neighbouring taps for dot products. */
typedef struct {
    v128_t each[8], pairs[4];
} filter;

INLINE filter load_filter(const int8_t *weights, int taps) {
    filter f;
    for (int i = 0; i < taps; i++)
        f.each[i] = wasm_i16x8_splat(weights[i]);
    for (int i = 0; i < taps; i += 2)
        f.pairs[i / 2] = splat_pair(weights[i], weights[i + 1]);
    return f;
}

/* Returns the filter sums of eight adjacent 8-bit pixels; they fit in 16 bits. step is 1 to filter along the
 * row, or the stride to filter down the column. */
INLINE v128_t sum_bytes(const uint8_t *p, ptrdiff_t step, const filter *f, int taps) {
    p -= (taps / 2 - 1) * step;
    v128_t sum = wasm_i16x8_mul(widen8(p), f->each[0]);
    for (int i = 1; i < taps; i++)
        sum = wasm_i16x8_add(sum, wasm_i16x8_mul(widen8(p + i * step), f->each[i]));
    return sum;
}

/* Returns the filter sums at four positions of a row of 16-bit pixels: every second one. */
INLINE v128_t sum_pairs(const uint8_t *p, const filter *f, int taps) {
    v128_t sum = wasm_i32x4_dot_i16x8(wasm_v128_load(p), f->pairs[0]);
    for (int i = 1; i < taps / 2; i++)
        sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_v128_load(p + 4 * i), f->pairs[i]));
    return sum;
}

/* Returns eight filter sums along a row, shifted right by depth - 8. */
INLINE v128_t sum_row(const uint8_t *p, const filter *f, int taps, int depth) {
    if (depth == 8)
        return sum_bytes(p, 1, f, taps);
    p -= 2 * (taps / 2 - 1);
    v128_t even = wasm_i32x4_shr(sum_pairs(p, f, taps), depth - 8);
    v128_t odd = wasm_i32x4_shl(sum_pairs(p + 2, f, taps), 24 - depth);
    return wasm_i16x8_shuffle(even, odd, 0, 9, 2, 11, 4, 13, 6, 15);
}

/* A row interleaved with the one below it, for dot products of pairs. */
typedef struct {
    v128_t low, high;
} two_rows;

/* Returns the vertical filter sums of four columns. */
INLINE v128_t sum_column(const two_rows *rows, int high, const filter *f, int taps) {
    v128_t sum = wasm_i32x4_dot_i16x8(high ? rows[0].high : rows[0].low, f->pairs[0]);
    for (int i = 2; i < taps; i += 2)
        sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(high ? rows[i].high : rows[i].low, f->pairs[i / 2]));
    return sum;
}

/* Filters down the columns: of the pixels or, if across is not NULL, of the horizontal filter sums. */
INLINE void sum_down(int16_t *dst, const uint8_t *src, ptrdiff_t stride, int height, const int8_t *across,
                     const int8_t *down, int width, int taps, int depth) {
    filter rows = across ? load_filter(across, taps) : (filter){0}, columns = load_filter(down, taps);
    int shift = across ? 6 : depth - 8;
    src -= (taps / 2 - 1) * stride;
    for (int x = 0; x < width; x += 8) {
        two_rows pairs[MAX_PB_SIZE + 6];
        const uint8_t *p = src + x * pixel_bytes(depth);
        v128_t above = across ? sum_row(p, &rows, taps, depth) : load_pixels(p, depth);
        for (int y = 0; y < height + taps - 2; y++) {
            p += stride;
            v128_t below = across ? sum_row(p, &rows, taps, depth) : load_pixels(p, depth);
            pairs[y] = (two_rows){low16(above, below), high16(above, below)};
            above = below;
        }
        for (int y = 0; y < height; y++) {
            v128_t low = wasm_i32x4_shr(sum_column(pairs + y, 0, &columns, taps), shift);
            v128_t high = wasm_i32x4_shr(sum_column(pairs + y, 1, &columns, taps), shift);
            store_bytes((uint8_t *)(dst + y * MAX_PB_SIZE + x), truncate_lanes(low, high),
                        2 * at_most_8(width - x));
        }
    }
}

INLINE void sum_across(int16_t *dst, const uint8_t *src, ptrdiff_t stride, int height, const int8_t *weights,
                       int width, int taps, int depth) {
    filter f = load_filter(weights, taps);
    for (int x = 0; x < width; x += 8)
        for (int y = 0; y < height; y++) {
            v128_t sum = sum_row(src + y * stride + x * pixel_bytes(depth), &f, taps, depth);
            store_bytes((uint8_t *)(dst + y * MAX_PB_SIZE + x), sum, 2 * at_most_8(width - x));
        }
}

/* The vertical filter for bytes: its sums fit in 16 bits, so it needs no dot products of pairs. */
INLINE void sum_bytes_down(int16_t *dst, const uint8_t *src, ptrdiff_t stride, int height,
                           const int8_t *weights, int width, int taps) {
    filter f = load_filter(weights, taps);
    for (int x = 0; x < width; x += 8)
        for (int y = 0; y < height; y++) {
            v128_t sum = sum_bytes(src + y * stride + x, stride, &f, taps);
            store_bytes((uint8_t *)(dst + y * MAX_PB_SIZE + x), sum, 2 * at_most_8(width - x));
        }
}

INLINE void widen_pixels(int16_t *dst, const uint8_t *src, ptrdiff_t stride, int height, int width,
                         int depth) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x += 8) {
            v128_t pixels = load_pixels(src + y * stride + x * pixel_bytes(depth), depth);
            store_bytes((uint8_t *)(dst + y * MAX_PB_SIZE + x), wasm_i16x8_shl(pixels, 14 - depth),
                        2 * at_most_8(width - x));
        }
}

INLINE void copy_pixels(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int height,
                        int bytes) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < bytes; x += 16)
            store_bytes(dst + y * dst_stride + x, wasm_v128_load(src + y * stride + x),
                        bytes - x < 16 ? bytes - x : 16);
}

/* Subtracted from sums before they become pixels. A sum filtered in both directions may exceed INT16_MAX and
 * wrap around; less this excess, it fits in 16 bits again. */
#define EXCESS 8192

typedef struct {
    uint8_t *dst;
    ptrdiff_t stride;
    int height, width;
    const int16_t *sums, *others;
} result;

INLINE v128_t load_sums(const result *r, int x, int y) {
    return wasm_i16x8_sub(wasm_v128_load(r->sums + y * MAX_PB_SIZE + x), wasm_i16x8_const_splat(EXCESS));
}

INLINE v128_t load_others(const result *r, int x, int y) {
    return wasm_v128_load(r->others + y * MAX_PB_SIZE + x);
}

INLINE void store_result(const result *r, int x, int y, v128_t lanes, int depth) {
    store_pixels(r->dst + y * r->stride + x * pixel_bytes(depth), lanes, at_most_8(r->width - x), depth);
}

/* Values that saturate here exceed the pixel range anyway. */
INLINE void finish_uni(const result *r, int depth) {
    int shift = 14 - depth;
    v128_t rounding = wasm_i16x8_splat(EXCESS + (1 << (shift - 1)));
    for (int y = 0; y < r->height; y++)
        for (int x = 0; x < r->width; x += 8)
            store_result(r, x, y, wasm_i16x8_shr(wasm_i16x8_add_sat(load_sums(r, x, y), rounding), shift),
                         depth);
}

INLINE void finish_bi(const result *r, int depth) {
    int shift = 15 - depth;
    v128_t rounding = wasm_i16x8_splat(EXCESS + (1 << (shift - 1)));
    for (int y = 0; y < r->height; y++)
        for (int x = 0; x < r->width; x += 8) {
            v128_t sum = wasm_i16x8_add_sat(load_sums(r, x, y), load_others(r, x, y));
            store_result(r, x, y, wasm_i16x8_shr(wasm_i16x8_add_sat(sum, rounding), shift), depth);
        }
}

/* Computes ((sum * weight + other * other_weight + rounding) >> shift) + offset. */
INLINE void finish_weighted(const result *r, int weight, int other_weight, int rounding, int shift,
                            int offset, int depth) {
    v128_t weights = splat_pair(weight, other_weight), added = wasm_i32x4_splat(offset);
    v128_t base = wasm_i32x4_splat(rounding + EXCESS * weight);
    for (int y = 0; y < r->height; y++)
        for (int x = 0; x < r->width; x += 8) {
            v128_t sums = load_sums(r, x, y), others = r->others ? load_others(r, x, y) : zero();
            v128_t low = wasm_i32x4_add(wasm_i32x4_dot_i16x8(low16(sums, others), weights), base);
            v128_t high = wasm_i32x4_add(wasm_i32x4_dot_i16x8(high16(sums, others), weights), base);
            low = wasm_i32x4_add(wasm_i32x4_shr(low, shift), added);
            high = wasm_i32x4_add(wasm_i32x4_shr(high, shift), added);
            store_result(r, x, y, wasm_i16x8_narrow_i32x4(low, high), depth);
        }
}

/* Parameters of the decoder's function types. */
#define PUT_PARAMETERS                                                                                       \
    int16_t *dst, uint8_t *src, ptrdiff_t stride, int height, intptr_t mx, intptr_t my, int width
#define PIXEL_PARAMETERS uint8_t *dst, ptrdiff_t dst_stride, uint8_t *src, ptrdiff_t stride

#define FILTERS(name, taps, filters, depth)                                                                  \
    NOINLINE void put_##name##_h_##depth(PUT_PARAMETERS) {                                                   \
        sum_across(dst, src, stride, height, filters[mx - 1], width, taps, depth);                           \
    }                                                                                                        \
    NOINLINE void put_##name##_v_##depth(PUT_PARAMETERS) {                                                   \
        if (depth == 8)                                                                                      \
            sum_bytes_down(dst, src, stride, height, filters[my - 1], width, taps);                          \
        else                                                                                                 \
            sum_down(dst, src, stride, height, NULL, filters[my - 1], width, taps, depth);                   \
    }                                                                                                        \
    NOINLINE void put_##name##_hv_##depth(PUT_PARAMETERS) {                                                  \
        sum_down(dst, src, stride, height, filters[mx - 1], filters[my - 1], width, taps, depth);            \
    }                                                                                                        \
    KINDS(name##_h, depth)                                                                                   \
    KINDS(name##_v, depth)                                                                                   \
    KINDS(name##_hv, depth)

#define KINDS(name, depth)                                                                                   \
    static void uni_##name##_##depth(PIXEL_PARAMETERS, int height, intptr_t mx, intptr_t my, int width) {    \
        int16_t sums[MAX_PB_SIZE * MAX_PB_SIZE];                                                             \
        put_##name##_##depth(sums, src, stride, height, mx, my, width);                                      \
        uni_##depth(&(result){dst, dst_stride, height, width, sums, NULL});                                  \
    }                                                                                                        \
    WEIGHTED_KINDS(name, depth)                                                                              \
    static void bi_##name##_##depth(PIXEL_PARAMETERS, int16_t *others, int height, intptr_t mx, intptr_t my, \
                                    int width) {                                                             \
        int16_t sums[MAX_PB_SIZE * MAX_PB_SIZE];                                                             \
        put_##name##_##depth(sums, src, stride, height, mx, my, width);                                      \
        bi_##depth(&(result){dst, dst_stride, height, width, sums, others});                                 \
    }

#define WEIGHTED_KINDS(name, depth)                                                                          \
    static void uni_w_##name##_##depth(PIXEL_PARAMETERS, int height, int denominator, int weight,            \
                                       int offset, intptr_t mx, intptr_t my, int width) {                    \
        int16_t sums[MAX_PB_SIZE * MAX_PB_SIZE];                                                             \
        put_##name##_##depth(sums, src, stride, height, mx, my, width);                                      \
        uni_w_##depth(&(result){dst, dst_stride, height, width, sums, NULL}, denominator, weight, offset);   \
    }                                                                                                        \
    static void bi_w_##name##_##depth(PIXEL_PARAMETERS, int16_t *others, int height, int denominator,        \
                                      int other_weight, int weight, int other_offset, int offset,            \
                                      intptr_t mx, intptr_t my, int width) {                                 \
        int16_t sums[MAX_PB_SIZE * MAX_PB_SIZE];                                                             \
        put_##name##_##depth(sums, src, stride, height, mx, my, width);                                      \
        bi_w_##depth(&(result){dst, dst_stride, height, width, sums, others}, denominator, weight,           \
                     other_weight, offset, other_offset);                                                    \
    }

#define DEPTH(depth)                                                                                         \
    NOINLINE void uni_##depth(const result *r) {                                                             \
        finish_uni(r, depth);                                                                                \
    }                                                                                                        \
    NOINLINE void bi_##depth(const result *r) {                                                              \
        finish_bi(r, depth);                                                                                 \
    }                                                                                                        \
    NOINLINE void uni_w_##depth(const result *r, int denominator, int weight, int offset) {                  \
        int shift = denominator + 14 - depth;                                                                \
        finish_weighted(r, weight, 0, 1 << (shift - 1), shift, offset * (1 << (depth - 8)), depth);          \
    }                                                                                                        \
    NOINLINE void bi_w_##depth(const result *r, int denominator, int weight, int other_weight, int offset,   \
                               int other_offset) {                                                           \
        int shift = denominator + 14 - depth, both = (offset + other_offset) * (1 << (depth - 8));           \
        finish_weighted(r, weight, other_weight, (both + 1) * (1 << shift), shift + 1, 0, depth);            \
    }                                                                                                        \
    NOINLINE void put_pixels_##depth(PUT_PARAMETERS) {                                                       \
        widen_pixels(dst, src, stride, height, width, depth);                                                \
    }                                                                                                        \
    static void copy_pixels_##depth(PIXEL_PARAMETERS, int height, intptr_t mx, intptr_t my, int width) {     \
        copy_pixels(dst, dst_stride, src, stride, height, width * pixel_bytes(depth));                       \
    }                                                                                                        \
    KINDS(pixels, depth)                                                                                     \
    FILTERS(qpel, 8, ff_hevc_qpel_filters, depth)                                                            \
    FILTERS(epel, 4, ff_hevc_epel_filters, depth)                                                            \
    static void set_##depth(HEVCDSPContext *c) {                                                             \
        for (int i = 0; i < 10; i++) {                                                                       \
            SET(qpel, depth)                                                                                 \
            SET(epel, depth)                                                                                 \
        }                                                                                                    \
    }

#define SET(name, depth)                                                                                     \
    SET_PLACE(name, 0, 0, pixels_##depth)                                                                    \
    SET_PLACE(name, 0, 1, name##_h_##depth)                                                                  \
    SET_PLACE(name, 1, 0, name##_v_##depth)                                                                  \
    SET_PLACE(name, 1, 1, name##_hv_##depth)                                                                 \
    c->put_hevc_##name##_uni[i][0][0] = copy_pixels_##depth;

#define SET_PLACE(name, y, x, function)                                                                      \
    c->put_hevc_##name[i][y][x] = put_##function;                                                            \
    c->put_hevc_##name##_uni[i][y][x] = uni_##function;                                                      \
    c->put_hevc_##name##_uni_w[i][y][x] = uni_w_##function;                                                  \
    c->put_hevc_##name##_bi[i][y][x] = bi_##function;                                                        \
    c->put_hevc_##name##_bi_w[i][y][x] = bi_w_##function;

DEPTH(8)
DEPTH(10)

void simd_set_interpolation(HEVCDSPContext *c, int depth) {
    if (depth == 8)
        set_8(c);
    else
        set_10(c);
}
