#ifndef CORE_AAC_QUANTIZE_H
#define CORE_AAC_QUANTIZE_H

#include "libavcodec/aacenc.h"

/* Puts the kernels into an encoder. */
void simd_set_aac(AACEncContext *encoder);

#endif
