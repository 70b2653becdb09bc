/* Sums of absolute differences: replaces x264's pixel_sad, pixel_sad_x3 and pixel_sad_x4. */
#include "compare.h"

/* Compares one block with three or four candidates at once and loads its rows only once. */
INLINE v128_t sad_candidates(const pixel *block, pixel *candidates[4], int count, intptr_t stride, int width,
                             int height) {
    int rows = 16 / width;
    v128_t sums[4] = {zero(), zero(), zero(), zero()};
    for (int y = 0; y < height; y += rows) {
        v128_t source = load_rows(block + y * FENC_STRIDE, FENC_STRIDE, width);
        for (int i = 0; i < count; i++) {
            sums[i] = add_differences(sums[i], source, load_rows(candidates[i], stride, width));
            candidates[i] += rows * stride;
        }
    }
    return sum_four_u16(sums[0], sums[1], sums[2], sums[3]);
}

#define SAD(w, h)                                                                                            \
    static int sad_##w##x##h(pixel *a, intptr_t stride_a, pixel *b, intptr_t stride_b) {                     \
        return sad_block(a, stride_a, b, stride_b, w, h);                                                    \
    }

#define SAD_CANDIDATES(w, h)                                                                                 \
    static void sad_x3_##w##x##h(pixel *block, pixel *p0, pixel *p1, pixel *p2, intptr_t stride,             \
                                 int scores[3]) {                                                            \
        v128_t sums = sad_candidates(block, (pixel *[4]){p0, p1, p2}, 3, stride, w, h);                      \
        wasm_v128_store64_lane(scores, sums, 0);                                                             \
        scores[2] = wasm_i32x4_extract_lane(sums, 2);                                                        \
    }                                                                                                        \
    static void sad_x4_##w##x##h(pixel *block, pixel *p0, pixel *p1, pixel *p2, pixel *p3, intptr_t stride,  \
                                 int scores[4]) {                                                            \
        wasm_v128_store(scores, sad_candidates(block, (pixel *[4]){p0, p1, p2, p3}, 4, stride, w, h));       \
    }

SAD(16, 16)
SAD(16, 8)
SAD(8, 16)
SAD(8, 8)
SAD(8, 4)
SAD(4, 16)
SAD(4, 8)
SAD(4, 4)
SAD_CANDIDATES(16, 16)
SAD_CANDIDATES(16, 8)
SAD_CANDIDATES(8, 16)
SAD_CANDIDATES(8, 8)
SAD_CANDIDATES(8, 4)
SAD_CANDIDATES(4, 8)
SAD_CANDIDATES(4, 4)

#define SET(size)                                                                                            \
    table->sad[PIXEL_##size] = table->sad_aligned[PIXEL_##size] = sad_##size;                                \
    table->sad_x3[PIXEL_##size] = sad_x3_##size;                                                             \
    table->sad_x4[PIXEL_##size] = sad_x4_##size

void simd_set_sad(x264_pixel_function_t *table) {
    SET(16x16);
    SET(16x8);
    SET(8x16);
    SET(8x8);
    SET(8x4);
    SET(4x8);
    SET(4x4);
    table->sad[PIXEL_4x16] = table->sad_aligned[PIXEL_4x16] = sad_4x16;
}
