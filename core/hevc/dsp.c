/* Wraps ff_hevc_dsp_init at link time: fills the table as ffmpeg does, then installs the kernels. */
#include "common.h"

void __real_ff_hevc_dsp_init(HEVCDSPContext *c, int bit_depth);

void __wrap_ff_hevc_dsp_init(HEVCDSPContext *c, int bit_depth) {
    __real_ff_hevc_dsp_init(c, bit_depth);
    if (bit_depth != 8 && bit_depth != 10)
        return;
    simd_set_interpolation(c, bit_depth);
    simd_set_residuals(c, bit_depth);
    simd_set_sao(c, bit_depth);
    simd_set_deblocking(c, bit_depth);
}
