/* Declarations shared by the x264 kernels, which support only 8 bits per sample. */
#ifndef CORE_X264_COMMON_H
#define CORE_X264_COMMON_H

#include "common/common.h"
#include "vector.h"

#if HIGH_BIT_DEPTH
#error "these kernels are for 8 bits per sample"
#endif

/* Each function installs the kernels of one file in x264's tables; the files that wrap x264's
 * own functions call them. */
void simd_set_sad(x264_pixel_function_t *table);
void simd_set_satd(x264_pixel_function_t *table);
void simd_set_ssd(x264_pixel_function_t *table);
void simd_set_intra(x264_pixel_function_t *table);
void simd_set_weights(x264_mc_functions_t *table);
void simd_set_planes(x264_mc_functions_t *table);
void simd_set_filters(x264_mc_functions_t *table);
void simd_set_dc(x264_dct_function_t *table);
void simd_set_coefficients(x264_quant_function_t *table);

#endif
