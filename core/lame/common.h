/* Declarations shared by the LAME kernels. */
#ifndef CORE_LAME_COMMON_H
#define CORE_LAME_COMMON_H

#include "config.h"
#include "lame.h"
#include "machine.h"
#include "encoder.h"
#include "util.h"
#include "quantize_pvt.h"
#include "tables.h"
#include <string.h>
#include <wasm_simd128.h>

#define INLINE static inline __attribute__((always_inline))

INLINE int sum_i32(v128_t v) {
    v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_i32x4_extract_lane(v, 0);
}

INLINE int max_i32(v128_t v) {
    v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_i32x4_extract_lane(v, 0);
}

/* Loads four floats from a table by index. */
INLINE v128_t gather(const FLOAT *table, v128_t index) {
    v128_t four = wasm_v128_load32_zero(table + wasm_i32x4_extract_lane(index, 0));
    four = wasm_v128_load32_lane(table + wasm_i32x4_extract_lane(index, 1), four, 1);
    four = wasm_v128_load32_lane(table + wasm_i32x4_extract_lane(index, 2), four, 2);
    return wasm_v128_load32_lane(table + wasm_i32x4_extract_lane(index, 3), four, 3);
}

#endif
