/* Compares blocks with averages of two planes, as quarter-pel vectors predict them, without storing these. */
#include "x264/search.h"
#include "blend.h"
#include "compare.h"

#define SIZES (PIXEL_8x8 + 1)

/* The comparisons that have such a kernel. In scalar code there are none. */
static x264_pixel_cmp_t sad[SIZES], satd[SIZES];

void simd_set_predictions(const x264_pixel_function_t *table) {
    memcpy(sad, table->sad, sizeof(sad));
    memcpy(satd, table->satd, sizeof(satd));
}

INLINE v128_t average(samples s, intptr_t stride, int width) {
    return wasm_u8x16_avgr(load_rows(s.first, stride, width), load_rows(s.second, stride, width));
}

INLINE samples move_down(samples s, intptr_t distance) {
    return (samples){s.first + distance, s.second + distance};
}

INLINE int sad_average(const pixel *block, samples s, intptr_t stride, int width, int height) {
    int rows = 16 / width;
    v128_t sums = zero();
    for (int y = 0; y < height; y += rows) {
        sums = add_differences(sums, load_rows(block, FENC_STRIDE, width), average(s, stride, width));
        block += rows * FENC_STRIDE;
        s = move_down(s, rows * stride);
    }
    return sum_u16(sums);
}

/* Four rows of 16, or eight of 8: each vector has a row of 16 or two of 8. */
INLINE v128_t satd_lanes(const pixel *block, samples s, intptr_t stride, int width) {
    v128_t low[4], high[4];
    int rows = 16 / width;
    for (int i = 0; i < 4; i++) {
        v128_t pixels = load_rows(block + i * rows * FENC_STRIDE, FENC_STRIDE, width);
        v128_t predicted = average(move_down(s, i * rows * stride), stride, width);
        low[i] = wasm_i16x8_sub(wasm_u16x8_extend_low_u8x16(pixels), wasm_u16x8_extend_low_u8x16(predicted));
        high[i] = wasm_i16x8_sub(wasm_u16x8_extend_high_u8x16(pixels), wasm_u16x8_extend_high_u8x16(predicted));
    }
    if (width == 16)
        return wasm_i16x8_add(half_hadamard_sums(low), half_hadamard_sums(high));
    v128_t upper[4] = {low[0], high[0], low[1], high[1]}, lower[4] = {low[2], high[2], low[3], high[3]};
    return wasm_i16x8_add(half_hadamard_sums(upper), half_hadamard_sums(lower));
}

INLINE int satd_average(const pixel *block, samples s, intptr_t stride, int width, int height) {
    int rows = width == 16 ? 4 : 8;
    v128_t sums = zero();
    for (int y = 0; y < height; y += rows) {
        sums = wasm_i16x8_add(sums, satd_lanes(block, s, stride, width));
        block += rows * FENC_STRIDE;
        s = move_down(s, rows * stride);
    }
    return sum_u16(sums);
}

#define BY_SIZE(name)                                                                                        \
    static NOINLINE int name##_by_size(const pixel *block, samples s, intptr_t stride, int size) {           \
        switch (size) {                                                                                      \
        case PIXEL_16x16:                                                                                    \
            return name(block, s, stride, 16, 16);                                                           \
        case PIXEL_16x8:                                                                                     \
            return name(block, s, stride, 16, 8);                                                            \
        case PIXEL_8x16:                                                                                     \
            return name(block, s, stride, 8, 16);                                                            \
        default:                                                                                             \
            return name(block, s, stride, 8, 8);                                                             \
        }                                                                                                    \
    }

BY_SIZE(sad_average)
BY_SIZE(satd_average)

static NOINLINE int compare_stored(x264_t *h, x264_me_t *m, int mvx, int mvy, x264_pixel_cmp_t compare) {
    ALIGNED_ARRAY_16(pixel, buffer, [16 * 16]);
    intptr_t stride = 16;
    int width = x264_pixel_size[m->i_pixel].w, height = x264_pixel_size[m->i_pixel].h;
    pixel *predicted = h->mc.get_ref(buffer, &stride, m->p_fref, m->i_stride[0], mvx, mvy, width, height, &m->weight[0]);
    return compare(m->p_fenc[0], FENC_STRIDE, predicted, stride);
}

int simd_compare_prediction(x264_t *h, x264_me_t *m, int mvx, int mvy, x264_pixel_cmp_t compare) {
    pixel *block = m->p_fenc[0];
    intptr_t stride = m->i_stride[0];
    int size = m->i_pixel;
    if (m->weight[0].weightfn || size >= SIZES)
        return compare_stored(h, m, mvx, mvy, compare);
    samples s = find_samples(m->p_fref, stride, mvx, mvy);
    if (!s.second)
        return compare(block, FENC_STRIDE, (pixel *)s.first, stride);
    if (compare == satd[size])
        return satd_average_by_size(block, s, stride, size);
    if (compare == sad[size])
        return sad_average_by_size(block, s, stride, size);
    return compare_stored(h, m, mvx, mvy, compare);
}
