/* The costs of three intra predictions of a block: stands in for x264's intra_sad_x3, intra_satd_x3 and
 * intra_sa8d_x3. Like x264's, they leave the last prediction behind. */
#include "compare.h"
#include "common/predict.h"

INLINE int cost(const pixel *prediction, const pixel *block, int width, int height, int transformed) {
    return transformed ? satd_block(prediction, FDEC_STRIDE, block, FENC_STRIDE, width, height)
                       : sad_block(prediction, FDEC_STRIDE, block, FENC_STRIDE, width, height);
}

INLINE void costs(pixel *block, pixel *decoded, int scores[3], x264_predict_t first, x264_predict_t second,
                  x264_predict_t third, int width, int height, int transformed) {
    first(decoded);
    scores[0] = cost(decoded, block, width, height, transformed);
    second(decoded);
    scores[1] = cost(decoded, block, width, height, transformed);
    third(decoded);
    scores[2] = cost(decoded, block, width, height, transformed);
}

#define LUMA(name, w, transformed)                                                                           \
    static void name##_##w##x##w(pixel *block, pixel *decoded, int scores[3]) {                              \
        costs(block, decoded, scores, x264_predict_##w##x##w##_v_c, x264_predict_##w##x##w##_h_c,            \
              x264_predict_##w##x##w##_dc_c, w, w, transformed);                                             \
    }

/* Chroma has its modes in another order. */
#define CHROMA(name, h, transformed)                                                                         \
    static void name##_8x##h##c(pixel *block, pixel *decoded, int scores[3]) {                               \
        costs(block, decoded, scores, x264_predict_8x##h##c_dc_c, x264_predict_8x##h##c_h_c,                 \
              x264_predict_8x##h##c_v_c, 8, h, transformed);                                                 \
    }

LUMA(sad, 16, 0)
LUMA(satd, 16, 1)
LUMA(sad, 4, 0)
LUMA(satd, 4, 1)
CHROMA(sad, 8, 0)
CHROMA(satd, 8, 1)
CHROMA(sad, 16, 0)
CHROMA(satd, 16, 1)

INLINE int cost_8x8(const pixel *prediction, const pixel *block, int transformed) {
    return transformed ? sa8d_8x8(prediction, FDEC_STRIDE, block, FENC_STRIDE)
                       : sad_block(prediction, FDEC_STRIDE, block, FENC_STRIDE, 8, 8);
}

/* 8x8 blocks predict from filtered neighbours, which x264 passes as edge. */
INLINE void costs_8x8(pixel *block, pixel edge[36], int scores[3], int transformed) {
    ALIGNED_ARRAY_16(pixel, prediction, [8 * FDEC_STRIDE]);
    x264_predict_8x8_v_c(prediction, edge);
    scores[0] = cost_8x8(prediction, block, transformed);
    x264_predict_8x8_h_c(prediction, edge);
    scores[1] = cost_8x8(prediction, block, transformed);
    x264_predict_8x8_dc_c(prediction, edge);
    scores[2] = cost_8x8(prediction, block, transformed);
}

static void sad_8x8(pixel *block, pixel edge[36], int scores[3]) {
    costs_8x8(block, edge, scores, 0);
}

static void sa8d_three_8x8(pixel *block, pixel edge[36], int scores[3]) {
    costs_8x8(block, edge, scores, 1);
}

void simd_set_intra(x264_pixel_function_t *table) {
    table->intra_sad_x3_16x16 = sad_16x16;
    table->intra_satd_x3_16x16 = satd_16x16;
    table->intra_sad_x3_4x4 = sad_4x4;
    table->intra_satd_x3_4x4 = satd_4x4;
    table->intra_sad_x3_8x8c = sad_8x8c;
    table->intra_satd_x3_8x8c = satd_8x8c;
    table->intra_sad_x3_8x16c = sad_8x16c;
    table->intra_satd_x3_8x16c = satd_8x16c;
    table->intra_sad_x3_8x8 = sad_8x8;
    table->intra_sa8d_x3_8x8 = sa8d_three_8x8;
}
