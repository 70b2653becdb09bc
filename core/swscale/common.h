/* What the kernels of swscale share. */
#ifndef CORE_SWSCALE_COMMON_H
#define CORE_SWSCALE_COMMON_H

#include "libavutil/mem.h"
#include "libswscale/swscale_internal.h"
#include <wasm_simd128.h>

#define INLINE static av_always_inline

#endif
