/* Lets libvpx's NEON code compile for wasm: SIMDe provides every intrinsic. Where SIMDe takes
 * several instructions and wasm has one, the functions below replace it. They return the same for
 * all inputs: check/ compares them. */
#ifndef CORE_VPX_ARM_NEON_H
#define CORE_VPX_ARM_NEON_H

/* Implements 16-bit floats in software, as wasm has no such type. */
#define SIMDE_FLOAT16_API 1
#define SIMDE_ENABLE_NATIVE_ALIASES
#define SIMDE_ARM_NEON_A32V7_ENABLE_NATIVE_ALIASES
#define SIMDE_ARM_NEON_A64V8_ENABLE_NATIVE_ALIASES
#define SIMDE_NO_CHECK_IMMEDIATE_CONSTANT
#include <simde/arm/neon.h>
#include <wasm_simd128.h>

#define NEON static inline __attribute__((always_inline))

/* Widens a 64-bit vector to 128 bits with undefined upper lanes; low_s16 and low_s8 convert back. */
#define WIDE_16(a) ((v128_t)__builtin_shufflevector(a, a, 0, 1, 2, 3, -1, -1, -1, -1))
#define WIDE_8(a)                                                                                            \
    ((v128_t)__builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1))

NEON int16x4_t low_s16(v128_t a) {
    return __builtin_shufflevector((int16x8_t)a, (int16x8_t)a, 0, 1, 2, 3);
}

NEON int8x8_t low_s8(v128_t a) {
    return __builtin_shufflevector((int8x16_t)a, (int8x16_t)a, 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Products. */

NEON int16x8_t wasm_vqrdmulhq_s16(int16x8_t a, int16x8_t b) {
    return (int16x8_t)wasm_i16x8_q15mulr_sat((v128_t)a, (v128_t)b);
}

NEON int16x4_t wasm_vqrdmulh_s16(int16x4_t a, int16x4_t b) {
    return low_s16(wasm_i16x8_q15mulr_sat(WIDE_16(a), WIDE_16(b)));
}

NEON int32x4_t wasm_vqrdmulhq_s32(int32x4_t a, int32x4_t b) {
    const v128_t half = wasm_i64x2_const_splat(1 << 30);
    v128_t low = wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4((v128_t)a, (v128_t)b), half);
    v128_t high = wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4((v128_t)a, (v128_t)b), half);
    v128_t r = wasm_i32x4_shuffle(wasm_i64x2_shl(low, 1), wasm_i64x2_shl(high, 1), 1, 3, 5, 7);
    /* Only INT32_MIN squared overflows, and only then is the result INT32_MIN; it becomes INT32_MAX. */
    return (int32x4_t)wasm_v128_xor(r, wasm_i32x4_eq(r, wasm_i32x4_const_splat(INT32_MIN)));
}

NEON int32x4_t wasm_vmull_n_s16(int16x4_t a, int16_t b) {
    return (int32x4_t)wasm_i32x4_extmul_low_i16x8(WIDE_16(a), wasm_i16x8_splat(b));
}

#undef vqrdmulhq_s16
#undef vqrdmulh_s16
#undef vqrdmulhq_n_s16
#undef vqrdmulhq_s32
#undef vmull_n_s16
#undef vmlal_n_s16
#undef vmlsl_n_s16
#undef vmul_lane_s16
#undef vmulq_lane_s16
#undef vmla_lane_s16
#undef vmlaq_lane_s16
#define vqrdmulhq_s16 wasm_vqrdmulhq_s16
#define vqrdmulh_s16 wasm_vqrdmulh_s16
#define vqrdmulhq_n_s16(a, b) wasm_vqrdmulhq_s16(a, (int16x8_t)wasm_i16x8_splat(b))
#define vqrdmulhq_s32 wasm_vqrdmulhq_s32
#define vmull_n_s16 wasm_vmull_n_s16
#define vmlal_n_s16(sum, a, b) ((sum) + wasm_vmull_n_s16(a, b))
#define vmlsl_n_s16(sum, a, b) ((sum)-wasm_vmull_n_s16(a, b))
#define vmul_lane_s16(a, b, lane) ((a)*__builtin_shufflevector(b, b, lane, lane, lane, lane))
#define vmulq_lane_s16(a, b, lane)                                                                           \
    ((a)*__builtin_shufflevector(b, b, lane, lane, lane, lane, lane, lane, lane, lane))
#define vmla_lane_s16(sum, a, b, lane) ((sum) + vmul_lane_s16(a, b, lane))
#define vmlaq_lane_s16(sum, a, b, lane) ((sum) + vmulq_lane_s16(a, b, lane))

/* Sums and means. */

NEON int16x4_t wasm_vqadd_s16(int16x4_t a, int16x4_t b) {
    return low_s16(wasm_i16x8_add_sat(WIDE_16(a), WIDE_16(b)));
}

