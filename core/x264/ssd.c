/* Sums of squares: replaces x264's pixel_ssd, pixel_var and pixel_var2. */
#include "compare.h"

INLINE int ssd_block(const pixel *a, intptr_t stride_a, const pixel *b, intptr_t stride_b, int width,
                     int height) {
    v128_t sum = zero();
    for (int y = 0; y < height; y += width == 4 ? 2 : 1) {
        const pixel *row_a = a + y * stride_a, *row_b = b + y * stride_b;
        if (width == 4)
            sum = add_squares(sum, difference4_pair(row_a, stride_a, row_b, stride_b));
        for (int x = 0; x + 8 <= width; x += 8)
            sum = add_squares(sum, difference8(row_a + x, row_b + x));
    }
    return sum_i32(sum);
}

/* Returns the sum in the lower 32 bits and the sum of squares in the upper 32. A lane adds up at most 32
 * pixels, which fits in 16 bits. */
INLINE uint64_t variance(const pixel *p, intptr_t stride, int width, int height) {
    v128_t sum = zero(), squares = zero();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x += 8) {
            v128_t pixels = widen8(p + y * stride + x);
            sum = wasm_i16x8_add(sum, pixels);
            squares = add_squares(squares, pixels);
        }
    return (uint64_t)(uint32_t)sum_i32(squares) << 32 | (uint32_t)sum_u16(sum);
}

/* Stores the sum of the squared differences; returns the variance of the differences
 * times the number of pixels. */
INLINE int variance_of_difference(const pixel *source, const pixel *decoded, int height, int *squares) {
    v128_t sums = zero(), lanes = zero();
    for (int y = 0; y < height; y++) {
        v128_t difference = difference8(source + y * FENC_STRIDE, decoded + y * FDEC_STRIDE);
        sums = wasm_i16x8_add(sums, difference);
        lanes = add_squares(lanes, difference);
    }
    int sum = sum_i16(sums), log2_count = height == 16 ? 7 : 6;
    *squares = sum_i32(lanes);
    return *squares - (int)((int64_t)sum * sum >> log2_count);
}

/* Sums both chroma planes; v lies half a row to the right of u. */
INLINE int variance_of_chroma(const pixel *source, const pixel *decoded, int height, int squares[2]) {
    return variance_of_difference(source, decoded, height, &squares[0]) +
           variance_of_difference(source + FENC_STRIDE / 2, decoded + FDEC_STRIDE / 2, height, &squares[1]);
}

#define SSD(w, h)                                                                                            \
    static int ssd_##w##x##h(pixel *a, intptr_t stride_a, pixel *b, intptr_t stride_b) {                     \
        return ssd_block(a, stride_a, b, stride_b, w, h);                                                    \
    }

#define VARIANCE(w, h)                                                                                       \
    static uint64_t variance_##w##x##h(pixel *p, intptr_t stride) {                                          \
        return variance(p, stride, w, h);                                                                    \
    }

#define CHROMA_VARIANCE(h)                                                                                   \
    static int variance_of_chroma_##h(pixel *source, pixel *decoded, int squares[2]) {                       \
        return variance_of_chroma(source, decoded, h, squares);                                              \
    }

SSD(16, 16)
SSD(16, 8)
SSD(8, 16)
SSD(8, 8)
SSD(8, 4)
SSD(4, 16)
SSD(4, 8)
SSD(4, 4)
VARIANCE(16, 16)
VARIANCE(8, 16)
VARIANCE(8, 8)
CHROMA_VARIANCE(16)
CHROMA_VARIANCE(8)

void simd_set_ssd(x264_pixel_function_t *table) {
    table->ssd[PIXEL_16x16] = ssd_16x16;
    table->ssd[PIXEL_16x8] = ssd_16x8;
    table->ssd[PIXEL_8x16] = ssd_8x16;
    table->ssd[PIXEL_8x8] = ssd_8x8;
    table->ssd[PIXEL_8x4] = ssd_8x4;
    table->ssd[PIXEL_4x16] = ssd_4x16;
    table->ssd[PIXEL_4x8] = ssd_4x8;
    table->ssd[PIXEL_4x4] = ssd_4x4;
    table->var[PIXEL_16x16] = variance_16x16;
    table->var[PIXEL_8x16] = variance_8x16;
    table->var[PIXEL_8x8] = variance_8x8;
    table->var2[PIXEL_8x16] = variance_of_chroma_16;
    table->var2[PIXEL_8x8] = variance_of_chroma_8;
}
