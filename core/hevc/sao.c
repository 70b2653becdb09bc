/* Sample adaptive offset at edges: adds to each pixel an offset selected by comparing it with its two
 * neighbours along a direction. The last load of a row may extend past its end; the stride of the
 * source leaves room for that. */
#include "common.h"

/* Offsets by index; an index without an offset adds 0. For bytes, the positive offsets are in above and the
 * magnitudes of the negative ones in below; for 16-bit samples, above holds all of them. */
typedef struct {
    v128_t above, below;
} offset_table;

INLINE offset_table make_table(const int16_t values[8], int depth) {
    v128_t offsets = wasm_v128_load(values);
    if (depth > 8)
        return (offset_table){offsets, zero()};
    v128_t positive = wasm_u8x16_narrow_i16x8(offsets, zero());
    return (offset_table){positive, wasm_u8x16_narrow_i16x8(wasm_i16x8_sub_sat(zero(), offsets), zero())};
}

INLINE v128_t add_offsets(v128_t pixels, v128_t indices, offset_table t, int depth) {
    if (depth == 8) {
        v128_t sum = wasm_u8x16_add_sat(pixels, wasm_i8x16_swizzle(t.above, indices));
        return wasm_u8x16_sub_sat(sum, wasm_i8x16_swizzle(t.below, indices));
    }
    v128_t bytes = wasm_i16x8_mul(indices, wasm_i16x8_const_splat(0x0202));
    bytes = wasm_i16x8_add(bytes, wasm_i16x8_const_splat(0x0100));
    v128_t sum = wasm_i16x8_add_sat(pixels, wasm_i8x16_swizzle(t.above, bytes));
    return wasm_i16x8_min(wasm_i16x8_max(sum, zero()), wasm_i16x8_splat((1 << depth) - 1));
}

INLINE void store_row_end(uint8_t *p, v128_t pixels, int bytes) {
    store_bytes(p, pixels, bytes < 16 ? bytes : 16);
}

/* Returns 1, 0 or -1 in each lane: the pixel is greater than its neighbour, equal or less. */
INLINE v128_t compare_pixels(v128_t pixel, v128_t neighbour, int depth) {
    if (depth > 8)
        return wasm_i16x8_sub(wasm_i16x8_gt(neighbour, pixel), wasm_i16x8_gt(pixel, neighbour));
    v128_t more = wasm_u8x16_max(pixel, neighbour);
    return wasm_i8x16_sub(wasm_i8x16_eq(more, neighbour), wasm_i8x16_eq(more, pixel));
}

/* The decoder passes a copy of the block; this is the copy's stride in bytes. */
#define EDGE_STRIDE (2 * MAX_PB_SIZE + AV_INPUT_BUFFER_PADDING_SIZE)

INLINE void edge_rows(uint8_t *dst, const uint8_t *src, ptrdiff_t dst_stride, const int16_t *offsets,
                      int direction, int width, int height, int depth) {
    int pixel = pixel_bytes(depth), bytes = width * pixel;
    const int neighbours[4] = {pixel, EDGE_STRIDE, EDGE_STRIDE + pixel, EDGE_STRIDE - pixel};
    int step = neighbours[direction];
    offset_table t = make_table(
        (const int16_t[8]){offsets[1], offsets[2], offsets[0], offsets[3], offsets[4], 0, 0, 0}, depth);
    for (int y = 0; y < height; y++, dst += dst_stride, src += EDGE_STRIDE)
        for (int x = 0; x < bytes; x += 16) {
            v128_t pixels = wasm_v128_load(src + x);
            v128_t before = compare_pixels(pixels, wasm_v128_load(src + x - step), depth);
            v128_t behind = compare_pixels(pixels, wasm_v128_load(src + x + step), depth);
            v128_t shape;
            if (depth == 8)
                shape = wasm_i8x16_add(wasm_i8x16_add(before, behind), wasm_i8x16_const_splat(2));
            else
                shape = wasm_i16x8_add(wasm_i16x8_add(before, behind), wasm_i16x8_const_splat(2));
            store_row_end(dst + x, add_offsets(pixels, shape, t, depth), bytes - x);
        }
}

#define DEPTH(depth)                                                                                         \
    static void edge_##depth(uint8_t *dst, uint8_t *src, ptrdiff_t dst_stride, int16_t *offsets,             \
                             int direction, int width, int height) {                                         \
        edge_rows(dst, src, dst_stride, offsets, direction, width, height, depth);                           \
    }

DEPTH(8)
DEPTH(10)

void simd_set_sao(HEVCDSPContext *c, int depth) {
    for (int i = 0; i < 5; i++)
        c->sao_edge_filter[i] = depth == 8 ? edge_8 : edge_10;
}