NEON int8x8_t wasm_vqadd_s8(int8x8_t a, int8x8_t b) {
    return low_s8(wasm_i8x16_add_sat(WIDE_8(a), WIDE_8(b)));
}

NEON int8x8_t wasm_vqsub_s8(int8x8_t a, int8x8_t b) {
    return low_s8(wasm_i8x16_sub_sat(WIDE_8(a), WIDE_8(b)));
}

NEON uint8x8_t wasm_vrhadd_u8(uint8x8_t a, uint8x8_t b) {
    return (uint8x8_t)low_s8(wasm_u8x16_avgr(WIDE_8(a), WIDE_8(b)));
}

/* (a - b) >> 1 is the mean of a and -b - 1, rounded up; both are offset to be unsigned. */
NEON int16x8_t wasm_vhsubq_s16(int16x8_t a, int16x8_t b) {
    const v128_t least = wasm_i16x8_const_splat(INT16_MIN), most = wasm_i16x8_const_splat(INT16_MAX);
    v128_t mean = wasm_u16x8_avgr(wasm_v128_xor((v128_t)a, least), wasm_v128_xor((v128_t)b, most));
    return (int16x8_t)wasm_v128_xor(mean, least);
}

#undef vqadd_s16
#undef vqadd_s8
#undef vqsub_s8
#undef vrhadd_u8
#undef vhsubq_s16
#undef vpaddlq_u8
#undef vpaddlq_u16
#undef vpaddlq_s16
#undef vpadalq_u8
#undef vpadalq_u16
#undef vpadalq_s16
#define vqadd_s16 wasm_vqadd_s16
#define vqadd_s8 wasm_vqadd_s8
#define vqsub_s8 wasm_vqsub_s8
#define vrhadd_u8 wasm_vrhadd_u8
#define vhsubq_s16 wasm_vhsubq_s16
#define vpaddlq_u8(a) ((uint16x8_t)wasm_u16x8_extadd_pairwise_u8x16((v128_t)(a)))
#define vpaddlq_u16(a) ((uint32x4_t)wasm_u32x4_extadd_pairwise_u16x8((v128_t)(a)))
#define vpaddlq_s16(a) ((int32x4_t)wasm_i32x4_extadd_pairwise_i16x8((v128_t)(a)))
#define vpadalq_u8(sum, a) ((sum) + vpaddlq_u8(a))
#define vpadalq_u16(sum, a) ((sum) + vpaddlq_u16(a))
#define vpadalq_s16(sum, a) ((sum) + vpaddlq_s16(a))

/* Narrowing. */

NEON uint8x8_t wasm_vqmovun_s16(int16x8_t a) {
    return (uint8x8_t)low_s8(wasm_u8x16_narrow_i16x8((v128_t)a, (v128_t)a));
}

NEON int8x8_t wasm_vqmovn_s16(int16x8_t a) {
    return low_s8(wasm_i8x16_narrow_i16x8((v128_t)a, (v128_t)a));
}

NEON int16x4_t wasm_vqmovn_s32(int32x4_t a) {
    return low_s16(wasm_i16x8_narrow_i32x4((v128_t)a, (v128_t)a));
}

/* An overflow only affects bits that the narrowing drops. */
NEON uint8x8_t wasm_vrshrn_n_u16(uint16x8_t a, int n) {
    v128_t sum = wasm_i16x8_add((v128_t)a, wasm_i16x8_splat(1 << (n - 1)));
    return vmovn_u16((uint16x8_t)wasm_u16x8_shr(sum, n));
}

NEON int16x4_t wasm_vrshrn_n_s32(int32x4_t a, int n) {
    v128_t sum = wasm_i32x4_add((v128_t)a, wasm_i32x4_splat(1 << (n - 1)));
    return vmovn_s32((int32x4_t)wasm_i32x4_shr(sum, n));
}

/* For shifts up to 7, a sum that saturates still yields 255. */
NEON uint8x8_t wasm_vqrshrun_n_s16(int16x8_t a, int n) {
    if (n > 7)
        return simde_vqmovun_s16(simde_vrshrq_n_s16(a, n));
    v128_t sum = wasm_i16x8_add_sat((v128_t)a, wasm_i16x8_splat(1 << (n - 1)));
    return wasm_vqmovun_s16((int16x8_t)wasm_i16x8_shr(sum, n));
}

#undef vqmovun_s16
#undef vqmovn_s16
#undef vqmovn_s32
#undef vrshrn_n_u16
#undef vrshrn_n_s32
#undef vqrshrun_n_s16
#define vqmovun_s16 wasm_vqmovun_s16
#define vqmovn_s16 wasm_vqmovn_s16
#define vqmovn_s32 wasm_vqmovn_s32
#define vrshrn_n_u16 wasm_vrshrn_n_u16
#define vrshrn_n_s32 wasm_vrshrn_n_s32
#define vqrshrun_n_s16 wasm_vqrshrun_n_s16

#endif
