/* Declarations shared by the kernels of the H.264 decoder, which support only 8 bits per sample. */
#ifndef CORE_H264_COMMON_H
#define CORE_H264_COMMON_H

#include "libavcodec/h264chroma.h"
#include "libavcodec/h264dsp.h"
#include "libavcodec/h264qpel.h"
#include "vector.h"

/* Each function installs the kernels of one file in the decoder's table; dsp.c calls them. */
void simd_set_deblock(H264DSPContext *c, int chroma_format);
void simd_set_transforms(H264DSPContext *c, int chroma_format);
void simd_set_h264_weights(H264DSPContext *c);

/* Returns (lanes + 2^(shift - 1)) >> shift in 16-bit lanes. */
INLINE v128_t round_shift(v128_t lanes, int shift) {
    return wasm_i16x8_shr(wasm_i16x8_add(lanes, wasm_i16x8_splat(1 << (shift - 1))), shift);
}

INLINE v128_t to_pixels(v128_t lanes) {
    return wasm_u8x16_narrow_i16x8(lanes, lanes);
}

#endif
