/* libvpx's horizontal filters. The NEON versions transpose every block before and after filtering; these load
 * the neighbours of each pixel instead. */
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#define FIXED static inline __attribute__((always_inline))

typedef int16_t kernel[8];

/* Filters 8 pixels; `taps` is 8, or 4 for kernels whose outer taps are zero. A sum that saturates yields 0 or
 * 255 anyway, and the sum without the two middle taps does not overflow. */
FIXED v128_t apply(const v128_t *pixels, const v128_t *kernel, int taps) {
    v128_t products[8], sum;
    for (int i = 4 - taps / 2; i < 4 + taps / 2; i++)
        products[i] = wasm_i16x8_mul(pixels[i], kernel[i]);
    sum = wasm_i16x8_add(products[2], products[5]);
    if (taps == 8) {
        v128_t left = wasm_i16x8_add(products[0], products[1]);
        v128_t right = wasm_i16x8_add(products[6], products[7]);
        sum = wasm_i16x8_add(sum, wasm_i16x8_add(left, right));
    }
    sum = wasm_i16x8_add_sat(wasm_i16x8_add_sat(sum, products[3]), products[4]);
    sum = wasm_i16x8_shr(wasm_i16x8_add_sat(sum, wasm_i16x8_const_splat(64)), 7);
    return wasm_u8x16_narrow_i16x8(sum, sum);
}

FIXED void filter(const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst, ptrdiff_t dst_stride,
                  const v128_t *kernel, int taps, int average, int width, int height) {
    const int first = 4 - taps / 2, end = 4 + taps / 2;
    v128_t pixels[8], out;
    for (; height > 0; height--, src += src_stride, dst += dst_stride)
        for (int x = 0; x < width; x += 8) {
            for (int i = first; i < end; i++)
                pixels[i] = wasm_u16x8_load8x8(src + x + i - 3);
            out = apply(pixels, kernel, taps);
            if (average)
                out = wasm_u8x16_avgr(out, wasm_v128_load64_zero(dst + x));
            wasm_v128_store64_lane(dst + x, out, 0);
        }
}

static v128_t load_two(const uint8_t *p, ptrdiff_t stride) {
    return wasm_v128_load32_lane(p + stride, wasm_v128_load32_zero(p), 1);
}

/* Filters two rows at once; if their number is odd, the last row is filtered twice. */
FIXED void filter_4(const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst, ptrdiff_t dst_stride,
                    const v128_t *kernel, int taps, int average, int height) {
    const int first = 4 - taps / 2, end = 4 + taps / 2;
    v128_t pixels[8], out;
    for (; height > 0; height -= 2, src += 2 * src_stride, dst += 2 * dst_stride) {
        ptrdiff_t src_next = height > 1 ? src_stride : 0, dst_next = height > 1 ? dst_stride : 0;
        for (int i = first; i < end; i++)
            pixels[i] = wasm_u16x8_extend_low_u8x16(load_two(src + i - 3, src_next));
        out = apply(pixels, kernel, taps);
        if (average)
            out = wasm_u8x16_avgr(out, load_two(dst, dst_next));
        wasm_v128_store32_lane(dst, out, 0);
        wasm_v128_store32_lane(dst + dst_next, out, 1);
    }
}

FIXED void convolve(const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst, ptrdiff_t dst_stride,
                    const int16_t *taps, int average, int width, int height) {
    v128_t kernel[8];
    for (int i = 0; i < 8; i++)
        kernel[i] = wasm_i16x8_splat(taps[i]);
    int all = taps[0] | taps[1] | taps[6] | taps[7];
    if (width == 4 && all)
        filter_4(src, src_stride, dst, dst_stride, kernel, 8, average, height);
    else if (width == 4)
        filter_4(src, src_stride, dst, dst_stride, kernel, 4, average, height);
    else if (all)
        filter(src, src_stride, dst, dst_stride, kernel, 8, average, width, height);
    else
        filter(src, src_stride, dst, dst_stride, kernel, 4, average, width, height);
}

void __wrap_vpx_convolve8_horiz_neon(const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst,
                                     ptrdiff_t dst_stride, const kernel *kernels, int x0, int x_step, int y0,
                                     int y_step, int width, int height) {
    convolve(src, src_stride, dst, dst_stride, kernels[x0], 0, width, height);
}

void __wrap_vpx_convolve8_avg_horiz_neon(const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst,
                                         ptrdiff_t dst_stride, const kernel *kernels, int x0, int x_step,
                                         int y0, int y_step, int width, int height) {
    convolve(src, src_stride, dst, dst_stride, kernels[x0], 1, width, height);
}
