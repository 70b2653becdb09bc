/* Quantization: wraps x264_quant_init and replaces quant_8x8, quant_4x4, quant_4x4x4, quant_4x4_dc,
 * quant_2x2_dc, dequant_4x4, dequant_8x8 and denoise_dct. */
#include "common.h"

void __real_x264_8_quant_init(x264_t *h, uint32_t cpu, x264_quant_function_t *table);

/* Computes ((|coefficient| + bias) * factor) >> 16 with the coefficient's sign. x264 keeps bias * factor
 * within 16 bits, so zero stays zero; |coefficient| + bias stays within 16 bits too. */
INLINE v128_t quantize(v128_t c, v128_t factor, v128_t bias) {
    v128_t sign = wasm_i16x8_shr(c, 15);
    v128_t size = wasm_u16x8_add_sat(wasm_i16x8_abs(c), bias);
    v128_t low = wasm_u32x4_shr(wasm_u32x4_extmul_low_u16x8(size, factor), 16);
    v128_t high = wasm_u32x4_shr(wasm_u32x4_extmul_high_u16x8(size, factor), 16);
    v128_t level = wasm_u16x8_narrow_i32x4(low, high);
    return wasm_i16x8_sub(wasm_v128_xor(level, sign), sign);
}

INLINE v128_t quantize8(dctcoef *coefs, v128_t factor, v128_t bias) {
    v128_t levels = quantize(wasm_v128_load(coefs), factor, bias);
    wasm_v128_store(coefs, levels);
    return levels;
}

INLINE v128_t quantize16(dctcoef *coefs, const udctcoef *factor, const udctcoef *bias) {
    return wasm_v128_or(quantize8(coefs, wasm_v128_load(factor), wasm_v128_load(bias)),
                        quantize8(coefs + 8, wasm_v128_load(factor + 8), wasm_v128_load(bias + 8)));
}

static int quantize_4x4(dctcoef coefs[16], udctcoef factor[16], udctcoef bias[16]) {
    return wasm_v128_any_true(quantize16(coefs, factor, bias));
}

static int quantize_four_4x4(dctcoef coefs[4][16], udctcoef factor[16], udctcoef bias[16]) {
    int nonzero = 0;
    for (int i = 0; i < 4; i++)
        nonzero |= wasm_v128_any_true(quantize16(coefs[i], factor, bias)) << i;
    return nonzero;
}

static int quantize_8x8(dctcoef coefs[64], udctcoef factor[64], udctcoef bias[64]) {
    v128_t levels = zero();
    for (int i = 0; i < 64; i += 16)
        levels = wasm_v128_or(levels, quantize16(coefs + i, factor + i, bias + i));
    return wasm_v128_any_true(levels);
}

static int quantize_dc(dctcoef coefs[16], int factor, int bias) {
    v128_t factors = wasm_i16x8_splat(factor), biases = wasm_i16x8_splat(bias);
    v128_t first = quantize8(coefs, factors, biases), second = quantize8(coefs + 8, factors, biases);
    return wasm_v128_any_true(wasm_v128_or(first, second));
}

/* The upper four lanes hold zeros, which stay zero. */
static int quantize_chroma_dc(dctcoef coefs[4], int factor, int bias) {
    v128_t levels = quantize(wasm_v128_load64_zero(coefs), wasm_i16x8_splat(factor), wasm_i16x8_splat(bias));
    wasm_v128_store64_lane(coefs, levels, 0);
    return wasm_v128_any_true(levels);
}

/* Multiplies in 16 bits: as nothing is shifted right, only the lower half of the product matters,
 * which is what x264 keeps. */
INLINE void dequantize_up(dctcoef *coefs, const int *factor, int shift, int count) {
    for (int i = 0; i < count; i += 8) {
        v128_t factors = wasm_i16x8_narrow_i32x4(wasm_v128_load(factor + i), wasm_v128_load(factor + i + 4));
        v128_t product = wasm_i16x8_mul(wasm_v128_load(coefs + i), factors);
        wasm_v128_store(coefs + i, wasm_i16x8_shl(product, shift));
    }
}

INLINE v128_t scale_down4(v128_t coefs, const int *factor, int shift) {
    v128_t product = wasm_i32x4_mul(coefs, wasm_v128_load(factor));
    v128_t scaled = wasm_i32x4_shr(wasm_i32x4_add(product, wasm_i32x4_splat(1 << (shift - 1))), shift);
    return wasm_v128_and(scaled, wasm_i32x4_const_splat(0xffff));
}

INLINE void dequantize_down(dctcoef *coefs, const int *factor, int shift, int count) {
    for (int i = 0; i < count; i += 8) {
        v128_t c = wasm_v128_load(coefs + i);
        v128_t low = scale_down4(wasm_i32x4_extend_low_i16x8(c), factor + i, shift);
        v128_t high = scale_down4(wasm_i32x4_extend_high_i16x8(c), factor + i + 4, shift);
        wasm_v128_store(coefs + i, wasm_u16x8_narrow_i32x4(low, high));
    }
}

INLINE void dequantize(dctcoef *coefs, const int *factor, int shift, int count) {
    if (shift >= 0)
        dequantize_up(coefs, factor, shift, count);
    else
        dequantize_down(coefs, factor, -shift, count);
}

static void dequantize_4x4(dctcoef coefs[16], int factor[6][16], int qp) {
    dequantize(coefs, factor[qp % 6], qp / 6 - 4, 16);
}

static void dequantize_8x8(dctcoef coefs[64], int factor[6][64], int qp) {
    dequantize(coefs, factor[qp % 6], qp / 6 - 6, 64);
}

INLINE void add_u16(uint32_t *sums, v128_t widened) {
    wasm_v128_store(sums, wasm_i32x4_add(wasm_v128_load(sums), widened));
}

/* Reduces the magnitude of each coefficient by its offset, but not below zero, and adds the
 * original magnitude to sums. */
static void denoise(dctcoef *coefs, uint32_t *sums, udctcoef *offsets, int count) {
    for (int i = 0; i < count; i += 8) {
        v128_t c = wasm_v128_load(coefs + i), sign = wasm_i16x8_shr(c, 15), size = wasm_i16x8_abs(c);
        add_u16(sums + i, wasm_u32x4_extend_low_u16x8(size));
        add_u16(sums + i + 4, wasm_u32x4_extend_high_u16x8(size));
        v128_t rest = wasm_u16x8_sub_sat(size, wasm_v128_load(offsets + i));
        wasm_v128_store(coefs + i, wasm_i16x8_sub(wasm_v128_xor(rest, sign), sign));
    }
}

void __wrap_x264_8_quant_init(x264_t *h, uint32_t cpu, x264_quant_function_t *table) {
    __real_x264_8_quant_init(h, cpu, table);
    table->quant_4x4 = quantize_4x4;
    table->quant_4x4x4 = quantize_four_4x4;
    table->quant_8x8 = quantize_8x8;
    table->quant_4x4_dc = quantize_dc;
    table->quant_2x2_dc = quantize_chroma_dc;
    table->dequant_4x4 = dequantize_4x4;
    table->dequant_8x8 = dequantize_8x8;
    table->denoise_dct = denoise;
    simd_set_coefficients(table);
}
