/* Sums of Hadamard-transformed differences: replaces x264's pixel_satd, pixel_satd_x3, pixel_satd_x4,
 * pixel_sa8d and pixel_hadamard_ac. */
#include "compare.h"

#define SATD(w, h)                                                                                           \
    static int satd_##w##x##h(pixel *a, intptr_t stride_a, pixel *b, intptr_t stride_b) {                    \
        return satd_block(a, stride_a, b, stride_b, w, h);                                                   \
    }

#define SATD_CANDIDATES(w, h)                                                                                \
    static void satd_x3_##w##x##h(pixel *block, pixel *p0, pixel *p1, pixel *p2, intptr_t stride,            \
                                  int scores[3]) {                                                           \
        scores[0] = satd_##w##x##h(block, FENC_STRIDE, p0, stride);                                          \
        scores[1] = satd_##w##x##h(block, FENC_STRIDE, p1, stride);                                          \
        scores[2] = satd_##w##x##h(block, FENC_STRIDE, p2, stride);                                          \
    }                                                                                                        \
    static void satd_x4_##w##x##h(pixel *block, pixel *p0, pixel *p1, pixel *p2, pixel *p3, intptr_t stride, \
                                  int scores[4]) {                                                           \
        satd_x3_##w##x##h(block, p0, p1, p2, stride, scores);                                                \
        scores[3] = satd_##w##x##h(block, FENC_STRIDE, p3, stride);                                          \
    }

SATD(16, 16)
SATD(16, 8)
SATD(8, 16)
SATD(8, 8)
SATD(8, 4)
SATD(4, 16)
SATD(4, 8)
SATD(4, 4)
SATD_CANDIDATES(16, 16)
SATD_CANDIDATES(16, 8)
SATD_CANDIDATES(8, 16)
SATD_CANDIDATES(8, 8)
SATD_CANDIDATES(8, 4)
SATD_CANDIDATES(4, 8)
SATD_CANDIDATES(4, 4)

/* sa8d_sum returns half the sum of the transform's absolute values; x264 divides the
 * whole sum by four and rounds. */
static int sa8d_8x8(pixel *a, intptr_t stride_a, pixel *b, intptr_t stride_b) {
    return (sa8d_sum(a, stride_a, b, stride_b) + 1) >> 1;
}

static int sa8d_16x16(pixel *a, intptr_t stride_a, pixel *b, intptr_t stride_b) {
    int sum = 1;
    for (int y = 0; y < 16; y += 8)
        for (int x = 0; x < 16; x += 8)
            sum += sa8d_sum(a + y * stride_a + x, stride_a, b + y * stride_b + x, stride_b);
    return sum >> 1;
}

/* The complete 4x4 transform of two blocks side by side. out[0] and out[1] hold the coefficients of the left
 * block, out[2] and out[3] those of the right block in the same order. */
INLINE void hadamard_8x4(const pixel *p, intptr_t stride, v128_t out[4]) {
    v128_t r0 = widen8(p), r1 = widen8(p + stride);
    v128_t r2 = widen8(p + 2 * stride), r3 = widen8(p + 3 * stride);
    butterfly(&r0, &r1);
    butterfly(&r2, &r3);
    butterfly(&r0, &r2);
    butterfly(&r1, &r3);
    v128_t a = low16(r0, r1), b = high16(r0, r1), c = low16(r2, r3), d = high16(r2, r3);
    v128_t s[4] = {low64(a, c), high64(a, c), low64(b, d), high64(b, d)};
    for (int i = 0; i < 4; i += 2) {
        butterfly(&s[i], &s[i + 1]);
        v128_t even = even32(s[i], s[i + 1]), odd = odd32(s[i], s[i + 1]);
        out[i] = wasm_i16x8_add(even, odd);
        out[i + 1] = wasm_i16x8_sub(even, odd);
    }
}

INLINE v128_t add_magnitudes(v128_t sum, const v128_t v[4]) {
    v128_t magnitudes = zero();
    for (int i = 0; i < 4; i++)
        magnitudes = wasm_i16x8_add(magnitudes, wasm_i16x8_abs(v[i]));
    return wasm_i32x4_add(sum, wasm_u32x4_extadd_pairwise_u16x8(magnitudes));
}

/* Returns the AC energy of 8x8 pixels: from the four 4x4 transforms in the lower 32 bits, and from the 8x8
 * transform, which combines them, in the upper 32. */
static NOINLINE uint64_t hadamard_energy(const pixel *p, intptr_t stride) {
    v128_t top[4], bottom[4], sum4 = zero(), sum8 = zero();
    hadamard_8x4(p, stride, top);
    hadamard_8x4(p + 4 * stride, stride, bottom);
    sum4 = add_magnitudes(add_magnitudes(sum4, top), bottom);
    v128_t means = wasm_i16x8_add(wasm_i16x8_add(top[0], top[2]), wasm_i16x8_add(bottom[0], bottom[2]));
    int mean = wasm_u16x8_extract_lane(means, 0);
    for (int i = 0; i < 2; i++) {
        butterfly(&top[i], &top[i + 2]);
        butterfly(&bottom[i], &bottom[i + 2]);
        v128_t sums = wasm_i16x8_max(wasm_i16x8_abs(top[i]), wasm_i16x8_abs(bottom[i]));
        v128_t differences = wasm_i16x8_max(wasm_i16x8_abs(top[i + 2]), wasm_i16x8_abs(bottom[i + 2]));
        sum8 = wasm_i32x4_add(sum8, wasm_u32x4_extadd_pairwise_u16x8(wasm_i16x8_add(sums, differences)));
    }
    uint32_t low = sum_i32(sum4) - mean, high = 2 * sum_i32(sum8) - mean;
    return (uint64_t)high << 32 | low;
}

INLINE uint64_t hadamard_ac(const pixel *p, intptr_t stride, int width, int height) {
    uint64_t sum = 0;
    for (int y = 0; y < height; y += 8)
        for (int x = 0; x < width; x += 8)
            sum += hadamard_energy(p + y * stride + x, stride);
    return (sum >> 34 << 32) + ((uint32_t)sum >> 1);
}

#define HADAMARD_AC(w, h)                                                                                    \
    static uint64_t hadamard_ac_##w##x##h(pixel *p, intptr_t stride) {                                       \
        return hadamard_ac(p, stride, w, h);                                                                 \
    }

HADAMARD_AC(16, 16)
HADAMARD_AC(16, 8)
HADAMARD_AC(8, 16)
HADAMARD_AC(8, 8)

#define SET(size)                                                                                            \
    table->satd[PIXEL_##size] = satd_##size;                                                                 \
    table->satd_x3[PIXEL_##size] = satd_x3_##size;                                                           \
    table->satd_x4[PIXEL_##size] = satd_x4_##size

void simd_set_satd(x264_pixel_function_t *table) {
    SET(16x16);
    SET(16x8);
    SET(8x16);
    SET(8x8);
    SET(8x4);
    SET(4x8);
    SET(4x4);
    table->satd[PIXEL_4x16] = satd_4x16;
    table->sa8d[PIXEL_16x16] = sa8d_16x16;
    table->sa8d[PIXEL_8x8] = sa8d_8x8;
    table->hadamard_ac[PIXEL_16x16] = hadamard_ac_16x16;
    table->hadamard_ac[PIXEL_16x8] = hadamard_ac_16x8;
    table->hadamard_ac[PIXEL_8x16] = hadamard_ac_8x16;
    table->hadamard_ac[PIXEL_8x8] = hadamard_ac_8x8;
}
