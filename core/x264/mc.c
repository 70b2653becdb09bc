/* Motion compensation: wraps x264_mc_init and replaces mc_luma, get_ref and mc_chroma. */
#include "blend.h"

void __real_x264_8_mc_init(uint32_t cpu, x264_mc_functions_t *table, int cpu_independent);

/* x264's own functions, used for widths that have no kernel. */
static x264_mc_functions_t scalar;

/* Samples of the one or two half-pel planes that a quarter-pel position is computed from. */
typedef struct {
    const pixel *first, *second;
} samples;

INLINE samples find_samples(pixel *planes[4], intptr_t stride, int mvx, int mvy) {
    int fraction = (mvy & 3) << 2 | (mvx & 3);
    intptr_t offset = (mvy >> 2) * stride + (mvx >> 2);
    samples s = {planes[x264_hpel_ref0[fraction]] + offset, NULL};
    if ((mvy & 3) == 3)
        s.first += stride;
    if (fraction & 5)
        s.second = planes[x264_hpel_ref1[fraction]] + offset + ((mvx & 3) == 3);
    return s;
}

INLINE void copy_rows(pixel *dst, intptr_t dst_stride, const pixel *src, intptr_t src_stride, int width,
                      int height) {
    for (int y = 0; y < height; y++)
        store_row(dst + y * dst_stride, load_row(src + y * src_stride, width), width);
}

/* width is 16, 8 or 4, and a constant at every call. */
INLINE void predict_rows(pixel *dst, intptr_t dst_stride, samples s, intptr_t stride, int width, int height) {
    if (s.second)
        average_rows(dst, dst_stride, s.first, stride, s.second, stride, width, height);
    else
        copy_rows(dst, dst_stride, s.first, stride, width, height);
}

/* Predicts the four columns to the right of a block, which x264 also asks for. */
INLINE void predict_beside(pixel *dst, intptr_t dst_stride, samples s, intptr_t stride, int x, int height) {
    samples beside = {s.first + x, s.second ? s.second + x : NULL};
    predict_rows(dst + x, dst_stride, beside, stride, 4, height);
}

INLINE void predict(pixel *dst, intptr_t dst_stride, samples s, intptr_t stride, int width, int height) {
    switch (width) {
    case 4:
        predict_rows(dst, dst_stride, s, stride, 4, height);
        break;
    case 12:
        predict_beside(dst, dst_stride, s, stride, 8, height);
        /* fall through */
    case 8:
        predict_rows(dst, dst_stride, s, stride, 8, height);
        break;
    case 20:
        predict_beside(dst, dst_stride, s, stride, 16, height);
        /* fall through */
    case 16:
        predict_rows(dst, dst_stride, s, stride, 16, height);
    }
}

INLINE int has_kernel(int width) {
    return width == 4 || width == 8 || width == 12 || width == 16 || width == 20;
}

static NOINLINE void predict_weighted(pixel *dst, intptr_t dst_stride, samples s, intptr_t stride, int width,
                                      int height, const x264_weight_t *weight) {
    if (s.second) {
        predict(dst, dst_stride, s, stride, width, height);
        weight_rows(dst, dst_stride, dst, dst_stride, weight, width, height);
    } else
        weight_rows(dst, dst_stride, s.first, stride, weight, width, height);
}

static void luma(pixel *dst, intptr_t dst_stride, pixel *planes[4], intptr_t stride, int mvx, int mvy,
                 int width, int height, const x264_weight_t *weight) {
    if (!has_kernel(width)) {
        scalar.mc_luma(dst, dst_stride, planes, stride, mvx, mvy, width, height, weight);
        return;
    }
    samples s = find_samples(planes, stride, mvx, mvy);
    if (weight->weightfn)
        predict_weighted(dst, dst_stride, s, stride, width, height, weight);
    else
        predict(dst, dst_stride, s, stride, width, height);
}

