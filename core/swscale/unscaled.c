/* Rounds planes of 10-bit samples to 8 bits: replaces swscale's planarCopyWrapper for pictures that
 * need no other conversion. */
#include "common.h"

void __real_ff_get_unscaled_swscale(SwsContext *c);

/* swscale's own function, for all cases that the kernel does not handle. */
static SwsFunc scalar_copy;

/* The dither added before the lowest two bits are dropped, indexed by row and column modulo 2. */
static const uint16_t dithers[2][2] = {{1, 2}, {3, 0}};

/* Limited-range samples are rounded, and 256 becomes 255; full-range samples are scaled to 0..1020 first.
 * Only the low 8 bits of the result matter, as in the scalar function. */
INLINE v128_t narrow_8(v128_t samples, v128_t dither, int is_full) {
    if (is_full) {
        samples = wasm_i16x8_sub(samples, wasm_u16x8_shr(samples, 8));
        return wasm_u16x8_shr(wasm_i16x8_add(samples, dither), 2);
    }
    v128_t rest = wasm_v128_and(samples, wasm_i16x8_const_splat(3));
    v128_t carry = wasm_u16x8_shr(wasm_i16x8_add(rest, dither), 2);
    samples = wasm_i16x8_add(wasm_u16x8_shr(samples, 2), carry);
    return wasm_i16x8_sub(samples, wasm_u16x8_shr(samples, 8));
}

INLINE void narrow_step(uint8_t *dst, const uint16_t *src, const uint16_t *dither, int x, int is_full) {
    v128_t row = wasm_v128_load32_splat(dither), mask = wasm_i16x8_const_splat(255);
    if (x % 2)
        row = wasm_i16x8_shuffle(row, row, 1, 0, 3, 2, 5, 4, 7, 6);
    v128_t left = wasm_v128_and(narrow_8(wasm_v128_load(src + x), row, is_full), mask);
    v128_t right = wasm_v128_and(narrow_8(wasm_v128_load(src + x + 8), row, is_full), mask);
    wasm_v128_store(dst + x, wasm_u8x16_narrow_i16x8(left, right));
}

INLINE void narrow_row(uint8_t *dst, const uint16_t *src, int width, const uint16_t *dither, int is_full) {
    int x = 0;
    for (; x + 16 <= width; x += 16)
        narrow_step(dst, src, dither, x, is_full);
    if (x < width)
        narrow_step(dst, src, dither, width - 16, is_full); /* overlaps the step before */
}

static void narrow_plane(uint8_t *dst, int dst_stride, const uint8_t *src, int src_stride, int width,
                         int height, int is_full) {
    for (int y = 0; y < height; y++) {
        if (is_full)
            narrow_row(dst, (const uint16_t *)src, width, dithers[y % 2], 1);
        else
            narrow_row(dst, (const uint16_t *)src, width, dithers[y % 2], 0);
        dst += dst_stride;
        src += src_stride;
    }
}

static int narrow_planes(SwsContext *c, const uint8_t *src[], int src_stride[], int slice_y, int slice_height,
                         uint8_t *dst[], int dst_stride[]) {
    int chroma_width = AV_CEIL_RSHIFT(c->srcW, c->chrDstHSubSample);
    if (c->dither == SWS_DITHER_NONE || chroma_width < 16 || !src[1] || !src[2] || !dst[1] || !dst[2])
        return scalar_copy(c, src, src_stride, slice_y, slice_height, dst, dst_stride);
    narrow_plane(dst[0] + slice_y * dst_stride[0], dst_stride[0], src[0], src_stride[0], c->srcW,
                 slice_height, c->srcRange);
    for (int i = 1; i < 3; i++) {
        int y = AV_CEIL_RSHIFT(slice_y, c->chrDstVSubSample);
        narrow_plane(dst[i] + y * dst_stride[i], dst_stride[i], src[i], src_stride[i], chroma_width,
                     AV_CEIL_RSHIFT(slice_height, c->chrDstVSubSample), 0);
    }
    return slice_height;
}

void __wrap_ff_get_unscaled_swscale(SwsContext *c) {
    enum AVPixelFormat from = c->srcFormat, to = c->dstFormat;
    __real_ff_get_unscaled_swscale(c);
    if ((from == AV_PIX_FMT_YUV420P10LE && to == AV_PIX_FMT_YUV420P) ||
        (from == AV_PIX_FMT_YUV422P10LE && to == AV_PIX_FMT_YUV422P) ||
        (from == AV_PIX_FMT_YUV444P10LE && to == AV_PIX_FMT_YUV444P)) {
        scalar_copy = c->convert_unscaled;
        c->convert_unscaled = narrow_planes;
    }
}
