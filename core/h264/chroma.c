/* Chroma motion compensation to eighth-pels: wraps ff_h264chroma_init. */
#include "common.h"

void __real_ff_h264chroma_init(H264ChromaContext *c, int bit_depth);

/* The weights of the four neighbours add up to 64. A neighbour of weight 0 is not read, as it may
 * lie outside the picture. */
INLINE void chroma_rows(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int height, int x, int y, int width,
                        int average) {
    v128_t here_weight = wasm_i16x8_splat((8 - x) * (8 - y)), right_weight = wasm_i16x8_splat(x * (8 - y));
    v128_t below_weight = wasm_i16x8_splat((8 - x) * y), diagonal_weight = wasm_i16x8_splat(x * y);
    ptrdiff_t right = x > 0, below = y > 0 ? stride : 0;
    v128_t (*widen)(const uint8_t *) = width == 8 ? widen8 : widen4;
    for (int row = 0; row < height; row++) {
        v128_t upper = wasm_i16x8_add(wasm_i16x8_mul(widen(src), here_weight),
                                      wasm_i16x8_mul(widen(src + right), right_weight));
        v128_t lower = wasm_i16x8_add(wasm_i16x8_mul(widen(src + below), below_weight),
                                      wasm_i16x8_mul(widen(src + below + right), diagonal_weight));
        v128_t pixels = to_pixels(round_shift(wasm_i16x8_add(upper, lower), 6));
        if (average)
            pixels = wasm_u8x16_avgr(pixels, load_row(dst, width));
        store_row(dst, pixels, width);
        dst += stride;
        src += stride;
    }
}

#define CHROMA(op, average, width)                                                                           \
    static void op##_##width(uint8_t *dst, uint8_t *src, ptrdiff_t stride, int height, int x, int y) {       \
        chroma_rows(dst, src, stride, height, x, y, width, average);                                         \
    }

CHROMA(put, 0, 8)
CHROMA(put, 0, 4)
CHROMA(avg, 1, 8)
CHROMA(avg, 1, 4)

void __wrap_ff_h264chroma_init(H264ChromaContext *c, int bit_depth) {
    __real_ff_h264chroma_init(c, bit_depth);
    if (bit_depth != 8)
        return;
    c->put_h264_chroma_pixels_tab[0] = put_8;
    c->put_h264_chroma_pixels_tab[1] = put_4;
    c->avg_h264_chroma_pixels_tab[0] = avg_8;
    c->avg_h264_chroma_pixels_tab[1] = avg_4;
}
