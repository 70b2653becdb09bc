/* Wraps ff_h264dsp_init at link time: fills the table as ffmpeg does, then installs the kernels. */
#include "common.h"

void __real_ff_h264dsp_init(H264DSPContext *c, int bit_depth, int chroma_format);

void __wrap_ff_h264dsp_init(H264DSPContext *c, int bit_depth, int chroma_format) {
    __real_ff_h264dsp_init(c, bit_depth, chroma_format);
    if (bit_depth != 8)
        return;
    simd_set_deblock(c, chroma_format);
    simd_set_transforms(c, chroma_format);
    simd_set_h264_weights(c);
}