/* Like luma, but returns a pointer into the reference if nothing has to be computed. */
static pixel *reference(pixel *dst, intptr_t *dst_stride, pixel *planes[4], intptr_t stride, int mvx, int mvy,
                        int width, int height, const x264_weight_t *weight) {
    samples s = find_samples(planes, stride, mvx, mvy);
    if (!weight->weightfn && !s.second) {
        *dst_stride = stride;
        return (pixel *)s.first;
    }
    if (!has_kernel(width))
        return scalar.get_ref(dst, dst_stride, planes, stride, mvx, mvy, width, height, weight);
    if (weight->weightfn)
        predict_weighted(dst, *dst_stride, s, stride, width, height, weight);
    else
        predict(dst, *dst_stride, s, stride, width, height);
    return dst;
}

/* The bilinear weights of the four neighbours of an eighth-pel position; they add up to 64. */
typedef struct {
    v128_t here, right, below, diagonal;
} bilinear;

INLINE v128_t weigh_neighbours(v128_t here, v128_t right, v128_t below, v128_t diagonal, const bilinear *w) {
    v128_t upper = wasm_i16x8_add(wasm_i16x8_mul(here, w->here), wasm_i16x8_mul(right, w->right));
    v128_t lower = wasm_i16x8_add(wasm_i16x8_mul(below, w->below), wasm_i16x8_mul(diagonal, w->diagonal));
    v128_t sum = wasm_i16x8_add(wasm_i16x8_add(upper, lower), wasm_i16x8_const_splat(32));
    return wasm_u16x8_shr(sum, 6);
}

INLINE void chroma_rows(pixel *u, pixel *v, intptr_t dst_stride, const pixel *src, intptr_t stride,
                        const bilinear *w, int width, int height) {
    v128_t mask = wasm_i16x8_const_splat(255);
    v128_t here = wasm_v128_load(src), right = wasm_v128_load(src + 2);
    for (int y = 0; y < height; y++) {
        src += stride;
        v128_t below = wasm_v128_load(src), diagonal = wasm_v128_load(src + 2);
        v128_t row_u = weigh_neighbours(wasm_v128_and(here, mask), wasm_v128_and(right, mask),
                                        wasm_v128_and(below, mask), wasm_v128_and(diagonal, mask), w);
        v128_t row_v = weigh_neighbours(wasm_u16x8_shr(here, 8), wasm_u16x8_shr(right, 8),
                                        wasm_u16x8_shr(below, 8), wasm_u16x8_shr(diagonal, 8), w);
        v128_t both = wasm_u8x16_narrow_i16x8(row_u, row_v);
        store_row(u, both, width);
        store_row(v, high64(both, both), width);
        u += dst_stride;
        v += dst_stride;
        here = below;
        right = diagonal;
    }
}

/* u and v alternate in src. */
static void chroma(pixel *u, pixel *v, intptr_t dst_stride, pixel *src, intptr_t stride, int mvx, int mvy,
                   int width, int height) {
    int x = mvx & 7, y = mvy & 7;
    bilinear w = {
        .here = wasm_i16x8_splat((8 - x) * (8 - y)),
        .right = wasm_i16x8_splat(x * (8 - y)),
        .below = wasm_i16x8_splat((8 - x) * y),
        .diagonal = wasm_i16x8_splat(x * y),
    };
    const pixel *start = src + (mvy >> 3) * stride + (mvx >> 3) * 2;
    if (width == 8)
        chroma_rows(u, v, dst_stride, start, stride, &w, 8, height);
    else if (width == 4)
        chroma_rows(u, v, dst_stride, start, stride, &w, 4, height);
    else if (width == 2)
        chroma_rows(u, v, dst_stride, start, stride, &w, 2, height);
    else
        scalar.mc_chroma(u, v, dst_stride, src, stride, mvx, mvy, width, height);
}

void __wrap_x264_8_mc_init(uint32_t cpu, x264_mc_functions_t *table, int cpu_independent) {
    __real_x264_8_mc_init(cpu, table, cpu_independent);
    scalar = *table;
    table->mc_luma = luma;
    table->get_ref = reference;
    table->mc_chroma = chroma;
    simd_set_weights(table);
    simd_set_planes(table);
    simd_set_filters(table);
}
