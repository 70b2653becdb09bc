/* Copies that interleave or deinterleave u and v: replaces x264's store_interleave_chroma,
 * load_deinterleave_chroma and plane_copy_interleave. */
#include "common.h"

INLINE void interleave8(pixel *dst, const pixel *u, const pixel *v) {
    wasm_v128_store(dst, low8(load_row(u, 8), load_row(v, 8)));
}

static void store_chroma(pixel *dst, intptr_t stride, pixel *u, pixel *v, int height) {
    for (int y = 0; y < height; y++)
        interleave8(dst + y * stride, u + y * FDEC_STRIDE, v + y * FDEC_STRIDE);
}

/* Stores v half a row to the right of u. */
INLINE void load_chroma(pixel *dst, int dst_stride, const pixel *src, intptr_t stride, int height) {
    for (int y = 0; y < height; y++) {
        v128_t pairs = wasm_v128_load(src + y * stride);
        wasm_v128_store64_lane(dst, even_bytes(pairs, pairs), 0);
        wasm_v128_store64_lane(dst + dst_stride / 2, odd_bytes(pairs, pairs), 0);
        dst += dst_stride;
    }
}

static void load_chroma_source(pixel *dst, pixel *src, intptr_t stride, int height) {
    load_chroma(dst, FENC_STRIDE, src, stride, height);
}

static void load_chroma_decoded(pixel *dst, pixel *src, intptr_t stride, int height) {
    load_chroma(dst, FDEC_STRIDE, src, stride, height);
}

static void interleave_planes(pixel *dst, intptr_t dst_stride, pixel *u, intptr_t stride_u, pixel *v,
                              intptr_t stride_v, int width, int height) {
    for (int y = 0; y < height; y++) {
        int x = 0;
        for (; x + 8 <= width; x += 8)
            interleave8(dst + 2 * x, u + x, v + x);
        for (; x < width; x++) {
            dst[2 * x] = u[x];
            dst[2 * x + 1] = v[x];
        }
        dst += dst_stride;
        u += stride_u;
        v += stride_v;
    }
}

void simd_set_planes(x264_mc_functions_t *table) {
    table->store_interleave_chroma = store_chroma;
    table->load_deinterleave_chroma_fenc = load_chroma_source;
    table->load_deinterleave_chroma_fdec = load_chroma_decoded;
    table->plane_copy_interleave = interleave_planes;
}
