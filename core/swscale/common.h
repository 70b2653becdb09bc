/* Declarations shared by the swscale kernels. */
#ifndef CORE_SWSCALE_COMMON_H
#define CORE_SWSCALE_COMMON_H

#include "libavutil/mem.h"
#include "libswscale/swscale_internal.h"
#include <wasm_simd128.h>

#define INLINE static av_always_inline

#define LANES 8 /* 16-bit numbers in a vector */
#define GROUP 4 /* neighbouring results that share a vector of sums */

typedef void (*scale_function)(SwsContext *c, int16_t *dst, int width, const uint8_t *src,
                               const int16_t *filter, const int32_t *positions, int taps);

/* Scalers for rows of 8-bit and of 9- to 16-bit samples. Their filters are packed in groups; each group takes
 * packed_size 16-bit numbers and GROUP positions. */
void simd_scale_8_to_15(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                        const int32_t *starts, int taps);
void simd_scale_8_by_any(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                         const int32_t *starts, int taps);
void simd_scale_16_to_15(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                         const int32_t *starts, int taps);
int simd_packed_size_8(int taps);
int simd_packed_size(int taps);

/* Pack the filters of `count` results, at most one group; return 0 if the kernel cannot take them. */
int simd_pack_8(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                int taps, int src_width);
int simd_pack_8_by_any(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions,
                       int count, int taps, int src_width);
int simd_pack_16(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                 int taps, int src_width);

/* Stores the first `count` of 8 results. */
INLINE void store_results(int16_t *dst, v128_t results, int count) {
    if (count >= LANES)
        wasm_v128_store(dst, results);
    else
        memcpy(dst, &results, count * sizeof(*dst));
}

#endif
