/* Quantizes bands for ffmpeg's AAC encoder: replaces quant_bands. */
#include "aac/quantize.h"
#include "libavcodec/audio_frame_queue.h"
#include <wasm_simd128.h>

void __real_ff_af_queue_init(AVCodecContext *codec, AudioFrameQueue *queue);

static void quantize_bands(int *out, const float *in, const float *scaled, int size, int is_signed,
                           int maxval, const float Q34, const float rounding) {
    v128_t step = wasm_f32x4_splat(Q34), round = wasm_f32x4_splat(rounding), most = wasm_f32x4_splat(maxval);
    v128_t signs = is_signed ? wasm_i32x4_const_splat(-1) : wasm_i32x4_const_splat(0);
    v128_t shift = wasm_f32x4_const_splat(1 << 23); /* x + shift holds an integer x in its low bits */
    for (int i = 0; i < size; i += 4) { /* the size of every band is a multiple of four */
        v128_t x = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(scaled + i), step), round);
        x = wasm_f32x4_trunc(wasm_f32x4_pmin(x, most));
        v128_t whole = wasm_v128_xor(wasm_f32x4_add(x, shift), shift);
        v128_t below = wasm_f32x4_lt(wasm_v128_load(in + i), wasm_f32x4_const_splat(0));
        v128_t negative = wasm_v128_and(below, signs);
        wasm_v128_store(out + i, wasm_i32x4_sub(wasm_v128_xor(whole, negative), negative));
    }
}

void simd_set_aac(AACEncContext *encoder) {
    encoder->quant_bands = quantize_bands;
}

/* No global function that could be wrapped sets quant_bands; the encoder calls this one after it is set. */
void __wrap_ff_af_queue_init(AVCodecContext *codec, AudioFrameQueue *queue) {
    __real_ff_af_queue_init(codec, queue);
    if (codec->codec_id == AV_CODEC_ID_AAC)
        simd_set_aac(codec->priv_data);
}
