#ifndef CORE_AAC_QUANTIZE_H
#define CORE_AAC_QUANTIZE_H

#include "libavcodec/aacenc.h"

/* Installs the kernel in an encoder. */
void simd_set_aac(AACEncContext *encoder);

#endif
