/* Wraps x264_pixel_init at link time: fills x264's table as x264 does, then installs the kernels. */
#include "common.h"

void __real_x264_8_pixel_init(uint32_t cpu, x264_pixel_function_t *table);

void __wrap_x264_8_pixel_init(uint32_t cpu, x264_pixel_function_t *table) {
    __real_x264_8_pixel_init(cpu, table);
    simd_set_sad(table);
    simd_set_satd(table);
    simd_set_ssd(table);
    simd_set_intra(table);
}
