/* Plane predictions: wraps x264_predict_16x16_init and x264_predict_8x8c_init and replaces
 * predict_16x16_p and predict_8x8c_p. */
#include "common.h"

void __real_x264_8_predict_16x16_init(uint32_t cpu, x264_predict_t table[7]);
void __real_x264_8_predict_8x8c_init(uint32_t cpu, x264_predict_t table[7]);

/* Returns the gradient of a row or column: the differences of opposite pixels, weighted by their
 * distance from the middle. */
INLINE int slope(const pixel *middle, intptr_t step, int half) {
    int sum = 0;
    for (int i = 1; i <= half; i++)
        sum += i * (middle[i * step] - middle[-i * step]);
    return sum;
}

/* Fills rows with (start + x * across + y * down) >> 5. The sums of H.264's planes fit in 16 bits. */
INLINE void fill_plane(pixel *dst, int start, int across, int down, int size) {
    v128_t steps = wasm_i16x8_mul(wasm_i16x8_splat(across), wasm_i16x8_const(0, 1, 2, 3, 4, 5, 6, 7));
    v128_t left = wasm_i16x8_add(wasm_i16x8_splat(start), steps);
    v128_t right = wasm_i16x8_add(left, wasm_i16x8_splat(8 * across));
    for (int y = 0; y < size; y++) {
        v128_t row = wasm_u8x16_narrow_i16x8(wasm_i16x8_shr(left, 5), wasm_i16x8_shr(right, 5));
        store_row(dst + y * FDEC_STRIDE, row, size);
        left = wasm_i16x8_add(left, wasm_i16x8_splat(down));
        right = wasm_i16x8_add(right, wasm_i16x8_splat(down));
    }
}

/* The plane takes the mean of the two corners at row and column size / 2 - 1, the last before the middle. */
INLINE void predict_plane(pixel *dst, int across, int down, int size) {
    const pixel *above = dst - FDEC_STRIDE, *left = dst - 1;
    int corners = 16 * (left[(size - 1) * FDEC_STRIDE] + above[size - 1]);
    fill_plane(dst, corners - (size / 2 - 1) * (across + down) + 16, across, down, size);
}

static void plane_16x16(pixel *dst) {
    int across = (5 * slope(dst - FDEC_STRIDE + 7, 1, 8) + 32) >> 6;
    int down = (5 * slope(dst - 1 + 7 * FDEC_STRIDE, FDEC_STRIDE, 8) + 32) >> 6;
    predict_plane(dst, across, down, 16);
}

static void plane_8x8(pixel *dst) {
    int across = (17 * slope(dst - FDEC_STRIDE + 3, 1, 4) + 16) >> 5;
    int down = (17 * slope(dst - 1 + 3 * FDEC_STRIDE, FDEC_STRIDE, 4) + 16) >> 5;
    predict_plane(dst, across, down, 8);
}

void __wrap_x264_8_predict_16x16_init(uint32_t cpu, x264_predict_t table[7]) {
    __real_x264_8_predict_16x16_init(cpu, table);
    table[I_PRED_16x16_P] = plane_16x16;
}

void __wrap_x264_8_predict_8x8c_init(uint32_t cpu, x264_predict_t table[7]) {
    __real_x264_8_predict_8x8c_init(cpu, table);
    table[I_PRED_CHROMA_P] = plane_8x8;
}
